package import NorrisProtocol
import NorrisText

extension Screen {
    /// Posts for a terminal as cards with an empty line between them; else one a line: id, time, author and what it
    /// says, with tabs between them.
    ///
    /// - Parameters:
    ///   - showsAll: whether long texts are not cut, and what is sensitive is not held back.
    ///   - command: what shows all of the post with an id.
    package mutating func posts(_ posts: [Post], now: Timestamp, showsAll: Bool, command: (_ id: String) -> String) {
        for (index, post) in posts.enumerated() {
            guard let width = layout.width else {
                let time = Span(post.publishedAt?.description ?? "-", .dim)
                let words = Span(post.line(showsAll: showsAll))
                fields([Span(post.id, .dim), time, Span(post.author.displayName), words])
                continue
            }
            if index > 0 { line() }
            let columns = min(max(width, 1), PostCard.maximumWidth)
            let card = PostCard(post: post, width: columns, now: now, showsAll: showsAll, command: command(post.id))
            card.lines.forEach { line($0) }
        }
    }

    /// What a card leaves out, a line each, addresses to be copied.
    ///
    /// - Parameter time: when it was published, as a person reads it.
    package mutating func details(of post: Post, time: String?) {
        guard layout.width != nil else { return }
        var pairs = [
            ("published", time), ("address", post.url), ("author id", post.author.id),
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

    /// Where content came from and when, below it, and that it is out of date; nothing for a pipe.
    package mutating func badge(_ freshness: Freshness, now: Timestamp) {
        guard layout.width != nil else { return }
        line()
        paragraph(freshness.badge(now: now), .dim)
        if let delay = freshness.delay(now: now) { paragraph(delay, .warning) }
    }
}

extension Post {
    /// Its title, of one line; nil where there is nothing to see.
    private var heading: String? { title.map(sanitizedLine).flatMap { $0.isEmpty ? nil : $0 } }

    /// Its text with its newlines; nil where there is nothing to see.
    var body: String? { text.map(sanitizedText).flatMap { sanitizedLine($0).isEmpty ? nil : $0 } }

    /// Its title, unless its text begins with that: many feeds make titles of the first words, cut or not.
    var separateHeading: String? {
        guard let heading, let words = body.map(sanitizedLine) else { return heading }
        let isCut = heading.hasSuffix("…")
        let start = isCut ? heading.dropLast() : heading[...]
        guard words.utf8.starts(with: start.utf8) else { return heading }
        let next = words.unicodeScalars[words.utf8.index(words.startIndex, offsetBy: start.utf8.count)...].first
        // The title Go stays above a text that begins with Google.
        let endsInWord = next.map { $0.properties.isAlphabetic || $0.properties.numericType != nil } ?? false
        return endsInWord && !isCut ? heading : nil
    }

    /// What its author warns of; nil if it may be shown as it is.
    var warning: String? { isSensitive ? heading.map { "Sensitive: \($0)" } ?? "Sensitive" : nil }

    /// All that it says, as one line; of what is sensitive the warning alone, unless all is asked for.
    fileprivate func line(showsAll: Bool) -> String {
        if let warning, !showsAll { return warning }
        let words = [warning ?? separateHeading, body.map(sanitizedLine)].compactMap { $0 }
        if !words.isEmpty { return words.joined(separator: ": ") }
        return images.isEmpty ? url ?? "-" : "[\(countText(images.count, "image"))]"
    }
}

extension Post.Author {
    /// What to call them.
    var displayName: String { [name, handle ?? "", id].map(sanitizedLine).first { !$0.isEmpty } ?? "-" }
}
