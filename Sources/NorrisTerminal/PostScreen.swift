package import NorrisProtocol
import NorrisText

extension Screen {
    /// Posts on a terminal; in a pipe one a line: id, time, author and text, separated by tabs.
    ///
    /// - Parameters:
    ///   - first: the number of the first post; nil for no numbers.
    ///   - command: returns the command that shows a whole post.
    package mutating func posts(
        _ posts: [Post], as form: PostForm, now: Timestamp, numberedFrom first: Int? = nil,
        command: (Post, _ number: Int?) -> String
    ) {
        if form == .line, let width = layout.width {
            return lines(of: posts, now: now, numberedFrom: first, width: width)
        }
        items(posts, numberedFrom: first) { screen, post, number in
            guard let width = screen.layout.width else {
                let time = Span(post.publishedAt?.description ?? "-", .dim)
                let words = Span(post.line(form == .line ? .excerpt : form))
                return screen.fields([Span(post.id, .dim), time, Span(post.author.displayName), words])
            }
            let card = PostCard(
                post: post, width: min(max(width, 1), PostCard.maximumWidth), now: now, showsAll: form == .whole,
                showsID: number == nil, command: command(post, number))
            card.lines.forEach { screen.line($0) }
        }
    }

    /// One line a post: mark, title or first words, and source and age in a column of their own.
    private mutating func lines(of posts: [Post], now: Timestamp, numberedFrom first: Int?, width: Int) {
        // Texts can have 100,000 characters.
        let titles = posts.map { truncated($0.line(.line, upTo: 4 * width), toColumns: width) }
        func origin(_ post: Post, toColumns columns: Int) -> String {
            let age = post.publishedAt.map { relativeTime(of: $0, at: now) } ?? ""
            // The age is shorter, and stays if both fit.
            let source = truncated(post.shownSource, toColumns: max(1, columns - displayWidth(of: age) - 3))
            return truncated([source, age].filter { !$0.isEmpty }.joined(separator: " · "), toColumns: columns)
        }
        let titleColumns = columns(of: titles)
        let originColumns = columns(of: posts.map { origin($0, toColumns: width) })
        items(Array(posts.indices), numberedFrom: first, isDense: true) { screen, index, _ in
            // Without the mark and the space between the columns.
            let free = max(1, (screen.layout.width ?? width) - 4)
            let right = min(originColumns, max(free / 2, free - titleColumns))
            let left = min(titleColumns, free - right)
            let title = Span(truncated(titles[index], toColumns: left), link: posts[index].url)
            let origin = Span(origin(posts[index], toColumns: right), .dim)
            let mark = posts[index].isRead ? .spaces(2) : Span("● ", .good)
            screen.line([mark, title] + (origin.text.isEmpty ? [] : [.spaces(left - title.width + 2), origin]))
        }
    }

    /// The age of content that is out of date, in a line below it; nothing for other content and in a pipe.
    package mutating func badge(_ freshness: Freshness, now: Timestamp) {
        guard layout.width != nil, let delay = freshness.delay(now: now) else { return }
        line()
        paragraph(delay, .warning)
    }
}

/// The form of posts on a terminal.
package enum PostForm {
    /// A line with the title.
    case line
    /// A card with the beginning of the text, and only a warning for sensitive content.
    case excerpt
    /// A card with the whole text, also of sensitive content.
    case whole
}

/// The columns of the widest text.
private func columns(of texts: [String]) -> Int { texts.map { displayWidth(of: $0) }.max() ?? 0 }

extension Post {
    /// The title in one line; nil if it is not visible.
    private var heading: String? { title.map(sanitizedLine).flatMap { $0.isEmpty ? nil : $0 } }

    /// The title, unless the text begins with it, because many feeds use the first words as a title.
    var separateHeading: String? { title.flatMap { visibleTitle($0, above: text) } }

    /// The title of the source, else its name.
    var shownSource: String {
        let title = sanitizedLine(sourceTitle ?? "")
        return title.isEmpty ? sanitizedLine(source) : title
    }

    /// The content warning; nil if the post may be shown.
    var warning: String? { isSensitive ? heading.map { "Sensitive: \($0)" } ?? "Sensitive" : nil }

    /// Title and text as one line, and of the short form only one of them; only the warning for sensitive content,
    /// unless all content is requested.
    ///
    /// - Parameter limit: the characters of the text to read.
    fileprivate func line(_ form: PostForm, upTo limit: Int = .max) -> String {
        if let warning, form != .whole { return warning }
        let words = sanitizedLine(String((text ?? "").unicodeScalars.prefix(limit)))
        if let heading = warning ?? separateHeading {
            return words.isEmpty || form == .line ? heading : "\(heading): \(words)"
        }
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
