package import NorrisProtocol

extension Screen {
    /// Searches with their numbers from 1, kinds, times, and last what was looked for, which may be long; to a pipe
    /// number, query, kind and time with tabs.
    package mutating func recents(_ searches: [RecentList.Search], now: Timestamp) {
        let entries = searches.enumerated().map { index, search in
            (
                number: Span("\(index + 1)", .dim), query: Span(search.query), kind: Span(search.kind.rawValue, .dim),
                time: Span(layout.width == nil ? search.at.description : relativeTime(of: search.at, at: now), .dim)
            )
        }
        let kindColumns = entries.map(\.kind.width).max() ?? 0
        let timeColumns = entries.map(\.time.width).max() ?? 0
        for entry in entries {
            if layout.width == nil {
                fields([entry.number, entry.query, entry.kind, entry.time])
            } else {
                self.entry([(entry.number, 1), (entry.kind, kindColumns), (entry.time, timeColumns)], entry.query)
            }
        }
    }
}
