import NorrisProtocol

/// A request that Giphy answers with a list of GIFs, page by page.
///
/// Two requests are equal if their bytes are equal, as in the database.
package struct GifList: Sendable, Hashable {
    enum Kind: String {
        case search
        case trending
    }

    let kind: Kind
    /// Lower case without surrounding white space; empty for the trending list.
    package let query: String
    /// The strongest rating in the request to Giphy.
    package let rating: String
    /// nil for Giphy's default.
    package let lang: String?
    /// The fields that distinguish the list from all others.
    let fields: [String]

    private init(_ kind: Kind, query: String, rating: String, lang: String?) {
        self.kind = kind
        self.query = query
        self.rating = rating
        self.lang = lang == "" ? nil : lang
        fields = ["gifs", kind.rawValue, query, rating, self.lang ?? ""]
    }

    /// The results for a text. Case and surrounding white space do not matter.
    package static func search(_ text: String, rating: String, lang: String? = nil) -> GifList {
        GifList(.search, query: normalized(text), rating: rating, lang: lang)
    }

    package static func trending(rating: String) -> GifList { GifList(.trending, query: "", rating: rating, lang: nil) }

    package var isTrending: Bool { kind == .trending }

    static func normalized(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last]).lowercased()
    }

    package static func == (left: GifList, right: GifList) -> Bool {
        left.fields.elementsEqual(right.fields) { $0.hasSameBytes(as: $1) }
    }

    package func hash(into hasher: inout Hasher) {
        for field in fields { for byte in field.utf8 { hasher.combine(byte) } }
    }
}

/// The rating of a GIF, mildest first. The raw values are stored in `cache.db-gifs`.
enum GifRating: Int {
    case g, pg, pg13, r
    /// Possibly the strongest.
    case unknown

    /// The rating of a GIF. Older GIFs may have the rating `y`, the mildest.
    init(ofGif word: String) { self = word.lowercased() == "y" ? .g : GifRating(word) ?? .unknown }

    /// The strongest rating that a request allows; the mildest for an unknown word.
    init(allowing word: String) {
        let rating = GifRating(word) ?? .g
        self = rating == .r ? .unknown : rating
    }

    private init?(_ word: String) {
        guard let index = GifSearch.ratings.firstIndex(of: word.lowercased()) else { return nil }
        self.init(rawValue: index)
    }
}
