import NorrisProtocol

/// How strong a GIF is, mildest first.
enum GifRating: Int, Comparable {
    case g
    case pg
    case pg13
    case r
    /// May be anything. Where Giphy was asked for no more than a rating, its answer is believed all the same.
    case unknown

    /// Giphy's word at a GIF. `y`, for the youngest, is of older days.
    init(ofGif word: String) {
        self = word.lowercased() == "y" ? .g : GifRating(word) ?? .unknown
    }

    /// The strongest that somebody wants to see; of a word that we do not know, the mildest.
    init(allowing word: String) {
        let rating = GifRating(word) ?? .g
        self = rating == .r ? .unknown : rating
    }

    private init?(_ word: String) {
        guard let index = GifSearch.ratings.firstIndex(of: word.lowercased()) else { return nil }
        self.init(rawValue: index)
    }

    static func < (left: GifRating, right: GifRating) -> Bool {
        left.rawValue < right.rawValue
    }
}
