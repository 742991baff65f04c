import NorrisFetchProtocol
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
    // Without this second reference, a converted document is freed.
    response.body = []
    let type = response.headers["content-type"]
    convertToText(&document, contentType: type)
    if document.allSatisfy(isWhiteSpace) { throw .unusable("answered with an empty document instead of a feed") }
    // Marks, white space and messages precede some documents.
    guard let start = document.indices.first(where: { document[$0] == "<" || beginsObject(document[$0...]) }) else {
        throw .notAFeed(type: type)
    }
    document.removeFirst(start)
    var url = response.url
    // Posts and messages must contain neither user nor query, which may contain a token.
    (url.query, url.userInfo) = (nil, nil)
    if document[0] == "{" {
        do throws(UpstreamError) { return try FeedContents(jsonFeed: document, at: url, for: source).batch() } catch {
            // A message can contain an object, such as `Warning: {"a":1} in x.php`.
            let (object, isCut) = wholeJSON(document)
            let rest = isCut ? [] : Array(document[object.endIndex...].drop { $0 != "<" })
            guard case .feed = FeedRoot(rest) else { throw error }
            document = rest
        }
    }
    switch FeedRoot(document) {
    case .feed: return try FeedContents(xml: document, at: url, for: source).batch()
    case .page:
        let hidesQueries = hidesQueries || response.url.query != nil
        let (feeds, found) = feeds(ofPage: document, at: url, hidingQueries: hidesQueries)
        throw .notAFeed(type: type, feeds: feeds, found: found)
    case .other(let name):
        let root = UpstreamError.cut(name, to: 40)
        throw .unusable("answered with XML that is not a feed (its root is \(root)); is the address right?")
    }
}

/// Whether bytes begin with an object of JSON, and not with another brace in a message.
private func beginsObject(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.first == "{" else { return false }
    let content = bytes.dropFirst().drop(while: isWhiteSpace)
    guard content.first == "\"" else { return content.first == "}" }
    return content.dropFirst().drop { $0 != "\"" }.dropFirst().first { !isWhiteSpace($0) } == ":"
}

/// The kind of a document in markup, by its first tags. Messages in HTML precede some feeds.
private enum FeedRoot {
    case feed, page
    case other(String)

    init(_ document: [UInt8]) {
        var tokenizer = Tokenizer(document, .xml)
        var names: [String] = []
        while names.count < 32, let token = tokenizer.next() {
            guard case .start(let name, _, _) = token else { continue }
            let local = name.split(separator: ":").last.map(String.init) ?? name
            if ["channel", "feed", "rdf", "rss"].contains(local) {
                self = .feed
                return
            }
            names.append(name)
            if ["html", "head", "body"].contains(name) { break }
        }
        self = names.first.map { HTMLKind.kinds[$0] == nil ? .other($0) : .page } ?? .page
    }
}

/// The feeds that a web page names, without repetitions, and the source that the page represents. The
/// addresses have no query if the request had one, because the page may repeat a key from the request. A link of a type
/// of all XML or JSON counts if there are no others.
private func feeds(
    ofPage document: [UInt8], at url: HTTPURL, hidingQueries: Bool
) -> (feeds: [FeedLink], found: FoundSource?) {
    let types = ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"]
    let generalTypes = ["application/xml", "text/xml", "application/json"]
    var (links, generalLinks): ([FeedLink], [FeedLink]) = ([], [])
    var base: String?
    var isMastodon = false
    // Links to feeds are in the head of a page, which can contain long scripts.
    var (tokenizer, tokens) = (Tokenizer(document, .html), 0)
    while tokens < 50_000, let token = tokenizer.next() {
        tokens += 1
        guard case .start(let name, let attributes, _) = token else { continue }
        if attributes["id"] == "mastodon" { isMastodon = true }
        guard name == "base" || name == "link", let reference = attributes["href"],
            !reference.allSatisfy(\.isWhitespace)
        else { continue }
        if name == "base" { base = base ?? reference }
        let relations = attributes["rel"]?.lowercased().split(whereSeparator: \.isWhitespace) ?? []
        let type = trimmed(String(attributes["type"]?.lowercased().prefix { $0 != ";" } ?? ""))
        let isFeed = relations.contains("feed")
        let link = FeedLink(title: attributes["title"].flatMap { cleanLine($0, upTo: Post.Limit.name) }, url: reference)
        if isFeed && type.isEmpty || (isFeed || relations.contains("alternate")) && types.contains(type) {
            links.append(link)
        } else if isFeed || relations.contains("alternate"), generalTypes.contains(type) {
            generalLinks.append(link)
        }
    }
    let target = base.flatMap { address($0, at: url) }.flatMap { HTTPURL($0) } ?? url
    var shown: [FeedLink] = []
    var feeds: [HTTPURL] = []
    for link in links.isEmpty ? generalLinks : links where shown.count < 20 {
        guard var feed = address(link.url, at: target).flatMap({ HTTPURL($0) }) else { continue }
        feeds.append(feed)
        if hidingQueries { feed.query = nil }
        let url = feed.description
        if !shown.contains(where: { $0.url == url }) { shown.append(FeedLink(title: link.title, url: url)) }
    }
    return (shown, PastedAddress.source(ofPage: url, naming: feeds, isMastodon: isMastodon))
}

/// The content of a feed in any format.
struct FeedContents {
    /// An item without its final id.
    private struct Item {
        /// Nil if unusable.
        var post: Post?
        let guid: String?
        let isAnonymous: Bool
    }

    let source: String
    /// The address of the document.
    let url: HTTPURL
    var title: String?
    var image: String?
    /// The author of items that name none.
    var author: Post.Author?
    /// The elements of the feed that name its authors.
    var persons = MarkupElement(name: "")
    /// The page of the feed, to which most relative addresses refer.
    var link: String?
    /// The number of faults, at least one if the document is cut off.
    var repairs = 0
    var isCut = false
    private var items: [Item] = []

    init(source: String, url: HTTPURL) { (self.source, self.url) = (source, url) }

    var isEmpty: Bool { items.isEmpty }

    /// Adds an item before cleaning; `id` is the upstream's or empty, and `author.name` is empty if missing.
    mutating func add(_ post: Post?) throws(UpstreamError) {
        if items.count >= PostBatchBuilder.maximumItems {
            throw .unusable("answered with more than \(PostBatchBuilder.maximumItems) posts")
        }
        let guid = post.flatMap { $0.id.isEmpty ? nil : $0.id }
        var post = post
        post?.id = "-"
        let isAnonymous = post?.author.name.isEmpty ?? true
        items.append(Item(post: post?.cleaned(for: source), guid: guid, isAnonymous: isAnonymous))
    }

    /// Builds the batch after all items, because the feed's title and author may follow, or items with equal ids.
    ///
    /// The key of an item is its guid, else its link unless that is the feed's own, else its content. Its id, which
    /// only a new post gets, is the first of these that no other item has, else made of the whole item.
    consuming func batch() throws(UpstreamError) -> Fetched {
        var feed = author ?? Post.Author(id: "", name: title ?? "")
        feed.avatarURL = feed.avatarURL ?? image
        let author = feed.cleaned(for: source)
        let own = link.map(normal)
        let guids = Dictionary(items.compactMap(\.guid).map { ($0, 1) }, uniquingKeysWith: +)
        // The ids of each item by guid, by link and by content; those after the guid only if other items have it.
        let ids = items.map { item -> [String?] in
            guard let post = item.post else { return [] }
            var names = [item.guid, post.url]
            if item.guid.map({ guids[$0] != 1 }) ?? true {
                names = [item.guid, post.url.flatMap { normal($0) == own ? nil : $0 }, post.contentID]
            }
            return names.map { $0.map { Post.id($0, in: source) } }
        }
        let keys = ids.map { $0.lazy.compactMap(\.self).first ?? "" }
        let numbers = Dictionary(keys.map { ($0, 1) }, uniquingKeysWith: +)
        var seen: Set<UInt64> = []
        let different = items.indices.filter { index in
            guard let post = items[index].post, numbers[keys[index]] != 1 else { return true }
            return seen.insert(stableHash(post.jsonText)).inserted
        }
        var uses = [[String: Int]](repeating: [:], count: 3)
        for index in different {
            for case (let kind, let id?) in ids[index].enumerated() { uses[kind][id, default: 0] += 1 }
        }
        var builder = PostBatchBuilder(source: source)
        for index in different {
            var post = items[index].post
            let unique = zip(ids[index], uses).first { id, uses in id.map { uses[$0] == 1 } ?? false }?.0
            let id = unique ?? Post.id(post?.jsonText ?? "", in: source)
            post?.id = id
            if items[index].isAnonymous { post?.author = author }
            try builder.add(cleaned: post, key: keys[index])
        }
        var batch = try builder.batch()
        batch.head.title = title.flatMap { cleanLine($0, upTo: Post.Limit.name) }
        (batch.head.repairs, batch.head.isCut) = (repairs, isCut)
        return batch
    }

    /// An address in the form in which equal ones are compared.
    private func normal(_ link: String) -> String {
        (HTTPURL(link)?.description ?? link) + link.drop { $0 != "#" }
    }
}

extension Post {
    /// An id of a post by its content.
    fileprivate var contentID: String { "\(url.map { $0 + "\n" } ?? "")\(title ?? "")\n\(text ?? "")" }
}
