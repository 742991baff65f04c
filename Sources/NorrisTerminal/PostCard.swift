import NorrisProtocol
import NorrisText

/// A post as lines for a terminal: author and time, text, links, images, reactions, tags, and id.
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
    /// Whether the last line has the id.
    let showsID: Bool
    /// The command that shows the whole post, or of a whole post the command that draws its images; empty for none.
    let command: String

    var lines: [[Span]] {
        var lines = head
        if let warning = post.warning {
            lines += wrapped(warning, width: width).map { [Span($0, .warning)] }
            if !showsAll { return lines + [[Span(command, .dim)]] + foot }
        }
        let title = excerpt(post.isSensitive ? nil : post.separateHeading)
        let text = body
        lines += (title.lines + text.lines).map(\.spans)
        if title.isCut || text.isCut { lines.append([Span(command, .dim)]) }
        if showsAll, post.isTruncated {
            let note = "Only the beginning of the text is stored; --open shows the whole text."
            lines += [[]] + wrapped(note, width: width).map { [Span($0, .warning)] }
        }
        lines += showsAll ? links : attachments
        lines += images
        let isBare = title.lines.isEmpty && text.lines.isEmpty && post.images.isEmpty && post.attachments.isEmpty
        if isBare || showsAll, let url = post.url {
            lines.append([Span(showsAll ? url : cut(url), isBare ? .normal : .dim, link: url)])
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
        // The author of a feed that names none is the feed.
        if post.shownSource != name { pieces.append((.dot, Span(cut(post.shownSource), .dim))) }
        return flowed(pieces, width: width)
    }

    /// The first lines of a title, and whether there are more.
    private func excerpt(_ text: String?) -> (lines: [PostLine], isCut: Bool) {
        let lines = wrapped([Span(text ?? "", .bold, link: post.url)], width: width)
            .map { PostLine(kind: .prose, text: $0) }
        return showsAll ? (lines, false) : firstLines(of: lines, width: width, Self.excerptLines)
    }

    /// The text, or its first lines of prose, and whether there are more.
    private var body: (lines: [PostLine], isCut: Bool) {
        let (content, links) = (post.markdown ?? post.text ?? "", post.links ?? [])
        // Texts can have 100,000 characters. The beginning is enough for the first lines with all their marks.
        let beginning = content.unicodeScalars.prefix(showsAll ? .max : 1_000 * Self.excerptLines)
        let blocks = postBlocks(of: String(beginning))
        let lines = PostLines(links: links, width: width)
        if showsAll { return (lines.lines(of: blocks), false) }
        let hasMore = beginning.endIndex < content.endIndex
        return lines.excerpt(of: blocks, lines: Self.excerptLines, hasMore: hasMore)
    }

    /// The addresses of the links with their numbers, which users may copy, below an empty line, and what those of
    /// attachments are.
    private var links: [[Span]] {
        guard let links = post.links, !links.isEmpty else { return [] }
        return [[]]
            + links.enumerated().flatMap { index, url -> [[Span]] in
                let line = [Span("[\(index + 1)] ", .dim), Span(sanitizedLine(url), .dim, link: url)]
                guard let attachment = post.attachments.first(where: { $0.url == url }) else { return [line] }
                return [line] + wrapped("    ♪ \(attachment.label)", width: width).map { [Span($0, link: url)] }
            }
    }

    /// The types of the first attachments, and the number of the others.
    private var attachments: [[Span]] {
        let shown = post.attachments.prefix(2).map { Span(cut("♪ \($0.label)"), .dim, link: $0.url) }
        let more = post.attachments.count - shown.count
        return flowed(
            (shown + (more > 0 ? [Span("+\(groupedDigits(more)) more", .dim)] : [])).map { (.dot, $0) }, width: width)
    }

    /// The labels of the images; or of a whole post their number with the command that draws them, and the descriptions
    /// that the text lacks.
    private var images: [[Span]] {
        guard showsAll, let first = post.images.first else {
            // Right-to-left text would move the other labels.
            let isRightToLeft = post.images.contains { containsRightToLeft($0.label) }
            return isRightToLeft ? shownImages.map { [$0] } : flowed(shownImages.map { (.dot, $0) }, width: width)
        }
        let count = Span("▣ \(countText(post.images.count, "image"))", .dim, link: first.url)
        let pictures = Set(postBlocks(of: post.markdown ?? "").flatMap(\.spans).compactMap(\.picture))
        let isInText = post.images.map { pictures.contains($0.url) }
        let descriptions = zip(post.images, isInText).flatMap { image, isInText in
            image.descriptions(isInText: isInText).flatMap { wrapped($0, width: max(1, width - 2)) }.enumerated()
                .map { row, text in [Span(row == 0 ? "- " : "  ", .dim), Span(text, link: image.url)] }
        }
        let isKnown = command.isEmpty && isInText.allSatisfy { $0 }
        let parts = isKnown ? [] : [count, Span(command, .dim)]
        return flowed(parts.map { (Span(": ", .dim), $0) }, width: width) + descriptions
    }

    /// A label for each image: one over the whole width, two side by side; of more the first ones and the number of the
    /// others.
    private var shownImages: [Span] {
        let shown = post.images.count > 3 ? post.images.prefix(2) : post.images[...]
        let more = post.images.count - shown.count
        let columns = shown.count == 1 ? width : max(18, (width - 3) / 2)
        return shown.map { image in
            var text = "▣ " + image.label
            let size = "  " + pixelsText(image.width, image.height)
            if shown.count == 1, size != "  ", displayWidth(of: text + size) <= columns { text += size }
            return Span(truncated(text, toColumns: min(columns, width)), .dim, link: image.url)
        } + (more > 0 ? [Span(cut("+\(groupedDigits(more)) more"), .dim, link: post.url)] : [])
    }

    /// The id is never truncated, because users copy it.
    private var foot: [[Span]] {
        let names = post.tags.map(sanitizedLine).filter { !$0.isEmpty }
        let tags = names.map { Span(cut("#" + $0), .dim) }
        let id = showsID ? [Span(post.id, .dim, link: post.url)] : []
        return flowed((tags + id).map { (.spaces(2), $0) }, width: width)
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
    /// The description of the image, unless the text has it, and its title unless that is the same.
    fileprivate func descriptions(isInText: Bool = false) -> [String] {
        let (alt, title) = (sanitizedLine(alt ?? ""), sanitizedLine(title ?? ""))
        return [isInText ? "" : alt, title == alt ? "" : title].filter { !$0.isEmpty }
    }

    /// The description of the image, else its title, else the name of its file.
    fileprivate var label: String {
        if let described = descriptions().first { return described }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/").dropFirst(path.hasPart("://") ? 1 : 0)
        let name = sanitizedLine(String(parts.last ?? ""))
        return name.isEmpty ? "image" : name
    }
}

extension Post.Attachment {
    /// `audio/mpeg · 57 MiB · 1:02:03`, or the name of the file if nothing is known of it.
    var label: String {
        let size = bytes.map(byteSizeText)
        let known = [type.map(sanitizedLine), size, seconds.map(lengthText)].compactMap(\.self)
        return known.isEmpty
            ? sanitizedLine(String(url.split(separator: "/").last ?? "file")) : known.joined(separator: " · ")
    }
}
