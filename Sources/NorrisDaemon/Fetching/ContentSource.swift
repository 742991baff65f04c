import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisUpstream

/// A source of content as the schedule, the status and the cache see it: built anew from each configuration.
protocol ContentSource: Sendable {
    /// As `server.status` names it.
    var name: String { get }
    /// What speaks there, as `server.status` says it.
    var kind: String { get }
    /// Whether the configuration has it fetched.
    var isEnabled: Bool { get }
    var policy: SourcePolicy { get }
    /// Why it cannot be asked at all, whatever its schedule says.
    var impediment: SourceFailure? { get }
    /// The budget of requests, where it has one; answered from memory.
    var quota: SourceStatus.Quota? { get }
    /// That nobody's question can be passed on, for the budget is used up; answered from memory.
    var exhaustion: SourceFailure? { get }
    /// Whether users' questions are passed on also while the source is fresh as a whole.
    var isAskedWhileFresh: Bool { get }
    /// When a run may ask again, where its share of the budget is used up.
    var budgetReturnsAt: Timestamp? { get }

    /// Brings what is stored to where the upstream is.
    func fetch() async -> FetchOutcome

    /// Removes what was fetched, and forgets that it was; may block.
    ///
    /// - Returns: how many items went.
    func clear() async throws(StoreError) -> Int
}

extension ContentSource {
    var impediment: SourceFailure? { nil }
    var quota: SourceStatus.Quota? { nil }
    var exhaustion: SourceFailure? { nil }
    var isAskedWhileFresh: Bool { false }
    var budgetReturnsAt: Timestamp? { nil }
}

extension FetchOutcome {
    /// The outcome of a run that throws what goes wrong.
    init(_ run: () async throws(FetchFailure) -> FetchOutcome) async {
        do throws(FetchFailure) {
            self = try await run()
        } catch {
            self = Task.isCancelled ? .cancelled : .failed(error)
        }
    }
}

extension FetchFailure {
    /// An answer that is well-formed but of no use; asking again soon would not help.
    static func unusable(_ message: String) -> FetchFailure {
        FetchFailure(kind: .decode, message: message, isRetryable: false)
    }
}

extension PartRecord {
    /// Of a reply that has just come.
    init(_ validators: Validators) {
        self.init(etag: validators.etag, lastModified: validators.lastModified, checkedAt: .now())
    }

    var validators: Validators { Validators(etag: etag, lastModified: lastModified) }

    var hasValidators: Bool { etag != nil || lastModified != nil }
}

/// Settings on which content depends, as what is kept in a database: it need not say where content is from.
func settingsDigest(_ settings: [String]) -> String {
    String(stableHash(settings.joined(separator: "\n")), radix: 16)
}
