import NorrisProtocol
import NorrisText

extension Fetched {
    private static let maximumFeeds = 1000

    /// Decodes a list of feeds (OPML 2.0, <http://opml.org/spec2.opml>). Its outlines may be nested in any way.
    init(opml response: inout HTTPResponse) throws(UpstreamError) {
        self.init()
        var document = response.body
        convertToText(&document, contentType: response.headers["content-type"])
        var feeds: [FeedLink] = []
        var isOPML = false
        var builder = MarkupTreeBuilder(document, .xml) { element, _, _ throws(UpstreamError) in
            isOPML = isOPML || element.name == "opml" || element.name == "outline"
            guard element.name == "outline", let written = element["xmlurl"] else { return false }
            if feeds.count == Fetched.maximumFeeds {
                throw UpstreamError(.decode, "It has more than 1,000 feeds; divide it into several files.")
            }
            let title = [element["text"], element["title"]].lazy.compactMap { cleanLine($0 ?? "", upTo: 200) }.first
            let line = sanitizedLine(written)
            let url = (sourceURL(written) ?? sourceURL(line))?.description ?? prefix(of: line, codePoints: 200)
            feeds.append(FeedLink(title: title, url: url))
            return false
        }
        _ = try builder.build()
        if feeds.isEmpty {
            let fault = isOPML ? "It has no feeds: no outline has an xmlUrl." : "It is not OPML: it has no <opml>."
            throw UpstreamError(.decode, fault)
        }
        items = feeds
    }
}
