/// The prefixes that feeds use as if everybody knew them.
private let usualPrefixes = [
    ("atom", "http://www.w3.org/2005/Atom"),
    ("content", "http://purl.org/rss/1.0/modules/content/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("itunes", "http://www.itunes.com/dtds/podcast-1.0.dtd"),
    ("media", "http://search.yahoo.com/mrss/"),
    ("slash", "http://purl.org/rss/1.0/modules/slash/"),
]

/// The document with declarations at its root for those of the usual prefixes that have none there; nil if it has no
/// root, or lacks none. No line changes its number.
func declaringUsualPrefixes(_ document: [UInt8]) -> [UInt8]? {
    guard let start = rootTag(document),
        let nameEnd = document[start...].firstIndex(where: {
            isWhiteSpace($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ">")
        }),
        let end = document[nameEnd...].firstIndex(of: UInt8(ascii: ">"))
    else { return nil }
    let attributes = String(decoding: document[nameEnd..<end], as: UTF8.self)
    let missing = usualPrefixes.filter { !attributes.contains("xmlns:\($0.0)=") }
    if missing.isEmpty { return nil }
    let declarations = missing.map { " xmlns:\($0.0)=\"\($0.1)\"" }.joined()
    return document[..<nameEnd] + Array(declarations.utf8) + document[nameEnd...]
}

/// Where the first tag begins, behind comments, instructions and the document type.
private func rootTag(_ document: [UInt8]) -> Int? {
    for (kind, range) in XMLTokens(document) {
        switch kind {
        case .text where document[range.lowerBound] != UInt8(ascii: "<"): continue
        case .comment, .section, .instruction, .declaration: continue
        default: return range.lowerBound
        }
    }
    return nil
}
