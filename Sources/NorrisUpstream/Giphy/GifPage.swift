package import NorrisProtocol

/// The usable GIFs of one answer, and where the next ones are.
package struct GifPage: Sendable, Equatable {
    /// In the order of the answer, no id twice. A later page may repeat some: the list moves while it is read.
    package var gifs: [Gif]
    /// How many items could not be used.
    package var skipped: Int
    /// How many there are in all, as Giphy estimates; nil where it does not.
    package var totalCount: Int?
    /// Where the next page begins; nil at the end.
    package var nextOffset: Int?

    package init(gifs: [Gif] = [], skipped: Int = 0, totalCount: Int? = nil, nextOffset: Int? = nil) {
        self.gifs = gifs
        self.skipped = skipped
        self.totalCount = totalCount
        self.nextOffset = nextOffset
    }

    /// - Parameter window: what was asked for; nil if all at once.
    init(_ answer: GiphyAnswer, of window: GiphyEndpoint.Window?) {
        self.init(
            gifs: answer.gifs, skipped: answer.skipped, totalCount: answer.totalCount,
            nextOffset: window.flatMap { Self.nextOffset(answer, of: $0) }
        )
    }

    /// Counted from what was asked for: an `offset` in the answer that does not move would lead in a circle.
    private static func nextOffset(_ answer: GiphyAnswer, of window: GiphyEndpoint.Window) -> Int? {
        let count = answer.pageCount ?? answer.items
        // A page may come short before the end; where nothing tells of the end, a short page has to.
        if count == 0 || (answer.pageCount == nil && answer.totalCount == nil && count < window.limit) { return nil }
        let next = window.offset + count
        if let total = answer.totalCount, next >= total { return nil }
        return next <= window.maximumOffset ? next : nil
    }
}
