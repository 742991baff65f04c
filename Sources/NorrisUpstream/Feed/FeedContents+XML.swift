import NorrisProtocol

extension FeedContents {
    /// Reads RSS 0.9x, 1.0, 2.0 or Atom: the root tells which.
    ///
    /// The items of RSS 2.0 are in its channel, those of RSS 1.0 beside it; some feeds mix that up, and nothing is lost
    /// by looking at both places.
    ///
    /// A document that is not well-formed is repaired, if that is possible, and read again.
    init(xml document: [UInt8], at url: HTTPURL, _ budget: DecodingBudget) throws(UnusableBody) {
        var (contents, error) = try Self.readDeclaring(document, at: url, budget)
        if let fault = error?.fault {
            guard let repaired = try RepairedXML(document, budget) else { throw .fault(fault) }
            (contents, error) = try Self.readDeclaring(repaired.document, at: url, budget)
            contents.repairs = repaired.repairs
            contents.isPartial = repaired.isCut
            // Of one that breaks off before its first item is whole, nothing is there.
            if error != nil || repaired.isCut && contents.posts.isEmpty { throw .fault(fault) }
        }
        self = contents
    }

    /// Reads a document, also if it does not declare one of the prefixes that all feeds use, which many forget.
    private static func readDeclaring(
        _ document: [UInt8], at url: HTTPURL, _ budget: DecodingBudget
    ) throws(UnusableBody) -> (FeedContents, XMLReader.SyntaxError?) {
        let result = try read(document, at: url, budget)
        guard result.1?.isUnboundPrefix == true, let declared = declaringUsualPrefixes(document) else { return result }
        budget.spend(bytes: declared.count)
        return try read(declared, at: url, budget)
    }

    private static func read(
        _ document: [UInt8], at url: HTTPURL, _ budget: DecodingBudget
    ) throws(UnusableBody) -> (FeedContents, XMLReader.SyntaxError?) {
        let contents = Collector()
        let sections = XMLSections(base: url, budget: budget) { path throws(UnusableBody) in
            if path.count == 1 {
                guard Self.roots.contains(path[0]) else {
                    let name = UpstreamError.cut(path[0].local, to: 40)
                    throw .fault("answered with XML that is no feed, for its root is \(name); is url right?")
                }
                return .enter
            }
            return path.count == 2 && path[1] == XMLName("channel") ? .enter : .take
        } section: { section throws(UnusableBody) in
            try contents.value.add(section, budget)
            try budget.check()
        }
        let error = try XMLReader.read(document, sections, budget)
        return (contents.value, error)
    }

    private static let roots: Set<XMLName> = [
        XMLName("rss"), XMLName("RDF", in: .rdf), XMLName("feed", in: .atom),
    ]

    /// What the closures above fill while Expat reads.
    private final class Collector {
        var value = FeedContents()
    }

    private mutating func add(_ section: XMLElement, _ budget: DecodingBudget) throws(UnusableBody) {
        switch (section.name.namespace, section.name.local) {
        case (.none, "item"):
            try add(Post(rss: section, budget), budget)
        case (.atom, "entry"):
            try add(Post(atom: section, budget), budget)
        case (.none, "title"), (.atom, "title"):
            if title == nil { title = FeedText(guessing: section.text, budget).plain }
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
