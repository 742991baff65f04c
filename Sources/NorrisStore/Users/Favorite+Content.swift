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
        let epoch = Timestamp(seconds: 0)
        var checked = Favorite(kind: kind, id: id, title: "", addedAt: max(epoch, min(addedAt, now)))
        switch kind {
        case .fact: if let fact { checked.fact = try content(fact, fact.id).checked() }
        case .post: if let post { checked.post = try content(post, post.id).checked() }
        default: break
        }
        checked.title = Favorite.titleLine(title) ?? checked.ownTitle
        return checked
    }

    /// The content, if it is small enough and has this id.
    private func content<Content: JSONEncodable>(
        _ content: Content, _ contentID: String
    ) throws(FavoriteFault) -> Content {
        let size = content.jsonBytes.count
        guard size <= Favorite.maximumContent else {
            throw .init("has a content of \(size) bytes, more than \(Favorite.maximumContent); leave the content out")
        }
        guard contentID.hasSameBytes(as: id) else {
            throw .init("has the content of another id; leave the content out")
        }
        return content
    }
}

/// The fault of an item of an import, as the end of a sentence that begins with the item.
struct FavoriteFault: Error {
    let problem: String

    init(_ problem: String) { self.problem = problem }
}

extension Fact {
    fileprivate func checked() throws(FavoriteFault) -> Fact {
        var fact = self
        fact.text = sanitizedText(text)
        guard (1...Fact.maximumLength).contains(fact.length) else {
            throw .init("has a fact without text or with one that is too long; leave the content out")
        }
        if isExplicit {
            throw .init("has a fact of the category \(Fact.explicitCategory), which is never kept; take it out")
        }
        fact.categories = categories.filter(Fact.isCategoryName)
        fact.source = sanitizedLine(source)
        fact.url = url.flatMap(harmlessURL)
        fact.createdAt = createdAt.flatMap(sinceEpoch)
        fact.updatedAt = updatedAt.flatMap(sinceEpoch)
        return fact
    }
}

extension Post {
    // In code points; equal to the limits of fetched posts.
    private static let maximumTitle = 500
    private static let maximumName = 200
    private static let maximumTag = 100
    private static let maximumTags = 32
    private static let maximumImages = 50
    private static let maximumLinks = 100

    fileprivate func checked() -> Post {
        var post = self
        post.source = sanitizedLine(source)
        post.author = Author(
            id: sanitizedLine(author.id), name: line(author.name, Post.maximumName),
            handle: author.handle.map { line($0, Post.maximumName) }, avatarURL: author.avatarURL.flatMap(harmlessURL),
            email: author.email.map(sanitizedLine))
        post.publishedAt = publishedAt.flatMap(sinceEpoch)
        post.title = title.map { line($0, Post.maximumTitle) }
        post.text = text.map(sanitizedText)
        // A harmful address leaves an empty one, because the text refers to the positions.
        post.links = links.map { $0.prefix(Post.maximumLinks).map { harmlessURL($0) ?? "" } }
        post.tags = Array(tags.map { line($0, Post.maximumTag) }.filter { !$0.isEmpty }.prefix(Post.maximumTags))
        let images = images.compactMap { image in
            harmlessURL(image.url).map { url in
                Image(
                    url: url, width: image.width.flatMap(notNegative), height: image.height.flatMap(notNegative),
                    alt: image.alt.map(sanitizedLine))
            }
        }
        post.images = Array(images.prefix(Post.maximumImages))
        post.stats = Stats(
            likes: stats.likes.flatMap(notNegative), comments: stats.comments.flatMap(notNegative),
            shares: stats.shares.flatMap(notNegative))
        post.url = url.flatMap(harmlessURL)
        return post
    }
}

/// One sanitized line, truncated to a number of code points.
private func line(_ text: String, _ length: Int) -> String { String(sanitizedLine(text).unicodeScalars.prefix(length)) }

private func notNegative(_ number: Int) -> Int? { number < 0 ? nil : number }

private func sinceEpoch(_ time: Timestamp) -> Timestamp? { time.seconds < 0 ? nil : time }

/// The URL, if it begins with http or https and contains only printable ASCII.
private func harmlessURL(_ url: String) -> String? {
    let scheme = url.prefix(8).lowercased()
    let isWeb = scheme.hasPrefix("http://") || scheme.hasPrefix("https://")
    return isWeb && url.utf8.allSatisfy { 0x21...0x7E ~= $0 } ? url : nil
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
