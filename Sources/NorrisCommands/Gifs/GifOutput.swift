import NorrisProtocol
import NorrisTerminal

/// In which form GIFs are printed, and which of those that came could be.
struct GifOutput {
    enum Form {
        /// Titles, sizes and addresses for a terminal, one a line for a pipe.
        case full
        /// Addresses alone.
        case url
        case markdown
    }

    var form = Form.full

    /// The rendition that was asked for; nil takes the best that each GIF has.
    var rendition: String?

    /// What else is done with the first ones, and how many these are; no others are printed then.
    var handover: (kind: Handover, count: Int)?

    private var shown: [Gif] = []
    private var omitted: [Gif] = []

    init(form: Form = .full, rendition: String? = nil) {
        self.form = form
        self.rendition = rendition
    }

    /// The session to print in: what is to be pasted somewhere is laid out as for a pipe.
    func session(_ session: Session) -> Session {
        form == .full ? session : session.with { $0.plain = true }
    }

    /// Prints those that have what was asked for.
    mutating func show(_ gifs: [Gif], on screen: inout Screen) {
        let gifs = gifs.prefix(handover?.count ?? gifs.count)
        let needsAddress = form != .full || rendition != nil || [.copy, .show].contains(handover?.kind)
        shown = gifs.filter { !needsAddress || $0.picture(rendition) != nil }
        omitted = gifs.filter { needsAddress && $0.picture(rendition) == nil }
        switch form {
        case .full: screen.gifs(shown, rendition: rendition)
        case .url: screen.addresses(of: shown, rendition: rendition)
        case .markdown: screen.markdown(of: shown, rendition: rendition)
        }
    }

    /// Says what was left out, and what Giphy asks to be said wherever the content does not; hands over what is to be.
    func finish(_ report: inout Report, _ session: Session) throws(Failure) {
        for note in notes {
            report.note(note)
        }
        if shown.isEmpty, !omitted.isEmpty {
            report.status = .nothing
        }
        if form != .full, !shown.isEmpty {
            report.remark(Gif.attribution)
        }
        if let handover, !shown.isEmpty {
            try hand(over: handover.kind, session, &report)
        }
    }

    private func hand(over kind: Handover, _ session: Session, _ report: inout Report) throws(Failure) {
        let addresses = shown.compactMap { $0.picture(rendition)?.address }
        let gif = shown[0]
        switch kind {
        case .copy: report.attempt { () throws(Failure) in try session.copy(addresses[0]) }
        case .open: report.attempt { () throws(Failure) in try session.open(gif.pageURL, of: "GIF \(gif.id)") }
        case .show: try session.draw(addresses, below: &report)
        }
    }

    /// The words that make a command print in this form.
    var words: [String] {
        var words: [String] = []
        if let rendition {
            words += ["--rendition", rendition]
        }
        switch form {
        case .full: break
        case .url: words.append("--url")
        case .markdown: words.append("--markdown")
        }
        if let handover {
            words.append(handover.kind.flag)
        }
        return words
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
        if !unprintable.isEmpty {
            notes.append("\(Self.named(unprintable)) no address that can be printed.")
        }
        return notes
    }

    /// `GIF abc has`, or `5 GIFs (abc, def, ghi and others) have`.
    private static func named(_ gifs: [Gif]) -> String {
        if gifs.count == 1 {
            return "GIF \(gifs[0].id) has"
        }
        let ids = gifs.prefix(3).map(\.id).joined(separator: ", ")
        return "\(gifs.count) GIFs (\(ids)\(gifs.count > 3 ? " and others" : "")) have"
    }
}
