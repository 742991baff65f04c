import NorrisProtocol
import NorrisText

extension Fetched {
    private static let maximumFeeds = 1000

    /// Decodes a list of feeds (OPML 2.0, <http://opml.org/spec2.opml>). Its outlines may be nested in any way.
    init(opml response: inout HTTPResponse) throws(UpstreamError) {
        self.init()
        var document = response.body
        convertToText(&document, contentType: response.headers["content-type"])
        var feeds: [(link: FeedLink, parent: MarkupElement)] = []
        // By the children, which are closed before their parents. They are stored, so that no identifier is used again.
        var parents: [ObjectIdentifier: (child: MarkupElement, parent: MarkupElement)] = [:]
        var isOPML = false
        var builder = MarkupTreeBuilder(document, .xml) { element, parent, _ throws(UpstreamError) in
            isOPML = isOPML || element.name == "opml" || element.name == "outline"
            guard element.name == "outline" else { return false }
            parents[ObjectIdentifier(element)] = (element, parent)
            guard let written = element["xmlurl"] else { return false }
            if feeds.count == Fetched.maximumFeeds {
                throw UpstreamError(.decode, "It has more than 1,000 feeds; divide it into several files.")
            }
            let title = [element["text"], element["title"]].lazy.compactMap { cleanLine($0 ?? "", upTo: 200) }.first
            let line = sanitizedLine(written)
            let url = (sourceURL(written) ?? sourceURL(line))?.description ?? prefix(of: line, codePoints: 200)
            var link = FeedLink(title: title, url: url)
            link.tags = (element["category"] ?? "").split(separator: ",").compactMap { SourceTag.make(folder: "\($0)") }
            feeds.append((link, parent))
            return false
        }
        _ = try builder.build()
        if feeds.isEmpty {
            let fault = isOPML ? "It has no feeds: no outline has an xmlUrl." : "It is not OPML: it has no <opml>."
            throw UpstreamError(.decode, fault)
        }
        var links: [FeedLink] = []
        var positions: [String: Int] = [:]
        for (link, parent) in feeds {
            let folders = sequence(first: parent) { parents[ObjectIdentifier($0)]?.parent }
                .compactMap { SourceTag.make(folder: $0["text"] ?? $0["title"] ?? "") }
            let position = positions[link.url] ?? links.count
            if position == links.count {
                links.append(link)
                positions[link.url] = position
                links[position].tags = []
            }
            links[position].tags = SourceTag.unique(links[position].tags + folders.reversed() + link.tags)
        }
        items = links
    }
}
