import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

@testable import NorrisCommands
@testable import NorrisFetch

private let base = HTTPURL("https://feeds.example/a/b?c=d")!

/// Media types that change how a document is read.
private let mediaTypes = [
    "application/rss+xml", "text/html", "application/json", "text/xml; charset=iso-8859-1", "text/xml; charset=utf-16",
    "application/xml; charset=windows-1252", "", "text/xml; charset=\"",
]

/// A feed in any format and encoding. The first byte of the input selects the media type.
@Sendable func fuzzFeed(_ input: ArraySlice<UInt8>) {
    var input = input
    let type = mediaTypes[Int(input.takeByte()) % mediaTypes.count]
    var response = HTTPResponse(
        status: 200, headers: [("Content-Type", type)], body: Array(input), url: base, receivedAt: now)
    do throws(UpstreamError) { requireSafe(try decodeFeed(&response, for: "planet")) } catch {
        requireSafe(error.message)
    }
}

/// HTML of a post, at an address or none.
@Sendable func fuzzHTML(_ input: ArraySlice<UInt8>) {
    let html = text(input)
    for base in [base, nil] {
        let post = MarkupText(html: html, at: base)
        let clean = cleanText(post.text)
        requireSafe(clean)
        require(cleanText(clean) == clean, "A clean text changes when cleaned again")
        for url in post.links + post.images.map(\.url) + post.attachments.map(\.url) { requireURL(url) }
    }
    requireSafe(cleanLine(plainText(guessing: html), upTo: 500))
}

/// A list of feeds, which can be written and read again.
@Sendable func fuzzOPML(_ input: ArraySlice<UInt8>) {
    var response = HTTPResponse(body: Array(input), url: base)
    guard let links = (try? Fetched(opml: &response))?.items as? [FeedLink] else { return }
    require(links.count <= 1000, "\(links.count) feeds")
    for link in links {
        requireSafe(link.title)
        requireSafe(link.url)
        require(link.tags == SourceTag.unique(link.tags.compactMap(SourceTag.normalized)), "Tags are not valid")
    }
    response.body = Array(OPML.document(links).utf8)
    let again = (try? Fetched(opml: &response))?.items as? [FeedLink]
    // Other texts are kept for messages only.
    let urls = Set(links.map(\.url).filter(isSourceURL))
    require(
        urls.isSubset(of: (again ?? []).map(\.url)), "The feeds change when they are written and read again")
}

/// Markup in both languages. The tags and texts together are no longer than the input, but for references.
@Sendable func fuzzTokenizer(_ input: ArraySlice<UInt8>) {
    for language in [Tokenizer.Language.xml, .html] {
        var tokenizer = Tokenizer(Array(input), language)
        var end = 0
        var size = 0
        while let token = tokenizer.next() {
            switch token {
            case .start(let name, _, _), .end(let name):
                require(!name.isEmpty, "A tag has no name")
                require(tokenizer.range.lowerBound >= end, "A tag is read twice")
                end = tokenizer.range.upperBound
                size += tokenizer.range.count
            case .text(let text):
                require(!text.isEmpty || language == .xml, "A text is empty")
                // The longest text of a short reference is that of `&nGt;`; U+FFFD replaces a byte.
                size += text.utf8.count / 3
            }
            require(size <= input.count, "The tokens are longer than the markup")
        }
        var builder = MarkupTreeBuilder(Array(input), language)
        _ = try? builder.build()
    }
}

/// The documents of the other upstreams.
let upstreamKinds: [FetchRequest.Kind] =
    [.facts, .gifSearch] + PostSourceKind.addable.filter { $0 != .feed }.map(\.document)

/// The JSON of the other upstreams. The first byte of the input selects the upstream.
@Sendable func fuzzUpstreams(_ input: ArraySlice<UInt8>) {
    var input = input
    let kind = upstreamKinds[Int(input.takeByte()) % upstreamKinds.count]
    var request = FetchRequest(kind, url: "https://api.example")
    request.source = "planet"
    requireSafe(Fetcher(request: request, document: Array(input)).fetch())
}

/// Addresses and references of documents.
@Sendable func fuzzURLs(_ input: ArraySlice<UInt8>) {
    let text = text(input)
    if let clean = address(text) {
        require(clean.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "A clean URL contains another byte")
        require(address(clean) == clean, "\(clean) changes when it is cleaned again")
    }
    if let url = HTTPURL(text) {
        require(url.scheme == "http" || url.scheme == "https", "The scheme is \(url.scheme)")
        require(!url.host.isEmpty, "The host is empty")
        let again = HTTPURL(url.description)
        require(
            again?.description == url.description, "\(url) changes when it is read again: \(String(describing: again))")
    }
    for reference in [address(text, at: base), base.resolving(text)?.description] {
        guard let reference else { continue }
        require(HTTPURL(reference) != nil, "\(reference) is a resolved reference, but no address")
    }
}

/// Dates of feeds, header fields and the protocol.
@Sendable func fuzzDates(_ input: ArraySlice<UInt8>) {
    let text = text(input)
    for date in [UpstreamDate.parse(text), httpDate(text), Timestamp(text)] {
        guard let date else { continue }
        require(Timestamp(date.description) == date, "\(date) changes when it is read again")
    }
    if let date = CivilDate(text) { require(date.description == text, "\(date) is written in another form") }
    let headers: HTTPHeaderFields = [
        ("Cache-Control", text), ("Expires", text), ("Age", text), ("Retry-After", text),
        ("RateLimit", text), ("RateLimit-Remaining", text), ("X-RateLimit-Reset", text),
    ]
    let url = HTTPURL("http://h/")
    let replies = [200, 429].compactMap { status in
        url.map { HostReply(HTTPResponse(status: status, headers: headers, url: $0, receivedAt: now)) }
    }
    for time in [freshnessLifetime(headers, now: now)] + replies.map(\.pause) {
        require(time.map { $0 >= 0 } ?? true, "A negative time")
    }
}

private let now = Timestamp(seconds: 1_790_000_000)

private func requireSafe(_ fetched: Fetched) {
    requireSafe(fetched.head.failure?.message)
    var ids: Set<String> = []
    for item in fetched.items {
        // Each text of an item, also of a member that is added later.
        guard let tree = try? JSON.parse(item.jsonBytes) else { fatalError("An item is no JSON: \(item)") }
        _ = tree.mapStrings { _, text in
            requireSafe(text)
            return text
        }
        switch item {
        case let fact as Fact:
            for text in [fact.id, fact.text] + fact.categories { requireSafe(text) }
            requireSafe(fact.url)
        case let gif as Gif:
            for text in [gif.id, gif.title, gif.rating, gif.pageURL, gif.username, gif.altText] { requireSafe(text) }
        case let post as Post:
            require(ids.insert(post.id).inserted, "The id \(post.id) occurs twice")
            for text in [post.id, post.title, post.text, post.url] + post.tags { requireSafe(text) }
            for image in post.images {
                requireSafe(image.alt)
                requireURL(image.url)
            }
            requireURL(post.url)
            requireSafe(post.author)
            // A stored post reads as the same.
            let again = try? Post(parsing: post.jsonBytes)
            require(again == post, "The post changes when it is written and read again")
        default: break
        }
    }
    fetched.head.authors.forEach(requireSafe)
}

private func requireSafe(_ author: Post.Author) {
    for text in [author.id, author.name, author.handle, author.email] { requireSafe(text) }
    requireURL(author.avatarURL)
}

private func requireURL(_ url: String?) {
    if let url { require(HTTPURL(url) != nil, "\(url) is no address") }
}
