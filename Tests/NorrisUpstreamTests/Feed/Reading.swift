import NorrisProtocol

@testable import NorrisUpstream

/// Reads a document as a feed that was asked for at `https://blog.example/feeds/all.xml`.
func batch(
    _ document: some Collection<UInt8>, type: String? = nil, url: String = "https://blog.example/feeds/all.xml",
    _ budget: DecodingBudget = .untimed
) throws(UnusableBody) -> PostBatch {
    let headers = HTTPHeaderFields(type.map { [(name: "Content-Type", value: $0)] } ?? [])
    let response = HTTPResponse(status: 200, headers: headers, body: Array(document))
    // Tests give addresses that are right.
    let batch = try decodeFeed(response, at: HTTPURL(url)!, for: "blog", budget)
    try budget.check()
    return batch
}

func batch(
    _ document: String, type: String? = nil, url: String = "https://blog.example/feeds/all.xml"
) throws(UnusableBody) -> PostBatch {
    try batch(document.utf8, type: type, url: url)
}

/// What is wrong with a document; nil if it is read.
func fault(
    _ document: some Collection<UInt8>, type: String? = nil, _ budget: DecodingBudget = .untimed
) -> String? {
    do throws(UnusableBody) {
        _ = try batch(document, type: type, budget)
        return nil
    } catch {
        return switch error {
        case .fault(let fault): fault
        case .cancelled: "cancelled"
        }
    }
}

func fault(_ document: String, type: String? = nil, url: String) -> String? {
    do throws(UnusableBody) {
        _ = try batch(document, type: type, url: url)
        return nil
    } catch {
        return if case .fault(let fault) = error { fault } else { "cancelled" }
    }
}

func fault(_ document: String, _ budget: DecodingBudget = .untimed) -> String? { fault(document.utf8, budget) }

/// A feed of RSS 2.0 with all namespaces that items may use.
func rss(_ items: String, channel: String = "<title>Blog</title>") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
      xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/"
      xmlns:slash="http://purl.org/rss/1.0/modules/slash/" xmlns:atom="http://www.w3.org/2005/Atom"
      xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>\(channel)
    \(items)
    </channel></rss>
    """
}

/// The only post of a feed with one item of RSS.
func rssPost(_ item: String, channel: String = "<title>Blog</title>") throws -> Post? {
    let batch = try batch(rss("<item>\(item)</item>", channel: channel))
    return batch.posts.count == 1 ? batch.posts[0] : nil
}

/// A feed of Atom.
func atom(_ entries: String, feed: String = "<title>Blog</title>") -> String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">\(feed)
    \(entries)
    </feed>
    """
}

/// The only post of a feed with one entry of Atom.
func atomPost(_ entry: String, feed: String = "<title>Blog</title>") throws -> Post? {
    let batch = try batch(atom("<entry>\(entry)</entry>", feed: feed))
    return batch.posts.count == 1 ? batch.posts[0] : nil
}
