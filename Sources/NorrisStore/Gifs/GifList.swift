import NorrisProtocol

/// A request that Giphy answers with a list of GIFs, page by page.
///
/// Two are equal if their bytes are, as in the database.
package struct GifList: Sendable, Hashable {
    enum Kind: String {
        case search
        case trending
    }

    let kind: Kind
    /// Without white space around it and in lower case; empty for what is trending.
    package let query: String
    /// The strongest rating that Giphy is asked for.
    package let rating: String
    /// nil where Giphy chooses.
    package let lang: String?
    /// What distinguishes it from all others.
    let fields: [String]

    private init(_ kind: Kind, query: String, rating: String, lang: String?) {
        self.kind = kind
        self.query = query
        self.rating = rating
        self.lang = lang == "" ? nil : lang
        fields = ["gifs", kind.rawValue, query, rating, self.lang ?? ""]
    }

    /// The results for a text. Texts that differ in case or in the white space around them are one search.
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

/// How strong a GIF is, mildest first. The raw values are those of `cache.db`.
enum GifRating: Int {
    case g, pg, pg13, r
    /// May be anything.
    case unknown

    /// Of a GIF. `y`, for the youngest, is of older days.
    init(ofGif word: String) { self = word.lowercased() == "y" ? .g : GifRating(word) ?? .unknown }

    /// The strongest that a request allows; for an unknown word, the mildest.
    init(allowing word: String) {
        let rating = GifRating(word) ?? .g
        self = rating == .r ? .unknown : rating
    }

    private init?(_ word: String) {
        guard let index = GifSearch.ratings.firstIndex(of: word.lowercased()) else { return nil }
        self.init(rawValue: index)
    }
}
