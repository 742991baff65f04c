import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// `norrisctl refresh --wait`: subscribes, refreshes, and waits for the end of each source, on one connection.
struct RefreshWait {
    let session: Session
    /// For how long from the beginning.
    let patience: Timeout

    func report(_ parameters: SourceRefresh.Parameters) throws(Failure) -> Report {
        let start = session.system.elapsed()
        var progress = RefreshProgress()
        let end = try session.follow([
            (EventSubscribe.name, EventSubscribe.Parameters(topics: [.source, .item])),
            (SourceRefresh.name, parameters),
        ]) { incoming throws(Failure) in
            switch incoming {
            case .result(let json, id: 2):
                let reply: Reply<SourceRefresh.Result> = try session.read(.success(json), of: SourceRefresh.self)
                progress.begin(reply.value.started)
                if session.system.isErrorTerminal, let text = reply.value.text {
                    session.tell(text)
                }
            case .event(let params, let event):
                if let outcome = progress.note(event), try !show(outcome, params) { return .stop }
            case .result, .unknown: break
            }
            if progress.isDone { return .stop }
            if !progress.waiting.isEmpty {
                session.system.waiting.show("fetching from \(progress.waiting.joined(separator: ", "))")
            }
            return .goOn(within: patience.duration - (session.system.elapsed() - start))
        }
        if let end {
            guard case .timedOut = end else { throw session.lost(end) }
            throw late(progress.waiting)
        }
        return report(progress)
    }

    /// Writes what came of a source as soon as it is known; failures come at the end.
    ///
    /// - Returns: false where nobody reads any more.
    private func show(_ outcome: RefreshProgress.Outcome, _ params: JSON) throws(Failure) -> Bool {
        if session.settings.json {
            return try session.write(Report(json: params).output)
        }
        guard outcome.failure == nil else { return true }
        var screen = Screen(layout: session.layout)
        screen.line(outcome.text)
        return try session.write(Array(screen.text.utf8))
    }

    private func report(_ progress: RefreshProgress) -> Report {
        guard !progress.isEmpty else { return .nothingToRefresh }
        var report = Report(status: progress.status)
        guard !session.settings.json else { return report }
        for outcome in progress.outcomes {
            guard let failure = outcome.failure else { continue }
            report.note("\(outcome.source): \(failure.outlook(now: session.system.now))")
        }
        return report
    }

    private func late(_ sources: [String]) -> Failure {
        Failure(
            .unavailable,
            "norrisd is still fetching from \(sources.joined(separator: ", ")) after \(patience.text).",
            hint: "See how it ends: norrisctl watch; or wait longer: --timeout 30m"
        )
    }
}

/// What is known of the sources that are being refreshed.
struct RefreshProgress {
    /// How the refresh of one source ended.
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

    /// These have been started; what was told of them before belongs to an earlier run.
    mutating func begin(_ sources: [String]) {
        hasBegun = true
        waiting = sources
    }

    /// - Returns: what came of a source, where the event tells its end.
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
