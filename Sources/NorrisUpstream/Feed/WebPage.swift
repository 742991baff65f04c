/// Whether a document that begins with a `<` is a page for people: HTML by its type or its first tag.
func isWebPage(_ document: [UInt8]) -> Bool {
    var rest = document[...]
    while true {
        rest = rest.drop(while: isWhiteSpace)
        guard rest.first == UInt8(ascii: "<") else { return false }
        // A page may begin with comments, and so may a feed, with instructions too.
        if rest.starts(with: "<!--".utf8) || rest.starts(with: "<?".utf8) {
            let end = rest.starts(with: "<?".utf8) ? Array("?>".utf8) : Array("-->".utf8)
            guard let index = rest.indices.first(where: { rest[$0...].starts(with: end) }) else { return false }
            rest = rest[(index + end.count)...]
            continue
        }
        let head = String(decoding: rest.prefix(14), as: UTF8.self).lowercased()
        return head == "<!doctype html" || HTMLTag(rest) != nil
    }
}

/// What is wrong with a page in place of a feed, with the address of its feed if it names one.
///
/// - Parameter hidesQueries: whether it was asked for with a query: a key may be in that, and the page may repeat it.
func webPageFault(_ document: [UInt8], at url: HTTPURL, hidingQueries hidesQueries: Bool) -> String {
    let fault = "answered with a web page instead of a feed"
    // Such links stand in the head of a page.
    let links = htmlTags("link", in: Array(document.prefix(256 * 1024)))
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
