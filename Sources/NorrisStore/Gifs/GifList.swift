import NorrisProtocol

/// A question that Giphy answers with a list of GIFs, page by page.
///
/// Two are equal if their bytes are: the database knows no canonical equivalence either.
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
    /// nil where Giphy is left to choose.
    package let lang: String?
    /// What tells it from all others.
    let fields: [String]

    private init(_ kind: Kind, query: String, rating: String, lang: String?) {
        self.kind = kind
        self.query = query
        self.rating = rating
        self.lang = lang == "" ? nil : lang
        fields = ["gifs", kind.rawValue, query, rating, self.lang ?? ""]
    }

    /// The answers to a text. Texts that differ in case or in the white space around them are one search.
    package static func search(_ text: String, rating: String, lang: String? = nil) -> GifList {
        GifList(.search, query: normalized(text), rating: rating, lang: lang)
    }

    /// What Giphy's users show most.
    package static func trending(rating: String) -> GifList {
        GifList(.trending, query: "", rating: rating, lang: nil)
    }

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
