import NorrisProtocol
import NorrisSystem
import NorrisText

/// Decodes a feed in RSS, Atom or JSON Feed.
///
/// - Parameter hidesQueries: whether the configured address has a query, which may contain a key that pages repeat.
func decodeFeed(
    _ response: inout HTTPResponse, for source: String, hidesQueries: Bool = false
) throws(UpstreamError) -> Fetched {
    var document = response.body
    // Without this second reference, an unconverted document is not copied, and a converted document is freed.
    response.body = []
    let type = response.headers["content-type"]
    _ = try convertToText(&document, contentType: type)
    var base = response.url
    // Posts and messages must contain neither user nor query, which may contain a token.
    (base.query, base.userInfo) = (nil, nil)
    var contents: FeedContents
    switch document.first(where: { !isWhiteSpace($0) }) {
    case "{"?: contents = try FeedContents(jsonFeed: document, at: base, for: source)
    case "<"? where isWebPage(document):
        let address = feedURL(inPage: document, at: base, hidingQueries: hidesQueries || response.url.query != nil)
        throw .notAFeed(type: type, feedURL: address)
    case "<"?: contents = try FeedContents(xml: &document, at: base, for: source)
    case nil: throw .unusable("answered with an empty document instead of a feed")
    default: throw .notAFeed(type: type)
    }
    return try contents.batch()
}

/// The content of a feed in any format.
struct FeedContents {
    var title: String?
    var image: String?
    /// The author of items that name none.
    var author: Post.Author?
    /// The number of repairs, at least one if the document is cut off.
    var repairs = 0
    var isCut = false

    private let source: String
    private var builder: PostBatchBuilder
    /// The indices of posts without an author.
    private var anonymous: [Int] = []
    /// The posts without an id: their indices and URLs.
    private var unnamed: [(index: Int, url: String)] = []
    /// The number of items with the same URL, by the hash of the URL.
    private var links: [UInt64: Int] = [:]

    init(source: String) {
        self.source = source
        builder = PostBatchBuilder(source: source)
    }

    var isEmpty: Bool { builder.isEmpty }

    /// Adds an item before cleaning; `author.name` and `id` are empty if missing. Nil counts as an unusable item.
    mutating func add(_ post: Post?) throws(UpstreamError) {
        guard var post else {
            try builder.add(nil)
            return
        }
        if let url = post.url { links[stableHash(url), default: 0] += 1 }
        let isUnnamed = post.id.isEmpty
        if isUnnamed { post.id = Self.madeID(post) }
        let isAnonymous = post.author.name.isEmpty
        guard let index = try builder.add(post, isAnonymous: isAnonymous) else { return }
        if isAnonymous { anonymous.append(index) }
        if isUnnamed, let url = post.url { unnamed.append((index, url)) }
    }

    /// Builds the batch after all items, because the feed's title and author may follow, or items with equal URLs.
    mutating func batch() throws(UpstreamError) -> Fetched {
        var feed = author ?? Post.Author(id: "", name: title ?? "")
        feed.avatarURL = feed.avatarURL ?? image
        for (index, url) in unnamed where links[stableHash(url)] == 1 { builder.rename(index, to: url) }
        if !anonymous.isEmpty { builder.set(feed.cleaned(for: source), of: anonymous) }
        var batch = try builder.batch()
        batch.head.title = title.flatMap { cleanLine($0, upTo: 500) }
        (batch.head.repairs, batch.head.isCut) = (repairs, isCut)
        return batch
    }

    /// The id of an item without an id: its link with title and date, or its content.
    private static func madeID(_ post: Post) -> String {
        guard let url = post.url else { return "\(post.title ?? "")\n\(post.text ?? "")" }
        return "\(url)\n\(post.title ?? post.text ?? "")\n\(post.publishedAt?.description ?? "")"
    }
}

/// Whether a document that begins with `<` is a web page: its type or its first tag is HTML.
private func isWebPage(_ document: [UInt8]) -> Bool {
    for (kind, range) in XMLTokens(document) {
        // Comments and instructions precede both pages and feeds.
        if kind == .comment || kind == .instruction || document[range].allSatisfy(isWhiteSpace) { continue }
        let rest = document[range.lowerBound...]
        guard rest.first == "<" else { return false }
        let head = String(decoding: rest.prefix(14), as: UTF8.self).lowercased()
        return head == "<!doctype html" || HTMLTag(rest) != nil
    }
    return false
}

/// The address of the feed that a web page names. The address has no query if the request had one, because the page may
/// repeat a key from the request.
private func feedURL(
    inPage document: [UInt8], at url: HTTPURL, hidingQueries hidesQueries: Bool
) -> String? {
    // Links to feeds are in the head of a page.
    let links = htmlTags("link", in: Array(document.prefix(256 << 10)), upTo: 1000)
    let types = ["application/rss+xml", "application/atom+xml", "application/feed+json"]
    let feed = links.first { link in
        let relations = link["rel"]?.lowercased().split(separator: " ") ?? []
        return relations.contains("alternate") && types.contains(link["type"]?.lowercased() ?? "")
    }
    guard var address = feed?["href"].flatMap({ resolved($0, at: url) }).flatMap({ HTTPURL($0) }) else { return nil }
    if hidesQueries { address.query = nil }
    return address.description
}
