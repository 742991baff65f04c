import NorrisProtocol

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
        let types = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
            + "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
        return try await fetcher.document(url, accept: types, validators, timeout) {
            response, budget throws(UpstreamError) in
            try decodeFeed(response, at: address, for: source, budget)
        }
    }
}

/// Makes posts of a feed: the bytes of a response, whatever its media type, for servers send feeds as anything.
func decodeFeed(
    _ response: HTTPResponse, at url: HTTPURL, for source: String, _ budget: DecodingBudget
) throws(UpstreamError) -> PostBatch {
    let document = try documentText(response.body, contentType: response.headers["content-type"], budget)
    var base = response.url ?? url
    let mayHoldKey = url.query != nil || base.query != nil
    // A token may stand in the query, and goes into no post.
    base.query = nil
    let contents: FeedContents
    switch document.first(where: { !isWhiteSpace($0) }) {
    case "{"?: contents = try FeedContents(jsonFeed: document, at: base, budget)
    case "<"? where isWebPage(document):
        throw .unusable(webPageFault(document, at: base, hidingQueries: mayHoldKey, budget))
    case "<"?: contents = try FeedContents(xml: document, at: base, budget)
    case nil: throw .unusable("answered with an empty document instead of a feed")
    default: throw .unusable("answered with something that is not a feed. Check the URL.")
    }
    return try contents.batch(for: source, budget)
}

/// The content of a feed, whatever its format.
struct FeedContents {
    var title: String?
    /// A picture of the feed as a whole.
    var image: String?
    /// The author of the items that have none of their own.
    var author: Post.Author?
    /// As the feed has them, not cleaned; `author.name` is empty where an item has none.
    private(set) var posts: [Post] = []
    /// The number of repairs before it could be read; what breaks off has one at least.
    var repairs = 0
    /// Whether it broke off.
    var isCut = false

    /// - Parameter post: nil for an item that cannot be used, which is counted.
    mutating func add(_ post: Post?, _ budget: DecodingBudget) {
        budget.spend(bytes: MemoryLayout<Post>.stride)
        // Without content it is skipped in the end.
        posts.append(post ?? Post(id: "", source: "", author: Post.Author(id: "", name: "")))
    }

    /// Made at the end, because the feed's own title and author may stand behind its items.
    func batch(for source: String, _ budget: DecodingBudget) throws(UpstreamError) -> PostBatch {
        var feed = author ?? Post.Author(id: "", name: title ?? "")
        feed.avatarURL = feed.avatarURL ?? image
        var builder = PostBatchBuilder(source: source, budget)
        let links = Dictionary(posts.compactMap(\.url).map { ($0, 1) }, uniquingKeysWith: +)
        for var post in posts {
            if post.author.name.isEmpty { post.author = feed }
            if post.id.isEmpty {
                let isOnly = post.url.map { links[$0] == 1 } ?? false
                post.id = (isOnly ? post.url : nil) ?? Self.madeID(post)
            }
            try builder.add(post)
        }
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
private func isWebPage(_ document: [UInt8]) -> Bool {
    for (kind, range) in XMLTokens(document) {
        // A page may begin with comments, and so may a feed, with instructions too.
        if kind == .comment || kind == .instruction || document[range].allSatisfy(isWhiteSpace) { continue }
        let rest = document[range.lowerBound...]
        guard rest.first == "<" else { return false }
        let head = String(decoding: rest.prefix(14), as: UTF8.self).lowercased()
        return head == "<!doctype html" || HTMLTag(rest) != nil
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
    let links = htmlTags("link", in: Array(document.prefix(256 << 10)), budget)
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
