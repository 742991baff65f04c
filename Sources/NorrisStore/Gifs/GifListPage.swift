package import NorrisProtocol

/// A page of a list of GIFs, and what its end means.
package struct GifListPage: Sendable, Equatable {
    package var items: [Gif]
    /// Exact for a list that is stored whole, else what Giphy says; nil above ``countedMatches``.
    package var total: Int?
    /// nil at the end of the list.
    package var next: String?
    /// When the list's first page was fetched.
    package var fetchedAt: Timestamp
    /// The offset to ask Giphy for: nothing that is stored stands here, but Giphy has more.
    package var needsUpstream: Int?
}
