package import NorrisProtocol

extension Screen {
    /// Searches with their numbers from 1: number, query, kind and time; to a pipe with a tab between them.
    package mutating func recents(_ searches: [RecentList.Search], now: Timestamp) {
        let isPiped = layout.width == nil
        var table = Table(columns: [.right(""), .left(""), .left(""), .left("")])
        table.rows = searches.enumerated().map { index, search in
            [
                Span("\(index + 1)", .dim), Span(search.query), Span(search.kind.rawValue, .dim),
                Span(isPiped ? search.at.description : relativeTime(of: search.at, at: now), .dim),
            ]
        }
        for row in isPiped ? table.rows : table.body {
            if isPiped { fields(row) } else { line(row) }
        }
    }
}
