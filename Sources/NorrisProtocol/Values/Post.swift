/// A post as the protocol represents it.
package struct Post: SharedObject {
    /// The longest texts, in code points, and the longest lists. norris-fetch shortens posts to them, and norrisd
    /// refuses longer ones. The addresses of attachments are also in ``links``.
    package enum Limit {
        package static let (text, title, description, tag, type, name) = (100_000, 500, 1_500, 100, 100, 200)
        package static let (tags, images, attachments, links) = (32, 50, 50, 100)
        /// In bytes. A longer address cannot receive mail (RFC 5321, section 4.5.3.1.3).
        package static let email = 254
    }

    /// `SOURCE:ID`, unique in all sources of posts.
    package var id = ""
    /// The key of the source under `posts.sources`.
    package var source = ""
    /// The title of the source, which norrisd sets in replies.
    package var sourceTitle: String?
    package var author = Author()
    package var publishedAt: Timestamp?
    package var title: String?
    /// Plain text with the structure of the original; PROTOCOL.md has the notation.
    package var text: String?
    /// The content with all of its structure, in CommonMark; nil if it would equal ``text``.
    package var markdown: String?
    /// Whether ``text`` is only the beginning of the original.
    package var isTruncated = false
    /// Whether ``title`` is a content warning, which the author asks clients to show first.
    package var isSensitive = false
    package var tags: [String] = []
    package var images: [Image] = []
    /// Sounds, videos and other files that are no pictures.
    package var attachments: [Attachment] = []
    /// The addresses of the links in ``text``: the text `[n]` refers to `links[n - 1]`.
    package var links: [String]?
    package var stats = Stats()
    package var url: String?
    /// Whether the requesting user marked the post as read.
    package var isRead = false

    package init(
        id: String, source: String, author: Author, publishedAt: Timestamp? = nil, title: String? = nil,
        text: String? = nil, markdown: String? = nil, isTruncated: Bool = false, isSensitive: Bool = false,
        tags: [String] = [], images: [Image] = [], attachments: [Attachment] = [], links: [String]? = nil,
        stats: Stats = Stats(), url: String? = nil, isRead: Bool = false
    ) {
        (self.id, self.source, self.author, self.publishedAt) = (id, source, author, publishedAt)
        (self.title, self.text, self.markdown) = (title, text, markdown)
        (self.isTruncated, self.isSensitive) = (isTruncated, isSensitive)
        (self.tags, self.images, self.attachments) = (tags, images, attachments)
        (self.links, self.stats) = (links, stats)
        (self.url, self.isRead) = (url, isRead)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("source", &source)
        try members.optional("source_title", &sourceTitle)
        try members.required("author", &author)
        try members.optional("published_at", &publishedAt)
        try members.optional("title", &title)
        try members.optional("text", &text)
        try members.optional("markdown", &markdown)
        try members.flag("truncated", &isTruncated)
        try members.flag("sensitive", &isSensitive)
        try members.required("tags", &tags)
        try members.required("images", &images)
        try members.list("attachments", &attachments)
        try members.optional("links", &links)
        try members.required("stats", &stats)
        try members.optional("url", &url)
        try members.required("read", &isRead)
    }

    /// The author of a post.
    package struct Author: WireObject, Equatable, Sendable {
        /// `SOURCE:ID`, unique in all sources of posts.
        package var id = ""
        package var name = ""
        package var handle: String?
        package var avatarURL: String?
        package var email: String?

        package init(id: String, name: String, handle: String? = nil, avatarURL: String? = nil, email: String? = nil) {
            (self.id, self.name, self.handle, self.avatarURL, self.email) = (id, name, handle, avatarURL, email)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("id", &id)
            try members.required("name", &name)
            try members.optional("handle", &handle)
            try members.optional("avatar_url", &avatarURL)
            try members.optional("email", &email)
        }
    }

    /// A picture, with its size in pixels.
    package struct Image: WireObject, Equatable, Sendable {
        package var url = ""
        package var width: Int?
        package var height: Int?
        /// A description of the picture.
        package var alt: String?
        /// The text that a browser shows when the pointer is over the picture.
        package var title: String?

        package init(url: String, width: Int? = nil, height: Int? = nil, alt: String? = nil, title: String? = nil) {
            (self.url, self.width, self.height, self.alt, self.title) = (url, width, height, alt, title)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("url", &url)
            try members.optional("width", &width)
            try members.optional("height", &height)
            try members.optional("alt", &alt)
            try members.optional("title", &title)
        }
    }

    /// A file that is no picture.
    package struct Attachment: WireObject, Equatable, Sendable {
        package var url = ""
        /// The media type.
        package var type: String?
        package var bytes: Int?
        /// The length of a sound or video.
        package var seconds: Int?

        package init(url: String, type: String? = nil, bytes: Int? = nil, seconds: Int? = nil) {
            (self.url, self.type, self.bytes, self.seconds) = (url, type, bytes, seconds)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("url", &url)
            try members.optional("type", &type)
            try members.optional("bytes", &bytes)
            try members.optional("seconds", &seconds)
        }
    }

    /// The reactions to a post, if the source reports them.
    package struct Stats: WireObject, Equatable, Sendable {
        package var likes: Int?
        package var comments: Int?
        package var shares: Int?

        package init(likes: Int? = nil, comments: Int? = nil, shares: Int? = nil) {
            (self.likes, self.comments, self.shares) = (likes, comments, shares)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("likes", &likes)
            try members.optional("comments", &comments)
            try members.optional("shares", &shares)
        }
    }
}
