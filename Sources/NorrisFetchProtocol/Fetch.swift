package import NorrisProtocol

/// A request to `norris-fetch`: one document of an upstream. One line of JSON.
package struct FetchRequest: WireObject, Equatable, Sendable {
    package enum Kind: String, Sendable {
        /// The facts that contain ``query``, and the categories, of api.chucknorris.io.
        case facts, categories
        /// GIFs of Giphy: a page of the search for ``query`` or of the trending GIFs, a random one with the tag
        /// ``query`` if given, and the GIFs with the ids in ``query``, separated by commas.
        case gifSearch = "gif-search"
        case gifTrending = "gif-trending"
        case gifRandom = "gif-random"
        case gifs
        /// The feeds in a list of feeds (OPML).
        case opml
        /// The article of a web page, as one post.
        case article
        /// Posts; see `PostSourceKind`.
        case feed, mastodon
        case usersPosts = "users-posts"
    }

    /// The highest ``maximumBody``. A larger document does not fit into the memory of norris-fetch, with its content.
    package static let highestMaximumBody = 32 << 20
    /// The CPU time of norris-fetch for one document, in seconds.
    package static let processorTime = 3

    /// The version of norrisd, because another version of norris-fetch may read requests otherwise.
    package var version = NorrisVersion.current
    /// The process with which norris-fetch ends; nil if run by hand.
    package var parent: Int?
    /// One of ``Kind``.
    package var kind = ""
    /// The configured URL: the base of an API, or the document of a feed.
    package var url = ""
    /// The URL of the feed that links to ``url``, which is checked as a redirect of the feed; nil for a configured URL.
    package var feed: String?
    /// The name of the source, with which the ids of posts begin.
    package var source = ""
    /// Whether the document follows this line on standard input, so that nothing is fetched.
    package var hasDocument = false
    /// Whether the URL was copied by a person. A failure then names the source that it represents, if known.
    package var isPasted = false
    /// The validators of the stored content.
    package var etag: String?
    package var lastModified: String?
    /// Whether a damaged reply is requested once more past the caches on the way.
    package var asksPastCaches = false
    package var query: String?
    package var offset: Int?
    package var limit: Int?
    package var rating: String?
    package var lang: String?
    /// The key of Giphy's API.
    package var key: String?
    /// The limit of the whole exchange, in milliseconds.
    package var timeout = 10_000
    /// The largest body, in bytes, before and after inflating.
    package var maximumBody = 16 << 20
    package var userAgent = "norrisd/\(NorrisVersion.current)"
    /// Lines of further header fields, which only the host of ``url`` receives.
    package var headers: [String] = []
    package var proxy: Proxy?

    package init(_ kind: Kind, url: String) { (self.kind, self.url) = (kind.rawValue, url) }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("version", &version)
        try members.optional("parent", &parent)
        try members.required("kind", &kind)
        try members.required("url", &url)
        try members.optional("feed", &feed)
        try members.required("source", &source)
        try members.flag("document", &hasDocument)
        try members.flag("pasted", &isPasted)
        try members.optional("etag", &etag)
        try members.optional("last_modified", &lastModified)
        try members.flag("past_caches", &asksPastCaches)
        try members.optional("query", &query)
        try members.optional("offset", &offset)
        try members.optional("limit", &limit)
        try members.optional("rating", &rating)
        try members.optional("lang", &lang)
        try members.optional("key", &key)
        try members.required("timeout", &timeout)
        try members.required("max_body", &maximumBody)
        try members.required("user_agent", &userAgent)
        try members.list("headers", &headers)
        try members.optional("proxy", &proxy)
    }

    /// An HTTP proxy. `https` uses CONNECT; `http` sends the absolute URL (RFC 9112, section 3.2.2).
    package struct Proxy: WireObject, Equatable, Sendable, CustomStringConvertible {
        /// The host; an IPv6 address has no brackets.
        package var host = ""
        package var port = 80
        package var user: String?
        package var password: String?

        package init(host: String, port: Int, user: String? = nil, password: String? = nil) {
            (self.host, self.port, self.user, self.password) = (host, port, user, password)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("host", &host)
            try members.required("port", &port)
            try members.optional("user", &user)
            try members.optional("password", &password)
        }

        /// Host and port as in a URL; safe to log, because user and password are left out.
        package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }
}

extension PostSourceKind {
    /// The document that a source of this kind fetches.
    package var document: FetchRequest.Kind {
        switch self {
        case .feed, .exec: .feed
        case .mastodon: .mastodon
        case .usersPosts: .usersPosts
        }
    }
}

/// The host that sent a reply, and the pause that it asks for.
package struct HostReply: WireObject, Equatable, Sendable {
    /// The host after all redirects, without its port.
    package var host = ""
    package var status = 0
    /// Whether the host asks for a pause: status 429, 503 with `Retry-After`, or a success after which no request
    /// remains.
    package var isLimit = false
    /// The end of the pause in seconds from now: 1...24 h; nil if unstated, in the past or unreadable. A reply that is
    /// no limit puts off only its own source.
    package var pause: Int?

    package init(host: String, status: Int, isLimit: Bool = false, pause: Int? = nil) {
        (self.host, self.status, self.isLimit, self.pause) = (host, status, isLimit, pause)
    }

    package init() {}

    package var isSuccess: Bool { 200..<300 ~= status || status == 304 }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("host", &host)
        try members.required("status", &status)
        try members.flag("limit", &isLimit)
        try members.optional("pause", &pause)
    }
}

/// The first line of `norris-fetch`: what HTTP and the document say apart from the items.
package struct FetchHead: WireObject, Equatable, Sendable {
    /// The reason why there are no items.
    package var failure: FetchFailure?
    /// Whether the upstream has confirmed the validators of the request (304), so that no items follow.
    package var isUnchanged = false
    package var etag: String?
    package var lastModified: String?
    /// The time for which the upstream asks not to fetch again, in seconds: more than 0, at most 24 h.
    package var notBefore: Int?
    /// nil after a failure, which has its own, and without a request.
    package var reply: HostReply?
    /// The age of a response from a cache, in seconds.
    package var age = 0
    /// Whether a cache has sent the response although it is no longer fresh.
    package var isStale = false
    /// The URL after all redirects, without user and query.
    package var url: String?
    /// The URL to which permanent redirects (301, 308) lead, in the form of the configured one and without user.
    package var movedTo: String?
    /// The number of items that could not be used.
    package var skipped = 0
    /// The number of repairs that made the document readable; posts may be missing if it is not 0.
    package var repairs = 0
    /// Whether the document ends in the middle. The whole one may contain more items.
    package var isCut = false
    /// The title of a feed.
    package var title: String?
    /// The authors without posts.
    package var authors: [Post.Author] = []
    /// The names of the categories.
    package var categories: [String] = []
    /// Giphy's estimate of the number of GIFs, and the offset of the next page; nil at the end.
    package var totalCount: Int?
    package var nextOffset: Int?

    package init() {}

    package init(_ failure: FetchFailure) { self.failure = failure }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.optional("failure", &failure)
        try members.flag("unchanged", &isUnchanged)
        try members.optional("etag", &etag)
        try members.optional("last_modified", &lastModified)
        try members.optional("not_before", &notBefore)
        try members.optional("reply", &reply)
        try members.required("age", &age)
        try members.flag("stale", &isStale)
        try members.optional("url", &url)
        try members.optional("moved_to", &movedTo)
        try members.required("skipped", &skipped)
        try members.required("repairs", &repairs)
        try members.flag("cut", &isCut)
        try members.optional("title", &title)
        try members.required("authors", &authors)
        try members.required("categories", &categories)
        try members.optional("total_count", &totalCount)
        try members.optional("next_offset", &nextOffset)
    }

    /// Takes the later time, the higher age and the staleness of another response of the same run.
    package mutating func combine(with other: FetchHead) {
        notBefore = [notBefore, other.notBefore].compactMap(\.self).max()
        age = max(age, other.age)
        isStale = isStale || other.isStale
        skipped += other.skipped
    }
}

/// A post in the output of `norris-fetch`.
package struct FetchedPost: WireObject, Equatable, Sendable {
    package var post = Post()
    /// The guid of an item, else its link or its content, in the form of an id. Several items may share it. nil if the
    /// id of the post is the upstream's, and names this post alone.
    package var key: String?

    package init(_ post: Post, key: String? = nil) { (self.post, self.key) = (post, key) }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.optional("key", &key)
        try post.visit(&members)
    }
}

/// The last line of `norris-fetch`, without which the output is incomplete.
package struct FetchEnd: WireObject, Equatable, Sendable {
    /// The number of items.
    package var items = 0

    package init(items: Int) { self.items = items }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("end", &items)
    }
}

/// The reason why a source's content could not be fetched.
package struct FetchFailure: WireObject, Error, Equatable, Sendable {
    package var kind = SourceFailure.Kind.decode
    /// One sentence for the user.
    package var message = ""
    /// Whether a retry follows soon: after transport errors, 408, 425, 429 and 5xx. Other failures wait for the next
    /// run.
    package var isRetryable = false
    /// The reply that is the failure; nil without a complete one.
    package var reply: HostReply?
    /// The wait in seconds if norrisd has sent no request, because of a quota or a held host.
    package var postponed: Int?
    /// The status of the response, if it is the reason.
    package var status: Int?
    /// The feeds that a web page names; nil if the upstream sent no web page.
    package var feeds: [FeedLink]?
    /// The source that the address represents. There is no ``reply`` if the address alone shows it.
    package var found: FoundSource?

    package init(
        kind: SourceFailure.Kind, message: String, isRetryable: Bool = false, reply: HostReply? = nil,
        postponed: Int? = nil, status: Int? = nil, feeds: [FeedLink]? = nil, found: FoundSource? = nil
    ) {
        (self.kind, self.message, self.isRetryable) = (kind, message, isRetryable)
        (self.reply, self.postponed, self.status) = (reply, postponed, status)
        (self.feeds, self.found) = (feeds, found)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("message", &message)
        try members.flag("retryable", &isRetryable)
        try members.optional("reply", &reply)
        try members.optional("postponed", &postponed)
        try members.optional("status", &status)
        try members.optional("feeds", &feeds)
        try members.optional("found", &found)
    }
}

/// The source that a copied address represents, such as a channel or a repository.
package struct FoundSource: WireObject, Equatable, Sendable {
    /// One of ``PostSourceKind/addable``.
    package var kind = ""
    package var url = ""

    package init(_ kind: PostSourceKind, _ url: String) { (self.kind, self.url) = (kind.rawValue, url) }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("url", &url)
    }
}
