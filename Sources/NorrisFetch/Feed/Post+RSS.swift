import NorrisProtocol

extension Post {
    /// Decodes an item of RSS (<https://www.rssboard.org/rss-specification>, <https://web.resource.org/rss/1.0/spec>)
    /// without cleaning it. A missing author or id is empty.
    init(rss item: XMLElement) {
        let short = item.text(of: "description", .text).map { FeedText(guessing: $0, at: item.base) }
        let full = item.text(of: "encoded", in: .content, .text).map { FeedText(html: $0, at: item.base) }
        let text = [full, short, item.mediaDescription()].compactMap(\.self).first { !$0.isBlank }
        let guid = item.text(of: "guid", .id)
        let about = item.value(XMLName("about", in: .rdf), .id)
        let isLink = item.children("guid").first?["isPermaLink", .word]?.lowercased() != "false"
        let url =
            item.url(of: "link") ?? item.atomLink ?? (isLink ? guid.flatMap(cleanURL) : nil) ?? about.flatMap(cleanURL)
        self.init(
            id: guid ?? about ?? "", source: "", author: Post.Author(rss: item) ?? Post.Author(id: "", name: ""),
            publishedAt: item.date(Self.rssDates),
            title: (item.text(of: "title", .line) ?? item.text(of: "title", in: .media, .line))
                .map { feedTitle(guessing: $0) },
            text: text?.content.text,
            tags: (item.children("category") + item.children("subject", in: .dublinCore)).map { $0.text(.tag) },
            images: item.rssImages
                + [full, short].flatMap { text in
                    text?.html.map { Image.images(inHTML: $0, at: item.base) } ?? []
                }, links: text?.content.links,
            stats: Stats(comments: item.text(of: "comments", in: .slash, .word).flatMap { Int(trimmed($0)) }),
            url: url)
    }

    /// The elements that contain a date: dates of publication, then dates of change.
    private static let rssDates = [
        XMLName("pubDate"), XMLName("date", in: .dublinCore), XMLName("published", in: .atom),
        XMLName("created", in: .dublinCore), XMLName("issued", in: .dublinCore), XMLName("updated", in: .atom),
        XMLName("modified", in: .dublinCore),
    ]
}

extension Post.Author {
    /// The author of an item. `author` is an address followed by a name; the other elements contain a name.
    fileprivate init?(rss item: XMLElement) {
        let author = item.text(of: "author", .name).map(Mailbox.init)
        let name =
            author?.name ?? item.text(of: "creator", in: .dublinCore, .name) ?? item.text(
                of: "author", in: .itunes, .name)
            ?? item.children("author", in: .atom).first?.text(of: "name", in: .atom, .name) ?? author?.email
        guard let name else { return nil }
        self.init(id: author?.email ?? "", name: name, email: author?.email)
    }
}

extension XMLElement {
    /// Enclosures, then media, or without any the picture of a podcast.
    fileprivate var rssImages: [Post.Image] {
        let enclosures = children("enclosure").compactMap { enclosure -> Post.Image? in
            guard let url = enclosure.url("url"), isImage(type: enclosure["type", .word], url: url) else { return nil }
            return Post.Image(url: url)
        }
        let images = enclosures + Post.Image.images(inMediaOf: self)
        guard images.isEmpty, let url = children("image", in: .itunes).first?.url("href") else { return images }
        return [Post.Image(url: url)]
    }
}

/// An author in RSS: `jane@example.org (Jane Doe)`, `Jane Doe <jane@example.org>`, or a name or address only.
struct Mailbox {
    var name: String?
    /// The address in lower case; nil for a no-reply address, which all authors of a server may share.
    var email: String?

    init(_ text: String) {
        let words = text.split { $0.isWhitespace || "()<>".contains($0) }
        guard let address = words.first(where: { $0.contains("@") }), let email = cleanEmail(String(address)) else {
            name = cleanLine(text, upTo: 200)
            return
        }
        name = cleanLine(words.filter { !$0.utf8.elementsEqual(address.utf8) }.joined(separator: " "), upTo: 200)
        let nobody = ["noreply@", "no-reply@", "donotreply@", "do-not-reply@"]
        self.email = nobody.contains(where: email.hasPrefix) ? nil : email
    }
}
