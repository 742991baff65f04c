import NorrisProtocol

/// What a feed says, whichever of its languages it is written in.
struct FeedContents {
    var title: String?
    /// A picture of the feed as a whole.
    var image: String?
    /// Who writes what has no author of its own.
    var author: Post.Author?
    /// As the feed has them, not cleaned; `author.name` is empty where an item has none.
    private(set) var posts: [Post] = []
    /// How much had to be repaired before it could be read.
    var repairs = 0
    /// Whether it broke off, so that what it does not hold may be there all the same.
    var isPartial = false

    mutating func add(_ post: Post, _ budget: DecodingBudget) throws(UnusableBody) {
        // More would be refused in the end as well.
        guard posts.count < PostBatchBuilder.maximumItems else {
            throw .fault("answered with more than \(PostBatchBuilder.maximumItems) posts")
        }
        budget.spend(bytes: MemoryLayout<Post>.stride)
        try budget.check()
        posts.append(post)
    }

    /// Only here, for the feed's own title and author may stand behind its items.
    func batch(for source: String, _ budget: DecodingBudget) throws(UnusableBody) -> PostBatch {
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
        batch.repairs = repairs
        batch.isPartial = isPartial
        return batch
    }

    /// An item that has neither an id nor a link of its own is known by what it says.
    private static func madeID(_ post: Post) -> String {
        guard let url = post.url else { return "\(post.title ?? "")\n\(post.text ?? "")" }
        return "\(url)\n\(post.title ?? post.text ?? "")\n\(post.publishedAt?.description ?? "")"
    }
}

/// Makes posts of a feed: the bytes of an answer, whatever its media type, for servers send feeds as anything.
///
/// - Parameter url: where it was asked for; relative addresses refer to where the answer came from in the end.
func decodeFeed(
    _ response: HTTPResponse, at url: HTTPURL, for source: String, _ budget: DecodingBudget
) throws(UnusableBody) -> PostBatch {
    let document = try documentText(response.body, contentType: response.headers["content-type"], budget)
    let place = response.url ?? url
    // A token may stand in the query, and goes into no post.
    let base = HTTPURL(isSecure: place.isSecure, host: place.host, port: place.port, path: place.path, query: nil)
    let contents: FeedContents
    switch document.first(where: { !isWhiteSpace($0) }) {
    case UInt8(ascii: "{"): contents = try FeedContents(jsonFeed: document, at: base, budget)
    case UInt8(ascii: "<") where isWebPage(document):
        let mayHoldKey = url.query != nil || place.query != nil
        throw .fault(webPageFault(document, at: base, hidingQueries: mayHoldKey, budget))
    case UInt8(ascii: "<"): contents = try FeedContents(xml: document, at: base, budget)
    case nil: throw .fault("answered with an empty document instead of a feed")
    default: throw .fault("answered with something that is no feed; is url right?")
    }
    return try contents.batch(for: source, budget)
}
