import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisText
import NorrisUpstream

/// The facts of api.chucknorris.io: how the source `facts` is fetched and searched.
struct FactSource: ContentSource {
    static let name = "facts"

    /// Queries after the first are asked again after so many refresh intervals, where the first brings no news. The
    /// first one finds nearly all there is, so a run without news is one request.
    private static let lookAgainAfter = 7.0
    /// As many facts as a run may bring, and a search may store.
    private static let maximumFacts = 100_000
    private static let maximumFound = 1_000

    let configuration: Configuration.Facts
    let http: HTTPSettings
    let store: FactStore
    let records: FetchRecords
    let knownCategories: KnownCategories
    let logger: Logger

    var name: String { FactSource.name }
    var kind: String { "chucknorris" }
    var isEnabled: Bool { configuration.enabled }

    var policy: SourcePolicy {
        SourcePolicy(isEnabled: configuration.enabled, refresh: configuration.refresh, settings: settings)
    }

    private var settings: String { settingsDigest([configuration.baseURL] + configuration.queries) }

    func clear() throws(StoreError) -> Int {
        let removed = try store.clearUpstream()
        store.wantFortunes()
        return removed
    }

    // MARK: A run

    func fetch() async -> FetchOutcome {
        await FetchOutcome { () async throws(FetchFailure) in
            try await withUpstream { upstream throws(FetchFailure) in
                try await run(upstream)
            }
        }
    }

    private func run(_ upstream: Chucknorris) async throws(FetchFailure) -> FetchOutcome {
        var news = FactUnion()
        let last = records.record(of: FactSource.name)
        if let known = last, known.settings == settings,
            configuration.queries.allSatisfy({ known.parts[$0]?.hasValidators == true }),
            let outcome = try await lookForNews(upstream, known, &news)
        {
            return outcome
        }
        for query in configuration.queries where news.parts[query] == nil {
            try news.add(await search(upstream, query), of: query)
        }
        let categories = await categories(upstream) ?? last?.categories ?? []
        return try await withTaskExecutorPreference(Prefetcher.background) { [news] () throws(FetchFailure) in
            try store(news, categories: categories)
        }
    }

    /// Asks for changes only.
    ///
    /// - Parameter news: gets the reply that has changes.
    /// - Returns: nil where there are, or may be, some: then all is fetched.
    private func lookForNews(
        _ upstream: Chucknorris, _ known: FetchRecord, _ news: inout FactUnion
    ) async throws(FetchFailure) -> FetchOutcome? {
        var record = known
        var notBefore = Duration.zero
        for (index, query) in configuration.queries.enumerated() {
            guard let part = known.parts[query] else { return nil }
            let age = part.checkedAt.duration(to: .now())
            // Of the future only where the clock was set back: nobody knows how long ago that was.
            let isDue = age < .zero || age > configuration.refresh * FactSource.lookAgainAfter
            guard index == 0 || isDue else { continue }
            switch try await search(upstream, query, part.validators) {
            case .unchanged(let info):
                // A 304 may leave the validators out; then the old ones hold.
                let confirmed = PartRecord(info.validators)
                record.parts[query] = confirmed.hasValidators ? confirmed : PartRecord(part.validators)
                notBefore = max(notBefore, info.notBefore ?? .zero)
            case let changed:
                try news.add(changed, of: query)
                return nil
            }
        }
        record.fetchedAt = .now()
        return records.renew(record, for: FactSource.name)
            ? .fetched(added: 0, notBefore: notBefore) : .contentGone
    }

    private func search(
        _ upstream: Chucknorris, _ query: String, _ validators: Validators = Validators()
    ) async throws(FetchFailure) -> Fetched<FactBatch> {
        do throws(UpstreamError) {
            return try await upstream.search(query, validators: validators)
        } catch {
            throw FetchFailure(error)
        }
    }

    /// The names of the upstream's categories; nil where it does not tell: facts without them are facts as well.
    private func categories(_ upstream: Chucknorris) async -> [String]? {
        guard case .changed(let names, _)? = try? await upstream.categories() else { return nil }
        return names
    }

    private func store(_ news: FactUnion, categories: [String]) throws(FetchFailure) -> FetchOutcome {
        if news.facts.isEmpty, !configuration.queries.isEmpty, !store.isLocal {
            throw .unusable("The upstream answered without a single fact; those stored stay.")
        }
        let record = FetchRecord(settings: settings, fetchedAt: .now(), parts: news.parts, categories: categories)
        do throws(StoreError) {
            let changes = try store.replaceUpstream(news.facts, isComplete: news.isComplete, fetch: record)
            knownCategories.learn(categories)
            store.wantFortunes()
            logger.info(
                "facts.fetched",
                metadata: [
                    "added": "\(changes.added)", "changed": "\(changes.changed)", "removed": "\(changes.removed)",
                    "skipped": "\(news.skipped)", "categories_dropped": "\(changes.droppedCategories)",
                    "total": "\(changes.total)",
                ]
            )
            return .fetched(added: changes.added, notBefore: news.notBefore)
        } catch {
            throw FetchFailure(error)
        }
    }

    // MARK: A search

    /// Takes the facts that the upstream finds for a text into the store.
    ///
    /// - Returns: false where the upstream does not take this query, which says nothing of any other.
    func find(_ query: FactQuery, within time: Duration) async throws(FetchFailure) -> Bool {
        let fetched = try await withUpstream { upstream throws(FetchFailure) -> Fetched<FactBatch>? in
            do throws(UpstreamError) {
                return try await upstream.search(query.text, timeout: time)
            } catch {
                if error.kind == .http(status: 400) { return nil }
                throw FetchFailure(error)
            }
        }
        guard case .changed(let batch, _)? = fetched else { return fetched != nil }
        // To the upstream % and _ stand for anything; what they found beyond the text itself is left there.
        let found = batch.facts.lazy.filter(query.matches).prefix(FactSource.maximumFound)
        do throws(StoreError) {
            try store.addFound(Array(found))
            return true
        } catch {
            throw FetchFailure(error)
        }
    }

    /// Connections live for one run or search: a daemon that asks once a day keeps none.
    private func withUpstream<Value: Sendable>(
        _ body: (Chucknorris) async throws(FetchFailure) -> Value
    ) async throws(FetchFailure) -> Value {
        let transport = CurlTransport(baseURL: configuration.baseURL, settings: http, logger: logger)
        defer { transport.shutdown() }
        let upstream = Chucknorris(
            baseURL: configuration.baseURL, transport: transport, timeout: http.timeout, decodingOn: Prefetcher.decoding
        )
        return try await body(upstream)
    }

    /// The facts of several replies, each once, and what is to be known of the replies.
    private struct FactUnion {
        private(set) var facts: [Fact] = []
        private(set) var parts: [String: PartRecord] = [:]
        /// How many items could not be used.
        private(set) var skipped = 0
        private(set) var notBefore = Duration.zero
        private var ids: Set<String> = []

        /// Whether every item of every reply could be used: only then does a fact's absence mean something.
        var isComplete: Bool { skipped == 0 }

        mutating func add(_ fetched: Fetched<FactBatch>, of query: String) throws(FetchFailure) {
            // The transport takes a 304 for an answer only where a change was asked for.
            guard case .changed(let batch, let info) = fetched else { return }
            parts[query] = PartRecord(info.validators)
            skipped += batch.skipped
            notBefore = max(notBefore, info.notBefore ?? .zero)
            for fact in batch.facts where ids.insert(fact.id).inserted {
                facts.append(fact)
            }
            if facts.count > FactSource.maximumFacts {
                throw .unusable("The upstream answered with more than \(FactSource.maximumFacts) facts.")
            }
        }
    }
}
