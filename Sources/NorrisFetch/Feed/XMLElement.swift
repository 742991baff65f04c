import NorrisText

/// An element with its content: one section of a feed, such as an item. Each text is cut at the limit of its field.
struct XMLElement {
    private enum Node {
        case text(String)
        case element(XMLElement)
    }

    let name: XMLName
    private let attributes: [(name: XMLName, value: String)]
    /// The base of relative URLs in the element (<https://www.w3.org/TR/xmlbase/>).
    let base: HTTPURL
    private var nodes: [Node] = []

    /// The memory of an element in its parent, including array growth, in bytes.
    static var memory: Int { 2 * MemoryLayout<Node>.stride + 32 }

    init(name: XMLName, attributes: [(name: XMLName, value: String)], base: HTTPURL) {
        (self.name, self.attributes, self.base) = (name, attributes, base)
    }

    mutating func append(_ text: String) { nodes.append(.text(text)) }

    mutating func append(_ element: XMLElement) { nodes.append(.element(element)) }

    /// The value of an attribute without a namespace; nil if empty.
    subscript(_ attribute: String, _ field: TextField) -> String? { value(XMLName(attribute), field) }

    func value(_ attribute: XMLName, _ field: TextField) -> String? {
        attributes.first { $0.name == attribute }.flatMap { $0.value.isEmpty ? nil : field.cut($0.value) }
    }

    func url(_ attribute: String) -> String? { self[attribute, .url].flatMap { resolved($0, at: base) } }

    var elements: [XMLElement] { nodes.compactMap { if case .element(let element) = $0 { element } else { nil } } }

    func children(_ local: String, in namespace: XMLNamespace = .none) -> [XMLElement] {
        let name = XMLName(local, in: namespace)
        return nodes.compactMap { node in
            if case .element(let element) = node, element.name == name { element } else { nil }
        }
    }

    /// All text in the element, without markup; empty if the text is too long for a field that must stay whole.
    func text(_ field: TextField) -> String {
        // Most elements contain only one text.
        if nodes.count == 1, case .text(let text) = nodes[0] { return field.cut(text) ?? "" }
        var text = ""
        appendText(to: &text, upTo: field.limit)
        return field.cut(text) ?? ""
    }

    /// Appends texts up to the first that exceeds `length` bytes in all.
    private func appendText(to text: inout String, upTo length: Int) {
        for node in nodes where text.utf8.count <= length {
            switch node {
            case .text(let piece): text += piece
            case .element(let element): element.appendText(to: &text, upTo: length)
            }
        }
    }

    /// The text of the first child with this name that is not blank.
    func text(of local: String, in namespace: XMLNamespace = .none, _ field: TextField) -> String? {
        let name = XMLName(local, in: namespace)
        for case .element(let element) in nodes where element.name == name {
            let text = element.text(field)
            if !text.utf8.allSatisfy(isWhiteSpace) { return text }
        }
        return nil
    }

    /// The URL in the first child with this name that is not blank, resolved.
    func url(of local: String, in namespace: XMLNamespace = .none) -> String? {
        text(of: local, in: namespace, .url).flatMap { resolved($0, at: base) }
    }

    /// The content as HTML: elements, texts, and the attributes of pictures, links and lists.
    func html(_ field: TextField) -> String {
        var html = ""
        appendHTML(to: &html, upTo: field.limit)
        return field.cut(html) ?? ""
    }

    private func appendHTML(to html: inout String, upTo length: Int) {
        for node in nodes where html.utf8.count <= length {
            switch node {
            case .text(let text):
                let text = escaped(text)
                html += text
            case .element(let element):
                let name = element.name.local
                html += "<\(name)"
                for attribute in ["src", "alt", "width", "height", "class", "href", "start", "value"] {
                    if let value = element[attribute, .url] { html += " \(attribute)=\"\(escaped(value))\"" }
                }
                html += ">"
                element.appendHTML(to: &html, upTo: length)
                // Elements without an end tag. `</br>` would be another line break.
                if !["br", "hr", "img"].contains(name) { html += "</\(name)>" }
            }
        }
    }

    private func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// The name of an element or attribute: its namespace and its local part.
struct XMLName: Hashable {
    var namespace: XMLNamespace
    var local: String

    init(_ local: String, in namespace: XMLNamespace = .none) {
        self.namespace = namespace
        self.local = local
    }

    /// - Parameter expanded: a name from Expat: the namespace's URI and ``separator``, if any, and the local part.
    init(expanded: String) {
        let parts = expanded.split(separator: Character(Self.separator), omittingEmptySubsequences: false)
        self.init(String(parts[parts.count - 1]), in: parts.count > 1 ? XMLNamespace(String(parts[0])) : .none)
    }

    /// A character that neither a URI nor a name may contain.
    static let separator: Unicode.Scalar = "\n"
}

enum XMLNamespace: Hashable {
    /// No namespace, or a namespace of an RSS version.
    case none
    /// RFC 4287, version 0.3, and earlier drafts.
    case atom
    /// <https://web.resource.org/rss/1.0/modules/content/>
    case content
    /// <https://www.dublincore.org/specifications/dublin-core/dcmi-terms/>
    case dublinCore
    /// <https://help.apple.com/itc/podcasts_connect/#/itcb54353390>
    case itunes
    /// <https://www.rssboard.org/media-rss>
    case media
    case rdf
    /// <https://web.resource.org/rss/1.0/modules/slash/>
    case slash
    /// The namespace of the prefix `xml`.
    case xml
    case other

    init(_ uri: String) {
        // Feeds write these URIs with and without the last slash, and in any case.
        var uri = uri.lowercased()
        if uri.last == "/" { uri.removeLast() }
        self = Self.known[uri] ?? .other
    }

    private static let known: [String: XMLNamespace] = [
        "http://backend.userland.com/rss2": .none, "http://blogs.law.harvard.edu/tech/rss": .none,
        "http://example.com/necho": .atom, "http://example.com/newformat#": .atom,
        "http://my.netscape.com/rdf/simple/0.9": .none, "http://purl.org/atom/ns#": .atom,
        "http://purl.org/dc/elements/1.1": .dublinCore, "http://purl.org/dc/terms": .dublinCore,
        "http://purl.org/echo": .atom, "http://purl.org/pie": .atom, "http://purl.org/rss/1.0": .none,
        "http://purl.org/rss/1.0/modules/content": .content, "http://purl.org/rss/1.0/modules/slash": .slash,
        "http://search.yahoo.com/mrss": .media, "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#": .rdf, "http://www.w3.org/2005/atom": .atom,
        "http://www.w3.org/xml/1998/namespace": .xml, "https://www.w3.org/2005/atom": .atom,
    ]
}
