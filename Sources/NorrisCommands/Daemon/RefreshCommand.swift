import ArgumentParser
import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// `norrisctl refresh`: fetches from the sources now.
struct RefreshCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "refresh", abstract: "Let norrisd fetch from its sources now.", usage: "[<source>] [--wait]",
        discussion: """
            Everybody may do so once in five minutes for each source, administrators any time.
            With --wait it ends when all sources have, with status 75 if one failed (78 for want of a key),
            after 10 minutes at most unless --timeout says otherwise; --json then gives the event of each source.

            Examples:
              norrisctl refresh
              norrisctl refresh facts --wait
              norrisctl refresh --wait --timeout 1m && norrisctl fact
            """
    )

    @Argument(help: "The source, such as facts; norrisctl status lists them. (default: all)") var source: String?
    @Flag(help: "Wait until it is done, and say what came of it.") var wait = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let parameters = SourceRefresh.Parameters(source: source)
        do throws(Failure) {
            if wait { return try RefreshWait(session: session, whole: session.forManyCalls).report(parameters) }
            let reply = try session.call(SourceRefresh.self, parameters)
            let text = reply.value.text
            if text == nil, !session.settings.json { return .nothingToRefresh }
            return session.report(reply.json, status: text == nil ? .nothing : .done) { $0.line(text ?? "") }
        } catch {
            // Where the daemon knows when its limit ends, it is the hint.
            guard let response = error.response, response.code == .busy,
                let time = response.details["retry_at"].flatMap({ try? Timestamp(json: $0) })
            else { throw error }
            var failure = error
            failure.hint = "Try again \(upcomingTime(of: time, at: session.system.now))."
            throw failure
        }
    }
}

extension SourceRefresh.Result {
    /// `started: facts, planet`; nil where nothing was.
    fileprivate var text: String? { started.isEmpty ? nil : "started: \(started.joined(separator: ", "))" }
}

extension Report {
    /// The daemon has no source that it could fetch.
    fileprivate static var nothingToRefresh: Report {
        var report = Report(status: .nothing)
        report.note("There is no source to fetch from; norrisctl status shows which are off.")
        return report
    }
}

/// `norrisctl refresh --wait`: subscribes, refreshes, and waits for the end of each source, on one connection.
private struct RefreshWait {
    /// Bounds the beginning.
    let session: Session
    /// Bounds all of it.
    let whole: Session

    func report(_ parameters: SourceRefresh.Parameters) throws(Failure) -> Report {
        var progress = RefreshProgress()
        let end = try session.follow([
            (EventSubscribe.name, EventSubscribe.Parameters(topics: [.source, .item])),
            (SourceRefresh.name, parameters),
        ]) { incoming throws(Failure) in
            switch incoming {
            case .result(let json, id: 2):
                let reply: Reply<SourceRefresh.Result> = try session.read(.success(json), of: SourceRefresh.self)
                progress.begin(reply.value.started)
                if session.system.isErrorTerminal, let text = reply.value.text { session.writeError(text) }
            case .event(let params, let event):
                if let outcome = progress.note(event), try !show(outcome, params) { return .stop }
            case .result, .unknown: break
            }
            if progress.isDone { return .stop }
            if !progress.waiting.isEmpty {
                session.system.waiting.show("fetching from \(progress.waiting.joined(separator: ", "))")
            }
            return .goOn(within: whole.timeLeft)
        }
        if let end {
            guard case .timedOut = end else { throw session.lost(end) }
            throw late(progress.waiting)
        }
        return report(progress)
    }

    /// Writes how the refresh of a source ended as soon as it is known; failures come at the end.
    ///
    /// - Returns: false where nobody reads any more.
    private func show(_ outcome: RefreshProgress.Outcome, _ params: JSON) throws(Failure) -> Bool {
        if session.settings.json { return try session.write(Report(json: params).output) }
        guard outcome.failure == nil else { return true }
        var screen = Screen(layout: session.layout)
        screen.line(outcome.text)
        return try session.write(Array(screen.text.utf8))
    }

    private func report(_ progress: RefreshProgress) -> Report {
        guard !progress.isEmpty else { return .nothingToRefresh }
        var report = Report(status: progress.status)
        guard !session.settings.json else { return report }
        for case (let source, let failure?) in progress.outcomes.map({ ($0.source, $0.failure) }) {
            report.note("\(source): \(failure.outlook(now: session.system.now))")
        }
        return report
    }

    private func late(_ sources: [String]) -> Failure {
        let names = sources.joined(separator: ", ")
        return Failure(
            .unavailable, "norrisd is still fetching from \(names) after \(whole.timeout.text).",
            hint: "See how it ends: norrisctl watch; or wait longer: --timeout 30m"
        )
    }
}

/// The sources that are being refreshed, and how the refresh of others ended.
private struct RefreshProgress {
    struct Outcome {
        let source: String
        let items: Int?
        let added: Int?
        /// nil where it went well.
        let failure: SourceFailure?

        /// `facts: 9,000 items, 12 new`.
        var text: String {
            let counts = [items.map { countText($0, "item") }, added.map { "\(groupedDigits($0)) new" }]
            let known = counts.compactMap { $0 }
            return "\(source): \(known.isEmpty ? "done" : known.joined(separator: ", "))"
        }
    }

    private(set) var waiting: [String] = []
    private(set) var outcomes: [Outcome] = []
    private var hasBegun = false
    private var added: [String: Int] = [:]

    /// Whether nothing was started.
    var isEmpty: Bool { waiting.isEmpty && outcomes.isEmpty }

    var isDone: Bool { hasBegun && waiting.isEmpty }

    /// 78 where nothing but keys is missing, which no later try mends; 75 for any other failure.
    var status: ExitStatus {
        let failures = outcomes.compactMap(\.failure)
        if failures.isEmpty { return .done }
        return failures.allSatisfy { $0.kind == .credentials } ? .configuration : .temporary
    }

    /// These have been started; what events said of them before belongs to an earlier run.
    mutating func begin(_ sources: [String]) {
        hasBegun = true
        waiting = sources
    }

    /// - Returns: how the refresh of a source ended, if the event says so.
    mutating func note(_ event: Event) -> Outcome? {
        guard let source = event.source, let index = waiting.firstIndex(of: source) else { return nil }
        switch (event.topic, event.phase) {
        case (.item, _):
            added[source, default: 0] += event.added ?? 0
            return nil
        case (.source, .finished?), (.source, .failed?): break
        default: return nil
        }
        waiting.remove(at: index)
        let failure = event.phase == .failed
            ? event.error ?? SourceFailure(kind: .init(rawValue: "failing"), message: "", since: event.at) : nil
        let outcome = Outcome(source: source, items: event.items, added: added[source], failure: failure)
        outcomes.append(outcome)
        return outcome
    }
}
