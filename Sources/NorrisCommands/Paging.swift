import NorrisProtocol
import NorrisTerminal

/// `--page N` of the commands that list: the N-th page, reached by following cursors from the first.
struct Paging {
    /// The last page that can be asked for, since each page before it costs a call.
    static let lastPage = 10

    /// From 1.
    let number: Int

    /// What is listed, such as `facts`.
    let noun: String

    /// The command that shows another page of the same list, to be copied into a shell; nil if it cannot be shown.
    let command: (_ page: Int) -> String?

    /// Calls for one page after the other and reports the last.
    func report<Item>(
        _ session: Session,
        source: String,
        nothing: String,
        call: (_ cursor: String?) throws(Failure) -> Reply<Page<Item>>,
        show: (inout Screen, [Item]) -> Void
    ) throws(Failure) -> Report {
        var reply = try call(nil)
        for reached in 1..<number {
            if let next = reply.value.next {
                reply = try call(next)
            } else if !reply.value.items.isEmpty {
                return pastTheEnd(session, reply.value, source: source, pages: reached)
            }
        }
        let page = reply.value
        return session.report(
            reply.json,
            isEmpty: page.items.isEmpty,
            freshness: page.freshness,
            source: source,
            nothing: nothing
        ) { screen in
            show(&screen, page.items)
            if screen.layout.width != nil, page.next != nil {
                foot(&screen, total: page.total)
            }
        }
    }

    /// There are only so many pages: an empty one, as the daemon would have sent it.
    private func pastTheEnd<Item>(
        _ session: Session,
        _ last: Page<Item>,
        source: String,
        pages: Int
    ) -> Report {
        session.report(
            Page<Item>(items: [], total: last.total, freshness: last.freshness),
            isEmpty: true,
            freshness: last.freshness,
            source: source,
            nothing: "There is no page \(number); the last one: \(command(pages) ?? "--page \(pages)")"
        ) { _ in }
    }

    private func foot(_ screen: inout Screen, total: Int?) {
        let total = total.map { "\($0)" } ?? "more than \(countedMatches)"
        let place = "Page \(number), \(total) \(noun) in all."
        screen.line()
        guard number < Self.lastPage else {
            screen.paragraph("\(place) This is the last page that is shown; narrow it down to see the rest.", .dim)
            return
        }
        screen.paragraph("\(place) The next page:", .dim)
        // Not wrapped: it is to be copied as one line.
        screen.line("  " + (command(number + 1) ?? "the same command with --page \(number + 1)"), .dim)
    }
}
