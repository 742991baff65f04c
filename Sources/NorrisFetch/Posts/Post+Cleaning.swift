import NorrisProtocol
import NorrisSystem
import NorrisText

// Lengths are in code points; lengths of URLs are in bytes.

extension Post {
    /// The post as norrisd stores it; nil without an id, or, unless `mayBeBare`, without text, title, picture and URL.
    func cleaned(for source: String, mayBeBare: Bool = false) -> Post? {
        guard !id.isEmpty else { return nil }
        // From 1970 to the end of 9999. Any other date is an error or a placeholder.
        let dates = Timestamp(seconds: 0)...Timestamp(seconds: 253_402_300_799)
        let text = text.flatMap { cleanText($0, upTo: 10_000) }
        // The end of a long text is cut off, with its links.
        let shownLinks = (links ?? []).prefix(text.map(highestLinkNumber) ?? 0)
        let post = Post(
            id: Self.id(id, in: source), source: source, author: author.cleaned(for: source),
            publishedAt: publishedAt.flatMap { dates.contains($0) ? $0 : nil },
            title: title.flatMap { cleanLine($0, upTo: 500) }, text: text,
            isSensitive: isSensitive,
            tags: unique(tags, upTo: 32, by: \.self) { tag in
                cleanLine(String(sanitizedLine(tag).drop { $0 == "#" }), upTo: 100)
            }, images: unique(images, upTo: 50, by: \.url, \.cleaned),
            links: shownLinks.isEmpty ? nil : Array(shownLinks), stats: stats.cleaned, url: url.flatMap(cleanURL))
        let isBare = post.text == nil && post.title == nil && post.images.isEmpty && post.url == nil
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
        let handle = handle.flatMap { cleanLine($0, upTo: 200) }
        let email = email.flatMap(cleanEmail)
        let name = cleanLine(name, upTo: 200) ?? handle ?? email ?? source
        return Post.Author(
            id: Post.id(id.isEmpty ? name : id, in: source), name: name, handle: handle,
            avatarURL: avatarURL.flatMap(cleanURL), email: email)
    }
}

extension Post.Image {
    /// The picture as norrisd stores it; nil without a usable URL.
    fileprivate var cleaned: Post.Image? {
        guard let url = cleanURL(url) else { return nil }
        let size = { (size: Int?) in size.flatMap { (1...1_000_000).contains($0) ? $0 : nil } }
        return Post.Image(
            url: url, width: size(width), height: size(height), alt: alt.flatMap { cleanLine($0, upTo: 1500) })
    }
}

extension Post.Stats {
    fileprivate var cleaned: Post.Stats {
        // A larger number cannot be written as JSON.
        let count = { (count: Int?) in count.flatMap { (0...Int(JSON.maximumInteger)).contains($0) ? $0 : nil } }
        return Post.Stats(likes: count(likes), comments: count(comments), shares: count(shares))
    }
}
