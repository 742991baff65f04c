import ArgumentParser

/// `norrisctl prompt`: one fact on one line for a prompt that can run a program, or nothing.
struct PromptCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "prompt",
        abstract: "Print one short fact on one line, or nothing.",
        usage: "[--max-length <n>] [--timeout <time>]",
        discussion: """
            For prompts and status lines that run a program. It gives up after 50ms unless --timeout says otherwise,
            says nothing where norrisd is away, and always exits with 0. The characters ` $ \\ % and ! are left out.
            Shells need no program: see norrisctl init.

            Examples:
              norrisctl prompt
              norrisctl prompt --max-length 60 --timeout 20ms
            """
    )

    @Option(
        help: ArgumentHelp("Only facts of at most so many characters. (default: 80)", valueName: "n"),
        transform: integer(1...10_000)
    )
    var maxLength: Int?

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    var request: PromptRequest {
        var request = PromptRequest()
        request.maxLength = maxLength ?? request.maxLength
        return request
    }

    func run(in session: Session) -> Report {
        request.report(session)
    }
}
