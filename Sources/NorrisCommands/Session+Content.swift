import NorrisProtocol
import NorrisTerminal

extension Session {
    /// The report of a command that shows content: the result as JSON if that was asked for, else the items, and on
    /// the side what is wrong with their source. Without items `nothing` says what to try.
    func report(
        _ json: some JSONEncodable,
        isEmpty: Bool,
        freshness: Freshness?,
        source: String,
        nothing: String,
        show: (inout Screen) -> Void
    ) -> Report {
        let status: ExitStatus = isEmpty ? .nothing : .done
        if settings.json {
            return Report(json: json, status: status)
        }
        var screen = Screen(layout: layout)
        if !isEmpty {
            show(&screen)
        }
        var report = Report(screen, status: status)
        if let warning = freshness?.warning(source: source, now: system.now) {
            report.note(warning)
        }
        if isEmpty {
            report.note(nothing)
        }
        return report
    }
}
