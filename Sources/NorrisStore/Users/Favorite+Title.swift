package import NorrisProtocol
import NorrisText

/// The title of a favorite in lists.
extension Favorite {
    /// In columns of a terminal.
    private static let titleColumns = 80
    /// In code points, for marks take no column.
    private static let titleLength = 200

    package init(fact: Fact, at now: Timestamp = .now()) {
        self.init(kind: .fact, id: fact.id, title: "", addedAt: now, fact: fact)
        title = ownTitle
    }

    package init(gif: Gif, at now: Timestamp = .now()) {
        self.init(kind: .gif, id: gif.id, title: "", addedAt: now, gif: gif)
        title = ownTitle
    }

    package init(post: Post, at now: Timestamp = .now()) {
        self.init(kind: .post, id: post.id, title: "", addedAt: now, post: post)
        title = ownTitle
    }

    /// A title from the content, else from the id.
    var ownTitle: String {
        let title = (fact?.text).flatMap(Favorite.titleLine) ?? gif?.favoriteTitle ?? post?.favoriteTitle
        return title ?? Favorite.titleLine(id) ?? id
    }

    /// The first line of a text that is not blank, sanitized, cut to the width of a terminal.
    static func titleLine(_ text: String) -> String? {
        let lines = sanitizedText(text).split(separator: "\n").lazy.map { sanitizedLine(String($0)) }
        guard let line = lines.first(where: { !$0.isEmpty }) else { return nil }
        return String(truncated(line, toColumns: titleColumns).unicodeScalars.prefix(titleLength))
    }
}

extension Gif {
    fileprivate var favoriteTitle: String? {
        Favorite.titleLine(title) ?? username.flatMap(Favorite.titleLine).flatMap { Favorite.titleLine("GIF by \($0)") }
    }
}

extension Post {
    fileprivate var favoriteTitle: String? {
        if let title = title.flatMap(Favorite.titleLine) { return title }
        // Sensitive text is hidden at first, so it is no title.
        if !isSensitive, let line = text.flatMap(Favorite.titleLine) { return line }
        let count = switch images.count {
        case 0: "Post"
        case 1: "1 image"
        default: "\(images.count) images"
        }
        return Favorite.titleLine("\(count) by \(author.name)")
    }
}
