package enum PostList: Method {
    package static let name = "post.list"
    package static let summary =
        """
        Lists posts, newest first. A post without a date or with a future date is sorted by the time of its first \
        fetch.
        """

    /// The posts of a page without `limit`.
    package static let defaultLimit = 20

    package struct Parameters: WireObject, Equatable, Sendable {
        package var source: String? = nil
        package var tag, author: String?
        package var unread = false, muted = false
        package var since: Timestamp?
        /// nil for ``PostOrder/newest``.
        package var order: PostOrder?
        package var page = PageRequest()

        package init(
            source: String? = nil, tag: String? = nil, author: String? = nil, unread: Bool = false,
            muted: Bool = false, since: Timestamp? = nil, order: PostOrder? = nil, page: PageRequest = PageRequest()
        ) {
            (self.source, self.tag, self.author, self.unread) = (source, tag, author, unread)
            (self.muted, self.since, self.order, self.page) = (muted, since, order, page)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("source", &source, .text(1...200), "Only posts of this source.")
            try members.tag(&tag)
            try members.optional(
                "author", &author, .text(1...200),
                "Only posts by the author with this id, or whose handle or name contains this.")
            try members.unread(&unread)
            try members.muted(&muted)
            try members.optional(
                "since", &since, Timestamp.schema, "Only posts that were first stored since then.")
            try members.optional(
                "order", &order, PostOrder.schema,
                "newest by date, or arrived: as first stored, the oldest first.")
            try members.page(&page, default: defaultLimit)
            try members.numbered(&page)
        }
    }

    package typealias Result = Page<Post>
}

/// The order of a list of posts.
package enum PostOrder: String, Hashable, Sendable, CaseIterable, TextValue {
    /// By date, newest first.
    case newest
    /// In the order in which posts were first stored, oldest first.
    case arrived

    package static var schema: Schema { .word(allCases.map(\.rawValue)) }

    package init?(_ text: String) { self.init(rawValue: text) }

    package var description: String { rawValue }
}

package enum PostSearch: Method {
    package static let name = "post.search"
    package static let summary =
        "Finds the posts whose title, text, author or tags contain all words of the query; newest first."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var query = ""
        package var source, tag: String?
        package var unread = false, muted = false
        package var page = PageRequest()

        package init(query: String, source: String? = nil, unread: Bool = false, page: PageRequest = PageRequest()) {
            (self.query, self.source, self.unread, self.page) = (query, source, unread, page)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.query(&query)
            try members.optional("source", &source, .text(1...200), "Only posts of this source.")
            try members.tag(&tag)
            try members.unread(&unread)
            try members.muted(&muted)
            try members.page(&page, default: 20)
            try members.numbered(&page)
        }
    }

    package typealias Result = Page<Post>
}

extension MemberVisitor where Self: ~Copyable {
    mutating func tag(
        _ tag: inout String?, _ summary: StaticString = "Only posts of the sources with this tag."
    ) throws(Failure) { try optional("tag", &tag, .text(1...SourceTag.maximumLength), summary) }

    fileprivate mutating func unread(_ unread: inout Bool) throws(Failure) {
        try flag("unread", &unread, "Only posts that the user has not read.")
    }

    fileprivate mutating func muted(_ muted: inout Bool) throws(Failure) {
        try flag("muted", &muted, "Only the posts that the user's rules hide.")
    }
}

package enum PostGet: Method {
    package static let name = "post.get"
    package static let summary = "Returns the post with an id."
    package typealias Parameters = IDParameters

    package struct Result: WireObject, Equatable, Sendable {
        package var post = Post()

        package init(post: Post) { self.post = post }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("post", &post)
        }
    }
}

package enum PostArticle: Method {
    package static let name = "post.article"
    package static let summary = "Fetches the page of a post, and gives its text to the post."
    package typealias Parameters = IDParameters
    package typealias Result = PostGet.Result
}

package enum PostMarkRead: Method {
    package static let name = "post.mark_read"
    package static let summary = "Marks posts as read for the user: either ids or all."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var ids: [String]? = nil
        package var all = false
        package var source, tag: String?
        package var before: Timestamp?

        package init(
            ids: [String]? = nil, all: Bool = false, source: String? = nil, tag: String? = nil,
            before: Timestamp? = nil
        ) { (self.ids, self.all, self.source, self.tag, self.before) = (ids, all, source, tag, before) }

        /// The name of a member that is allowed only with ``all``, if one is set.
        package var filter: String? { source != nil ? "source" : tag != nil ? "tag" : before != nil ? "before" : nil }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional(idsParameter, &ids, .list(.text(1...200)), "The ids of the posts.")
            try members.flag("all", &all, "Whether to mark all stored posts.")
            try members.optional("source", &source, .text(1...200), "With all: only of this source.")
            try members.tag(&tag, "With all: only of sources with this tag.")
            try members.optional("before", &before, Timestamp.schema, "With all: only posts of an earlier time.")
        }
    }

    package static var idsParameter: StaticString { "ids" }

    package struct Result: WireObject, Equatable, Sendable {
        /// The number of posts whose mark changed.
        package var marked = 0

        package init(marked: Int) { self.marked = marked }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("marked", &marked)
        }
    }
}

package enum PostMarkUnread: Method {
    package static let name = "post.mark_unread"
    package static let summary = "Marks posts as unread for the user: either ids or last."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var ids: [String]?
        /// Whether to undo the last ``PostMarkRead``.
        package var last = false

        package init(ids: [String]? = nil, last: Bool = false) { (self.ids, self.last) = (ids, last) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional(PostMarkRead.idsParameter, &ids, .list(.text(1...200)), "The ids of the posts.")
            try members.flag("last", &last, "Undoes the user's last post.mark_read, once.")
        }
    }

    package typealias Result = PostMarkRead.Result
}

package enum PostSources: Method {
    package static let name = "post.sources"
    package static let summary = "Lists the sources of posts with the number of the user's unread posts."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var tag: String?

        package init(tag: String?) { self.tag = tag }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.tag(&tag, "Only the sources with this tag.")
        }
    }

    package struct Source: WireObject, Equatable, Sendable {
        /// The key under `posts.sources`, or the name of an added source.
        package var name = ""
        package var title: String?
        /// A ``PostSourceKind``; a newer daemon may know more kinds.
        package var kind = ""
        /// The address; only administrators see users, passwords and queries.
        package var url = ""
        package var origin = Origin.config
        package var tags: [String] = []
        package var items = 0
        package var unread = 0
        /// The time of the newest post; nil without posts.
        package var newestAt: Timestamp?
        /// A rounded average.
        package var postsPerWeek: Int?
        package var consecutiveFailures = 0
        /// The address to which all answers of a week have redirected permanently.
        package var movedTo: String?
        package var article = false
        package var freshness = Freshness()

        /// Where a source is stored: in the configuration, or in `state.db` after `source.add`.
        package struct Origin: OpenString {
            package let rawValue: String
            package init(rawValue: String) { self.rawValue = rawValue }
            package static let config = Origin(rawValue: "config")
            package static let added = Origin(rawValue: "added")
            package static let all: [Origin] = [.config, .added]
        }

        package init(
            name: String, title: String?, kind: String, url: String, origin: Origin, tags: [String], items: Int,
            unread: Int, newestAt: Timestamp?, postsPerWeek: Int?, consecutiveFailures: Int, movedTo: String?,
            article: Bool, freshness: Freshness
        ) {
            (self.name, self.title, self.kind, self.url) = (name, title, kind, url)
            (self.origin, self.tags, self.items, self.unread) = (origin, tags, items, unread)
            (self.newestAt, self.postsPerWeek) = (newestAt, postsPerWeek)
            (self.consecutiveFailures, self.movedTo) = (consecutiveFailures, movedTo)
            (self.article, self.freshness) = (article, freshness)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("name", &name)
            try members.optional("title", &title)
            try members.required("kind", &kind)
            try members.required("url", &url)
            try members.required("origin", &origin)
            try members.required("tags", &tags)
            try members.required("items", &items)
            try members.required("unread", &unread)
            try members.optional("newest_at", &newestAt)
            try members.optional("posts_per_week", &postsPerWeek)
            try members.required("consecutive_failures", &consecutiveFailures)
            try members.optional("moved_to", &movedTo)
            try members.required("article", &article)
            try members.required("freshness", &freshness)
        }
    }

    package typealias Result = ItemList<Source>
}

package enum AuthorList: Method {
    package static let name = "author.list"
    package static let summary = "Lists the authors of the stored posts, sorted by name."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var source: String?
        package var page = PageRequest()

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("source", &source, .text(1...200), "Only authors of this source.")
            try members.page(&page, default: 100)
        }
    }

    /// An author, with the number of stored posts.
    package struct Author: WireObject, Equatable, Sendable {
        package var id = ""
        package var name = ""
        package var handle: String?
        package var avatarURL: String?
        package var postCount = 0

        package init(id: String, name: String, handle: String? = nil, avatarURL: String? = nil, postCount: Int) {
            (self.id, self.name, self.handle) = (id, name, handle)
            (self.avatarURL, self.postCount) = (avatarURL, postCount)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("id", &id)
            try members.required("name", &name)
            try members.optional("handle", &handle)
            try members.optional("avatar_url", &avatarURL)
            try members.required("post_count", &postCount)
        }
    }

    package typealias Result = Page<Author>
}
