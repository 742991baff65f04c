import NorrisProtocol
import NorrisText

/// A post as lines for a terminal: author and time, text, links, images, reactions, and id.
struct PostCard {
    /// The maximum width, because longer lines are hard to read.
    static let maximumWidth = 80
    /// The lines of a title and of a text on a shortened card.
    private static let excerptLines = 3
    let post: Post
    /// In columns, at least 1.
    let width: Int
    let now: Timestamp
    /// Whether nothing is truncated or hidden.
    let showsAll: Bool
    /// The command that shows the whole post.
    let command: String

    var lines: [[Span]] {
        var lines = head
        if let warning = post.warning {
            lines += wrapped(warning, width: width).map { [Span($0, .warning)] }
            if !showsAll { return lines + [[Span(command, .dim)]] + foot }
        }
        let title = excerpt(post.isSensitive ? nil : post.separateHeading)
        let text = body
        lines += title.lines.map { [Span($0, .bold, link: post.url)] }
        lines += text.lines.map { $0.spans(links: post.links ?? []) }
        if title.isCut || text.isCut { lines.append([Span(command, .dim)]) }
        if showsAll { lines += links }
        lines += images
        if title.lines.isEmpty, text.lines.isEmpty, post.images.isEmpty, let url = post.url {
            lines.append([Span(showsAll ? url : cut(url), link: url)])
        }
        if let stats = post.stats.text { lines += wrapped(stats, width: width).map { [Span($0)] } }
        return lines + foot
    }

    /// One line, truncated to the width.
    private func cut(_ text: String) -> String { truncated(sanitizedLine(text), toColumns: width) }

    private var head: [[Span]] {
        var pieces: [(gap: Span, span: Span)] = post.isRead ? [] : [(Span(" "), Span("●", .good))]
        let name = post.author.displayName
        let columns = post.isRead ? width : max(1, width - 2)
        pieces.append((Span(" "), Span(truncated(name, toColumns: columns), .bold)))
        let handle = sanitizedLine(post.author.handle ?? "")
        if handle != name { pieces.append((Span(" "), Span(cut(handle), .dim))) }
        if let time = post.publishedAt { pieces.append((.dot, Span(cut(relativeTime(of: time, at: now))))) }
        pieces.append((.dot, Span(cut(post.source), .dim)))
        return flowed(pieces, width: width)
    }

    /// The first lines of a title, and whether there are more.
    private func excerpt(_ text: String?) -> (lines: [String], isCut: Bool) {
        guard let text else { return ([], false) }
        if showsAll { return (wrapped(text, width: width), false) }
        let excerpt = NorrisText.excerpt(of: text, width: width, lines: Self.excerptLines)
        return (excerpt.lines, excerpt.isCut)
    }

    /// The text, or its first lines of prose, and whether there are more.
    private var body: (lines: [PostLine], isCut: Bool) {
        guard let text = post.body else { return ([], false) }
        guard showsAll else { return postExcerpt(of: text, width: width, lines: Self.excerptLines) }
        let lines = postLines(of: text, width: width).drop { $0.kind == .empty }
        return (lines.lastIndex { $0.kind != .empty }.map { Array(lines[...$0]) } ?? [], false)
    }

    /// The addresses of the links with their numbers, which users may copy, below an empty line.
    private var links: [[Span]] {
        guard let links = post.links, !links.isEmpty, post.body != nil else { return [] }
        return [[]] + links.enumerated().map { [Span("[\($0 + 1)] ", .dim), Span(sanitizedLine($1), .dim, link: $1)] }
    }

    private var images: [[Span]] {
        // Right-to-left text would move the frames around it and the other labels.
        if post.images.contains(where: { containsRightToLeft($0.label) }) { return shownImages.map { [$0] } }
        guard showsAll else { return flowed(shownImages.map { (.dot, $0) }, width: width) }
        return imageGrid(count: post.images.count, width: width).flatMap { cells in
            let boxes = cells.map { box(post.images[$0.index], width: $0.width).rows }
            // Side by side, with a column between them.
            return boxes.dropFirst().reduce(boxes[0]) { zip($0, $1).map { $0 + [Span(" ")] + $1 } }
        }
    }

    /// A label for each image: one over the whole width, two side by side; of more the first ones and the number of the
    /// others.
    private var shownImages: [Span] {
        let shown = post.images.count > 3 && !showsAll ? post.images.prefix(2) : post.images[...]
        let more = post.images.count - shown.count
        let columns = shown.count == 1 ? width : max(18, (width - 3) / 2)
        return shown.map { image in
            var text = "▣ " + image.label
            let size = "  " + pixelsText(image.width, image.height)
            if shown.count == 1, size != "  ", displayWidth(of: text + size) <= columns { text += size }
            return Span(truncated(text, toColumns: min(columns, width)), .dim, link: image.url)
        } + (more > 0 ? [Span(cut("+\(groupedDigits(more)) more"), .dim, link: post.url)] : [])
    }

    private func box(_ image: Post.Image, width: Int) -> Box {
        Box(width: width, text: image.label, note: pixelsText(image.width, image.height), link: image.url)
    }

    /// The id is never truncated, because users copy it.
    private var foot: [[Span]] {
        let names = post.tags.map(sanitizedLine).filter { !$0.isEmpty }
        let tags = names.map { Span(cut("#" + $0), .dim) }
        return flowed((tags + [Span(post.id, .dim, link: post.url)]).map { (.spaces(2), $0) }, width: width)
    }
}

extension Post.Stats {
    /// `12 likes · 1 comment`; nil without reactions.
    fileprivate var text: String? {
        let parts = [(likes, "like"), (comments, "comment"), (shares, "share")].compactMap { count, noun in
            count.flatMap { $0 > 0 ? countText($0, noun) : nil }
        }
        return parts.isEmpty ? nil : parts.joined(separator: " · ")
    }
}

extension Post.Image {
    /// The description of the image, else the name of its file, else its address.
    fileprivate var label: String {
        let shown = sanitizedLine(alt ?? "")
        guard shown.isEmpty else { return shown }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/").dropFirst(path.contains("://") ? 1 : 0)
        let name = sanitizedLine(String(parts.last ?? ""))
        return name.isEmpty ? "image" : name
    }
}
