package import NorrisFetchProtocol
package import NorrisProtocol

/// The part of a source's configuration that affects its schedule.
package struct SourcePolicy: Equatable, Sendable {
    package var isEnabled: Bool
    /// One second or more.
    package var refresh: Duration
    /// Represents the settings that the content depends on, such as addresses and queries. Content that was fetched
    /// with other settings is no content of this source.
    package var settings: String
    /// Identifies the URL. The failures of another URL do not delay a run.
    package var upstream: String
    /// The host at which the fetches take turns; nil for a program.
    package var host: String?

    package init(
        isEnabled: Bool, refresh: Duration, settings: String, upstream: String = "", host: String? = nil
    ) {
        (self.isEnabled, self.refresh, self.settings) = (isEnabled, refresh, settings)
        (self.upstream, self.host) = (upstream, host)
    }

    /// The age from which content is stale.
    package var staleAfter: Duration { refresh * 1.5 }
}

/// How a run ended.
package enum FetchOutcome: Equatable, Sendable {
    /// The stored content equals the upstream's.
    ///
    /// - Parameters:
    ///   - added: the number of new items; 0 if the upstream had no news.
    ///   - newest: some of the new items, newest first.
    ///   - head: of all documents of the run.
    case fetched(added: Int, newest: [Event.NewItem] = [], FetchHead = FetchHead())
    case failed(FetchFailure)
    /// The run, or the rest of it, waits as long as ``FetchFailure/postponed`` says; not a failure of the upstream.
    case postponed(FetchFailure)
    /// The daemon stops, or the content was removed meanwhile.
    case cancelled
}

/// The reason why a source is not refreshed.
package enum RefreshRefusal: Error, Equatable, Sendable {
    case unknown
    case disabled
    /// The upstream answered 410, so that only an administrator asks again.
    case gone
    /// The host asked for a pause.
    case putOff(until: Timestamp)
    /// The requests of this hour are used up.
    case quotaUsed(until: Timestamp)
    /// The source was refreshed less than ``SourceSchedule/refreshPause`` ago.
    case tooSoon(until: Timestamp)
}
