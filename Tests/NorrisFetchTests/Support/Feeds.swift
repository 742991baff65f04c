import NorrisProtocol
import NorrisText

@testable import NorrisFetch

/// Decodes a document as a feed fetched from `https://blog.example/feeds/all.xml`.
func batch(
    _ document: some Collection<UInt8>, url: String = "https://blog.example/feeds/all.xml"
) throws(UpstreamError) -> Fetched {
    // SAFETY: Tests pass valid URLs.
    var response = HTTPResponse(body: Array(document), url: HTTPURL(url)!)
    return try decodeFeed(&response, for: "blog")
}

func batch(_ document: String, url: String = "https://blog.example/feeds/all.xml") throws(UpstreamError) -> Fetched {
    try batch(document.utf8, url: url)
}

/// The error message for a document; nil if the document is accepted.
func fault(
    _ document: some Collection<UInt8>, url: String = "https://blog.example/feeds/all.xml"
) -> String? { fault { () throws(UpstreamError) in _ = try batch(document, url: url) } }

func fault(_ document: String, url: String = "https://blog.example/feeds/all.xml") -> String? {
    fault(document.utf8, url: url)
}

/// An RSS 2.0 feed with all namespaces that items may use.
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

func atom(_ entries: String, feed: String = "<title>Blog</title>") -> String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">\(feed)
    \(entries)
    </feed>
    """
}

/// The only post of an RSS feed with one item.
func rssPost(_ item: String, channel: String = "<title>Blog</title>") throws -> Post? {
    let posts = try batch(rss("<item>\(item)</item>", channel: channel)).posts
    return posts.count == 1 ? posts[0] : nil
}

/// The only post of an Atom feed with one entry.
func atomPost(_ entry: String) throws -> Post? {
    let posts = try batch(atom("<entry>\(entry)</entry>")).posts
    return posts.count == 1 ? posts[0] : nil
}
