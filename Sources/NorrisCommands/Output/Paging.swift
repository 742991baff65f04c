import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal
import NorrisText

protocol PagedParameters {
    var page: PageRequest { get set }
}

extension FactSearch.Parameters: PagedParameters {}
extension FavoriteList.Parameters: PagedParameters {}
extension GifSearch.Parameters: PagedParameters {}
extension GifTrending.Parameters: PagedParameters {}
extension PostList.Parameters: PagedParameters {}
extension PostSearch.Parameters: PagedParameters {}

/// The page that `--page N` selects. norrisctl follows the cursors from the first page.
struct Paging {
    /// The last page that norrisctl shows, because each page before it costs a call.
    static let lastPage = 10
    let session: Session
    /// The page number, from 1.
    let number: Int
    /// The items per page, or nil for the daemon's default.
    let limit: Int?
    /// The name of the items, such as `facts`.
    let noun: String
    /// The count in words if the daemon sends no total, or nil if the count may be any number.
    var uncounted: String? = "more than \(countedMatches)"
    /// Whether the items have numbers, to which later commands refer.
    var isNumbered: Bool
    /// Whether `--web` writes the next pages, too.
    var writesNextPages = true
    /// Whether a page for the browser replaces the text.
    private let web: WebOutput
    /// Returns the words of the same command before `--page N`, which only a few outputs need.
    private let words: () -> [String]
    /// The argument after `--page N`.
    private let argument: String?

    init(
        _ session: Session, page: Int?, limit: Int?, noun: String, command: String...,
        options: @autoclosure @escaping () -> [String], argument: String? = nil, web: WebOutput
    ) {
        (self.session, number, self.limit, self.noun) = (session, page ?? 1, limit, noun)
        self.web = web
        isNumbered = session.isNumbered && !web.isOn
        self.argument = argument
        words = {
            ["norrisctl"] + command + optionWords(("--socket", session.settings.socket)) + options() + web.words
        }
    }

    /// Requests the pages in order and reports the last one. `nothing` is the message for an empty page, unless `empty`
    /// returns a report. `show` takes the number of the page's first item; nil for a list without numbers. `html` makes
    /// a page for the browser.
    func report<M: Method, Item: WireValue>(
        _ method: M.Type, _ parameters: M.Parameters, notFound: @autoclosure () -> Advice? = nil, source: String,
        nothing: Advice,
        empty: (Reply<Page<Item>>) throws(Failure) -> Report? = { _ in nil },
        html: (Page<Item>, _ next: WebPage.Position) -> String,
        show: (inout Screen, Page<Item>, _ first: Int?) -> Void
    ) throws(Failure) -> Report where M.Parameters: PagedParameters, M.Result == Page<Item> {
        try session.checkFormat(for: method)
        var parameters = parameters
        parameters.page = PageRequest(limit: limit, isNumbered: isNumbered)
        var reply = try session.call(method, parameters, notFound: notFound())
        // The number of the last page with items.
        var last = reply.value.items.isEmpty ? 0 : 1
        var first = 1
        for page in 1..<number {
            guard let next = reply.value.next else { break }
            first += reply.value.items.count
            parameters.page.cursor = next
            reply = try session.call(method, parameters, notFound: notFound())
            last = reply.value.items.isEmpty ? last : page + 1
        }
        let page = reply.value
        if last > 0, last < number {
            // An empty page in the form of the daemon.
            return session.report(
                EncodedJSON(Page<Item>(items: [], total: page.total, freshness: page.freshness)),
                schema: Page<Item>.schema,
                nothing: "There is no page \(value: number). The last one: \(value: command(last) ?? "--page \(last)")")
        }
        if page.items.isEmpty {
            let report =
                try empty(reply)
                ?? session.report(reply, freshness: page.freshness, source: source, nothing: nothing)
            return web.report(nothing: report, session) { html(page, $0) }
        }
        if web.isOn {
            var pages = [page]
            while web.isOpened, writesNextPages, number + pages.count <= Self.lastPage, let next = pages.last?.next {
                parameters.page.cursor = next
                // The page before the failure names the command for the next one.
                guard let reply = try? session.call(method, parameters), !reply.value.items.isEmpty else { break }
                pages.append(reply.value)
            }
            return try web.report(pages.count, session) { index, files in
                defer { first += pages[index].items.count }
                let (page, next) = (pages[index], number + index + 1)
                let position = WebPage.Position(
                    summary: summary(page, first: first), previous: index > 0 ? files[index - 1] : nil,
                    next: next < number + pages.count ? files[index + 1] : nil,
                    command: next < number + pages.count || page.next == nil || next > Self.lastPage
                        ? nil : command(next))
                return html(page, position)
            }
        }
        return session.report(reply, freshness: page.freshness, source: source) { screen in
            show(&screen, page, isNumbered ? first : nil)
            if screen.layout.width != nil, page.next != nil { foot(&screen, total: page.total) }
        }
    }

    /// The items of a page and of the list, such as `21–40 of 42 posts`; empty if the number is unknown.
    private func summary(_ page: Page<some WireValue>, first: Int) -> String {
        if page.total == page.items.count { return countText(page.items.count, String(noun.dropLast())) }
        guard let total = page.total.map(groupedDigits) ?? uncounted else { return "" }
        return "\(groupedDigits(first))–\(groupedDigits(first + page.items.count - 1)) of \(total) \(noun)"
    }

    /// Returns the shell command for another page, or nil if it cannot be shown.
    private func command(_ page: Int) -> String? {
        shellCommand(words() + ["--page", "\(page)"] + (argument.map(argumentWords) ?? []))
    }

    private func foot(_ screen: inout Screen, total: Int?) {
        let position =
            (total.map(groupedDigits) ?? uncounted).map { "Page \(number), \($0) \(noun) in all." } ?? "Page \(number)."
        screen.line()
        guard number < Self.lastPage else {
            screen.paragraph("\(position) No further pages are shown; narrow the list to see the rest.", .dim)
            return
        }
        screen.paragraph("\(position) Next page:", .dim)
        // The command is not wrapped, because users copy it as one line.
        screen.line("  " + (command(number + 1) ?? "the same command with --page \(number + 1)"), .dim)
    }
}

extension CommandArguments {
    mutating func page(_ value: inout Int?) { option(&value, "page", in: 1...Paging.lastPage, "Page number, 1 to 10.") }
}

/// Returns the words of an argument behind options. `--` precedes an argument that begins with a dash.
func argumentWords(_ argument: String) -> [String] {
    argument.utf8.first == UInt8(ascii: "-") ? ["--", argument] : [argument]
}
