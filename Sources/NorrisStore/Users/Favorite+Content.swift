package import NorrisProtocol
import NorrisText

/// Validation of an imported favorite.
extension Favorite {
    /// In bytes of the wire form.
    static let maximumContent = 65_536
    private static let maximumID = 200

    /// The favorite as stored: sanitized, with the content of its kind only, and not added in the future.
    func checked(at now: Timestamp) throws(FavoriteFault) -> Favorite {
        guard Favorite.Kind.all.contains(kind) else {
            throw .init("is of the kind \(kind.rawValue.quotedForMessage); use fact, gif or post")
        }
        guard (1...Favorite.maximumID).contains(id.unicodeScalars.count), sanitizedLine(id).hasSameBytes(as: id) else {
            throw .init("has no usable id; use 1 to 200 characters without control characters and spaces at the ends")
        }
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8
        if kind == .gif, id.utf8.count > 64 || !id.utf8.allSatisfy(letters.contains) {
            throw .init("has an id that Giphy gives to no GIF; use 1 to 64 letters and digits of ASCII, _ and -")
        }
        var checked = self
        checked.addedAt = max(Timestamp(seconds: 0), min(addedAt, now))
        (checked.fact, checked.gif, checked.post) = (nil, nil, nil)
        switch kind {
        case .fact: if let fact { checked.fact = try content(fact, fact.id).checked() }
        case .post: if let post { checked.post = try content(post, post.id) }
        default: break
        }
        checked.title = Favorite.titleLine(title) ?? checked.ownTitle
        return checked
    }

    /// The content with all texts sanitized, if it is small enough and has this id.
    private func content<Content: WireObject>(
        _ content: Content, _ contentID: String
    ) throws(FavoriteFault) -> Content {
        let bytes = content.jsonBytes
        guard bytes.count <= Favorite.maximumContent else {
            let limit = Favorite.maximumContent
            throw .init("has a content of \(bytes.count) bytes, more than \(limit); leave the content out")
        }
        guard contentID.hasSameBytes(as: id) else {
            throw .init("has the content of another id; leave the content out")
        }
        // Not nil, because the text is a content in wire form, and sanitizing changes no type.
        let sanitized = try? JSON.parse(bytes).mapStrings {
            JSON.multilineMembers.contains($0) ? sanitizedText($1) : sanitizedLine($1)
        }
        return (try? sanitized.map { try Content(parsing: $0.jsonBytes) }) ?? content
    }
}

/// The fault of an item of an import, as the end of a sentence that begins with the item.
struct FavoriteFault: Error {
    let problem: String

    init(_ problem: String) { self.problem = problem }
}

extension Fact {
    fileprivate func checked() throws(FavoriteFault) -> Fact {
        guard (1...Fact.maximumLength).contains(length) else {
            throw .init("has a fact without text or with one that is too long; leave the content out")
        }
        if isExplicit {
            throw .init("has a fact of the category \(Fact.explicitCategory), which is never kept; take it out")
        }
        var fact = self
        fact.categories = categories.filter(Fact.isCategoryName)
        return fact
    }
}

/// The title of a favorite in lists.
extension Favorite {
    /// In columns of a terminal: most facts and fortunes are shorter.
    private static let titleColumns = 500
    /// In code points, because combining marks need no column.
    private static let titleLength = 1_000

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

    /// A title from the content, or else from the id.
    var ownTitle: String {
        let title = (fact?.text).flatMap(Favorite.titleLine) ?? gif?.favoriteTitle ?? post?.favoriteTitle
        return title ?? Favorite.titleLine(id) ?? id
    }

    /// A text as one sanitized line, truncated; nil for a blank text.
    static func titleLine(_ text: String) -> String? {
        let line = sanitizedLine(text)
        if line.isEmpty { return nil }
        return String(truncated(line, toColumns: titleColumns).unicodeScalars.prefix(titleLength))
    }

    /// The texts that a search reads.
    var searchedTexts: [String?] {
        [title, fact?.text] + (post?.searchedTexts ?? [])
    }
}

extension Event.NewItem {
    /// In columns of a terminal.
    private static let titleColumns = 200

    /// A post with its title, or with the beginning of its text.
    init(_ post: Post) {
        self.init(id: post.id, title: truncated(Favorite(post: post).title, toColumns: Self.titleColumns))
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
        // Sensitive text is hidden at first, so it must not be a title.
        if !isSensitive, let line = text.flatMap(Favorite.titleLine) { return line }
        let count =
            switch images.count {
            case 0: "Post"
            case 1: "1 image"
            default: "\(images.count) images"
            }
        return Favorite.titleLine("\(count) by \(author.name)")
    }
}
