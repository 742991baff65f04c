// The methods for the rules by which users hide posts from themselves.

package enum MuteAdd: Method {
    package static let name = "mute.add"
    package static let summary =
        "Hides stored and later posts that match a query from the user."

    /// The most rules of one user.
    package static let maximum = 100

    package struct Parameters: WireObject, Equatable, Sendable {
        package var query = ""
        package var source, tag: String?
        /// Whether the rule hides the posts of its scope that do not match.
        package var except = false
        /// Whether the rule is not stored.
        package var test = false

        package init(query: String, source: String? = nil, tag: String? = nil, except: Bool = false, test: Bool = false)
        {
            (self.query, self.source, self.tag, self.except, self.test) = (query, source, tag, except, test)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.query(&query)
            try members.optional("source", &source, .text(1...200), "Only posts of this source.")
            try members.tag(&tag)
            try members.flag("except", &except, "Whether to hide the posts that do not match.")
            try members.flag("test", &test, "Whether to count only.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        /// nil for a test.
        package var number: Int?
        /// The number of stored posts that the rule hides.
        package var matching = 0

        package init(number: Int? = nil, matching: Int) { (self.number, self.matching) = (number, matching) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("number", &number)
            try members.required("matching", &matching)
        }
    }
}

package enum MuteList: Method {
    package static let name = "mute.list"
    package static let summary = "Lists the user's rules, with the number of posts that each hides."

    package struct Rule: WireObject, Equatable, Sendable {
        package var number = 0
        package var query = ""
        package var source, tag: String?
        package var except = false
        package var matching = 0

        package init(number: Int, query: String, source: String?, tag: String?, except: Bool, matching: Int) {
            (self.number, self.query, self.source, self.tag) = (number, query, source, tag)
            (self.except, self.matching) = (except, matching)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("number", &number)
            try members.required("query", &query)
            try members.optional("source", &source)
            try members.optional("tag", &tag)
            try members.required("except", &except)
            try members.required("matching", &matching)
        }
    }

    package typealias Result = ItemList<Rule>
}

package enum MuteRemove: Method {
    package static let name = "mute.remove"
    package static let summary = "Removes a rule of the user. Its posts return as they were."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var number = 0

        package init(number: Int) { self.number = number }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("number", &number, .integer(1...999_999_999), "The number of the rule.")
        }
    }

    package typealias Result = FavoriteRemove.Result
}
