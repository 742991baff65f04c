import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisText
import NorrisThreads
import Synchronization

/// The methods `fact.*`, answered from memory.
///
/// A class, because a request would copy the properties of a structure, one reference at a time.
final class FactHandlers: Sendable {
    private let sources: ConfiguredSources
    private let stores: Stores
    private let store: FactStore
    private let encodedFreshness: EncodedFreshness

    init(sources: ConfiguredSources) {
        (self.sources, stores, store) = (sources, sources.stores, sources.stores.facts)
        encodedFreshness = EncodedFreshness(sources: sources)
    }

    var all: [Handler] {
        [
            Handler(FactRandom.self, reading: random), Handler(FactToday.self, inMemory: today),
            Handler(FactGet.self, reading: get), Handler(FactSearch.self, search),
            Handler(FactCategories.self, inMemory: categories),
        ]
    }

    @Sendable private func random(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        if call.arguments.isEmpty {
            serve(1, call.uid, FactFilter(source: sources.unfilteredScope), nil, into: &json)
            return nil
        }
        let parameters = try FactRandom.Parameters(call.arguments)
        try check(parameters.categories, allowsExplicit: parameters.allowExplicit)
        let filter = FactFilter(
            categories: parameters.categories,
            source: parameters.source ?? (parameters.categories.isEmpty ? sources.unfilteredScope : .all),
            allowsExplicit: parameters.allowExplicit, maxLength: parameters.maxLength)
        serve(parameters.count, call.uid, filter, try parameters.name.map(usableName), into: &json)
        return nil
    }

    /// - Parameter name: the name that replaces Chuck Norris.
    @inline(__always) private func serve(
        _ count: Int, _ uid: UInt32, _ filter: FactFilter, _ name: String?, into json: inout JSONWriter
    ) {
        json.literal(FactRandom.resultOpening)
        let draw = store.next(count, uid: uid, filter: filter, name: name)
        var isLocal = true
        if let first = draw.first {
            write(first, of: draw.catalogue, name, to: &json)
            isLocal = draw.catalogue.kind(first).isLocal
            for number in draw.others {
                write(number, of: draw.catalogue, name, to: &json)
                isLocal = isLocal && draw.catalogue.kind(number).isLocal
            }
        }
        encodedFreshness.endFacts(isEmpty: draw.first == nil, isLocal: isLocal, in: &json)
    }

    /// - Parameter name: the name that replaces Chuck Norris.
    @inline(__always) private func write(
        _ number: UInt32, of catalogue: FactCatalogue, _ name: String?, to json: inout JSONWriter
    ) {
        if let name {
            var fact = catalogue.fact(number)
            fact.text = personalized(fact.text, for: name)
            fact.encode(to: &json)
        } else {
            catalogue.withFact(number) { json.raw($0) }
        }
    }

    @Sendable private func today(
        _ parameters: FactToday.Parameters, _ call: Call
    ) throws(ResponseError) -> FactToday.Result {
        let today = sources.clock.now.localDay
        let scope = sources.unfilteredScope
        guard let fact = store.factOfTheDay(parameters.date ?? today, today: today, source: scope) else {
            let error = freshness(isEmpty: true).error
            throw .nothingCached("There are no facts.", source: FactSource.name, lastError: error)
        }
        store.noteServed(fact.id, .fact, uid: call.uid)
        return FactToday.Result(fact: fact, freshness: freshness(isEmpty: false, isLocal: fact.isLocal))
    }

    @Sendable private func get(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let parameters = try FactGet.Parameters(call.arguments)
        let name = try parameters.name.map(usableName)
        let catalogue = store.catalogue
        let number = try catalogue.presentable(id: parameters.id)
        json.literal(FactGet.Result.opening)
        write(number, of: catalogue, name, to: &json)
        json.join("}", endsValue: true)
        store.noteServed(parameters.id, .fact, uid: call.uid, name: name)
        return nil
    }

    @Sendable private func search(
        _ parameters: FactSearch.Parameters, _ call: Call, _ json: inout JSONWriter
    ) throws(ResponseError) -> Deferred? {
        try check(parameters.categories, allowsExplicit: false)
        let query = try FactQuery(
            text: parameters.query, categories: parameters.categories, source: parameters.source ?? .all)
        // The closure captures only these values, because the other parameters may be long.
        let (request, uid, catalogue) = (parameters.page, call.uid, store.catalogue)
        if request.cursor == nil { stores.recents.record(uid: uid, kind: .fact, query: query.text) }
        let key = store.cursorKey
        if let page = try catalogue.page(query, request, key: key, effort: FactCatalogue.shortSearch) {
            reply(page, request, uid).encode(to: &json)
            return nil
        }
        // Other users would wait for a long search on the event loop.
        return .disk { () async throws(ResponseError) -> [UInt8] in
            let page = try await BackgroundThreads.facts.run { _ throws(ResponseError) in
                try catalogue.page(query, request, key: key)
            }
            return self.reply(page ?? Page(), request, uid).jsonBytes
        }
    }

    /// A page with its freshness, recorded as served.
    private func reply(_ page: Page<Fact>, _ request: PageRequest, _ uid: UInt32) -> Page<Fact> {
        var page = page
        page.freshness = freshness(isEmpty: page.items.isEmpty, isLocal: page.items.allSatisfy(\.isLocal))
        stores.noteServed(page.items.map(\.id), .fact, request, next: page.next, uid: uid)
        return page
    }

    @Sendable private func categories(_ parameters: FactCategories.Parameters, _ call: Call) -> FactCategories.Result {
        let catalogue = store.catalogue
        let items = catalogue.categories(of: parameters.source ?? .all)
        return Items(
            items: items, freshness: freshness(isEmpty: items.isEmpty, isLocal: catalogue.upstreamCount == 0))
    }

    private func check(_ names: [String], allowsExplicit: Bool) throws(ResponseError) {
        for name in names {
            if name == Fact.explicitCategory, !allowsExplicit {
                throw .notFound("The category explicit is hidden.", hint: "Use --explicit to see it.", category: name)
            }
            guard sources.context.knownCategories.contains(name) || store.catalogue.hasCategory(name) else {
                throw .notFound(
                    "There is no category \(name.quotedForMessage).", hint: "List the categories: norrisctl categories",
                    category: name)
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

    private func freshness(isEmpty: Bool, isLocal: Bool = false) -> Freshness {
        sources.freshness(of: FactSource.name, isEmpty: isEmpty, isLocal: isLocal)
    }
}

/// The freshness of facts as JSON, encoded once a second and after a change of a schedule.
private final class EncodedFreshness: Sendable {
    private struct Inputs: Equatable {
        let second: Timestamp
        /// Of the schedule.
        let version: Int
        let isEmpty, isLocal: Bool
    }

    private let sources: ConfiguredSources
    /// The clock of `sources`, which a request would copy.
    private let clock: any WallClock
    private let encoded = Mutex<(inputs: Inputs?, bytes: [UInt8])>((nil, []))

    init(sources: ConfiguredSources) { (self.sources, clock) = (sources, sources.clock) }

    /// Writes the end of a result: the end of the list of facts, and the freshness.
    func endFacts(isEmpty: Bool, isLocal: Bool, in json: inout JSONWriter) {
        let inputs = Inputs(
            second: clock.now, version: sources.prefetcher.version, isEmpty: isEmpty, isLocal: isLocal)
        encoded.withLock { encoded in
            if encoded.inputs != inputs {
                let freshness = sources.freshness(of: FactSource.name, isEmpty: isEmpty, isLocal: isLocal)
                let bytes = "\(FactRandom.resultFreshness)".utf8 + freshness.jsonBytes + "}".utf8
                encoded = (inputs, Array(bytes))
            }
            json.join(encoded.bytes)
        }
    }
}

extension FactCatalogue {
    /// The number of a fact that may be served by its id.
    func presentable(id: String) throws(ResponseError) -> UInt32 {
        guard let number = number(ofID: id) else {
            throw .notFound(
                "There is no fact with the id \(id.quotedForMessage).", hint: "Find facts: norrisctl search WORDS")
        }
        if kind(number).isExplicit {
            throw .notFound(
                "The fact \(id.quotedForMessage) is explicit.", hint: "Show explicit facts: norrisctl fact --explicit",
                category: Fact.explicitCategory)
        }
        return number
    }
}

/// Replaces `Chuck Norris` in any case by a name. Half of the name, or the name with a newline, is not replaced.
func personalized(_ text: String, for name: String) -> String {
    var bytes = Array(text.utf8)
    let folded = bytes.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    for range in folded.places(of: Array("chuck norris".utf8)).reversed() {
        bytes.replaceSubrange(range, with: name.utf8)
    }
    return String(decoding: bytes, as: UTF8.self)
}
