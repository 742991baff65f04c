/// `fact.random`: the next facts of the user's shuffle. No other method advances the shuffle.
package enum FactRandom: Method {
    package static let name = "fact.random"
    package static let summary = "Returns random facts that the user has not received yet."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var categories: [String] = []
        package var count = 0
        package var maxLength: Int?
        package var name: String?
        package var allowExplicit = false
        package var source: FactScope?

        package init(
            categories: [String] = [], count: Int? = nil, maxLength: Int? = nil, name: String? = nil,
            allowExplicit: Bool = false, source: FactScope? = nil
        ) {
            (self.categories, self.count, self.maxLength) = (categories, count ?? 0, maxLength)
            (self.name, self.allowExplicit, self.source) = (name, allowExplicit, source)
        }

        package init() {}

        /// Specialized, because `fact.random` is called often.
        package init(_ arguments: Arguments) throws(ResponseError) { try read(arguments) }

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.strings(
                "category", &categories, "A category, or a list of which any matches.")
            try members.number("count", &count, 1...100, default: 1, "The number of facts.")
            try members.optional(
                "max_length", &maxLength, .integer(1...Fact.maximumLength),
                "The longest fact, in code points.")
            try members.optional(nameParameter, &name, .text(1...64), "A name that replaces Chuck Norris in the text.")
            try members.flag("allow_explicit", &allowExplicit, "Whether facts of the category explicit may be served.")
            try members.source(&source)
        }
    }

    package static var nameParameter: StaticString { "name" }

    package typealias Result = Items<Fact>

    /// The result up to the first item, for writers of encoded facts.
    package static var resultOpening: StaticString { #"{"items":["# }
    /// The text between the last item and the freshness.
    package static var resultFreshness: StaticString { #"],"freshness":"# }
}

extension MemberVisitor where Self: ~Copyable {
    fileprivate mutating func source(_ source: inout FactScope?) throws(Failure) {
        try optional(
            "source", &source, FactScope.schema,
            "norris: the upstream and the built-in facts; fortune: fortune files.")
    }
}

package enum FactToday: Method {
    package static let name = "fact.today"
    package static let summary = "Returns the fact of a day, which is the same for all users."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var date: CivilDate?

        package init(date: CivilDate?) { self.date = date }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("date", &date, .date, "The day; today in the daemon's time zone if absent.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        package var fact = Fact()
        package var freshness = Freshness()

        package init(fact: Fact, freshness: Freshness) { (self.fact, self.freshness) = (fact, freshness) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("fact", &fact)
            try members.required("freshness", &freshness)
        }
    }
}

package enum FactGet: Method {
    package static let name = "fact.get"
    package static let summary = "Returns the fact with an id."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var id = ""
        package var name: String?

        package init(id: String, name: String? = nil) { (self.id, self.name) = (id, name) }

        /// Specialized, because `fact.get` is called often.
        package init(_ arguments: Arguments) throws(ResponseError) { try read(arguments) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.id(&id)
            try members.optional(
                FactRandom.nameParameter, &name, .text(1...64), "A name that replaces Chuck Norris in the text.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        package var fact = Fact()

        /// The result up to the fact, for writers of an encoded fact.
        package static var opening: StaticString { #"{"fact":"# }

        package init(fact: Fact) { self.fact = fact }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("fact", &fact)
        }
    }
}

/// The parameters of the methods that return one item by its id.
package struct IDParameters: WireObject, Equatable, Sendable {
    package var id = ""

    package init(id: String) { self.id = id }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.id(&id)
    }
}

extension MemberVisitor where Self: ~Copyable {
    mutating func id(_ id: inout String) throws(Failure) {
        try required("id", &id, .text(1...200), "The id that another method returned.")
    }
}

package enum FactSearch: Method {
    package static let name = "fact.search"
    package static let summary =
        "Finds the facts that contain all words of the query; the newest are first."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var query = ""
        package var categories: [String] = []
        package var page = PageRequest()
        package var source: FactScope?

        package init(
            query: String, categories: [String] = [], page: PageRequest = PageRequest(), source: FactScope? = nil
        ) { (self.query, self.categories, self.page, self.source) = (query, categories, page, source) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.query(&query)
            try members.strings(
                "category", &categories, "A category, or a list of which any matches.")
            try members.page(&page, default: 25)
            try members.source(&source)
            try members.numbered(&page)
        }
    }

    package typealias Result = Page<Fact>
}

/// The limits of a search.
package enum SearchQuery {
    /// In code points.
    package static let maximumLength = 1_000
    package static let maximumWords = 16

    static var schema: Schema { .text(1...maximumLength) }
}

extension MemberVisitor where Self: ~Copyable {
    /// The query of a search in stored texts.
    mutating func query(_ query: inout String) throws(Failure) {
        try required(
            "query", &query, SearchQuery.schema,
            "The words to search for, at most 16. Words in double quotes form a phrase.")
    }
}

package enum FactCategories: Method {
    package static let name = "fact.categories"
    package static let summary = "Lists the categories of facts with their counts; explicit is left out."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var source: FactScope?

        package init(source: FactScope?) { self.source = source }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.source(&source)
        }
    }

    package struct Category: WireObject, Equatable, Sendable {
        package var name = ""
        package var count = 0

        package init(name: String, count: Int) { (self.name, self.count) = (name, count) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("name", &name)
            try members.required("count", &count)
        }
    }

    package typealias Result = Items<Category>
}
