import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisThreads
import NorrisUpstream
import Synchronization

/// The source `facts`: the facts of api.chucknorris.io.
struct FactSource: ContentSource {
    static let name = SourceStatus.facts

    /// The refresh intervals after which the queries after the first are fetched again, if the first query has no news.
    /// The first query finds nearly all facts, so a run without news is one request.
    private static let otherQueriesAfter = 7.0
    /// The maximum number of facts of a run.
    private static let maximumFacts = 200_000

    let configuration: Configuration.Facts
    let http: HTTPSettings
    let context: SourceContext

    var name: String { FactSource.name }
    var kind: String { "chucknorris" }
    var isEnabled: Bool { configuration.enabled }
    var url: String { configuration.baseURL }
    var refresh: Duration { configuration.refresh }
    var settings: [String] { [configuration.baseURL] + configuration.queries }

    private var upstream: Chucknorris {
        Chucknorris(baseURL: url, transport: transport(), timeout: http.timeout, decodingOn: BackgroundThreads.decoding)
    }

    func clear() async throws(StoreError) -> Int { try await stores.facts.clearUpstream() }

    // MARK: A run

    func fetch() async -> FetchOutcome {
        do { return try await fetch(from: upstream) } catch { return outcome(of: error) }
    }

    private func fetch(from upstream: Chucknorris) async throws -> FetchOutcome {
        var news = FactUnion()
        if let last = await lastFetch, configuration.queries.allSatisfy({ last.parts[$0]?.hasValidators == true }),
            let outcome = try await fetchChanges(upstream, since: last, &news)
        {
            return outcome
        }
        for query in configuration.queries where news.parts[query] == nil {
            try news.add(await upstream.search(query), of: query, at: now)
        }
        // Facts are stored without their upstream's categories if the upstream does not list them.
        var categories = await stores.records.fetch(of: name)?.categories ?? []
        if case .changed(let names, _)? = try? await upstream.categories() { categories = names }
        return try await store(news, categories: categories)
    }

    /// Sends conditional requests only.
    ///
    /// - Parameter news: receives the reply that has changes.
    /// - Returns: nil if there are or may be changes; then everything is fetched.
    private func fetchChanges(
        _ upstream: Chucknorris, since last: FetchRecord, _ news: inout FactUnion
    ) async throws -> FetchOutcome? {
        var record = last
        var combined = FetchInfo(notBefore: .zero)
        for (index, query) in configuration.queries.enumerated() {
            guard let part = last.parts[query] else { return nil }
            let isDue = part.checkedAt.duration(to: now) > configuration.refresh * FactSource.otherQueriesAfter
            guard index == 0 || isDue else { continue }
            switch try await upstream.search(query, validators: part.validators) {
            case .unchanged(let info):
                // A 304 may omit the validators; then the old validators stay valid.
                let confirmed = PartRecord(info.validators, at: now)
                record.parts[query] = confirmed.hasValidators ? confirmed : PartRecord(part.validators, at: now)
                combined.combine(with: info)
            case let changed:
                try news.add(changed, of: query, at: now)
                return nil
            }
        }
        record = newRecord(combined, parts: record.parts, categories: record.categories)
        guard await stores.records.renew(record, for: name) else { return .contentGone }
        return FetchOutcome(added: 0, combined)
    }

    private func store(_ news: FactUnion, categories: [String]) async throws -> FetchOutcome {
        if news.facts.isEmpty, !configuration.queries.isEmpty, stores.facts.catalogue.upstreamCount > 0 {
            throw FetchFailure.unusable("The upstream returned no facts; the stored ones stay.")
        }
        let changes = try await stores.facts.replaceUpstream(
            // A fact is removed upstream only if every item of every reply could be used and none is the fact.
            news.facts, isComplete: news.skipped == 0,
            fetch: newRecord(news.info, parts: news.parts, categories: categories))
        context.knownCategories.learn(categories)
        context.logger.info(
            "facts.fetched",
            metadata: [
                "added": "\(changes.added)", "changed": "\(changes.changed)", "removed": "\(changes.removed)",
                "skipped": "\(news.skipped)", "categories_dropped": "\(changes.droppedCategories)",
                "total": "\(stores.facts.catalogue.upstreamCount)",
            ])
        return FetchOutcome(added: changes.added, news.info)
    }

    /// The distinct facts of several replies, and the records of the replies.
    private struct FactUnion {
        private(set) var facts: [Fact] = []
        private(set) var parts: [String: PartRecord] = [:]
        /// The number of items that could not be used.
        private(set) var skipped = 0
        private(set) var info = FetchInfo(notBefore: .zero)
        private var ids: Set<String> = []

        mutating func add(_ fetched: Fetched<FactBatch>, of query: String, at now: Timestamp) throws(FetchFailure) {
            // The transport accepts a 304 only as a reply to a conditional request.
            guard case .changed(let batch, let info) = fetched else { return }
            parts[query] = PartRecord(info.validators, at: now)
            skipped += batch.skipped
            self.info.combine(with: info)
            facts += batch.facts.filter { ids.insert($0.id).inserted }
            if facts.count > FactSource.maximumFacts {
                throw .unusable("The upstream answered with more than \(FactSource.maximumFacts) facts.")
            }
        }
    }
}

/// The category names of api.chucknorris.io, with or without stored facts.
final class KnownCategories: Sendable {
    /// The names that have existed for years; `/jokes/categories` may list more.
    private static let lasting: Set<String> = [
        "animal", "career", "celebrity", "dev", "explicit", "fashion", "food", "history",
        "money", "movie", "music", "political", "religion", "science", "sport", "travel",
    ]

    private let listed = Mutex<Set<String>>([])

    func contains(_ name: String) -> Bool {
        KnownCategories.lasting.contains(name) || listed.withLock { $0.contains(name) }
    }

    /// Replaces the listed names; an empty list changes nothing.
    func learn(_ names: [String]) {
        if !names.isEmpty { listed.withLock { $0 = Set(names) } }
    }
}
