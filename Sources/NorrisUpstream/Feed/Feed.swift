import NorrisProtocol
import NorrisSystem

/// A feed in RSS, Atom or JSON Feed.
package struct Feed: PostUpstream {
    private let url: String
    private let source: String
    private let fetcher: Fetcher

    /// - Parameter url: of the document itself.
    package init(
        url: String, source: String, transport: any HTTPTransport, decodingOn executor: (any TaskExecutor)? = nil
    ) {
        self.url = url
        self.source = source
        fetcher = Fetcher(transport: transport, executor: executor)
    }

    package func posts(validators: Validators, timeout: Duration) async throws(UpstreamError) -> Fetched<PostBatch> {
        guard let address = HTTPURL(url) else {
            throw UpstreamError(.decode, "The url of \(source) is not an http or https address.")
        }
        // What servers that have several forms of one document should choose from.
        let types =
            "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
            + "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
        return try await fetcher.document(url, accept: types, validators, timeout) {
            response, budget throws(UpstreamError) in try decodeFeed(&response, at: address, for: source, budget)
        }
    }
}

/// Makes posts of a feed: the bytes of a response, whatever its media type, for servers send feeds as anything.
func decodeFeed(
    _ response: inout HTTPResponse, at url: HTTPURL, for source: String, _ budget: DecodingBudget
) throws(UpstreamError) -> PostBatch {
    var document = response.body
    // The only copy: a document that is not converted stays where it is, and of another the bytes are freed.
    response.body = []
    if try convertToText(&document, contentType: response.headers["content-type"], budget) { response.memory = nil }
    var base = response.url ?? url
    let mayHoldKey = url.query != nil || base.query != nil
    // A token may stand in the query, and goes into no post.
    base.query = nil
    var contents: FeedContents
    switch document.first(where: { !isWhiteSpace($0) }) {
    case "{"?: contents = try FeedContents(jsonFeed: document, at: base, for: source, budget)
    case "<"? where isWebPage(document, budget):
        throw .unusable(webPageFault(document, at: base, hidingQueries: mayHoldKey, budget))
    case "<"?: contents = try FeedContents(xml: &document, at: base, for: source, budget)
    case nil: throw .unusable("answered with an empty document instead of a feed")
    default: throw .unusable("answered with something that is not a feed. Check the URL.")
    }
    return try contents.batch()
}

/// The content of a feed, whatever its format.
struct FeedContents {
    var title: String?
    /// A picture of the feed as a whole.
    var image: String?
    /// The author of the items that have none of their own.
    var author: Post.Author?
    /// The number of repairs before it could be read; what breaks off has one at least.
    var repairs = 0
    /// Whether it broke off.
    var isCut = false

    private let source: String
    private let budget: DecodingBudget
    private var builder: PostBatchBuilder
    /// The posts without an author of their own, by their indices.
    private var anonymous: [Int] = []
    /// The posts without an id of their own, by their indices, with their URLs.
    private var unnamed: [(index: Int, url: String)] = []
    /// How many items have a URL, by its hash.
    private var links: [UInt64: Int] = [:]

    init(source: String, _ budget: DecodingBudget) {
        (self.source, self.budget) = (source, budget)
        builder = PostBatchBuilder(source: source, budget)
    }

    var isEmpty: Bool { builder.isEmpty }

    /// Adds an item as the feed has it, not cleaned; `author.name` and `id` are empty if it has none.
    ///
    /// - Parameter post: nil for an item that cannot be used, which is counted.
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
        budget.hold(96)
        if isAnonymous { anonymous.append(index) }
        if isUnnamed, let url = post.url { unnamed.append((index, url)) }
    }

    /// Made at the end, because the feed's own title and author may stand behind its items, and so may another item
    /// with the URL of one that has no id.
    mutating func batch() throws(UpstreamError) -> PostBatch {
        var feed = author ?? Post.Author(id: "", name: title ?? "")
        feed.avatarURL = feed.avatarURL ?? image
        for (index, url) in unnamed where links[stableHash(url)] == 1 { builder.rename(index, to: url) }
        if !anonymous.isEmpty { builder.set(feed.cleaned(for: source), of: anonymous) }
        var batch = try builder.batch()
        (batch.repairs, batch.isCut) = (repairs, isCut)
        return batch
    }

    /// The id of an item that has neither an id nor a link of its own: its content.
    private static func madeID(_ post: Post) -> String {
        guard let url = post.url else { return "\(post.title ?? "")\n\(post.text ?? "")" }
        return "\(url)\n\(post.title ?? post.text ?? "")\n\(post.publishedAt?.description ?? "")"
    }
}

/// Whether a document that begins with a `<` is a page for people: HTML by its type or its first tag.
private func isWebPage(_ document: [UInt8], _ budget: DecodingBudget) -> Bool {
    for (kind, range) in XMLTokens(document) {
        // A page may begin with comments, and so may a feed, with instructions too.
        if kind == .comment || kind == .instruction || document[range].allSatisfy(isWhiteSpace) { continue }
        let rest = document[range.lowerBound...]
        guard rest.first == "<" else { return false }
        let head = String(decoding: rest.prefix(14), as: UTF8.self).lowercased()
        return head == "<!doctype html" || HTMLTag(rest, budget) != nil
    }
    return false
}

/// What is wrong with a page in place of a feed, with the URL of its feed if it names one; without its query if the
/// request had one: a key may be in that, and the page may repeat it.
private func webPageFault(
    _ document: [UInt8], at url: HTTPURL, hidingQueries hidesQueries: Bool, _ budget: DecodingBudget
) -> String {
    let fault = "answered with a web page instead of a feed"
    // Such links stand in the head of a page.
    let links = htmlTags("link", in: Array(document.prefix(256 << 10)), upTo: 1000, budget)
    let types = ["application/rss+xml", "application/atom+xml", "application/feed+json"]
    let feed = links.first { link in
        let relations = link["rel"]?.lowercased().split(separator: " ") ?? []
        return relations.contains("alternate") && types.contains(link["type"]?.lowercased() ?? "")
    }
    guard let address = feed?["href"].flatMap({ resolved($0, at: url) }).flatMap({ HTTPURL($0) }) else {
        return "\(fault); set url to the address of a feed"
    }
    let shown = hidesQueries ? "\(address.scheme)://\(address.hostAndPath)" : address.description
    return "\(fault); set url to \(shown), which is its feed"
}
