import NorrisProtocol
import NorrisText

extension FeedContents {
    /// Reads RSS 0.9x, 1.0, 2.0 or Atom. Some feeds have items both in the channel (RSS 2.0) and beside it (RSS 1.0).
    ///
    /// A document that is not well-formed is repaired and read again: once with declarations of prefixes, once as
    /// ``RepairedXML``. Content after the root, and an incomplete last item, are ignored.
    init(
        xml document: inout [UInt8], at url: HTTPURL, for source: String
    ) throws(UpstreamError) {
        var repairs = 0
        var fault: String?
        while true {
            var contents = FeedContents(source: source)
            let error = try XMLReader.read(&document, base: url) { section throws(UpstreamError) in
                try contents.add(section)
            }
            if error?.kind == .unboundPrefix, let declared = declaringUsualPrefixes(document) {
                document = declared
                continue
            }
            if let error, error.kind != .junk && (error.kind != .cut || contents.isEmpty) {
                if let fault { throw .unusable(fault) }
                fault = error.fault
                contents = FeedContents(source: source)
                let repaired = try RepairedXML(document)
                (document, repairs) = (repaired.document, repaired.repairs)
                if repairs == 0 { throw .unusable(error.fault) }
                continue
            }
            contents.repairs = repairs + (error == nil ? 0 : 1)
            contents.isCut = error?.kind == .cut
            self = contents
            return
        }
    }

    private mutating func add(_ section: XMLElement) throws(UpstreamError) {
        switch (section.name.namespace, section.name.local) {
        case (.none, "item"): try add(Post(rss: section))
        case (.atom, "entry"): try add(Post(atom: section))
        case (.none, "title"), (.atom, "title"): title = title ?? feedTitle(guessing: section.text(.line))
        case (.none, "image"): image = section.url(of: "url") ?? image
        case (.itunes, "image"): image = image ?? section.url("href")
        case (.atom, "logo"), (.atom, "icon"): image = image ?? resolved(section.text(.url), at: section.base)
        case (.atom, "author"): author = author ?? Post.Author(atom: section)
        default: break
        }
    }
}

/// Prefixes that some feeds use without a declaration.
private let usualPrefixes = [
    ("atom", "http://www.w3.org/2005/Atom"), ("content", "http://purl.org/rss/1.0/modules/content/"),
    ("dc", "http://purl.org/dc/elements/1.1/"), ("itunes", "http://www.itunes.com/dtds/podcast-1.0.dtd"),
    ("media", "http://search.yahoo.com/mrss/"), ("slash", "http://purl.org/rss/1.0/modules/slash/"),
]

/// Adds declarations of usual prefixes to the root on the same line. Returns nil without a root or missing prefixes.
private func declaringUsualPrefixes(_ document: [UInt8]) -> [UInt8]? {
    // The first tag follows comments, instructions and the document type.
    let root = XMLTokens(document).first { [.startTag, .emptyTag].contains($0.kind) }?.range
    guard let root,
        let nameEnd = root.first(where: { isWhiteSpace(document[$0]) || document[$0] == "/" || document[$0] == ">" })
    else { return nil }
    let attributes = String(decoding: document[nameEnd..<root.upperBound], as: UTF8.self)
    let missing = usualPrefixes.filter { !attributes.contains("xmlns:\($0.0)=") }
    if missing.isEmpty { return nil }
    let declarations = missing.map { " xmlns:\($0.0)=\"\($0.1)\"" }.joined()
    return document[..<nameEnd] + Array(declarations.utf8) + document[nameEnd...]
}
