package import NorrisProtocol
import NorrisText

extension Screen {
    /// Posts on a terminal; in a pipe one a line: id, time, author and text, separated by tabs.
    ///
    /// - Parameters:
    ///   - first: the number of the first post; nil for no numbers.
    ///   - command: returns the command that shows a whole post, or that draws its images in the form `whole`.
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

    /// One line a post, in columns: mark, title or first words, source, age. A narrow terminal has only the first two.
    private mutating func lines(of posts: [Post], now: Timestamp, numberedFrom first: Int?, width: Int) {
        // Texts can have 100,000 characters.
        let titles = posts.map { truncated($0.line(.line, upTo: 4 * width), toColumns: width) }
        let sources = posts.map(\.shownSource)
        let ages = posts.map { post in post.publishedAt.map { relativeTime(of: $0, at: now) } ?? "" }
        let (titleColumns, sourceColumns) = (columns(of: titles), columns(of: sources))
        let ageColumns = columns(of: ages)
        items(Array(posts.indices), numberedFrom: first, isDense: true) { screen, index, _ in
            let post = posts[index]
            let mark = post.isRead ? .spaces(2) : Span("● ", .good)
            let width = (screen.layout.width ?? width) - mark.width
            // Without the spaces between the columns.
            let free = width - ageColumns - 4
            guard free >= 12 else {
                return screen.line([mark, Span(truncated(titles[index], toColumns: width), link: post.url)])
            }
            let sourceColumns = min(sourceColumns, max(free / 3, free - titleColumns))
            let titleColumns = min(titleColumns, free - sourceColumns)
            let title = Span(truncated(titles[index], toColumns: titleColumns), link: post.url)
            let source = Span(truncated(sources[index], toColumns: sourceColumns), .dim)
            let age = [.spaces(sourceColumns - source.width + 2), Span(ages[index], .dim)]
            let gap = Span.spaces(titleColumns - title.width + 2)
            screen.line([mark, title, gap, source] + (ages[index].isEmpty ? [] : age))
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
