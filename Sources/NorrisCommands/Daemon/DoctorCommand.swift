import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct DoctorCommand: SessionCommand {
    static let name = "doctor"
    static let help = CommandHelp(
        "Find problems and say how to fix them.",
        """
        Checks the socket, the daemon, its sources, the disk, the clock and the facts for prompts. Each line begins
        with ok, warn or fail. The exit status is that of the first failure.

        Examples:
          norrisctl doctor
          norrisctl doctor --timeout 1s && echo healthy
        """)
    static var statuses: [ExitStatus] { [.done, .usage, .unavailable, .internalError, .inputOutput, .notPermitted] }

    func run(in session: Session) -> Report {
        let checks = Doctor(session).checks
        let status = checks.first { $0.outcome == .fail }?.status ?? .done
        let members = ["check", "outcome", "message", "fix"].map {
            Schema.Member(name: $0, schema: .string, isRequired: $0 != "fix")
        }
        let list = Schema.Member(name: "checks", schema: .list(.object(members)), isRequired: true)
        return session.report(["checks": checks], schema: .object([list]), status: status) { screen in
            let widths = checks.map { Span($0.subject).width }
            let subjectWidth = widths.filter { $0 <= Self.maximumSubjectWidth }.max() ?? 0
            checks.forEach { show($0, &screen, subjectWidth: subjectWidth) }
        }
    }

    /// The widest column of subjects. A longer subject, such as a source with a long name, becomes part of its message.
    private static let maximumSubjectWidth = 20

    private func show(_ check: Check, _ screen: inout Screen, subjectWidth: Int) {
        let outcome = Span(check.outcome.rawValue, check.outcome.style)
        let subject = Span(check.subject)
        guard let width = screen.layout.width else {
            let text = check.message + (check.fix.map { " \($0.text(socket: nil))" } ?? "")
            screen.fields([outcome, subject, Span(text)])
            return
        }
        // In a narrow terminal, the two label columns and their gaps leave less than 30 columns for the message.
        let isNarrow = width < subjectWidth + 8 + 30 || subject.width > subjectWidth
        if isNarrow {
            screen.entry([(outcome, 4)], Span("\(check.subject): \(check.message)"))
        } else {
            screen.entry([(outcome, 4), (subject, subjectWidth)], Span(check.message))
        }
        let labels = [(label: Span(""), columns: isNarrow ? 4 : subjectWidth + 6)]
        var words = ""
        func endLine() {
            if !words.withoutSeparators.isEmpty { screen.entry(labels, Span(words.withoutSeparators)) }
            words = ""
        }
        for part in check.fix?.parts ?? [] {
            guard part.kind == .command else {
                words += part.text
                continue
            }
            endLine()
            screen.entry(labels, Span(part.text, .bold), wraps: false)
        }
        endLine()
    }
}

extension String {
    /// The text without the separators between it and the commands on the adjacent lines.
    fileprivate var withoutSeparators: String {
        let separators: Set<Character> = [" ", ",", ";"]
        let words = drop { separators.contains($0) }
        return String(words.prefix(words.count - words.reversed().prefix { separators.contains($0) }.count))
    }
}
