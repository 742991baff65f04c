import NorrisProtocol
import NorrisText

/// A post as lines for a terminal: who and when, what it says, its images, what others did with it, and its id.
struct PostCard {
    /// Longer lines are hard to read, and wide boxes are empty.
    static let maximumWidth = 80

    /// How many lines of a title and of a text stand on a card that does not show all.
    static let excerptLines = 3

    let post: Post
    /// In columns, at least 1.
    let width: Int
    let now: Timestamp
    /// Whether nothing is cut and nothing held back.
    let showsAll: Bool
    /// The command that shows all of it.
    let command: String

    var lines: [[Span]] {
        var lines = head
        if let warning = post.warning {
            lines += wrapped(warning, width: width).map { [Span($0, .warning)] }
            if !showsAll {
                return lines + [[Span(command, .dim)]] + foot
            }
        }
        let title = excerpt(post.isSensitive ? nil : post.separateHeading)
        let text = excerpt(post.body)
        lines += title.lines.map { [Span($0, .bold, link: post.url)] }
        lines += text.lines.map { [Span($0)] }
        if title.isCut || text.isCut {
            lines.append([Span(command, .dim)])
        }
        lines += images
        if title.lines.isEmpty, text.lines.isEmpty, post.images.isEmpty, let url = post.url {
            lines.append([Span(showsAll ? url : truncated(sanitizedLine(url), toColumns: width), link: url)])
        }
        if let stats = post.stats.text {
            lines += wrapped(stats, width: width).map { [Span($0)] }
        }
        return lines + foot
    }

    private var head: [[Span]] {
        var pieces: [(gap: Span, span: Span)] = []
        var room = width
        if !post.isRead {
            pieces.append((Span(" "), Span("●", .good)))
            room = max(1, width - 2)
        }
        let name = post.author.displayName
        pieces.append((Span(" "), Span(truncated(name, toColumns: room), .bold)))
        let handle = sanitizedLine(post.author.handle ?? "")
        if handle != name {
            pieces.append((Span(" "), Span(truncated(handle, toColumns: width), .dim)))
        }
        let dot = Span(" · ", .dim)
        if let time = post.publishedAt {
            pieces.append((dot, Span(truncated(relativeTime(of: time, at: now), toColumns: width))))
        }
        pieces.append((dot, Span(truncated(sanitizedLine(post.source), toColumns: width), .dim)))
        return flowed(pieces, width: width)
    }

    /// Lines of a text, and whether they are not all.
    private func excerpt(_ text: String?) -> (lines: [String], isCut: Bool) {
        guard let text else { return ([], false) }
        guard showsAll else {
            let excerpt = NorrisText.excerpt(of: text, width: width, lines: Self.excerptLines)
            return (excerpt.lines, excerpt.isCut)
        }
        let lines = wrapped(text, width: width).drop { $0.isEmpty }
        return (lines.lastIndex { !$0.isEmpty }.map { Array(lines[...$0]) } ?? [], false)
    }

    private var images: [[Span]] {
        // Text from right to left would move the frames around it.
        if post.images.contains(where: { containsRightToLeft($0.label) }) {
            return unframedImages
        }
        return ImageGrid(count: post.images.count, width: width, showsAll: showsAll).rows.flatMap { cells in
            Box.row(cells.map(box))
        }
    }

    private var unframedImages: [[Span]] {
        let shown = post.images.prefix(showsAll ? .max : 4)
        let more = post.images.count - shown.count
        return shown.map { [Span(truncated($0.label, toColumns: width), link: $0.url)] }
            + (more > 0 ? [[Span("+\(groupedDigits(more)) more", link: post.url)]] : [])
    }

    private func box(_ cell: ImageGrid.Cell) -> Box {
        switch cell.content {
        case .image(let index):
            let image = post.images[index]
            return Box(width: cell.width, text: image.label, note: image.size, link: image.url)
        case .more(let count):
            return Box(width: cell.width, text: "+\(groupedDigits(count)) more", link: post.url)
        }
    }

    /// The id is not cut, for it is to be copied.
    private var foot: [[Span]] {
        let names = post.tags.map(sanitizedLine).filter { !$0.isEmpty }
        let tags = names.map { Span(truncated("#" + $0, toColumns: width), .dim) }
        return flowed((tags + [Span(post.id, .dim, link: post.url)]).map { (Span("  "), $0) }, width: width)
    }
}
