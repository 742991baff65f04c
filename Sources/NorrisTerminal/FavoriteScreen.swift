package import NorrisProtocol
import NorrisText

extension Screen {
    /// Favorites: a title, and below it kind, time and id. In a pipe kind, id, time and title, separated by tabs.
    package mutating func favorites(_ favorites: [Favorite], now: Timestamp) {
        for (index, favorite) in favorites.enumerated() {
            let title = sanitizedLine(favorite.title)
            let headline = title.isEmpty ? sanitizedLine(favorite.id) : title
            let (kind, id) = (Span(favorite.kind.rawValue, .dim), favorite.id)
            guard let width = layout.width else {
                fields([kind, Span(id), Span(favorite.addedAt.description, .dim), Span(headline)])
                continue
            }
            if index > 0 { line() }
            let link = favorite.fact?.url ?? favorite.gif?.pageURL ?? favorite.post?.url
            wrapped(headline, width: width).forEach { line([Span($0, link: link)]) }
            flow([kind, Span(pastTime(favorite.addedAt, at: now), .dim), Span(id, .dim)], width: width)
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
            Span(layout.width == nil ? $0.at.description : relativeTime(of: $0.at, at: now), .dim)
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
