import Glibc
import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// The content of a document.
struct Fetched {
    var head = FetchHead()
    /// The items in the order of the document, without repeated ids.
    var items: [any JSONEncodable] = []
}

/// Fetches and decodes the document of a request.
struct Fetcher {
    var request: FetchRequest
    /// The document if it is not fetched.
    var document: [UInt8]?
    /// See ``Download``.
    var allowsPrivate: Bool?
    /// Replaces the system's trusted certificates (openssl-env(7)).
    var trustRoots = getenv("SSL_CERT_FILE").map { String(cString: $0) }

    /// A feed: its media type is ignored, because servers send feeds with any type.
    static let feedTypes =
        "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
        + "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"

    /// The content of the requested document, in which a failure takes the place of the items.
    func fetch() -> Fetched {
        guard let kind = FetchRequest.Kind(rawValue: request.kind) else {
            return Fetched(head: FetchHead(FetchFailure(kind: .decode, message: "There is no kind \(request.kind).")))
        }
        guard let base = sourceURL(request.url) else {
            let message = "The address is not an http or https URL; correct the configured address."
            return Fetched(head: FetchHead(FetchFailure(kind: .decode, message: message)))
        }
        if document == nil, kind == .feed, let found = PastedAddress.source(of: base) {
            guard !request.isPasted else {
                let message = "\(base.hostAndPath) is a source of the kind \(found.kind); its address is \(found.url)."
                return Fetched(head: FetchHead(FetchFailure(kind: .decode, message: message, found: found)))
            }
            if found.kind == request.kind, let feed = HTTPURL(found.url) {
                var fetcher = self
                fetcher.request.url = found.url
                if feed.host != base.host { fetcher.request.headers = [] }
                return fetcher.fetch()
            }
        }
        do throws(UpstreamError) {
            return switch kind {
            case .facts: try facts()
            case .categories: try categories()
            case .gifSearch, .gifTrending, .gifRandom, .gifs: try gifs(kind)
            case .feed: try feed(base)
            case .article: try article(base)
            case .opml: try content(of: base, accept: "*/*", decode: Fetched.init(opml:))
            case .mastodon: try mastodon(base)
            case .usersPosts: try usersPosts()
            }
        } catch {
            return Fetched(head: FetchHead(error.failure))
        }
    }

    private func feed(_ url: HTTPURL) throws(UpstreamError) -> Fetched {
        try content(of: url, accept: Fetcher.feedTypes) { response throws(UpstreamError) in
            try decodeFeed(&response, for: request.source, hidesQueries: url.query != nil)
        }
    }

    /// The article of a web page, with the text of its next pages if they arrive in time.
    private func article(_ url: HTTPURL) throws(UpstreamError) -> Fetched {
        let (accept, start) = ("text/html, application/xhtml+xml, */*;q=0.1", ContinuousClock.now)
        var article = Article()
        func add(_ response: inout HTTPResponse) throws(UpstreamError) -> Fetched {
            try article.add(&response, for: request.source)
        }
        var fetched = try content(of: url, accept: accept, decode: add)
        while document == nil, let next = article.next {
            let rest = request.timeout - Int(start.duration(to: .now) / .milliseconds(1))
            let page = try? content(of: next, [("Accept", accept)], rest, add)
            guard let page, !page.items.isEmpty else { break }
            fetched.items = page.items
        }
        return fetched
    }

    /// Fetches and decodes a JSON document below the configured URL.
    func json(
        _ path: String, allowsStorage: Bool = true,
        decode: (inout HTTPResponse) throws(UpstreamError) -> Fetched
    ) throws(UpstreamError) -> Fetched {
        var base = sourceURL(request.url)?.description ?? ""
        while base.last == "/" { base.removeLast() }
        guard let url = HTTPURL("\(base)/\(path)") else { throw .unusable("is not a usable URL", by: HTTPURL(base)) }
        var fetched = try content(of: url, accept: "application/json", allowsStorage: allowsStorage) {
            response throws(UpstreamError) in
            if let type = response.headers["content-type"], !isJSON(mediaType: type) {
                let name = UpstreamError.cut(String(type.prefix { $0 != ";" }), to: 60)
                throw .unusable("answered with \(name) instead of JSON; is the configured address right?")
            }
            return try decode(&response)
        }
        // The configured URL is the base.
        let moved = fetched.head.movedTo.flatMap { $0.hasSuffix("/\(path)") ? $0.dropLast(path.count + 1) : nil }
        fetched.head.movedTo = moved.map { String($0) }
        return fetched
    }

    /// Fetches and decodes a document, unless the version of the request's validators is current.
    ///
    /// A damaged response may come from a cache on the way, and the upstream's own response may be good. Therefore such
    /// a document is requested once more, past the caches (RFC 9111, section 5.2.1.4).
    private func content(
        of url: HTTPURL, accept: String, allowsStorage: Bool = true,
        decode: (inout HTTPResponse) throws(UpstreamError) -> Fetched
    ) throws(UpstreamError) -> Fetched {
        if let document {
            var response = HTTPResponse(body: document, url: url)
            return try decoded(&response, of: url, decode)
        }
        let headers = [("Accept", accept)] + (allowsStorage ? [] : [("Cache-Control", "no-store")])
        let start = ContinuousClock.now
        do throws(UpstreamError) {
            return try content(of: url, headers, request.timeout, decode)
        } catch  where error.isDamage && request.asksPastCaches && error.reply?.isLimit != true {
            let rest = request.timeout - Int(start.duration(to: .now) / .milliseconds(1))
            guard rest > 0 else { throw error }
            do throws(UpstreamError) {
                return try content(of: url, headers + [("Cache-Control", "no-cache")], rest, decode)
            } catch let second where second.kind == .timeout {
                // The second request had less time, so that its timeout is no property of the upstream.
                throw error
            }
        }
    }

    private func content(
        of url: HTTPURL, _ headers: [(name: String, value: String)], _ timeout: Int,
        _ decode: (inout HTTPResponse) throws(UpstreamError) -> Fetched
    ) throws(UpstreamError) -> Fetched {
        let validators = [("If-None-Match", request.etag), ("If-Modified-Since", request.lastModified)]
            .compactMap { name, value in value.map { (name: name, value: $0) } }
        let download = Download(
            request, from: url, timeout: timeout, allowsPrivate: allowsPrivate, trustRoots: trustRoots)
        do throws(UpstreamError) {
            var response = try download.response(headers: headers + validators)
            var http = FetchHead(response)
            if response.status == 304 {
                // A validator that a 304 omits stays valid.
                (http.etag, http.lastModified) = (http.etag ?? request.etag, http.lastModified ?? request.lastModified)
                http.isUnchanged = true
                return Fetched(head: http)
            }
            var fetched = try decoded(&response, of: url, decode)
            fetched.head.etag = http.etag
            fetched.head.lastModified = http.lastModified
            fetched.head.notBefore = http.notBefore
            fetched.head.age = http.age
            fetched.head.isStale = http.isStale
            fetched.head.url = http.url
            fetched.head.movedTo = http.movedTo
            fetched.head.reply = http.reply
            return fetched
        } catch {
            var named = error.named(url)
            named.reply = download.lastHead.map(HostReply.init)
            throw named
        }
    }

    /// Decodes a document, which is compressed if a server sends a file in gzip without `Content-Encoding`.
    private func decoded(
        _ response: inout HTTPResponse, of url: HTTPURL,
        _ decode: (inout HTTPResponse) throws(UpstreamError) -> Fetched
    ) throws(UpstreamError) -> Fetched {
        do throws(UpstreamError) {
            if isGzip(response.body) { response.body = try inflated(response.body, upTo: request.maximumBody) }
            guard response.body.count <= request.maximumBody else { throw .tooLarge(url, request) }
            return try decode(&response)
        } catch {
            throw error.named(url)
        }
    }
}

/// Whether a `Content-Type` is JSON: `application/json`, `text/json`, or any type with `+json` (RFC 6839).
private func isJSON(mediaType: String) -> Bool {
    let type = mediaType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
}

extension FetchHead {
    /// The parts of a response that affect the next request.
    init(_ response: HTTPResponse) {
        self.init()
        let (headers, now) = (response.headers, response.receivedAt)
        etag = usableValidator(headers["etag"])
        lastModified = usableValidator(headers["last-modified"])
        notBefore = freshnessLifetime(headers, now: now)
        reply = HostReply(response)
        age = responseAge(headers, now: now)
        isStale = NorrisFetch.isStale(headers, now: now)
        var address = response.url
        (address.query, address.userInfo) = (nil, nil)
        url = address.description
        // No user, because the record is no place for passwords.
        var target = response.movedTo
        target?.userInfo = nil
        movedTo = target?.description
    }
}

/// A validator (RFC 9110, section 8.8), byte for byte; nil if it cannot be repeated unchanged: empty, over 1 KiB, not
/// UTF-8, or with controls.
private func usableValidator(_ value: String?) -> String? {
    guard let value, (1...1024).contains(value.utf8.count) else { return nil }
    let isClean = value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\u{FFFD}" }
    return isClean ? value : nil
}
