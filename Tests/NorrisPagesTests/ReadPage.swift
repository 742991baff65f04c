import NorrisPages
import NorrisProtocol
import NorrisTestSupport
import Testing

/// A page as strictly read elements: the test fails for an unclosed element, a value without quotes, a raw `<`, `>` or
/// `&`, and a character that HTML does not allow.
struct ReadPage {
    struct Element {
        let name: String
        var attributes: [String: String] = [:]
        /// The text of the element and all elements in it, with plain spaces.
        var text = ""
        /// The names and classes of the elements around it.
        var parents: [String] = []

        subscript(name: String) -> String { attributes[name] ?? "" }
    }

    /// In the order of their end tags.
    private(set) var elements: [Element] = []
    private(set) var style = ""

    private static let empty: Set = ["br", "hr", "img", "meta", "source"]
    private static let references = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]

    init(_ page: String) throws {
        #expect(page.unicodeScalars.allSatisfy { Self.isAllowed($0.value) }, "forbidden characters")
        var rest = page[...]
        try #require(rest.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        rest = rest.drop { $0 != "\n" }
        var open: [Element] = []
        while let next = rest.firstIndex(of: "<") {
            let text = try Self.decoded(rest[..<next])
            for index in open.indices { open[index].text += text.replacing("\u{A0}", with: " ") }
            let end = try #require(rest[next...].firstIndex(of: ">"), "unclosed tag")
            let tag = rest[next..<end].dropFirst()
            rest = rest[end...].dropFirst()
            if tag.hasPrefix("/") {
                try #require(tag.dropFirst() == open.last?.name ?? "", "\(tag) has no start")
                elements.append(open.removeLast())
                continue
            }
            var element = try Self.element(tag)
            element.parents = open.map { $0.name + ($0["class"].isEmpty ? "" : "." + $0["class"]) }
            if Self.empty.contains(element.name) { elements.append(element) } else { open.append(element) }
            if element.name == "style" {
                style = String(rest.prefix { $0 != "<" })
                rest = rest.dropFirst(style.count)
            }
        }
        try #require(open.isEmpty && rest == "\n")
    }

    private static func element(_ tag: Substring) throws -> Element {
        let name = tag.prefix { $0 != " " }
        var element = Element(name: String(name))
        for match in tag[name.endIndex...].matches(of: /\ ([a-z-]+)(?:="([^"]*)")?/) {
            try #require(element.attributes.updateValue(decoded(match.2 ?? ""), forKey: String(match.1)) == nil)
        }
        try #require(tag[name.endIndex...].replacing(/\ [a-z-]+(?:="[^"]*")?/, with: "").isEmpty, "malformed: \(tag)")
        return element
    }

    private static func decoded(_ text: Substring) throws -> String {
        try #require(!text.contains(">"))
        let rest = references.reduce(text) { $0.replacing($1.0, with: "") }
        try #require(!rest.contains("&"), "unescaped: \(text)")
        return String(references.reduce(text) { $0.replacing($1.0, with: $1.1) })
    }

    private static func isAllowed(_ value: UInt32) -> Bool {
        let isControl = value < 0x20 && value != 0x0A && value != 0x09 || 0x7F..<0xA0 ~= value
        let isBidirectional = 0x202A...0x202E ~= value || 0x2066...0x2069 ~= value
        return !isControl && !isBidirectional && value & 0xFFFE != 0xFFFE && !(0xFDD0...0xFDEF ~= value)
    }

    func all(_ name: String, class names: String? = nil) -> [Element] {
        elements.filter { $0.name == name && (names == nil || $0["class"] == names) }
    }
}

/// Ends every element and attribute that it can be in, and contains what HTML does not allow.
let hostile = """
    </style></title></script><script>alert(1)</script><img src=x onerror=alert(1)>" onload="alert(1)" ' ` <!-- ]]> \
    &lt; \u{0}\u{8}\u{B}\u{1B}[31m\u{7F}\u{85}\u{202E}evil\u{2066}\u{FFFF}\u{FFFE}\u{1FFFF}
    """

let web = "https://example.org/"

func page(showsAll: Bool = false) -> WebPage { WebPage(title: "Feed", now: .ofTests, showsAll: showsAll) }

func post(_ text: String?, title: String? = nil, images: Int = 0, links: [String] = []) -> Post {
    let images = (0..<images).map { Post.Image(url: "\(web)\($0).png", width: 800, height: 600, alt: "alt \($0)") }
    return Post(
        id: "town:1", source: "town", author: Post.Author(id: "town:2", name: "Ada"),
        publishedAt: Timestamp(seconds: Timestamp.ofTests.seconds - 7_200), title: title, text: text, images: images,
        links: links, url: web)
}

func gif(_ renditions: [String: Gif.Rendition]) -> Gif {
    Gif(id: "k1", title: "Kick", rating: "pg", pageURL: "\(web)k1", username: "ada", renditions: renditions)
}
