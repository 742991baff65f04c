import NorrisText

/// An http or https address of the characters that URLs can have, the only kind of address that a page contains.
struct PageAddress {
    let text: String
    /// The host with the port.
    let host: Substring

    /// Returns nil for an address of another scheme or without a host.
    init?(_ text: String?) {
        guard let text = text.map(urlText), isWebAddress(text) else { return nil }
        let authority = text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        guard let host = authority.split(separator: UInt8(ascii: "@")).last else { return nil }
        (self.text, self.host) = (text, Substring(host))
    }
}

/// An attribute of an element. Text is possible only as one of ``TextName``, and content can be an address only as a
/// ``PageAddress``, so that no content becomes a script, a style or an address of another scheme.
struct Attribute {
    enum TextName: String { case alt, datetime, title, label = "aria-label" }
    enum AddressName: String { case href, src, srcset }

    fileprivate let name: String
    /// Not escaped; nil for an attribute without a value.
    fileprivate let value: String?

    private init(_ name: String, _ value: String?) { (self.name, self.value) = (name, value) }

    /// An attribute from the source code.
    static func fixed(_ name: StaticString, _ value: StaticString? = nil) -> Attribute {
        Attribute(name.description, value?.description)
    }

    static func `class`(_ names: StaticString) -> Attribute { fixed("class", names) }
    /// For content in any language, whose first letter determines the direction.
    static let anyDirection = fixed("dir", "auto")

    /// A number after a word from the source code, which can be empty.
    static func number(_ name: StaticString, _ word: StaticString, _ value: Int) -> Attribute {
        Attribute(name.description, "\(word)\(value)")
    }

    /// The class of code in a language, which contains no white space.
    static func language(_ name: String) -> Attribute { Attribute("class", "language-\(name)") }

    static func text(_ name: TextName, _ value: String) -> Attribute { Attribute(name.rawValue, value) }

    /// The address of a file beside the page, whose name norrisctl has chosen.
    static func file(_ name: String) -> Attribute { Attribute("href", name) }

    static func address(_ name: AddressName, _ value: PageAddress) -> Attribute {
        // In a list of sources, a comma at the end does not belong to the address.
        let endsInComma = name == .srcset && value.text.hasSuffix(",")
        return Attribute(name.rawValue, endsInComma ? value.text.dropLast() + "%2C" : value.text)
    }
}

/// Writes HTML. Every text and every value of an attribute is sanitized and escaped; elements are always closed.
/// Sanitizing removes what HTML does not allow (controls, noncharacters), and bidirectional controls, which could move
/// text out of its element.
struct HTMLWriter: ~Copyable {
    private(set) var bytes: [UInt8] = []

    /// Writes HTML from the source code.
    mutating func fixed(_ html: StaticString) { html.withUTF8Buffer { bytes += $0 } }

    mutating func text(_ text: some StringProtocol) {
        for byte in sanitizedText(String(text)).utf8 {
            switch byte {
            case UInt8(ascii: "&"): fixed("&amp;")
            case UInt8(ascii: "<"): fixed("&lt;")
            case UInt8(ascii: ">"): fixed("&gt;")
            case UInt8(ascii: "\""): fixed("&quot;")
            case UInt8(ascii: "'"): fixed("&#39;")
            default: bytes.append(byte)
            }
        }
    }

    /// Writes an element that has no content and no end tag.
    mutating func void(_ name: StaticString, _ attributes: [Attribute?] = []) {
        fixed("<")
        fixed(name)
        for case let attribute? in attributes {
            bytes += " \(attribute.name)".utf8
            guard let value = attribute.value else { continue }
            fixed("=\"")
            text(value)
            fixed("\"")
        }
        fixed(">")
    }

    /// Writes an element with its content.
    mutating func element(_ name: StaticString, _ attributes: [Attribute?] = [], content: (inout HTMLWriter) -> Void) {
        void(name, attributes)
        content(&self)
        fixed("</")
        fixed(name)
        fixed(">")
    }

    /// Writes an element that contains only text.
    mutating func element(_ name: StaticString, _ attributes: [Attribute?] = [], text: some StringProtocol) {
        element(name, attributes) { $0.text(text) }
    }
}
