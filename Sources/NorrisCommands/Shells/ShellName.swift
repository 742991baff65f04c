import ArgumentParser

/// The shells that there are scripts for.
enum ShellName: String, CaseIterable {
    case bash, zsh, fish
}

/// Checks the name of a shell. It stays a text: each further type of argument costs every start the making of its
/// metadata.
@Sendable
func checkShell(_ text: String) throws -> String {
    guard ShellName(rawValue: text) != nil else {
        throw ValidationError("it takes bash, zsh or fish.")
    }
    return text
}
