import NorrisProtocol
import NorrisSystem
import NorrisText

// Lengths are in code points; lengths of URLs are in bytes. Values are copied whole and changed, so that no member can
// be forgotten; norrisd refuses texts that are not sanitized.

extension Post {
    /// The post as norrisd stores it; nil without an id, or, unless `mayBeBare`, without any content.
    func cleaned(for source: String, mayBeBare: Bool = false) -> Post? {
        guard !id.isEmpty else { return nil }
        let whole = text.map { cleanText($0) } ?? ""
        let text = cut(whole, to: Limit.text)
        let isCut = text.map { $0.utf8.count != whole.utf8.count } ?? false
        var links = links ?? []
        if isCut, let text {
            // The links of the text that is cut off are removed. Links without a number follow them, and stay.
            let numbers = [text, whole].map { min(highestLinkNumber(in: $0), links.count) }
            links.removeSubrange(numbers[0]..<numbers[1])
        }
        let attachments = unique(attachments, upTo: Limit.attachments, by: \.url, \.cleaned)
        links += attachments.map(\.url).filter { !links.contains($0) }
        var post = self
        (post.id, post.source, post.author) = (Self.id(id, in: source), source, author.cleaned(for: source))
        post.title = title.flatMap { cleanLine($0, upTo: Limit.title) }
        (post.text, post.isRead) = (text, false)
        let markdown = cleanText(markdown ?? MarkupText(plain: whole).markdown)
        post.markdown = markdown.isEmpty || text?.hasSameBytes(as: markdown) == true ? nil : markdown
        post.isTruncated = isTruncated || isCut
        post.tags = unique(tags, upTo: Limit.tags, by: \.self) { tag in
            cleanLine(String(sanitizedLine(tag).drop { $0 == "#" }), upTo: Limit.tag)
        }
        post.images = unique(images, upTo: Limit.images, by: \.url, \.cleaned)
        post.attachments = attachments
        post.links = links.isEmpty ? nil : links
        post.stats = stats.cleaned
        post.url = url.flatMap { address($0) }
        let isBare =
            post.text == nil && post.title == nil && post.url == nil
            && post.images.isEmpty && post.attachments.isEmpty
        return isBare && !mayBeBare ? nil : post
    }

    /// `SOURCE:ID`. The ID is the upstream's if it has at most 60 plain characters, otherwise its hash.
    static func id(_ id: String, in source: String) -> String {
        let isPlain = id.utf8.allSatisfy { isLetterOrDigit($0) || "._+-".utf8.contains($0) }
        if isPlain && (1...60).contains(id.utf8.count) { return "\(source):\(id)" }
        return "\(source):\(stableHash(id).digits(radix: 16, width: 16))"
    }
}

/// The highest number in `[n]` in a text; 0 without any.
private func highestLinkNumber(in text: String) -> Int {
    var highest = 0
    var number: Int?
    for byte in text.utf8 {
        if byte == "[" {
            number = 0
        } else if byte == "]" {
            highest = max(highest, number ?? 0)
            number = nil
        } else if let value = number {
            // A post has at most three digits of links.
            number = isDigit(byte) && value < 1000 ? value * 10 + Int(byte - UInt8(ascii: "0")) : nil
        }
    }
    return highest
}

/// The first `maximum` usable elements of a list, without duplicate keys.
private func unique<Element>(
    _ list: [Element], upTo maximum: Int, by key: (Element) -> String, _ cleaned: (Element) -> Element?
) -> [Element] {
    var keys: Set<String> = []
    var result: [Element] = []
    for element in list.lazy.compactMap(cleaned) where keys.insert(key(element)).inserted {
        result.append(element)
        if result.count == maximum { break }
    }
    return result
}

extension Post.Author {
    /// The author as norrisd stores it. The name replaces a missing id; handle, email or source a missing name.
    func cleaned(for source: String) -> Post.Author {
        let handle = handle.flatMap { cleanLine($0, upTo: Post.Limit.name) }
        let email = email.flatMap(cleanEmail)
        let name = cleanLine(name, upTo: Post.Limit.name) ?? handle ?? email ?? source
        var author = self
        (author.id, author.name) = (Post.id(id.isEmpty ? name : id, in: source), name)
        (author.handle, author.email) = (handle, email)
        author.avatarURL = avatarURL.flatMap { address($0) }
        return author
    }
}

extension Post.Image {
    /// The picture as norrisd stores it; nil without a usable URL.
    fileprivate var cleaned: Post.Image? {
        guard let url = address(url) else { return nil }
        let size = { (size: Int?) in size.flatMap { (1...1_000_000).contains($0) ? $0 : nil } }
        var image = self
        (image.url, image.width, image.height) = (url, size(width), size(height))
        image.alt = alt.flatMap { cleanLine($0, upTo: Post.Limit.description) }
        image.title = title.flatMap { cleanLine($0, upTo: Post.Limit.description) }
        return image
    }
}

extension Post.Attachment {
    /// The file as norrisd stores it; nil without a usable URL. A number of 0 means unknown.
    fileprivate var cleaned: Post.Attachment? {
        guard let url = address(url) else { return nil }
        let number = { (number: Int?) in number.flatMap { (1...Int(JSON.maximumInteger)).contains($0) ? $0 : nil } }
        let type = type.flatMap { cleanLine($0.lowercased(), upTo: Post.Limit.type) }
        let isType = type?.split(separator: "/").count == 2 && type?.contains(" ") == false
        var attachment = self
        (attachment.url, attachment.type) = (url, isType ? type : nil)
        (attachment.bytes, attachment.seconds) = (number(bytes), number(seconds))
        return attachment
    }
}

extension Post.Stats {
    fileprivate var cleaned: Post.Stats {
        // A larger number cannot be written as JSON.
        let count = { (count: Int?) in count.flatMap { (0...Int(JSON.maximumInteger)).contains($0) ? $0 : nil } }
        var stats = self
        (stats.likes, stats.comments, stats.shares) = (count(likes), count(comments), count(shares))
        return stats
    }
}
