import Foundation
import NorrisTestSupport

/// A real shell at a terminal with norrisctl's completion, as an installation provides it.
///
/// The real norrisctl completes the typed text. A line that is run prints its arguments instead, each as `<argument>`.
/// A folder with the name of a category tests that the shell does not complete file names.
final class ShellWithCompletion {
    let terminal: PseudoTerminal
    /// The home folder, which is also the working folder.
    let home: TemporaryFolder

    private static let prompt = "READY> "
    /// Marks around the printed arguments, which typed text never contains.
    private static let start = "ARGUMENTS:"
    private static let end = ":END"

    /// - Parameter isSourced: whether the shell reads the script at the start instead of loading a file on demand.
    init(_ shell: Shell, socket: String, isSourced: Bool = false) throws {
        home = TemporaryFolder()
        // Without the last folder, fish first creates completions from all manual pages, which takes long.
        let folders = ["bin", "dev", "zsh", ".config/fish/completions", ".local/share/fish/generated_completions"]
        for folder in folders {
            try FileManager.default.createDirectory(atPath: home(folder), withIntermediateDirectories: true)
        }
        _ = try home.writeProgram(
            """
            test "$1" = ---complete && exec '\(Programs.norrisctl)' "$@"
            test "$1" = completion && exec '\(Programs.norrisctl)' "$@"
            printf '\(Self.start)'
            printf '<%s>' "$@"
            printf '\(Self.end)\\n'
            """, to: "bin/norrisctl")
        let script = try run(Programs.norrisctl, ["completion", shell.rawValue]).output
        let load: String
        switch shell {
        case .bash:
            load =
                isSourced ? "source <(norrisctl completion bash)" : "source '\(try home.write(script, to: "script"))'"
            _ = try home.write("PS1='\(Self.prompt)'; bind 'set bell-style none'; \(load)\n", to: ".bashrc")
        case .zsh:
            _ = isSourced ? "" : try home.write(script, to: "zsh/_norrisctl")
            load = isSourced ? "source <(norrisctl completion zsh)" : ""
            _ = try home.write(
                """
                fpath=(~/zsh $fpath)
                autoload -U compinit
                compinit -u -D
                setopt no_beep
                \(load)
                PS1='\(Self.prompt)'

                """, to: ".zshrc")
        case .fish:
            _ = isSourced ? "" : try home.write(script, to: ".config/fish/completions/norrisctl.fish")
            load = isSourced ? "norrisctl completion fish | source" : ""
            _ = try home.write(
                """
                function fish_greeting; end
                function fish_prompt; echo -n '\(Self.prompt)'; end
                \(load)

                """, to: ".config/fish/config.fish")
        }
        terminal = try PseudoTerminal(
            shell.rawValue, shell == .bash ? ["--rcfile", home(".bashrc"), "-i"] : ["-i"],
            environment: [
                "HOME": home.path, "PATH": home("bin") + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                "NORRISD_SOCKET": socket,
            ], columns: 120)
        terminal.wait(for: Self.prompt)
        execute("cd ~")
    }

    /// Runs a command to its end and ignores its output.
    private func execute(_ command: String) {
        // The echo of the typed command must not match the awaited text.
        terminal.type("\(command); echo do''ne\r")
        terminal.wait(for: "done")
        terminal.wait(for: Self.prompt)
    }

    /// Types a beginning, presses Tab and Return, and returns the arguments of the line, each as `<argument>`.
    func completing(_ line: String) -> String {
        terminal.type(line + "\t\r")
        let text = terminal.wait(for: Self.end) ?? ""
        terminal.wait(for: Self.prompt)
        return text.components(separatedBy: Self.start).last?.replacingOccurrences(of: Self.end, with: "") ?? ""
    }

    /// Repeats a completion for up to 60 seconds until it returns the given arguments, because the daemon may answer
    /// too late on a busy machine. Returns the last result.
    func completing(_ line: String, until arguments: String) -> String {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let result = completing(line)
            if result == arguments || ContinuousClock.now > end { return result }
        }
    }

    /// Types a beginning, presses Tab twice, and waits for words in screen order. Returns the words still missing.
    func missing(_ words: [String], behind line: String) -> [String] {
        var missing = words
        for _ in 0..<20 where !missing.isEmpty {
            terminal.type(line + "\t\t")
            missing = words.filter { terminal.wait(for: $0, within: 3) == nil }
            // Ctrl-U, because Ctrl-C would also discard the next keys.
            terminal.type("\u{15}")
        }
        return missing
    }
}
