import NorrisProtocol
import NorrisTestSupport
import Testing

extension RunningDaemon {
    /// A daemon that fetches facts from a fake upstream.
    ///
    /// - Parameters:
    ///   - facts: further keys of the section, each after a comma.
    ///   - http: the content of that section.
    static func fetching(
        from upstream: FakeUpstream, in folder: TemporaryFolder = TemporaryFolder(), facts: String = "",
        http: String = "timeout: 60s", environment: [String: String] = [:]
    ) throws -> RunningDaemon {
        try RunningDaemon(
            in: folder, configuration: configuration(upstream.baseURL, facts: facts, http: http),
            environment: environment)
    }

    static func configuration(_ baseURL: String, facts: String = "", http: String = "timeout: 60s") -> String {
        "facts: {base_url: '\(baseURL)'\(facts)}\nhttp: {\(http)}\n"
    }

    /// What `server.status` says of a source.
    func source(_ name: String = "facts") throws -> SourceStatus {
        let status: ServerStatus.Result = try LineClient(path: socket).call(ServerStatus.self)
        return try #require(status.sources.first { $0.name == name })
    }

    /// Hears from now on what the sources do.
    func watch() throws -> LineClient {
        let client = try LineClient(path: socket)
        let _: EventSubscribe.Result = try client.call(EventSubscribe.self, #"{"topics":["source"]}"#)
        return client
    }

    /// Waits until a source has been fetched once.
    func waitUntilFetched(_ watch: LineClient, _ name: String = "facts") throws {
        while case let freshness = try source(name).freshness, freshness.fetchedAt == nil {
            try freshness.error?.throwUnlessRetried()
            try watch.waitUntilFinished(name)
        }
    }

    /// Waits until the source fails.
    func waitUntilFailing(_ watch: LineClient) throws {
        while try source().freshness.error == nil { try watch.wait(for: .failed) }
    }

    /// The lines of the log for an event, such as `source.failed`.
    func log(of event: String) -> [Substring] {
        log.split(separator: "\n").filter { $0.contains(" \(event) ") }
    }
}

extension LineClient {
    /// Waits until a run of a source ends well.
    ///
    /// - Throws: why one failed, unless it is retried soon.
    @discardableResult func waitUntilFinished(_ name: String = "facts") throws -> Event {
        while true {
            let event = try receiveEvent()
            guard event.source == name else { continue }
            if event.phase == .finished { return event }
            try event.error?.throwUnlessRetried()
        }
    }
}

extension SourceFailure {
    /// Throws it unless the source is fetched again before a test gives up.
    fileprivate func throwUnlessRetried() throws {
        guard let retryAt, retryAt.seconds > Timestamp.now().seconds + 240 else { return }
        throw LineClient.Failure(description: message)
    }
}
