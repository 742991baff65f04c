package import NorrisProtocol
import NorrisText

extension Screen {
    /// Posts for a terminal as cards with an empty line between them; else one a line: id, time, author and what it
    /// says, with tabs between them.
    ///
    /// - Parameters:
    ///   - showsAll: whether long texts are not cut, and what is sensitive is not held back.
    ///   - command: what shows all of the post with an id.
    package mutating func posts(
        _ posts: [Post], now: Timestamp, showsAll: Bool, command: (_ id: String) -> String
    ) {
        for (index, post) in posts.enumerated() {
            guard let width = layout.width else {
                fields(of: post, showsAll: showsAll)
                continue
            }
            if index > 0 {
                line()
            }
            let card = PostCard(
                post: post,
                width: min(max(width, 1), PostCard.maximumWidth),
                now: now,
                showsAll: showsAll,
                command: command(post.id)
            )
            for spans in card.lines {
                line(spans)
            }
        }
    }

    /// What a card leaves out, a line each, addresses to be copied.
    package mutating func details(of post: Post) {
        guard layout.width != nil else { return }
        var pairs = [
            ("published", post.publishedAt?.description), ("address", post.url), ("author id", post.author.id),
            ("e-mail", post.author.email), ("avatar", post.author.avatarURL),
        ]
        for (index, image) in post.images.enumerated() {
            pairs.append((post.images.count > 1 ? "image \(index + 1)" : "image", image.url))
        }
        line()
        for case (let key, let value?) in pairs {
            line([Span(padded(key, toColumns: 11), .dim), Span(value, link: value)])
        }
    }

    /// Where content came from and when, below it; nothing for a pipe.
    package mutating func badge(_ freshness: Freshness, now: Timestamp) {
        guard layout.width != nil else { return }
        line()
        paragraph(freshness.badge(now: now), .dim)
    }

    private mutating func fields(of post: Post, showsAll: Bool) {
        fields([
            Span(post.id, .dim), Span(post.publishedAt?.description ?? "-", .dim), Span(post.author.displayName),
            Span(post.line(showsAll: showsAll)),
        ])
    }
}
