import ArgumentParser

/// `norrisctl init`: the text that brings facts into a shell.
struct InitCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "init", abstract: "Print what brings facts into bash, zsh or fish.",
        usage: "bash|zsh|fish [--greeting | --prompt] [--max-length <n>]",
        discussion: """
            The shell shows a fact when it starts, and before each prompt it puts another
            into NORRIS_FACT, for your prompt to show. That starts no process; only where
            norrisd keeps no file of facts, norrisctl prompt is run once. Shells that are
            not interactive do nothing.

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

            The text depends on the arguments alone, so it may be kept in a file; a shell
            that reads it from there starts without any process.

            Examples:
              norrisctl init bash --greeting
              norrisctl init zsh --prompt --max-length 60
              norrisctl init fish > ~/.config/fish/conf.d/norris.fish
            """
    )

    @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"), transform: ShellName.check)
    var shell: String

    @Flag(help: "Only show a fact when the shell starts.") var greeting = false
    @Flag(help: "Only set NORRIS_FACT before each prompt.") var prompt = false

    @Option("Only facts of at most so many characters. (default: \(InitScript.standardLength))", in: 1...10_000)
    var maxLength: Int?
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) -> Report {
        let script = InitScript(greets: greeting || !prompt, prompts: prompt || !greeting, maxLength: maxLength)
        return ShellName.report(shell, script.text)
    }
}
