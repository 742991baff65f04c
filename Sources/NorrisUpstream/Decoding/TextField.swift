/// The kinds of text in an upstream's document, each with the longest text that is read of it.
///
/// The readers of XML and JSON return a text only for one of these fields, cut at its limit. No decoder sees more, so
/// the cost of a decoder does not depend on the length of a text.
enum TextField {
    /// A media type, a relation, a number, or any other single word.
    case word
    case date
    case url
    /// What an upstream names an item by.
    case id
    /// A person, also with an email address.
    case name
    case tag
    /// A title, or the description of a picture; HTML in some formats.
    case line
    /// The text of an item; HTML in most formats, which becomes shorter as plain text.
    case text

    /// In bytes of UTF-8. Texts that are stored have lower limits of their own, in code points.
    var limit: Int {
        switch self {
        case .date: 100
        case .word: 256
        case .tag: 1 << 10
        case .url, .id, .name: 4 << 10
        case .line: 16 << 10
        case .text: 256 << 10
        }
    }

    /// Whether a part of such a text would have another meaning.
    private var isWhole: Bool {
        switch self {
        case .word, .date, .url: true
        case .id, .name, .tag, .line, .text: false
        }
    }

    /// The first code points of a text, as many as the field takes. Nil if the text is too long and a part of it would
    /// have another meaning.
    func cut(_ text: String) -> String? {
        if text.utf8.count <= limit { return text }
        if isWhole { return nil }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        // At most three bytes back to the beginning of a code point.
        while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
