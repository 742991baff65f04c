import NorrisProtocol
import NorrisText

// Lengths are in code points, those of addresses in bytes.

extension Post {
    private static let maximumText = 10_000
    private static let maximumTags = 32
    private static let maximumImages = 50

    /// An upstream's post as norrisd keeps it; nil if it has no id, or neither a text, a title, a picture nor a URL.
    ///
    /// - Parameter mayBeBare: whether it is one without any of these as well.
    func cleaned(for source: String, mayBeBare: Bool = false) -> Post? {
        guard !id.isEmpty else { return nil }
        let post = Post(
            id: Self.id(id, in: source),
            source: source,
            author: author.cleaned(for: source),
            publishedAt: publishedAt.flatMap { Self.dates.contains($0) ? $0 : nil },
            title: title.flatMap { cleanLine($0, upTo: 500) },
            text: text.flatMap { cleanText($0, upTo: Self.maximumText) },
            isSensitive: isSensitive,
            tags: Self.cleaned(tags),
            images: Self.cleaned(images),
            stats: stats.cleaned,
            url: url.flatMap(cleanURL)
        )
        let isBare = post.text == nil && post.title == nil && post.images.isEmpty && post.url == nil
        return isBare && !mayBeBare ? nil : post
    }

    /// `SOURCE:ID`, where the ID is the upstream's if it is short and plain, else made from it.
    static func id(_ id: String, in source: String) -> String {
        let isPlain = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "+"),
                UInt8(ascii: "-"):
                true
            default:
                false
            }
        }
        if isPlain && (1...60).contains(id.utf8.count) { return "\(source):\(id)" }
        let hash = String(stableHash(id), radix: 16)
        return "\(source):\(String(repeating: "0", count: 16 - hash.utf8.count))\(hash)"
    }

    /// From 1970 to the end of 9999; outside of them it is a mistake, or says that there is no date.
    private static let dates = Timestamp(seconds: 0)...Timestamp(seconds: 253_402_300_799)

    private static func cleaned(_ tags: [String]) -> [String] {
        var kept: [String] = []
        for tag in tags {
            var name = sanitizedLine(tag)[...]
            while name.first == "#" { name.removeFirst() }
            guard let tag = cleanLine(String(name), upTo: 100), !kept.contains(tag) else { continue }
            kept.append(tag)
            if kept.count == maximumTags { break }
        }
        return kept
    }

    private static func cleaned(_ images: [Image]) -> [Image] {
        var kept: [Image] = []
        for image in images {
            guard let image = image.cleaned, !kept.contains(where: { $0.url == image.url }) else { continue }
            kept.append(image)
            if kept.count == maximumImages { break }
        }
        return kept
    }
}

extension Post.Author {
    /// An upstream's author as norrisd keeps it. One without an id is known by the name, one without a name by the
    /// handle, the email, or in the end the source.
    func cleaned(for source: String) -> Post.Author {
        let handle = handle.flatMap { cleanLine($0, upTo: 200) }
        let email = email.flatMap(cleanEmail)
        let name = cleanLine(name, upTo: 200) ?? handle ?? email ?? source
        return Post.Author(
            id: Post.id(id.isEmpty ? name : id, in: source), name: name, handle: handle,
            avatarURL: avatarURL.flatMap(cleanURL), email: email
        )
    }
}

extension Post.Image {
    /// Nil without a usable address.
    fileprivate var cleaned: Post.Image? {
        guard let url = cleanURL(url) else { return nil }
        let sizes = 1...1_000_000
        return Post.Image(
            url: url,
            width: width.flatMap { sizes.contains($0) ? $0 : nil },
            height: height.flatMap { sizes.contains($0) ? $0 : nil },
            alt: alt.flatMap { cleanLine($0, upTo: 1500) }
        )
    }
}

extension Post.Stats {
    fileprivate var cleaned: Post.Stats {
        // What is larger cannot be written as JSON.
        let counts = 0...Int(JSON.maximumInteger)
        let count = { (count: Int?) in count.flatMap { counts.contains($0) ? $0 : nil } }
        return Post.Stats(likes: count(likes), comments: count(comments), shares: count(shares))
    }
}
