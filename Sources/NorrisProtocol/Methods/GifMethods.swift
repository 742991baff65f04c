package enum GifSearch: Method {
    package static let name = "gif.search"
    package static let summary = "Finds GIFs that match a text, in Giphy's order."

    /// The most GIFs of a page, from the upstream or the cache.
    package static let maximumLimit = 50

    /// The longest text that is sent to Giphy, in code points.
    package static let longestUpstreamQuery = 50

    /// Giphy's content ratings, mildest first.
    package static let ratings = ["g", "pg", "pg-13", "r"]

    /// The languages in Giphy's documentation, and `iw`, the older code of `he`.
    static let languages = [
        "en", "es", "pt", "id", "fr", "ar", "tr", "th", "vi", "de", "it", "ja", "zh-CN", "zh-TW", "ru", "ko", "pl",
        "nl", "ro", "hu", "sv", "cs", "hi", "bn", "da", "fa", "tl", "fi", "he", "iw", "ms", "no", "uk",
    ]

    package struct Parameters: WireObject, Equatable, Sendable {
        package var query = ""
        package var page = PageRequest()
        package var rating: String?
        package var lang: String?
        package var offline = false

        package init(query: String, page: PageRequest = PageRequest(), offline: Bool = false) {
            (self.query, self.page, self.offline) = (query, page, offline)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required(
                queryParameter, &query, SearchQuery.schema,
                "Only texts of at most 50 characters are sent to Giphy.")
            try members.page(&page, 1...maximumLimit, default: 25)
            try members.optional(
                "rating", &rating, .word(ratings), "The strongest allowed rating; the configured rating if absent.")
            try members.optional(
                "lang", &lang, .word(languages), "The language of the query; English if absent.")
            try members.flag("offline", &offline, "Whether to answer from the cache only.")
            try members.numbered(&page)
        }
    }

    package static var queryParameter: StaticString { "query" }

    package typealias Result = Page<Gif>
}

package enum GifTrending: Method {
    package static let name = "gif.trending"
    package static let summary = "Returns the most popular GIFs on Giphy, as of the last fetch."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var page = PageRequest()

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.page(&page, 1...GifSearch.maximumLimit, default: 25)
            try members.numbered(&page)
        }
    }

    package typealias Result = Page<Gif>
}

package enum GifRandom: Method {
    package static let name = "gif.random"
    package static let summary = "Returns a random GIF, or a random GIF that matches a tag."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var tag: String?

        package init(tag: String?) { self.tag = tag }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional(tagParameter, &tag, .text(1...GifSearch.longestUpstreamQuery), "The topic of the GIF.")
        }
    }

    package static var tagParameter: StaticString { "tag" }

    package struct Result: WireObject, Equatable, Sendable {
        package var gif = Gif()
        package var freshness = Freshness()

        package init(gif: Gif, freshness: Freshness) { (self.gif, self.freshness) = (gif, freshness) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("gif", &gif)
            try members.required("freshness", &freshness)
        }
    }
}

package enum GifGet: Method {
    package static let name = "gif.get"
    package static let summary = "Returns the GIF with an id. Giphy is asked only if the GIF is not stored."
    package typealias Parameters = IDParameters

    package struct Result: WireObject, Equatable, Sendable {
        package var gif = Gif()

        package init(gif: Gif) { self.gif = gif }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("gif", &gif)
        }
    }
}
