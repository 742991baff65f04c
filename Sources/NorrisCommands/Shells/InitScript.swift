/// What `norrisctl init` prints: text that a shell reads at its start.
///
/// The text depends on nothing but these members, so it may be kept in a file. All scripts work alike:
/// - Only builtins run, so a prompt starts no process, in a shell with any options, aliases and functions of its user.
/// - A folder, a pipe or a device in the place of the file is left alone, and of a file at most 32 KiB are read: room
///   for 64 lines of 100 characters, however long these are in UTF-8.
/// - The lines come in random order, each once; then the file is read anew: once in 64 prompts, and new facts arrive.
/// - Names begin with `__norris`, but for `NORRIS_FACT`. Nothing is done twice in one shell, told by its process id:
///   variables may be inherited.
/// - Where the shell's locale is not of UTF-8, only ASCII is kept, for a part of a longer character may be a control
///   there. fish takes every terminal for one of UTF-8.
struct InitScript {
    /// Whether a fact is shown at the start.
    let greets: Bool

    /// Whether `NORRIS_FACT` is set before each prompt.
    let prompts: Bool

    /// `--max-length`, in characters.
    let maxLength: Int?

    /// No fact of the daemon's file has more columns.
    static let standardLength = 100

    /// The longest fact that is shown, in characters.
    var longest: Int { maxLength ?? Self.standardLength }

    /// The command that stands in for the file.
    var fallback: String {
        "norrisctl prompt" + (maxLength.map { " --max-length \($0)" } ?? "")
    }

    func text(for shell: ShellName) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// The first lines of a script.
    func heading(_ shell: ShellName) -> String {
        """
        # Facts of norrisd for the start of a shell and for its prompts, read with builtins alone.
        # This text is static: it is what "norrisctl init \(shell.rawValue)" prints, and may be kept in a file.
        """
    }
}
