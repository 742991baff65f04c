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
    /// What is said of how many there are where the daemon gives no total; nil where that may be any number.
    var uncounted: String? = "more than \(countedMatches)"
    /// The words of the command that shows the same list, before and behind `--page N`.
    let command: (before: [String], after: [String])

    /// Calls for one page after the other and reports the last.
    ///
    /// - Parameters:
    ///   - nothing: what is said where there is no item; `empty` takes its place where it finds something better.
    ///   - after: what stands below the items of a page.
    func report<Item: WireValue>(
        _ session: Session, source: String, nothing: String,
        empty: (Reply<Page<Item>>) throws(Failure) -> Report? = { _ in nil },
        call: (_ cursor: String?) throws(Failure) -> Reply<Page<Item>>, show: (inout Screen, [Item]) -> Void,
        after: (inout Screen, Page<Item>) -> Void = { _, _ in }
    ) throws(Failure) -> Report {
        var reply = try call(nil)
        // The last page with items so far.
        var last = reply.value.items.isEmpty ? 0 : 1
        for page in 1..<number {
            guard let next = reply.value.next else { break }
            reply = try call(next)
            last = reply.value.items.isEmpty ? last : page + 1
        }
        let page = reply.value
        if last > 0, last < number {
            // An empty page, as the daemon would have sent it.
            return session.report(
                Page<Item>(items: [], total: page.total, freshness: page.freshness), freshness: page.freshness,
                source: source,
                nothing: "There is no page \(number); the last one: \(command(last) ?? "--page \(last)")"
            )
        }
        if page.items.isEmpty, let report = try empty(reply) { return report }
        return session.report(
            reply.json, freshness: page.freshness, source: source, nothing: page.items.isEmpty ? nothing : nil
        ) { screen in
            show(&screen, page.items)
            after(&screen, page)
            if screen.layout.width != nil, page.next != nil { foot(&screen, total: page.total) }
        }
    }

    /// The command that shows another page, for a shell; nil if it cannot be shown.
    private func command(_ page: Int) -> String? {
        shellCommand(["norrisctl"] + command.before + ["--page", "\(page)"] + command.after)
    }

    private func foot(_ screen: inout Screen, total: Int?) {
        let position = (total.map(String.init) ?? uncounted).map { "Page \(number), \($0) \(noun) in all." }
            ?? "Page \(number)."
        screen.line()
        guard number < Self.lastPage else {
            screen.paragraph("\(position) This is the last page that is shown; narrow it down to see the rest.", .dim)
            return
        }
        screen.paragraph("\(position) The next page:", .dim)
        // Not wrapped: it is to be copied as one line.
        screen.line("  " + (command(number + 1) ?? "the same command with --page \(number + 1)"), .dim)
    }
}

/// The words of options that have a value: `--limit 5`.
func optionWords(_ options: (name: String, value: String?)...) -> [String] {
    options.flatMap { option in option.value.map { [option.name, $0] } ?? [] }
}

/// An argument behind options, which may begin with a dash.
func argumentWords(_ argument: String) -> [String] {
    argument.utf8.first == UInt8(ascii: "-") ? ["--", argument] : [argument]
}
