import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

extension RunningDaemon {
    /// Starts a daemon that fetches facts from a fake upstream.
    static func fetching(
        from upstream: FakeUpstream, in folder: TemporaryFolder = TemporaryFolder(),
        environment: [String: String] = [:]
    ) throws -> RunningDaemon {
        try RunningDaemon(
            in: folder, configuration: "facts: {base_url: '\(upstream.baseURL)'}\nhttp: {timeout: 60s, host_gap: 0s}\n",
            environment: environment)
    }

    /// Returns the status of a source from `server.status`.
    func source(_ name: String = "facts") throws -> SourceStatus {
        let status: ServerStatus.Result = try LineClient(path: socket).call(ServerStatus.self)
        return try #require(status.sources.first { $0.name == name })
    }

    /// Subscribes to the events of the sources.
    func watch() throws -> LineClient {
        let client = try LineClient(path: socket)
        let _: EventSubscribe.Result = try client.call(EventSubscribe.self, #"{"topics":["source"]}"#)
        return client
    }

    func waitUntilFetched(_ watch: LineClient, _ name: String = "facts") throws {
        while case let freshness = try source(name).freshness, freshness.fetchedAt == nil {
            try freshness.error?.throwUnlessRetried()
            try watch.waitUntilFinished(name)
        }
    }

    func waitUntilFailing(_ watch: LineClient) throws {
        while try source().freshness.error == nil { try watch.wait(for: .failed) }
    }

    /// Returns the log lines of an event, such as `source.failed`, when there are enough of them, because the log is
    /// written after the event.
    func log(of event: String, atLeast count: Int = 0) throws -> [Substring] {
        try waitForLog { log in log.split(separator: "\n").count { $0.contains(" \(event) ") } >= count }
        return log.split(separator: "\n").filter { $0.contains(" \(event) ") }
    }
}

extension LineClient {
    /// Waits until a run of a source succeeds.
    ///
    /// - Throws: the failure of a run, unless the daemon retries soon.
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
    /// Throws the message unless the daemon fetches the source again in the next 240 seconds.
    fileprivate func throwUnlessRetried() throws {
        guard let retryAt, retryAt.seconds > Timestamp.now().seconds + 240 else { return }
        throw LineClient.Failure(description: message)
    }
}

extension Int32 {
    /// The exit status of a command whose fetches have failed (sysexits.h).
    static let failedFetch = EX_TEMPFAIL
}
