/// An element of markup with its content.
final class MarkupElement {
    enum Node {
        case element(MarkupElement)
        case text(String)
    }

    /// The name with the usual prefix of its namespace, such as `item`, `media:content` or `p`, in lower case.
    let name: String
    let attributes: [String: String]
    var nodes: [Node] = []

    init(name: String, attributes: [String: String] = [:]) { (self.name, self.attributes) = (name, attributes) }

    /// The value of an attribute; nil if it is missing or blank.
    subscript(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.utf8.allSatisfy(isWhiteSpace) ? nil : $0 }
    }

    /// The words of the attribute `class`.
    var kinds: [Substring] { attributes["class"]?.split(whereSeparator: \.isWhitespace) ?? [] }

    var children: [MarkupElement] {
        nodes.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    func children(_ names: String...) -> [MarkupElement] {
        nodes.compactMap { if case .element(let element) = $0, names.contains(element.name) { element } else { nil } }
    }

    var hasElements: Bool { nodes.contains { if case .element = $0 { true } else { false } } }

    /// All text in the element, without the tags.
    var text: String {
        if nodes.count == 1, case .text(let text) = nodes[0] { return text }
        var text = ""
        var left: [Node] = nodes.reversed()
        while let node = left.popLast() {
            switch node {
            case .text(let part): text += part
            case .element(let element): left += element.nodes.reversed()
            }
        }
        return text
    }
}

/// Builds elements from tokens, as leniently as browsers: an end tag closes the innermost element of its name, and the
/// elements in it; without one it is ignored.
struct MarkupTreeBuilder {
    /// The maximum number of open elements; deeper ones are left out with their tags only. Feeds are much less deep.
    static let maximumDepth = 200

    /// An element that is not closed yet, and its start tag as written.
    private struct Open {
        let element: MarkupElement
        let kind: HTMLKind
        let tag: Range<Int>
    }

    private var tokenizer: Tokenizer
    private let isXML: Bool
    /// Whether a tag without its counterpart is text, because a title names elements.
    private let isTitle: Bool
    private var open: [Open]
    /// The canonical prefixes by the prefixes that the document declares.
    private var prefixes: [String: String] = [:]
    private var unmatched = 0
    /// The number of open elements beyond ``maximumDepth``.
    private var uncounted = 0
    /// The values of `xml:base` of the open elements, the outermost first, and the number of those elements.
    private var bases: (values: [String], depths: [Int]) = ([], [])
    private let closed: Handler

    /// Receives each closed element, its parent, and the values of `xml:base` in and around it, the outermost first.
    /// Returns false if the element must not be kept in its parent.
    typealias Handler = (MarkupElement, _ parent: MarkupElement, _ bases: [String]) throws(UpstreamError) -> Bool

    init(
        _ bytes: [UInt8], _ language: Tokenizer.Language, isTitle: Bool = false,
        closed: @escaping Handler = { _, _, _ in true }
    ) {
        tokenizer = Tokenizer(bytes, language, isTitle: isTitle)
        (isXML, self.isTitle) = (language == .xml, isTitle)
        open = [Open(element: MarkupElement(name: ""), kind: [], tag: 0..<0)]
        self.closed = closed
    }

    /// The number of faults after which a parser of XML would have stopped.
    var faults: Int { tokenizer.faults + unmatched }

    /// Whether the markup ends inside of an element or of a tag. Only an element of XML must be closed.
    private(set) var isCut = false

    /// Builds all elements; the root that contains them has no name.
    mutating func build() throws(UpstreamError) -> MarkupElement {
        while let token = tokenizer.next() {
            switch token {
            case .start(let name, let attributes, let isEmpty): try start(name, attributes, isEmpty)
            case .end(let name): try end(canonical(name))
            case .text(let text): open[open.count - 1].element.nodes.append(.text(text))
            }
        }
        isCut = tokenizer.isCut || isXML && open.count > 1
        // An element of XML that is still open was cut off, so it is incomplete.
        if !isXML { while open.count > 1 { try close(isForced: true) } }
        return open[0].element
    }

    private mutating func start(
        _ written: String, _ attributes: [String: String], _ isEmpty: Bool
    ) throws(UpstreamError) {
        if isXML { declare(attributes) }
        let name = canonical(written)
        // An item that is not closed ends where the next begins.
        if isXML, Self.items.contains(name), let index = open.lastIndex(where: { $0.element.name == name }) {
            try close(to: index)
        }
        let kind = HTMLKind.kinds[name] ?? []
        // `<b>a<b/>`: the slash is at the wrong place.
        if !isXML, isEmpty, !isTitle, kind.contains(.isMark), open.contains(where: { $0.element.name == name }) {
            return try end(name)
        }
        if !isXML, let index = indexOfElementEnded(by: kind) { try close(to: index) }
        let isVoid = isXML && isEmpty || kind.contains(.isVoid) || !isXML && Self.voidsOfHTML.contains(name)
        if isXML, isVoid, !isEmpty { unmatched += 1 }
        guard open.count < Self.maximumDepth else {
            if !isVoid, !isEmpty { uncounted += 1 }
            return
        }
        let element = MarkupElement(name: name, attributes: attributes)
        open.append(Open(element: element, kind: kind, tag: tokenizer.range))
        if isXML, let base = attributes["xml:base"] {
            bases.values.append(base)
            bases.depths.append(open.count)
        }
        if isVoid {
            let isName = isTitle && attributes.isEmpty && !["br", "hr", "wbr"].contains(name)
            try close(isForced: isName)
        } else if isEmpty {
            try close(isForced: isTitle || !kind.contains(.isHTML))
        }
    }

    private mutating func end(_ name: String) throws(UpstreamError) {
        if uncounted > 0 { return uncounted -= 1 }
        guard let index = open.lastIndex(where: { $0.element.name == name }), index > 0 else {
            // As browsers do.
            if !isXML, name == "br" { return try start(name, [:], false) }
            if isTitle { keepTag(tokenizer.range) }
            return unmatched += 1
        }
        try close(to: index + 1)
        try close(isForced: false)
    }

    /// Closes the elements from an index on, which have no end tag.
    private mutating func close(to index: Int) throws(UpstreamError) {
        if isXML, open.count > index { unmatched += 1 }
        while open.count > index { try close(isForced: true) }
    }

    private mutating func close(isForced: Bool) throws(UpstreamError) {
        let last = open.removeLast()
        let element = last.element
        guard let parent = open.last?.element else { return }
        let isKept = try closed(element, parent, bases.values)
        if bases.depths.last == open.count + 1 {
            bases.values.removeLast()
            bases.depths.removeLast()
        }
        if !isKept { return }
        // `vector<int>` or `Jo <jo@site.example>`: a text in brackets.
        if isForced, isTitle || !last.kind.contains(.isHTML) && element.attributes.values.allSatisfy(\.isEmpty) {
            keepTag(last.tag)
            parent.nodes += element.nodes
        } else if isForced, !isXML, last.kind.contains(.isHidden), element.name != "script", element.name != "style" {
            // The text after a `<head>` or `<object>` without an end tag is not its content.
            parent.nodes.append(.element(MarkupElement(name: element.name, attributes: element.attributes)))
            parent.nodes += element.nodes
        } else {
            parent.nodes.append(.element(element))
        }
    }

    /// Adds a tag as text, as it is written.
    private func keepTag(_ tag: Range<Int>) {
        open[open.count - 1].element.nodes.append(.text(String(decoding: tokenizer.bytes[tag], as: UTF8.self)))
    }

    private func indexOfElementEnded(by kind: HTMLKind) -> Int? {
        guard let (ended, scope) = HTMLKind.ended(by: kind) else { return nil }
        for index in open.indices.dropFirst().reversed() {
            if !open[index].kind.isDisjoint(with: ended) { return index }
            if !open[index].kind.isDisjoint(with: scope) { return nil }
        }
        return nil
    }

    private static let items: Set<String> = ["item", "entry", "atom:entry"]
    /// Elements without content in HTML, but with content in feeds.
    private static let voidsOfHTML: Set<String> = ["base", "link", "meta", "source"]

    // MARK: Names

    private mutating func declare(_ attributes: [String: String]) {
        for (name, value) in attributes where name.hasPrefix("xmlns:") {
            let prefix = String(name.dropFirst(6))
            var uri = value.lowercased()
            // Feeds write these URIs with and without the last slash.
            if uri.last == "/" { uri.removeLast() }
            prefixes[prefix] = Self.namespaces[uri] ?? prefix
        }
    }

    /// The name with the usual prefix of its namespace. The prefix of Atom is left out in a document of Atom, and one
    /// that is neither declared nor usual everywhere.
    private func canonical(_ name: String) -> String {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return name }
        let written = String(name[..<colon])
        let prefix = prefixes[written] ?? (Self.usualPrefixes.contains(written) ? written : "")
        let local = String(name[name.utf8.index(after: colon)...])
        let isAtom = open.count > 1 ? open[1].element.name == "feed" : local == "feed"
        return prefix.isEmpty || prefix == "atom" && isAtom ? local : "\(prefix):\(local)"
    }

    /// The usual prefixes of namespaces, whatever the document calls them; empty for those whose names stand alone.
    private static let namespaces = [
        "http://backend.userland.com/rss2": "", "http://blogs.law.harvard.edu/tech/rss": "",
        "http://example.com/necho": "atom", "http://example.com/newformat#": "atom",
        "http://my.netscape.com/rdf/simple/0.9": "", "http://purl.org/atom/ns#": "atom",
        "http://purl.org/dc/elements/1.1": "dc", "http://purl.org/dc/terms": "dc", "http://purl.org/echo": "atom",
        "http://purl.org/pie": "atom", "http://purl.org/rss/1.0": "",
        "http://purl.org/rss/1.0/modules/content": "content",
        "http://purl.org/rss/1.0/modules/slash": "slash", "http://search.yahoo.com/mrss": "media",
        "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes", "http://www.w3.org/1998/math/mathml": "",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf", "http://www.w3.org/1999/xhtml": "",
        "http://www.w3.org/2000/svg": "", "http://www.w3.org/2005/atom": "atom", "https://www.w3.org/2005/atom": "atom",
    ]
    /// Prefixes that mean the same if the document does not declare them.
    private static let usualPrefixes: Set<String> = ["atom", "content", "dc", "itunes", "media", "rdf", "slash"]
}
