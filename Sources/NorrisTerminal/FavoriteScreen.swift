package import NorrisProtocol
import NorrisText

extension Screen {
    /// Favorites: the whole fact, or a title, and below it kind, time and, without a number, id. In a pipe kind, id,
    /// time and text, separated by tabs.
    ///
    /// - Parameter first: the number of the first favorite; nil for no numbers.
    package mutating func favorites(_ favorites: [Favorite], now: Timestamp, numberedFrom first: Int? = nil) {
        items(favorites, numberedFrom: first) { screen, favorite, number in
            let text = favorite.shownText
            let kind = Span(favorite.kind.rawValue, .dim)
            guard let width = screen.layout.width else {
                let time = Span(favorite.addedAt.description, .dim)
                return screen.fields([kind, Span(favorite.id), time, Span(sanitizedLine(text))])
            }
            let link = favorite.fact?.url ?? favorite.gif?.pageURL ?? favorite.post?.url
            wrapped(text, width: width).forEach { screen.line([Span($0, link: link)]) }
            let id = number == nil ? [Span(favorite.id, .dim)] : []
            screen.flow([kind, Span(pastTime(favorite.addedAt, at: now), .dim)] + id, width: width)
        }
        if layout.width != nil, favorites.contains(where: { $0.kind == .gif }) {
            line()
            line(Gif.attribution, .dim)
        }
    }

    /// Searches with numbers from 1, kinds, times, and the query at the end, because it may be long. In a pipe number,
    /// query, kind and time, separated by tabs.
    package mutating func recents(_ searches: [RecentList.Search], now: Timestamp) {
        let kinds = searches.map { Span($0.kind.rawValue, .dim) }
        let times = searches.map {
            Span(layout.width == nil ? $0.at.description : pastTime($0.at, at: now), .dim)
        }
        let kindColumns = kinds.map(\.width).max() ?? 0
        let timeColumns = times.map(\.width).max() ?? 0
        for (index, search) in searches.enumerated() {
            let (number, query) = (Span("\(index + 1)", .dim), Span(search.query))
            if layout.width == nil {
                fields([number, query, kinds[index], times[index]])
            } else {
                entry([(number, 1), (kinds[index], kindColumns), (times[index], timeColumns)], query)
            }
        }
    }
}

extension Favorite {
    /// The text of a fact with its newlines, the title of other items, or else the id.
    fileprivate var shownText: String {
        let texts = [fact.map { sanitizedText($0.text) }, sanitizedLine(title)].compactMap { $0 }
        return texts.first { !sanitizedLine($0).isEmpty } ?? sanitizedLine(id)
    }
}
