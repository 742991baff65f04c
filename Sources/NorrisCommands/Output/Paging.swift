import NorrisArguments
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
    /// a page for the browser, with the command for the next page.
    func report<M: Method, Item: WireValue>(
        _ method: M.Type, _ parameters: M.Parameters, notFound: @autoclosure () -> Advice? = nil, source: String,
        nothing: Advice,
        empty: (Reply<Page<Item>>) throws(Failure) -> Report? = { _ in nil },
        html: (Page<Item>, _ next: String?) -> String,
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
        if page.items.isEmpty, let report = try empty(reply) { return report }
        if web.isOn, !page.items.isEmpty {
            let next = page.next == nil || number == Self.lastPage ? nil : command(number + 1)
            return try web.report(html(page, next), session)
        }
        return session.report(
            reply, freshness: page.freshness, source: source, nothing: page.items.isEmpty ? nothing : nil
        ) { screen in
            show(&screen, page, isNumbered ? first : nil)
            if screen.layout.width != nil, page.next != nil { foot(&screen, total: page.total) }
        }
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
