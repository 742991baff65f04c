import NorrisProtocol

extension FeedContents {
    /// Reads RSS 0.9x, 1.0, 2.0 or Atom: the root tells which.
    ///
    /// The items of RSS 2.0 are in its channel, those of RSS 1.0 beside it; some feeds mix that up, and nothing is lost
    /// by looking at both places.
    init(xml document: [UInt8], at url: HTTPURL) throws(UnusableBody) {
        do throws(UnusableBody) {
            self = try Self.read(document, at: url)
        } catch {
            // Many feeds forget to declare one of the prefixes that all of them use.
            guard case .fault(let fault) = error, fault.hasSuffix(XMLReader.unboundPrefix),
                let declared = declaringUsualPrefixes(document)
            else { throw error }
            self = try Self.read(declared, at: url)
        }
    }

    private static func read(_ document: [UInt8], at url: HTTPURL) throws(UnusableBody) -> FeedContents {
        let contents = Collector()
        let sections = XMLSections(base: url) { path throws(UnusableBody) in
            if path.count == 1 {
                guard Self.roots.contains(path[0]) else {
                    let name = UpstreamError.cut(path[0].local, to: 40)
                    throw .fault("answered with XML that is no feed, for its root is \(name); is url right?")
                }
                return .enter
            }
            return path.count == 2 && path[1] == XMLName("channel") ? .enter : .take
        } section: { section throws(UnusableBody) in
            try contents.value.add(section)
        }
        try XMLReader.read(document, sections)
        return contents.value
    }

    private static let roots: Set<XMLName> = [
        XMLName("rss"), XMLName("RDF", in: .rdf), XMLName("feed", in: .atom),
    ]

    /// What the closures above fill while Expat reads.
    private final class Collector {
        var value = FeedContents()
    }

    private mutating func add(_ section: XMLElement) throws(UnusableBody) {
        switch (section.name.namespace, section.name.local) {
        case (.none, "item"):
            try add(Post(rss: section))
        case (.atom, "entry"):
            try add(Post(atom: section))
        case (.none, "title"), (.atom, "title"):
            if title == nil { title = FeedText(guessing: section.text).plain }
        case (.none, "image"):
            image = section.url(of: "url") ?? image
        case (.itunes, "image"):
            image = image ?? section["href"].flatMap { resolved($0, at: section.base) }
        case (.atom, "logo"), (.atom, "icon"):
            image = image ?? resolved(section.text, at: section.base)
        case (.atom, "author"):
            author = author ?? Post.Author(atom: section)
        default:
            break
        }
    }
}
