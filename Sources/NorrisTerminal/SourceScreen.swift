package import NorrisProtocol
import NorrisText

extension Screen {
    /// Sources of posts as a table on a terminal; else one a line, as the help of `norrisctl feed sources` says.
    package mutating func sources(_ sources: [PostSources.Source], now: Timestamp) {
        func state(_ source: PostSources.Source) -> (text: String, isFault: Bool) {
            if let error = source.freshness.error { return (error.outlook(now: now), true) }
            guard let time = source.freshness.fetchedAt else { return ("not fetched yet", false) }
            return ("fetched \(pastTime(time, at: now))", false)
        }
        guard let width = layout.width else {
            for source in sources {
                let state = source.freshness.error == nil ? source.freshness.state.rawValue : "failing"
                let numbers = ["\(source.items)", "\(source.unread)"]
                let texts = [state, source.url, source.tags.joined(separator: ","), source.title ?? ""]
                let health = [
                    source.newestAt?.description, source.postsPerWeek.map { "\($0)" },
                    "\(source.consecutiveFailures)", source.movedTo,
                ]
                let all = [source.name, source.kind] + numbers + texts + health.map { $0 ?? "" }
                fields(all.map { Span($0) })
            }
            return
        }
        let nameColumns = sources.map { Span($0.name).width }.max() ?? 0
        for source in sources {
            let (text, isFault) = state(source)
            let unread = source.unread > 0 ? "\(groupedDigits(source.unread)) unread" : ""
            let kind = source.kind == "feed" ? "" : source.kind
            let details: [Span] = [
                Span(source.title ?? ""), Span(source.tags.map { "#\($0)" }.joined(separator: " "), .dim), Span(kind),
                Span(countText(source.items, "post")), Span(unread, .bold), Span(source.pace(now: now)),
                Span(text, isFault ? .warning : .dim),
                Span(source.consecutiveFailures > 1 ? countText(source.consecutiveFailures, "failure") : "", .warning),
                Span(source.movedTo.map { "moved to \($0)" } ?? "", .warning),
                Span(source.url, .dim, link: source.url),
            ]
            let isNarrow = width < nameColumns + 30
            let rows = flowed(details.map { (.dot, $0) }, width: max(1, width - (isNarrow ? 2 : nameColumns + 2)))
            if isNarrow { line([Span(source.name, .bold)]) }
            for (index, row) in rows.enumerated() {
                let label = index == 0 ? Span(padded(source.name, toColumns: nameColumns + 2), .bold) : nil
                line((isNarrow ? [.spaces(2)] : [label ?? .spaces(nameColumns + 2)]) + row)
            }
        }
    }
}

extension PostSources.Source {
    /// `newest 3 days ago, 5 a week`; empty without posts.
    fileprivate func pace(now: Timestamp) -> String {
        guard let newestAt else { return "" }
        let rate = postsPerWeek.map { $0 == 0 ? "" : ", \(groupedDigits($0)) a week" } ?? ""
        return "newest \(pastTime(newestAt, at: now))\(rate)"
    }
}
