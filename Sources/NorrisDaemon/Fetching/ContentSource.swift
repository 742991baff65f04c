import Logging
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisText

/// A source of content, as the schedule, the status and the cache see it; created again from each configuration.
protocol ContentSource: Sendable {
    /// The name in `server.status`.
    var name: String { get }
    /// The kind of upstream in `server.status`.
    var kind: String { get }
    /// Whether the configuration enables the source.
    var isEnabled: Bool { get }
    /// The base URL, or the document of a feed.
    var url: String { get }
    var http: Configuration.HTTP { get }
    var context: SourceContext { get }
    var refresh: Duration { get }
    /// Every value in the configuration on which the content depends.
    var settings: [String] { get }
    /// The reason why no request can be sent, whatever the schedule says; nil for a disabled source.
    var unavailableReason: SourceFailure? { get }

    /// Runs once: makes the stored content equal to the upstream's.
    func run(_ run: SourceImport) async throws -> FetchOutcome

    /// Removes the fetched content and its record.
    ///
    /// - Returns: the number of removed items.
    func clear() async throws(StoreError) -> Int
}

extension ContentSource {
    var unavailableReason: SourceFailure? { nil }

    /// When runs begin.
    var policy: SourcePolicy {
        SourcePolicy(
            isEnabled: isEnabled && unavailableReason == nil, refresh: refresh,
            // Digests, because the database must contain neither the upstream's address nor a key.
            settings: String(stableHash(settings.joined(separator: "\n")), radix: 16),
            upstream: String(stableHash(url), radix: 16), host: hostName(of: url))
    }

    var stores: Stores { context.stores }
    var now: Timestamp { context.environment.clock.now }

    /// Runs once, and returns how the run ended.
    func fetch(_ run: SourceImport) async -> FetchOutcome {
        do { return try await self.run(run) } catch {
            if Task.isCancelled { return .cancelled }
            // The event that ended the generation has made the source due, unless the source was removed.
            if let error = error as? StoreError, error.reason == .contentGone { return .cancelled }
            let failure = FetchFailure(error)
            return failure.postponed == nil ? .failed(failure) : .postponed(failure)
        }
    }

    /// A request for a document of this source.
    func request(_ kind: FetchRequest.Kind) -> FetchRequest {
        var request = FetchRequest(kind, url: url)
        request.source = name
        request.timeout = Int(http.timeout / .milliseconds(1))
        (request.maximumBody, request.userAgent, request.proxy) = (http.maximumBody, http.userAgent, http.proxy)
        return request
    }

    /// The record of the last fetch; nil if the last fetch had other settings, because its validators do not apply.
    var lastFetch: FetchRecord? {
        get async {
            guard var record = await stores.records.fetch(of: name), record.settings == policy.settings else {
                return nil
            }
            for (part, known) in record.parts { record.parts[part]?.checkedAt = known.checkedAt.past(now) }
            return record
        }
    }

    /// The record of a fetch with the current settings.
    ///
    /// - Parameter head: of the document, or of all documents combined.
    func newRecord(
        _ head: FetchHead = FetchHead(), parts: [String: PartRecord] = [:], categories: [String] = [],
        title: String? = nil, move: FetchRecord.Move? = nil
    ) -> FetchRecord {
        FetchRecord(
            settings: policy.settings, fetchedAt: now.advanced(by: .seconds(-head.age)), isStale: head.isStale,
            parts: parts, categories: categories, host: head.reply?.host, title: title, move: move)
    }
}

/// The host at which the fetches of an address take turns; nil for a program.
private func hostName(of address: String) -> String? {
    guard isWebAddress(address) else { return nil }
    // A host that is no ASCII stays percent-encoded.
    return HTTPURL(address)?.host ?? address.split(separator: "/").dropFirst().first.map(String.init)
}

extension SourceContext {
    /// Fetches a document by norris-fetch in the turn of its host;
    /// see ``FetchProcess/fetch(_:_:from:within:isAwaited:)``.
    func fetch<Item: FetchedItem>(
        _ request: FetchRequest, _: Item.Type, from command: [String]? = nil, within limit: Duration? = nil,
        isAwaited: Bool = false
    ) async throws(FetchFailure) -> (head: FetchHead, items: [Item]) {
        let fetch = { () async throws(FetchFailure) -> (head: FetchHead, items: [Item]) in
            try await environment.fetch.fetch(request, Item.self, from: command, within: limit, isAwaited: isAwaited)
        }
        // Only searches have a limit.
        guard command == nil, limit == nil, let host = hostName(of: request.url) else { return try await fetch() }
        // Another host may answer for a page than for the feed of the source.
        return try await prefetcher.inTurn(of: request.feed == nil ? request.source : "", at: host, fetch)
    }
}

extension FetchRequest {
    /// The same request, unless the document is the one of a record.
    func unless(_ part: PartRecord?) -> FetchRequest {
        var request = self
        (request.etag, request.lastModified) = (part?.etag, part?.lastModified)
        return request
    }
}

extension PartRecord {
    /// The record of a document received at `now`.
    init(_ head: FetchHead, at now: Timestamp) {
        self.init(etag: head.etag, lastModified: head.lastModified, checkedAt: now)
    }

    var hasValidators: Bool { etag != nil || lastModified != nil }
}

extension FetchFailure {
    /// The failure of a fetch, at the upstream or in the store, as the schedule counts it.
    init(_ error: any Error) {
        // Not repeated soon, because each run would ask the upstream. The source is due when the cache can be written.
        self =
            error as? FetchFailure
            ?? FetchFailure(
                kind: .storage, message: "The fetched content cannot be stored. See why: norrisctl status")
    }

    /// A well-formed reply that cannot be used; a retry would not help.
    static func unusable(_ message: String) -> FetchFailure { FetchFailure(kind: .decode, message: message) }
}
