/// A kind of text in an upstream's document. The readers of XML and JSON cut each text at the limit of its field, so
/// that the cost of a decoder does not depend on the length of a text.
enum TextField {
    /// A single word, such as a media type, a relation or a number.
    case word
    case date
    case url
    case id
    /// The name of a person, possibly with an email address.
    case name
    case tag
    /// A title, or the description of a picture; HTML in some formats.
    case line
    /// The text of an item; HTML in most formats, which is longer than its plain text.
    case text

    /// The limit in bytes of UTF-8. Stored texts have separate, lower limits in code points.
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

    /// Whether a shortened text would have another meaning.
    private var isWhole: Bool {
        switch self {
        case .word, .date, .url: true
        case .id, .name, .tag, .line, .text: false
        }
    }

    /// Cuts a text at the limit, between code points. Returns nil if the text is too long and must stay whole.
    func cut(_ text: String) -> String? {
        if text.utf8.count <= limit { return text }
        if isWhole { return nil }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        // Goes back at most three bytes to the beginning of a code point.
        while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
