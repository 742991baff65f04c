import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl doctor`: what works and what does not, and the command that fixes it.
struct DoctorCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "doctor",
        abstract: "Check norrisd, the way to it, and its sources.",
        usage: "",
        discussion: """
            Each line begins with ok, warn or fail. The exit status is that of the first failure.

            Examples:
              norrisctl doctor
              norrisctl doctor --timeout 1s && echo healthy
            """
    )

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) -> Report {
        var doctor = Doctor(session)
        doctor.examine()
        let status = doctor.checks.first { $0.outcome == .fail }?.status ?? .done
        if session.settings.json {
            return Report(json: ["checks": doctor.checks], status: status)
        }
        var screen = Screen(layout: session.layout)
        let width = doctor.checks.map(\.subject.utf8.count).max() ?? 0
        for check in doctor.checks {
            show(check, &screen, subjectWidth: width)
        }
        return Report(screen, status: status)
    }

    private func show(_ check: Check, _ screen: inout Screen, subjectWidth: Int) {
        let text = check.message + (check.fix.map { " \($0)" } ?? "")
        let outcome = Span(check.outcome.rawValue, check.outcome.style)
        guard screen.layout.width != nil else {
            screen.fields([outcome, Span(check.subject), Span(text)])
            return
        }
        screen.entry([(outcome, 4), (Span(check.subject), subjectWidth)], Span(text))
    }
}
