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

    func report(_ session: Session) throws(Failure) -> Report {
        let session = output.session(session)
        var output = output
        let command = ["gif"] + optionWords(("--socket", session.settings.socket)) + (text == nil ? ["--trending"] : [])
            + optionWords(("--limit", limit.map(String.init))) + (offline ? ["--offline"] : []) + output.words
        let arguments = text.map(argumentWords) ?? []
        do throws(Failure) {
            var report = try Paging(number: page, noun: "GIFs", uncounted: nil, command: (command, arguments)).report(
                session, source: "gifs", nothing: nothing,
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
}
