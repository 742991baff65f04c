import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisText

/// The methods `fact.*`: from the wire to the store and back.
struct FactHandlers: Sendable {
    let fetching: Fetching
    let served: LastServed
    private let store: FactStore

    init(fetching: Fetching, served: LastServed) {
        self.fetching = fetching
        self.served = served
        store = fetching.stores.facts
    }

    var bodies: [String: MethodBody] {
        [
            FactRandom.description.name: random,
            FactToday.description.name: today,
            FactGet.description.name: get,
            FactSearch.description.name: search,
            FactCategories.description.name: categories,
        ]
    }

    @Sendable
    private func random(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let parameters = FactRandom.Parameters(call.arguments)
        try check(parameters.categories, allowsExplicit: parameters.allowExplicit)
        var name: String?
        if let wanted = parameters.name { name = try usableName(wanted) }
        let filter = WalkFilter(
            categories: parameters.categories,
            allowsExplicit: parameters.allowExplicit,
            maxLength: parameters.maxLength
        )
        let uid = call.uid
        json.literal(#"{"items":["#)
        var isEmpty = true
        var isLocal = true
        if let count = parameters.count, count > 1 {
            for fact in store.next(count, uid: uid, filter: filter) {
                try write(fact, name, to: &json)
                (isEmpty, isLocal) = (false, isLocal && fact.isLocal)
            }
        } else if let fact = store.next(uid: uid, filter: filter) {
            try write(fact, name, to: &json)
            (isEmpty, isLocal) = (false, fact.isLocal)
        }
        json.join(#"],"freshness":"#)
        fetching.writeFactFreshness(isEmpty: isEmpty, isLocal: isLocal, to: &json)
        json.join("}", endsValue: true)
        return nil
    }

    /// - Parameter name: to put in place of Chuck Norris.
    private func write(_ fact: FactStore.Given, _ name: String?, to json: inout JSONWriter) throws(ResponseError) {
        if let name {
            try personalised(fact, name).encode(to: &json)
        } else {
            json.raw(fact.wire)
        }
    }

    @Sendable
    private func today(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let today = LocalDay.today
        let day = FactToday.Parameters(call.arguments).date ?? today
        if let fact = store.factOfTheDayInMemory(day) {
            served.note(fact.id, .fact, uid: call.peer.uid)
            result(of: fact).encode(to: &json)
            return nil
        }
        return .disk { () async throws(ResponseError) -> [UInt8] in
            guard let fact = await store.factOfTheDay(day, today: today) else {
                let error = freshness(isEmpty: true).error
                throw .nothingCached("There is no fact at all.", source: FactSource.name, lastError: error)
            }
            served.note(fact.id, .fact, uid: call.peer.uid)
            return result(of: fact).jsonBytes
        }
    }

    private func result(of fact: Fact) -> FactToday.Result {
        FactToday.Result(fact: fact, freshness: freshness(isEmpty: false, isLocal: fact.isLocal))
    }

    @Sendable
    private func get(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let id = call.arguments.string("id") ?? ""
        let fact = try store.presentable(id: id)
        store.noteServed(id, uid: call.uid)
        json.literal(#"{"fact":"#)
        json.raw(fact.wire)
        json.join("}", endsValue: true)
        return nil
    }

    @Sendable
    private func search(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let text = call.arguments.string("query") ?? ""
        if text.utf8.contains(0) {
            throw .invalidParams("query must not hold the character U+0000.", parameter: "query")
        }
        let names = call.arguments.strings("category")
        try check(names, allowsExplicit: false)
        let query = FactQuery(text: text, categories: names)
        let cursor = call.arguments.string("cursor")
        let limit = call.arguments.integer("limit") ?? 25
        // Later pages are of what the first one found.
        let staysHere = cursor != nil || call.arguments.flag("offline")
        return fetching.deferred(asking: staysHere ? nil : FactSource.name) { () async throws(ResponseError) -> [UInt8] in
            if cursor == nil {
                await fetching.stores.recents.record(uid: call.peer.uid, kind: .fact, query: text)
            }
            let wasAsked = staysHere ? false : await fetching.ask(query)
            var page = try await store.search(query, cursor: cursor, limit: limit)
            page.freshness = freshness(
                isEmpty: page.items.isEmpty, isLocal: page.items.allSatisfy(\.isLocal), wasAsked: wasAsked
            )
            served.note(page.items.last?.id, .fact, uid: call.peer.uid)
            return page.jsonBytes
        }
    }

    @Sendable
    private func categories(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let items = store.categories
        let freshness = freshness(isEmpty: items.isEmpty, isLocal: store.isLocal)
        FactCategories.Result(items: items, freshness: freshness).encode(to: &json)
        return nil
    }

    private func check(_ names: [String], allowsExplicit: Bool) throws(ResponseError) {
        for name in names {
            if name == Fact.explicitCategory, !allowsExplicit {
                throw .notFound(
                    "Facts of the category explicit are not given unasked.",
                    hint: "fact.random gives them with allow_explicit."
                )
            }
            guard fetching.knownCategories.contains(name) || store.hasCategory(name) else {
                throw .notFound(
                    "There is no category \(name.quotedForMessage).",
                    hint: "fact.categories lists those there are."
                )
            }
        }
    }

    /// A name as it may stand in a text.
    private func usableName(_ name: String) throws(ResponseError) -> String {
        let name = sanitizedLine(name)
        guard !name.isEmpty else {
            throw .invalidParams("name must hold a character that can be seen.", parameter: "name")
        }
        return name
    }

    private func personalised(_ given: FactStore.Given, _ name: String) throws(ResponseError) -> Fact {
        var fact = try given.decoded()
        fact.text = Personalisation.replacingName(in: fact.text, by: name)
        return fact
    }

    private func freshness(isEmpty: Bool, isLocal: Bool = false, wasAsked: Bool? = nil) -> Freshness {
        fetching.freshness(of: FactSource.name, isEmpty: isEmpty, isLocal: isLocal, wasAsked: wasAsked)
    }
}

extension FactStore {
    /// A fact that may be given for its id alone.
    func presentable(id: String) throws(ResponseError) -> Given {
        guard let fact = fact(id: id) else {
            throw .notFound("There is no fact with the id \(id.quotedForMessage).")
        }
        if fact.isExplicit {
            throw .notFound(
                "The fact \(id.quotedForMessage) is explicit.",
                hint: "Explicit facts are given by fact.random with allow_explicit only."
            )
        }
        return fact
    }
}

extension FactStore.Given {
    func decoded() throws(ResponseError) -> Fact {
        do {
            return try Fact(json: JSON.parse(wire))
        } catch {
            throw .internalError()
        }
    }
}
