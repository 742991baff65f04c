/// The name of an element or attribute: its namespace, as far as feeds are concerned, and what stands behind the colon.
struct XMLName: Hashable {
    var namespace: XMLNamespace
    var local: String

    init(_ local: String, in namespace: XMLNamespace = .none) {
        self.namespace = namespace
        self.local = local
    }

    /// - Parameter expanded: a name as ``XMLReader`` has it from Expat: `URI`, ``separator``, local part; or the latter
    ///   alone.
    init(expanded: String) {
        guard let end = expanded.utf8.lastIndex(of: Self.separator) else {
            self.init(expanded)
            return
        }
        let uri = String(expanded[..<end])
        self.init(String(expanded[expanded.utf8.index(after: end)...]), in: XMLNamespace(uri))
    }

    /// Can stand neither in a URI nor in a name.
    static let separator = UInt8(ascii: "\n")
}

/// The vocabularies that feeds are made of.
enum XMLNamespace: Hashable {
    /// No namespace, or one of those that RSS had in its time.
    case none
    /// RFC 4287, version 0.3 before it, and the names it had while it was made.
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
    case xhtml
    /// The prefix `xml` itself.
    case xml
    case other

    init(_ uri: String) {
        // People write them with and without the last slash, and in any case.
        var uri = uri.lowercased()
        if uri.last == "/" { uri.removeLast() }
        self = Self.known[uri] ?? .other
    }

    private static let known: [String: XMLNamespace] = [
        "http://backend.userland.com/rss2": .none,
        "http://blogs.law.harvard.edu/tech/rss": .none,
        "http://example.com/necho": .atom,
        "http://example.com/newformat#": .atom,
        "http://my.netscape.com/rdf/simple/0.9": .none,
        "http://purl.org/atom/ns#": .atom,
        "http://purl.org/dc/elements/1.1": .dublinCore,
        "http://purl.org/dc/terms": .dublinCore,
        "http://purl.org/echo": .atom,
        "http://purl.org/pie": .atom,
        "http://purl.org/rss/1.0": .none,
        "http://purl.org/rss/1.0/modules/content": .content,
        "http://purl.org/rss/1.0/modules/slash": .slash,
        "http://search.yahoo.com/mrss": .media,
        "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#": .rdf,
        "http://www.w3.org/1999/xhtml": .xhtml,
        "http://www.w3.org/2005/atom": .atom,
        "http://www.w3.org/xml/1998/namespace": .xml,
        "https://www.w3.org/2005/atom": .atom,
    ]
}
