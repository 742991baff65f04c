import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisText
import Synchronization

/// The methods `fact.*`.
///
/// A class, because a request would copy the properties of a structure, one reference at a time.
final class FactHandlers: Sendable {
    private let sources: ConfiguredSources
    private let reports: SourceReports
    private let prefetcher: Prefetcher
    private let knownCategories: KnownCategories
    private let stores: Stores
    private let store: FactStore
    private let searches = Coalescer<String, Bool>()
    private let encodedFreshness: EncodedFreshness

    init(
        sources: ConfiguredSources, reports: SourceReports, prefetcher: Prefetcher, knownCategories: KnownCategories,
        stores: Stores
    ) {
        (self.sources, self.reports, self.prefetcher) = (sources, reports, prefetcher)
        (self.knownCategories, self.stores, store) = (knownCategories, stores, stores.facts)
        encodedFreshness = EncodedFreshness(reports: reports)
    }

    var all: [Handler] {
        [
            Handler(FactRandom.self, reading: random), Handler(FactToday.self, today),
            Handler(FactGet.self, reading: get), Handler(FactSearch.self, deferred: search),
            Handler(FactCategories.self, inMemory: categories),
        ]
    }

    @Sendable private func random(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        if call.arguments.isEmpty {
            return serve(1, call.uid, ShuffleFilter(source: sources.unfilteredScope), nil, into: &json)
        }
        let parameters = try FactRandom.Parameters(call.arguments)
        try check(parameters.categories, allowsExplicit: parameters.allowExplicit)
        let filter = ShuffleFilter(
            categories: parameters.categories,
            source: parameters.source ?? (parameters.categories.isEmpty ? sources.unfilteredScope : .all),
            allowsExplicit: parameters.allowExplicit, maxLength: parameters.maxLength)
        let name = try parameters.name.map(usableName)
        return serve(parameters.count, call.uid, filter, name, into: &json)
    }

    /// - Parameter name: the name that replaces Chuck Norris.
    @inline(__always) private func serve(
        _ count: Int, _ uid: UInt32, _ filter: ShuffleFilter, _ name: String?, into json: inout JSONWriter
    ) -> Deferred? {
        let mark = json.mark()
        json.literal(FactRandom.resultOpening)
        let draw = store.next(count, uid: uid, filter: filter, name: name) { fact in write(fact.json, name, to: &json) }
        switch draw {
        case .served(let count, let isLocal):
            encodedFreshness.endFacts(isEmpty: count == 0, isLocal: isLocal, in: &json)
            return nil
        case .missing:
            json.rewind(to: mark)
            return .disk { () async throws(ResponseError) -> [UInt8] in
                let (facts, isLocal) = try await self.store.nextReading(count, uid: uid, filter: filter, name: name)
                var json = JSONWriter()
                json.literal(FactRandom.resultOpening)
                for fact in facts { fact.withUnsafeBytes { self.write($0, name, to: &json) } }
                self.encodedFreshness.endFacts(isEmpty: facts.isEmpty, isLocal: isLocal, in: &json)
                return json.bytes
            }
        }
    }

    /// - Parameter name: the name that replaces Chuck Norris.
    private func write(_ fact: UnsafeRawBufferPointer, _ name: String?, to json: inout JSONWriter) {
        if let name, var fact = try? Fact(json: JSON.parse(Array(fact))) {
            fact.text = personalized(fact.text, for: name)
            fact.encode(to: &json)
        } else {
            json.raw(fact)
        }
    }

    @Sendable private func today(
        _ parameters: FactToday.Parameters, _ call: Call, _ json: inout JSONWriter
    ) throws(ResponseError) -> Deferred? {
        let today = LocalDay.today
        let day = parameters.date ?? today
        if let fact = store.factOfTheDayInMemory(day) {
            store.noteServed(fact.id, .fact, uid: call.peer.uid)
            result(of: fact).encode(to: &json)
            return nil
        }
        return .disk { () async throws(ResponseError) -> FactToday.Result in
            guard let fact = await self.store.factOfTheDay(day, today: today, source: self.sources.unfilteredScope)
            else {
                let error = self.freshness(isEmpty: true).error
                throw .nothingCached("There are no facts.", source: FactSource.name, lastError: error)
            }
            self.store.noteServed(fact.id, .fact, uid: call.peer.uid)
            return self.result(of: fact)
        }
    }

    private func result(of fact: Fact) -> FactToday.Result {
        FactToday.Result(fact: fact, freshness: freshness(isEmpty: false, isLocal: fact.isLocal))
    }

    @Sendable private func get(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let parameters = try FactGet.Parameters(call.arguments)
        let (id, name) = (parameters.id, try parameters.name.map(usableName))
        let isServed = store.serveFactInMemory(id: id, uid: call.uid, name: name) { fact in
            json.literal(FactGet.Result.opening)
            write(fact.json, name, to: &json)
            json.join("}", endsValue: true)
        }
        if isServed { return nil }
        return .disk { () async throws(ResponseError) -> FactGet.Result in
            var fact = try await self.store.presentable(id: id)
            self.store.noteServed(id, .fact, uid: call.peer.uid, name: name)
            if let name { fact.text = personalized(fact.text, for: name) }
            return FactGet.Result(fact: fact)
        }
    }

    @Sendable private func search(_ parameters: FactSearch.Parameters, _ call: Call) throws(ResponseError) -> Deferred {
        try check(parameters.categories, allowsExplicit: false)
        let query = try FactQuery(
            text: parameters.query, categories: parameters.categories, source: parameters.source ?? .all)
        // The closure captures only these values, because the other parameters may be long.
        let (request, isNumbered) = (parameters.page, parameters.numbered)
        // Later pages follow from the first page's matches.
        let mayFetch = request.cursor == nil && !parameters.offline && prefetcher.maySearch(FactSource.name)
        return .deferred(mayFetch: mayFetch) { () async throws(ResponseError) -> [UInt8] in
            if request.cursor == nil {
                await self.stores.recents.record(uid: call.peer.uid, kind: .fact, query: query.text)
            }
            let isFromUpstream = mayFetch ? await self.searchUpstream(query) : false
            var page = try await self.store.search(query, for: call.uid, cursor: request.cursor, limit: request.limit)
            page.freshness = self.freshness(
                isEmpty: page.items.isEmpty, isLocal: page.items.allSatisfy(\.isLocal), isFromUpstream: isFromUpstream)
            self.stores.noteServed(page, .fact, ids: \.id, request, isNumbered: isNumbered, uid: call.uid)
            return page.jsonBytes
        }
    }

    /// Passes a search on to the upstream, which stores its matches. Equal searches at one time are sent once.
    ///
    /// - Returns: whether the upstream answered.
    private func searchUpstream(_ query: FactQuery) async -> Bool {
        // The upstream refuses other lengths, and counts UTF-16 units.
        guard (3...120).contains(query.text.utf16.count) else { return false }
        if let answered = await searches.join(query.text) { return answered }
        let source = sources.current.facts
        let answered = await prefetcher.search(source.name) { time throws(FetchFailure) in
            try await source.search(query, within: time) ? true : nil
        }
        searches.finish(query.text, answered ?? false)
        return answered ?? false
    }

    @Sendable private func categories(_ parameters: FactCategories.Parameters, _ call: Call) -> FactCategories.Result {
        let items = store.categories(of: parameters.source ?? .all)
        return Items(items: items, freshness: freshness(isEmpty: items.isEmpty, isLocal: store.isLocal))
    }

    private func check(_ names: [String], allowsExplicit: Bool) throws(ResponseError) {
        for name in names {
            if name == Fact.explicitCategory, !allowsExplicit {
                throw .notFound("The category explicit is hidden.", hint: "Use --explicit to see it.")
            }
            guard knownCategories.contains(name) || !name.isEmpty && store.hasCategory(name) else {
                throw .notFound(
                    "There is no category \(name.quotedForMessage).", hint: "List the categories: norrisctl categories")
            }
        }
    }

    /// A name that can be part of a text.
    private func usableName(_ name: String) throws(ResponseError) -> String {
        let name = sanitizedLine(name)
        guard !name.isEmpty else {
            let parameter = "\(FactRandom.nameParameter)"
            throw .invalidParams("\(parameter) must hold a visible character.", parameter: parameter)
        }
        return name
    }

    private func freshness(isEmpty: Bool, isLocal: Bool = false, isFromUpstream: Bool? = nil) -> Freshness {
        reports.freshness(of: FactSource.name, isEmpty: isEmpty, isLocal: isLocal, isFromUpstream: isFromUpstream)
    }
}

/// The freshness of facts as JSON, encoded once a second and after a change of a schedule.
private final class EncodedFreshness: Sendable {
    private struct Inputs: Equatable {
        let second: Timestamp
        let version: Int
        let isEmpty, isLocal: Bool
    }

    private let reports: SourceReports
    private let encoded = Mutex<(inputs: Inputs?, bytes: [UInt8])>((nil, []))

    init(reports: SourceReports) { self.reports = reports }

    /// Writes the end of a result: the end of the list of facts, and the freshness.
    func endFacts(isEmpty: Bool, isLocal: Bool, in json: inout JSONWriter) {
        let inputs = Inputs(
            second: reports.clock.now, version: reports.prefetcher.version, isEmpty: isEmpty, isLocal: isLocal)
        encoded.withLock { encoded in
            if encoded.inputs != inputs {
                let freshness = reports.freshness(of: FactSource.name, isEmpty: isEmpty, isLocal: isLocal)
                let bytes = "\(FactRandom.resultFreshness)".utf8 + freshness.jsonBytes + "}".utf8
                encoded = (inputs, Array(bytes))
            }
            json.join(encoded.bytes)
        }
    }
}

extension FactStore {
    /// A fact that may be served by its id.
    func presentable(id: String) async throws(ResponseError) -> Fact {
        guard let fact = try await fact(id: id) else {
            throw .notFound("There is no fact with the id \(id.quotedForMessage).")
        }
        if fact.isExplicit {
            throw .notFound(
                "The fact \(id.quotedForMessage) is explicit.", hint: "Show explicit facts: norrisctl fact --explicit")
        }
        return fact
    }
}

/// Replaces `Chuck Norris` in any case by a name. Half of the name, or the name with a newline, is not replaced.
func personalized(_ text: String, for name: String) -> String {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    let (bytes, replaced) = (Array(text.utf8), Array("chuck norris".utf8))
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
        var length = 0
        while length < replaced.count, index + length < bytes.count {
            let byte = bytes[index + length]
            guard (capitals.contains(byte) ? byte + 32 : byte) == replaced[length] else { break }
            length += 1
        }
        if length == replaced.count {
            result += name.utf8
            index += length
        } else {
            result.append(bytes[index])
            index += 1
        }
    }
    return String(decoding: result, as: UTF8.self)
}
