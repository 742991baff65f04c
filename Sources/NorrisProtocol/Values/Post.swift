/// A post as it goes over the wire.
package struct Post: Equatable, Sendable {
    /// `SOURCE:ID`, unique over all sources of posts.
    package var id: String
    /// The key of its source under `posts.sources`.
    package var source: String
    package var author: Author
    package var publishedAt: Timestamp?
    package var title: String?
    /// Plain text; may hold newlines.
    package var text: String?
    /// Whether its author asks to show ``title``, which is a warning then, before anything else.
    package var isSensitive: Bool
    package var tags: [String]
    package var images: [Image]
    package var stats: Stats
    package var url: String?
    /// Whether the user who asks has marked it as read.
    package var isRead: Bool

    package init(
        id: String,
        source: String,
        author: Author,
        publishedAt: Timestamp? = nil,
        title: String? = nil,
        text: String? = nil,
        isSensitive: Bool = false,
        tags: [String] = [],
        images: [Image] = [],
        stats: Stats = Stats(),
        url: String? = nil,
        isRead: Bool = false
    ) {
        self.id = id
        self.source = source
        self.author = author
        self.publishedAt = publishedAt
        self.title = title
        self.text = text
        self.isSensitive = isSensitive
        self.tags = tags
        self.images = images
        self.stats = stats
        self.url = url
        self.isRead = isRead
    }

    /// Who wrote it.
    package struct Author: Equatable, Sendable {
        /// `SOURCE:ID`, unique over all sources of posts.
        package var id: String
        package var name: String
        package var handle: String?
        package var avatarURL: String?
        package var email: String?

        package init(
            id: String, name: String, handle: String? = nil, avatarURL: String? = nil, email: String? = nil
        ) {
            self.id = id
            self.name = name
            self.handle = handle
            self.avatarURL = avatarURL
            self.email = email
        }
    }

    /// A picture; sizes in pixels.
    package struct Image: Equatable, Sendable {
        package var url: String
        package var width: Int?
        package var height: Int?
        /// What it shows, in words.
        package var alt: String?

        package init(url: String, width: Int? = nil, height: Int? = nil, alt: String? = nil) {
            self.url = url
            self.width = width
            self.height = height
            self.alt = alt
        }
    }

    /// What others did with it, where the source tells.
    package struct Stats: Equatable, Sendable {
        package var likes: Int?
        package var comments: Int?
        package var shares: Int?

        package init(likes: Int? = nil, comments: Int? = nil, shares: Int? = nil) {
            self.likes = likes
            self.comments = comments
            self.shares = shares
        }
    }
}
