/// Whether a document that begins with a `<` is a page for people: HTML by its type or its first tag.
func isWebPage(_ document: [UInt8]) -> Bool {
    for (kind, range) in XMLTokens(document) {
        // A page may begin with comments, and so may a feed, with instructions too.
        if kind == .comment || kind == .instruction || document[range].allSatisfy(isWhiteSpace) { continue }
        let rest = document[range.lowerBound...]
        guard rest.first == UInt8(ascii: "<") else { return false }
        let head = String(decoding: rest.prefix(14), as: UTF8.self).lowercased()
        return head == "<!doctype html" || HTMLTag(rest) != nil
    }
    return false
}

/// What is wrong with a page in place of a feed, with the address of its feed if it names one.
///
/// - Parameter hidesQueries: whether it was asked for with a query: a key may be in that, and the page may repeat it.
func webPageFault(
    _ document: [UInt8], at url: HTTPURL, hidingQueries hidesQueries: Bool, _ budget: DecodingBudget
) -> String {
    let fault = "answered with a web page instead of a feed"
    // Such links stand in the head of a page.
    let links = htmlTags("link", in: Array(document.prefix(256 * 1024)), budget)
    let feed = links.first { link in
        let relations = link["rel"]?.lowercased().split(separator: " ") ?? []
        let type = link["type"]?.lowercased() ?? ""
        return relations.contains("alternate")
            && ["application/rss+xml", "application/atom+xml", "application/feed+json"].contains(type)
    }
    guard let address = feed?["href"].flatMap({ resolved($0, at: url) }).flatMap({ HTTPURL($0) }) else {
        return "\(fault); set url to the address of a feed"
    }
    let place = hidesQueries ? "\(address.scheme)://\(address.place)" : address.description
    return "\(fault); set url to \(place), which is its feed"
}
