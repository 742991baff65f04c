import NorrisArguments
import NorrisProtocol

struct InitCommand: SessionCommand {
    static let name = "init"
    static let help = CommandHelp(
        "Show facts in new shells and prompts.",
        """
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
        """)

    private var shell: ShellName?
    private var greets = false, prompts = false
    private var maxLength: Int?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.shell(&shell)
        arguments.flag(&greets, "greeting", "Only show a fact in new shells.")
        arguments.flag(&prompts, "prompt", "Only set NORRIS_FACT before each prompt.")
        arguments.option(
            &maxLength, "max-length", in: 1...Fact.maximumLength,
            "Only facts of at most this many characters. (default: 100)")
    }

    static let hasFields = false

    func run(in session: Session) -> Report {
        let script = InitScript(greets: greets || !prompts, prompts: prompts || !greets, maxLength: maxLength)
        return Report(output: script.text(for: shell ?? .bash))
    }
}
