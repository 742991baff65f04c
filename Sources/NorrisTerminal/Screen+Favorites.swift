package import NorrisProtocol
import NorrisText

extension Screen {
    /// What a user keeps: a title, and below it kind, time and id; to a pipe kind, id, time and title with tabs.
    package mutating func favorites(_ favorites: [Favorite], now: Timestamp) {
        for (index, favorite) in favorites.enumerated() {
            guard let width = layout.width else {
                fields([
                    Span(favorite.kind.rawValue, .dim), Span(favorite.id), Span(favorite.addedAt.description, .dim),
                    Span(favorite.headline),
                ])
                continue
            }
            if index > 0 {
                line()
            }
            for text in wrapped(favorite.headline, width: width) {
                line([Span(text, link: favorite.link)])
            }
            let time = relativeTime(of: min(favorite.addedAt, now), at: now)
            flow([Span(favorite.kind.rawValue, .dim), Span(time, .dim), Span(favorite.id, .dim)], width: width)
        }
        if layout.width != nil, favorites.contains(where: { $0.kind == .gif }) {
            line()
            line(Gif.attribution, .dim)
        }
    }
}

extension Favorite {
    /// Its title in one line; its id where it has none.
    fileprivate var headline: String {
        let title = sanitizedLine(title)
        return title.isEmpty ? sanitizedLine(id) : title
    }

    /// Where it is to be seen, if its content is there.
    fileprivate var link: String? { fact?.url ?? gif?.pageURL ?? post?.url }
}
