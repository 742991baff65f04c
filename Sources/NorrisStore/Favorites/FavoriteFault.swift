import NorrisProtocol

/// What is wrong with an item of an import, as the end of a sentence that begins with the item.
enum FavoriteFault: Error, Equatable, CustomStringConvertible {
    case kind(String)
    case id
    case contentIsLarge(Int)
    case contentIsAnother
    case noText
    case isExplicit
    case gifID

    var description: String {
        switch self {
        case .kind(let kind): "is of the kind \(kind.quotedForMessage); use fact, gif or post"
        case .id: "has no usable id; use 1 to 200 characters without control characters and spaces at the ends"
        case .contentIsLarge(let size):
            "has a content of \(size) bytes, more than \(Favorite.maximumContent); leave the content out"
        case .contentIsAnother: "has the content of another id; leave the content out"
        case .noText: "has a fact without text or with one that is too long; leave the content out"
        case .isExplicit: "has a fact of the category \(Fact.explicitCategory), which is never kept; take it out"
        case .gifID: "has an id that Giphy gives to no GIF; use 1 to 64 letters and digits of ASCII, _ and -"
        }
    }
}
