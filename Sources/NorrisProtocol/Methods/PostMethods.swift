package enum PostList: Method {
    package static let name = "post.list"
    package static let summary =
        "Lists posts, newest first. A post without a date or with a future date is sorted by the time of its first fetch."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var source: String? = nil
        package var author: String?
        package var unread = false
        package var page = PageRequest()

        package init(
            source: String? = nil, author: String? = nil, unread: Bool = false, limit: Int? = nil, cursor: String? = nil
        ) {
            (self.source, self.author, self.unread) = (source, author, unread)
            page = PageRequest(limit: limit, cursor: cursor)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("source", &source, .text(1...200), "Only posts of this source.")
            try members.optional(
                "author", &author, .text(1...200),
                """
                Only posts by the author with this id, or by authors whose handle or name contains this, ignoring \
                case.
                """)
            try members.flag("unread", &unread, "Whether to omit posts that the user marked as read.")
            try members.page(&page, default: 20)
        }
    }

    package typealias Result = Page<Post>
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

package enum PostMarkRead: Method {
    package static let name = "post.mark_read"
    package static let summary = "Marks posts as read for the requesting user. Requires either ids or all."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var ids: [String]? = nil
        package var all = false

        package init(ids: [String]? = nil, all: Bool = false) { (self.ids, self.all) = (ids, all) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional(idsParameter, &ids, .list(.text(1...200)), "The ids of the posts.")
            try members.flag("all", &all, "Whether to mark all stored posts.")
        }
    }

    package static var idsParameter: StaticString { "ids" }

    package struct Result: WireObject, Equatable, Sendable {
        /// The number of posts that were unread before.
        package var marked = 0

        package init(marked: Int) { self.marked = marked }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("marked", &marked)
        }
    }
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
