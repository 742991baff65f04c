import ArgumentParser

/// `norrisctl init`: the text that brings facts into a shell.
struct InitCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "init", abstract: "Show facts in new shells and prompts.",
        discussion: """
            Prints a script for the start-up file of your shell. A new shell then shows a fact, and each prompt can
            show another one: it is in $NORRIS_FACT. It reads a file that norrisd writes; only if there is none, it
            runs norrisctl prompt once per shell.

            In ~/.bashrc:
              eval "$(norrisctl init bash)"
              PS1='$NORRIS_FACT\\n'$PS1

            In ~/.zshrc:
              eval "$(norrisctl init zsh)"
              setopt prompt_subst
              RPROMPT='$NORRIS_FACT'

            In ~/.config/fish/config.fish:
              norrisctl init fish | source
              function fish_right_prompt; echo $NORRIS_FACT; end

            The script is the same every time, so you can save it in a file and source that.

            Examples:
              norrisctl init bash --greeting
              norrisctl init zsh --prompt --max-length 60
              norrisctl init fish > ~/.config/fish/conf.d/norris.fish
            """
    )

    @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"), transform: ShellName.check)
    var shell: String

    @Flag(help: "Only show a fact in new shells.") var greeting = false
    @Flag(help: "Only set NORRIS_FACT before each prompt.") var prompt = false

    @Option("Only facts of at most this many characters. (default: \(InitScript.standardLength))", in: 1...10_000)
    var maxLength: Int?
    static let hasFields = false
    static var statuses: [ExitStatus] { [.done, .usage] }

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) -> Report {
        let script = InitScript(greets: greeting || !prompt, prompts: prompt || !greeting, maxLength: maxLength)
        return ShellName.report(shell, script.text)
    }
}
