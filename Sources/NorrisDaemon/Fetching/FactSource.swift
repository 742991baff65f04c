import Logging
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import Synchronization

/// The source `facts`: the facts of api.chucknorris.io.
struct FactSource: ContentSource {
    static let name = SourceStatus.facts

    /// The refresh intervals after which the queries after the first are fetched again, if the first query has no news.
    /// The first query finds nearly all facts, so a run without news is one request.
    private static let otherQueriesAfter = 7.0

    let configuration: Configuration.Facts
    let http: Configuration.HTTP
    let context: SourceContext

    var name: String { FactSource.name }
    var kind: String { "chucknorris" }
    var isEnabled: Bool { configuration.enabled }
    var url: String { configuration.baseURL }
    var refresh: Duration { configuration.refresh }
    var settings: [String] { [configuration.baseURL] + configuration.queries }

    func clear() async throws(StoreError) -> Int { try await stores.facts.clearUpstream() }

    func run(_ run: SourceImport) async throws -> FetchOutcome {
        var news = FactUnion()
        if let last = await lastFetch, configuration.queries.allSatisfy({ last.parts[$0]?.hasValidators == true }),
            let outcome = try await fetchChanges(since: last, &news, run)
        {
            return outcome
        }
        for query in configuration.queries where news.parts[query] == nil {
            try news.add(await facts(query), of: query, at: now)
        }
        // Facts are stored without their upstream's categories if the upstream does not list them.
        var categories = await stores.records.fetch(of: name)?.categories ?? []
        if let (head, _) = try? await context.fetch(request(.categories), Fact.self) {
            categories = head.categories.filter(Fact.isCategoryName)
        }
        return try await store(news, categories: categories, run)
    }

    private func facts(
        _ query: String, unless part: PartRecord? = nil
    ) async throws(FetchFailure) -> (FetchHead, [Fact]) {
        var request = request(.facts).unless(part)
        (request.query, request.asksPastCaches) = (query, true)
        return try await context.fetch(request, Fact.self)
    }

    /// Sends conditional requests only.
    ///
    /// - Parameter news: receives the reply that has changes.
    /// - Returns: nil if there are or may be changes; then everything is fetched.
    private func fetchChanges(
        since last: FetchRecord, _ news: inout FactUnion, _ run: SourceImport
    ) async throws -> FetchOutcome? {
        var record = last
        var combined = FetchHead()
        for (index, query) in configuration.queries.enumerated() {
            guard let part = last.parts[query] else { return nil }
            let isDue = part.checkedAt.duration(to: now) > configuration.refresh * FactSource.otherQueriesAfter
            guard index == 0 || isDue else { continue }
            let (head, facts) = try await facts(query, unless: part)
            guard head.isUnchanged else {
                try news.add((head, facts), of: query, at: now)
                return nil
            }
            record.parts[query] = PartRecord(head, at: now)
            combined.combine(with: head)
        }
        record = newRecord(combined, parts: record.parts, categories: record.categories)
        try await run.confirm(record)
        return .fetched(added: 0, combined)
    }

    private func store(
        _ news: FactUnion, categories: [String], _ run: SourceImport
    ) async throws -> FetchOutcome {
        if news.facts.isEmpty, !configuration.queries.isEmpty, stores.facts.catalogue.upstreamCount > 0 {
            throw FetchFailure.unusable("The upstream returned no facts; the stored ones stay.")
        }
        let changes = try await stores.facts.replaceUpstream(
            // A fact is removed upstream only if every item of every reply could be used and none is the fact.
            news.facts, isComplete: news.head.skipped == 0,
            fetch: newRecord(news.head, parts: news.parts, categories: categories), in: run)
        context.knownCategories.learn(categories)
        context.logger.info(
            "facts.fetched",
            metadata: [
                "added": "\(changes.added)", "changed": "\(changes.changed)", "removed": "\(changes.removed)",
                "skipped": "\(news.head.skipped)", "categories_dropped": "\(changes.droppedCategories)",
                "total": "\(stores.facts.catalogue.upstreamCount)",
            ])
        return .fetched(added: changes.added, news.head)
    }

    /// The distinct facts of several replies, and the records of the replies.
    private struct FactUnion {
        private(set) var facts: [Fact] = []
        private(set) var parts: [String: PartRecord] = [:]
        /// Of all replies.
        private(set) var head = FetchHead()
        private var ids: Set<String> = []

        mutating func add(
            _ fetched: (head: FetchHead, facts: [Fact]), of query: String, at now: Timestamp
        ) throws(FetchFailure) {
            parts[query] = PartRecord(fetched.head, at: now)
            head.combine(with: fetched.head)
            facts += fetched.facts.filter { ids.insert($0.id).inserted }
            if facts.count > Fact.maximumCount {
                throw .unusable("The upstream answered with more than \(Fact.maximumCount) facts.")
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
