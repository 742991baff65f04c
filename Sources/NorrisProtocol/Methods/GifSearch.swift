/// `gif.search`: GIFs for a text.
package enum GifSearch {
    /// Upstream and cache give so many GIFs a page at most.
    package static let maximumLimit = 50

    package static let description = MethodDescription(
        "gif.search",
        summary: "Finds GIFs for a text, in Giphy's order.",
        parameters: [
            .required("query", .text(1...65_536), "The text to look for; Giphy is asked for up to 50 characters."),
            .limit(1...maximumLimit, default: 25),
            .cursor,
            .optional("rating", .word(ratings), "The strongest that may come; the configured one if absent."),
            .optional("lang", .word(languages), "The language of the query; Giphy takes English if absent."),
            .optional("offline", .boolean, "Whether to answer from the cache in any case."),
        ],
        result: .page(of: "Gif")
    )

    /// Giphy's content ratings, mildest first.
    package static let ratings = ["g", "pg", "pg-13", "r"]

    /// The languages that Giphy's documentation lists, and `iw`, the older name of `he`.
    static let languages = [
        "en", "es", "pt", "id", "fr", "ar", "tr", "th", "vi", "de", "it", "ja", "zh-CN", "zh-TW", "ru", "ko", "pl",
        "nl", "ro", "hu", "sv", "cs", "hi", "bn", "da", "fa", "tl", "fi", "he", "iw", "ms", "no", "uk",
    ]

    package struct Parameters: JSONEncodable {
        package var query: String
        package var limit: Int?
        package var cursor: String?
        package var rating: String?
        package var lang: String?
        package var offline: Bool

        package init(
            query: String,
            limit: Int? = nil,
            cursor: String? = nil,
            rating: String? = nil,
            lang: String? = nil,
            offline: Bool = false
        ) {
            self.query = query
            self.limit = limit
            self.cursor = cursor
            self.rating = rating
            self.lang = lang
            self.offline = offline
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("query", query)
            json.member("limit", limit)
            json.member("cursor", cursor)
            json.member("rating", rating)
            json.member("lang", lang)
            json.member("offline", offline ? true : nil)
            json.endObject()
        }
    }

    package typealias Result = Page<Gif>
}
