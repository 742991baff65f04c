import NorrisProtocol
import NorrisTerminal

/// A page of a list of GIFs: what `norrisctl gif` does for a text or for none, and `norrisctl recent` again.
struct GifListing {
    /// What is looked for; nil for what is trending.
    var text: String?
    var limit: Int?
    /// From 1.
    var page = 1
    /// Only for a text.
    var offline = false
    var output = GifOutput()
    /// The socket that was given, for the command that shows another page.
    var socket: String?

    func report(_ session: Session) throws(Failure) -> Report {
        let session = output.session(session)
        var output = output
        do throws(Failure) {
            var report = try Paging(number: page, noun: "GIFs", uncounted: nil, command: command).report(
                session,
                source: "gifs",
                nothing: nothing,
                call: { (cursor) throws(Failure) in try call(session, cursor: cursor) },
                show: { output.show($1, on: &$0) }
            )
            try output.finish(&report, session)
            return report
        } catch {
            throw error.withGifHint(now: session.system.now)
        }
    }

    private func call(_ session: Session, cursor: String?) throws(Failure) -> Reply<Page<Gif>> {
        guard let text else {
            let parameters = GifTrending.Parameters(limit: limit, cursor: cursor)
            return try session.call(GifTrending.self, parameters)
        }
        let parameters = GifSearch.Parameters(query: text, limit: limit, cursor: cursor, offline: offline)
        return try session.call(GifSearch.self, parameters)
    }

    private var nothing: String {
        guard let text else { return "No GIFs are stored yet; fetch some: norrisctl refresh gifs --wait" }
        return offline
            ? "No GIF that is stored answers \(text.quotedForMessage); leave out --offline to ask Giphy."
            : "No GIF answers \(text.quotedForMessage); try other words, or: norrisctl gif --trending"
    }

    /// The command that shows a page of this list, for a shell; nil if the text cannot be shown as it is.
    private func command(page: Int) -> String? {
        var words = ["norrisctl", "gif"]
        if let socket {
            words += ["--socket", socket]
        }
        if text == nil {
            words.append("--trending")
        }
        if let limit {
            words += ["--limit", "\(limit)"]
        }
        if offline {
            words.append("--offline")
        }
        words += output.words
        words += ["--page", "\(page)"]
        if let text {
            words += text.utf8.first == UInt8(ascii: "-") ? ["--", text] : [text]
        }
        return shellCommand(words)
    }
}
