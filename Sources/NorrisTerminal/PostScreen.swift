package import NorrisProtocol
import NorrisText

extension Screen {
    /// Posts as cards separated by empty lines on a terminal; else one a line: id, time, author and text, separated by
    /// tabs.
    ///
    /// - Parameters:
    ///   - showsAll: whether long texts and sensitive content are shown completely.
    ///   - command: returns the command that shows the whole post with an id.
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

    /// The age of content that is out of date, in a line below it; nothing for other content and in a pipe.
    package mutating func badge(_ freshness: Freshness, now: Timestamp) {
        guard layout.width != nil, let delay = freshness.delay(now: now) else { return }
        line()
        paragraph(delay, .warning)
    }
}

extension Post {
    /// The title in one line; nil if it is not visible.
    private var heading: String? { title.map(sanitizedLine).flatMap { $0.isEmpty ? nil : $0 } }

    /// The title, unless the text begins with it, because many feeds use the first words as a title.
    var separateHeading: String? { title.flatMap { visibleTitle($0, above: text) } }

    /// The content warning; nil if the post may be shown.
    var warning: String? { isSensitive ? heading.map { "Sensitive: \($0)" } ?? "Sensitive" : nil }

    /// The text as one line; only the warning for sensitive content, unless all content is requested.
    fileprivate func line(showsAll: Bool) -> String {
        if let warning, !showsAll { return warning }
        let words = sanitizedLine(text ?? "")
        if let heading = warning ?? separateHeading { return words.isEmpty ? heading : "\(heading): \(words)" }
        if !words.isEmpty { return words }
        if !images.isEmpty { return "[\(countText(images.count, "image"))]" }
        return attachments.isEmpty ? url ?? "-" : "[\(countText(attachments.count, "attachment"))]"
    }
}

extension Post.Author {
    /// The name for display.
    var displayName: String {
        let shown = sanitizedLine(name)
        return shown.isEmpty ? [handle ?? "", id].map(sanitizedLine).first { !$0.isEmpty } ?? "-" : shown
    }
}
