/// A word that a shell may put into a command line, with what it means.
struct CompletionWord: Equatable {
    let text: String

    /// One line of norrisctl's own, such as the help of an option; never anything from a daemon.
    let summary: String

    /// In bytes.
    private static let longest = 100

    /// nil for a word that a shell might take for more than a word, and so needs quoting: every word that is offered
    /// comes through here, whether it is norrisctl's own or foreign.
    init?(_ text: String, summary: String = "") {
        guard (1...Self.longest).contains(text.utf8.count), text.utf8.allSatisfy(Self.isPlain) else { return nil }
        self.text = text
        self.summary = summary
    }

    /// A word of a daemon's; one that begins like an option is none.
    init?(foreign text: String) {
        guard text.utf8.first != UInt8(ascii: "-") else { return nil }
        self.init(text)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"),
            UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
