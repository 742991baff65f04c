import ArgumentParser

/// `norrisctl completion`: the script that lets a shell complete command lines of norrisctl.
struct CompletionCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "completion",
        abstract: "Print the script that completes norrisctl in a shell.",
        usage: "bash | zsh | fish",
        discussion: """
            Packages and Scripts/install put it in place. Categories, sources and ids come from norrisd when Tab is
            pressed, or not at all where it does not answer within a tenth of a second.

            Examples:
              norrisctl completion bash >> ~/.bash_completion
              norrisctl completion zsh > ~/.zfunc/_norrisctl
              norrisctl completion fish > ~/.config/fish/completions/norrisctl.fish
            """
    )

    @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"), transform: checkShell)
    var shell: String

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) -> Report {
        var report = Report()
        // Only a known name has passed.
        report.output = ShellName(rawValue: shell).map { Array(CompletionScript.text(for: $0).utf8) } ?? []
        return report
    }
}
