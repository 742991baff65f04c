import NorrisProtocol
import NorrisTerminal

/// A search for facts by a text, a page of it: what `norrisctl search` does, and `norrisctl recent` again.
struct FactTextSearch {
    var text: String
    var categories: [String] = []
    var limit: Int?
    /// From 1.
    var page = 1
    var offline = false
    /// The socket that was given, for the command that shows another page.
    var socket: String?

    func report(_ session: Session) throws(Failure) -> Report {
        try Paging(number: page, noun: "facts", command: command).report(
            session,
            source: "facts",
            nothing: "No fact contains \(text.quotedForMessage); try a shorter text, or: norrisctl categories",
            call: { (cursor) throws(Failure) in try call(session, cursor: cursor) },
            show: { $0.facts($1) }
        )
    }

    private func call(_ session: Session, cursor: String?) throws(Failure) -> Reply<FactSearch.Result> {
        let parameters = FactSearch.Parameters(
            query: text,
            categories: categories,
            limit: limit,
            cursor: cursor,
            offline: offline
        )
        do {
            return try session.call(FactSearch.self, parameters)
        } catch {
            throw error.withCategoryHint(categories, allowsExplicit: false)
        }
    }

    /// The command that shows a page of this search, for a shell; nil if the text cannot be shown as it is.
    private func command(page: Int) -> String? {
        var words = ["norrisctl", "search"]
        if let socket {
            words += ["--socket", socket]
        }
        for name in categories {
            words += ["--category", name]
        }
        if let limit {
            words += ["--limit", "\(limit)"]
        }
        if offline {
            words.append("--offline")
        }
        words += ["--page", "\(page)"]
        if text.utf8.first == UInt8(ascii: "-") {
            words.append("--")
        }
        words.append(text)
        return shellCommand(words)
    }
}
