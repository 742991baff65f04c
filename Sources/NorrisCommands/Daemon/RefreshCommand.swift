import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct RefreshCommand: SessionCommand {
    static let name = "refresh"
    static let help = CommandHelp(
        "Fetch from the sources now.",
        """
        Each source can be refreshed once in \(SourceRefresh.pause) minutes, by administrators at any time.

        --wait returns when all sources are done, after 10 minutes at most (see --timeout). The exit status is 75
        if one failed, 78 if those that failed all lack a key.

        Examples:
          norrisctl refresh
          norrisctl refresh facts --wait
          norrisctl refresh --wait --timeout 1m && norrisctl fact
        """)

    private var source: String?
    private var isWaiting = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(
            .source, "The source, such as facts. See norrisctl status. (default: all)", isOptional: true
        ) { assign(&source, $0) }
        arguments.flag(&isWaiting, "wait", "Wait for the result.")
    }

    func run(in session: Session) throws(Failure) -> Report {
        let parameters = SourceRefresh.Parameters(source: source)
        try session.checkFormat(for: SourceRefresh.self)
        do throws(Failure) {
            if isWaiting { return try refreshAndWait(parameters, session) }
            let reply = try session.call(SourceRefresh.self, parameters)
            let started = reply.value.started
            if started.isEmpty, !session.settings.json { return Self.nothingToRefresh }
            return session.report(reply, status: started.isEmpty ? .nothing : .done) { $0.line(Self.text(started)) }
        } catch {
            if let response = error.response, response.lacksCredentials { throw error.withGifHint(session) }
            // The end of the rate limit, if the daemon reports it, replaces the hint.
            guard let response = error.response, response.code == .busy,
                let time = response.detail("retry_at", as: Timestamp.self)
            else { throw error }
            var failure = error
            failure.hint = "Try again \(value: upcomingTime(of: time, at: session.system.now))."
            throw failure
        }
    }

    private static func text(_ started: [String]) -> String { "started: \(started.joined(separator: ", "))" }

    private static var nothingToRefresh: Report {
        var report = Report(status: .nothing)
        report.note("There is no source to fetch from; norrisctl status shows which are off.")
        return report
    }

    /// Subscribes to events, requests a refresh and waits for the end of a run of each source, on one connection.
    ///
    /// A run in progress may have fetched before the request, and norrisd starts another run after it. Therefore an end
    /// counts only after a start, and a start only after the reply.
    ///
    /// - Parameter session: Its timeout limits the wait for the reply, and 10 minutes by default the whole wait.
    private func refreshAndWait(_ parameters: SourceRefresh.Parameters, _ session: Session) throws(Failure) -> Report {
        let whole = session.with(defaultTimeout: .long)
        var started: [String]?
        var waiting: [String] = []
        // The sources whose requested run has started.
        var begun: Set<String> = []
        var added: [String: Int] = [:]
        var failures: [(source: String, failure: SourceFailure)] = []
        let end = try session.follow(
            (EventSubscribe.name, EventSubscribe.Parameters(topics: [.source, .item])), (SourceRefresh.name, parameters)
        ) { incoming throws(Failure) in
            if case .result(let json, id: 2) = incoming {
                waiting = try session.read(.success(json), of: SourceRefresh.self).value.started
                started = waiting
                if session.system.isErrorTerminal, !waiting.isEmpty { session.writeError(Self.text(waiting)) }
            } else if case .event(let json, let event) = incoming, let source = event.source,
                let index = waiting.firstIndex(of: source)
            {
                if event.topic == .source, event.phase == .started {
                    begun.insert(source)
                } else if !begun.contains(source) {
                    // The event belongs to an earlier run.
                } else if event.topic == .item {
                    added[source, default: 0] += event.added ?? 0
                } else if event.topic == .source, [.finished, .failed].contains(event.phase) {
                    waiting.remove(at: index)
                    if event.phase == .failed { failures.append((source, event.failure)) }
                    guard try show(event, added: added[source], json, session) else { return .stop }
                }
            }
            if started != nil, waiting.isEmpty { return .stop }
            if !waiting.isEmpty { session.system.waiting.show("fetching from \(waiting.joined(separator: ", "))") }
            return .goOn(within: whole.timeLeft)
        }
        if let end {
            guard case .timedOut = end else { throw session.lost(end) }
            throw Failure(
                .unavailable,
                "norrisd is still fetching from \(waiting.joined(separator: ", ")) after \(whole.timeout.text).",
                hint: """
                    See how it ends: norrisctl watch\
                    \(whole.timeout.longer.map { "; or wait longer: \(command: "--timeout \($0.text)")" } ?? "")
                    """)
        }
        if started?.isEmpty ?? true {
            let json = SourceRefresh.Result(started: [])
            return session.settings.json ? Report(json: json, status: .nothing) : Self.nothingToRefresh
        }
        var report = Report(status: failures.isEmpty ? .done : .ofFailedFetches(failures.map(\.failure)))
        guard !session.settings.json else { return report }
        for (source, failure) in failures {
            report.note("\(value: "\(source): \(failure.outlook(now: session.system.now))")")
        }
        return report
    }

    /// Writes the result of a refresh, such as `facts: 9,000 items, 12 new`. Failures follow at the end of the command.
    ///
    /// - Returns: Whether standard output still has a reader.
    private func show(_ event: Event, added: Int?, _ json: EncodedJSON, _ session: Session) throws(Failure) -> Bool {
        if session.settings.json { return try session.write(Report(json: json).output) }
        guard event.phase != .failed else { return true }
        let counts = [event.items?.count.map { countText($0, "item") }, added.map { "\(groupedDigits($0)) new" }]
        let known = counts.compactMap { $0 }
        var screen = Screen(layout: session.layout)
        screen.line("\(event.source ?? ""): \(known.isEmpty ? "done" : known.joined(separator: ", "))")
        return try session.write(Array(screen.text.utf8))
    }
}

extension Event {
    fileprivate var failure: SourceFailure {
        error ?? SourceFailure(kind: .init(rawValue: "failing"), message: "", since: at)
    }
}
