import NorrisProtocol
import NorrisStore

/// What Giphy is asked on behalf of a user.
enum GifQuestion: Hashable, Sendable {
    /// A page of a list, from an offset of Giphy's.
    case page(GifList, offset: Int)
    case random(tag: String?)
    case gif(id: String)
}

/// What came of a question.
enum GifAnswer: Equatable, Sendable {
    /// The page is stored.
    case stored
    case gif(Gif)
    /// Giphy has nothing of the kind.
    case nothing
    /// Giphy was not asked, or failed; why, where it is known.
    case none(SourceFailure?)
}
