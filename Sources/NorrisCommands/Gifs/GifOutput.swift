import NorrisProtocol
import NorrisTerminal

/// How GIFs are printed, and which of them could not be.
struct GifOutput {
    enum Form {
        /// Titles, sizes and addresses for a terminal, one a line for a pipe.
        case full
        /// Addresses alone.
        case url
        case markdown
    }

    let form: Form
    /// The rendition that was asked for; nil takes the best that each GIF has.
    let rendition: String?
    /// What else is done with the first ones, and how many these are; no others are printed then.
    let action: (kind: ExternalAction, count: Int)?
    private var shown: [Gif] = []
    private var omitted: [Gif] = []

    init(form: Form = .full, rendition: String? = nil, action: (kind: ExternalAction, count: Int)? = nil) {
        self.form = form
        self.rendition = rendition
        self.action = action
    }

    /// The session to print in: what is to be pasted somewhere is laid out as for a pipe.
    func session(_ session: Session) -> Session {
        form == .full ? session : session.with { $0.plain = true }
    }

    /// Prints those that have what was asked for.
    mutating func show(_ gifs: [Gif], on screen: inout Screen) {
        let gifs = gifs.prefix(action?.count ?? gifs.count)
        let needsAddress = form != .full || rendition != nil || [.copy, .show].contains(action?.kind)
        shown = gifs.filter { !needsAddress || $0.picture(rendition) != nil }
        omitted = gifs.filter { needsAddress && $0.picture(rendition) == nil }
        switch form {
        case .full: screen.gifs(shown, rendition: rendition)
        case .url: screen.addresses(of: shown, rendition: rendition)
        case .markdown: screen.markdown(of: shown, rendition: rendition)
        }
    }

    /// Says what was left out, and what Giphy asks to be said wherever the content does not; runs the external program.
    func finish(_ report: inout Report, _ session: Session) throws(Failure) {
        notes.forEach { report.note($0) }
        if shown.isEmpty, !omitted.isEmpty { report.status = .nothing }
        guard let first = shown.first else { return }
        if form != .full { report.remark(Gif.attribution) }
        let addresses = shown.compactMap { $0.picture(rendition)?.address }
        switch action?.kind {
        case .copy: report.attempt { () throws(Failure) in try session.copy(addresses[0]) }
        case .open: report.attempt { () throws(Failure) in try session.open(first.pageURL, of: "GIF \(first.id)") }
        case .show: try session.draw(addresses, below: &report)
        case nil: break
        }
    }

    /// The words that make a command print in this form.
    var words: [String] {
        let form: [String] =
            switch form {
            case .full: []
            case .url: ["--url"]
            case .markdown: ["--markdown"]
            }
        return optionWords(("--rendition", rendition)) + form + (action.map { [$0.kind.flag] } ?? [])
    }

    private var notes: [String] {
        var notes: [String] = []
        var unprintable = omitted
        if let rendition {
            let without = omitted.filter { $0.renditions[rendition] == nil }
            unprintable.removeAll { $0.renditions[rendition] == nil }
            if !without.isEmpty {
                let names = Set(without.flatMap { gif in gif.renditions.keys.filter { gif.picture($0) != nil } })
                let choice = names.isEmpty ? "none that can be shown" : names.sorted().joined(separator: ", ")
                let pronoun = without.count == 1 ? "it has" : "they have"
                notes.append("\(Self.named(without)) no rendition \(rendition.quotedForMessage); \(pronoun): \(choice)")
            }
        }
        if !unprintable.isEmpty { notes.append("\(Self.named(unprintable)) no address that can be printed.") }
        return notes
    }

    /// `GIF abc has`, or `5 GIFs (abc, def, ghi and others) have`.
    private static func named(_ gifs: [Gif]) -> String {
        if gifs.count == 1 { return "GIF \(gifs[0].id) has" }
        let ids = gifs.prefix(3).map(\.id).joined(separator: ", ")
        return "\(gifs.count) GIFs (\(ids)\(gifs.count > 3 ? " and others" : "")) have"
    }
}

extension Failure {
    /// Says how to get at GIFs where there are none: a key for Giphy and where it goes, or what is wrong and
    /// when it is tried again. Where the daemon knows of no failure its own hint stays.
    func withGifHint(now: Timestamp) -> Failure {
        guard let response, response.code == .nothingCached else { return self }
        let error = response.details["last_error"].flatMap { try? SourceFailure(json: $0) }
        var failure = self
        if response.lacksCredentials {
            // The source's own words as a further sentence, unless the message has them already.
            if let words = error?.message, !words.isEmpty {
                let sentence = words.last == "." ? words : words + "."
                failure.message += sentence.hasSameBytes(as: failure.message) ? "" : " " + sentence
            }
            failure.hint = "Get an API key of your own at https://developers.giphy.com, and give it to norrisd."
            failure.steps = [
                "To the system's: /etc/credstore/giphy-api-key, mode 0600, then: systemctl restart norrisd",
                "To one of your own: gifs.api_key_file in ~/.config/norrisd/config.yaml, then: norrisctl reload",
            ]
        } else if let error {
            failure.hint = "gifs: \(error.outlook(now: now))"
        }
        return failure
    }
}
