import NorrisProtocol
import NorrisText

extension FeedContents {
    /// Reads JSON Feed 1.0 or 1.1 (<https://www.jsonfeed.org/version/1.1/>).
    init(
        jsonFeed document: [UInt8], at url: HTTPURL, for source: String
    ) throws(UpstreamError) {
        self.init(source: source)
        let members = try JSONItems.members(of: document[...])
        guard let items = members["items"] else { throw .unusable("answered with JSON without items") }
        try JSONItems.forEach(in: items, named: "items") { item throws(UpstreamError) in
            try add(JSONItem(item: item).map { Post(jsonFeed: $0, at: url) })
        }
        let feed = JSONItem(members, keys: ["title", "icon", "favicon", "author", "authors"])
        title = feed.text("title", .line)
        image = (feed.text("icon", .url) ?? feed.text("favicon", .url)).flatMap { resolved($0, at: url) }
        author = Post.Author(jsonFeed: feed, at: url)
    }
}

extension Post {
    /// Decodes an item of JSON Feed without cleaning it. A missing author or id is empty.
    fileprivate init(jsonFeed item: JSONItem, at base: HTTPURL) {
        let html = item.text("content_html", .text).map { FeedText(html: $0, at: base) }
        let plain = ["content_text", "summary"].compactMap { item.text($0, .text).map { FeedText(plain: $0) } }
        let text = ([html].compactMap(\.self) + plain).first { !$0.isBlank }
        let link = (item.text("url", .url) ?? item.text("external_url", .url)).flatMap { resolved($0, at: base) }
        let id = item.id("id")
        let pictures = ["image", "banner_image"].compactMap { item.text($0, .url).map { Image(url: $0) } }
        let attachments = item.objects("attachments").compactMap { attachment -> Image? in
            guard let url = attachment.text("url", .url), isImage(type: attachment.text("mime_type", .word), url: url)
            else { return nil }
            return Image(url: url, alt: attachment.text("title", .line))
        }
        self.init(
            id: id ?? "", source: "", author: Post.Author(jsonFeed: item, at: base) ?? Post.Author(id: "", name: ""),
            publishedAt: item.date("date_published") ?? item.date("date_modified"),
            title: item.text("title", .line).map { feedTitle(guessing: $0) }, text: text?.content.text,
            tags: item.texts("tags", .tag),
            images: (pictures + attachments).compactMap { picture in
                resolved(picture.url, at: base).map { Image(url: $0, alt: picture.alt) }
            } + (html?.html.map { Image.images(inHTML: $0, at: base) } ?? []), links: text?.content.links,
            url: link ?? id.flatMap(cleanURL)
        )
    }
}

extension Post.Author {
    /// The first of `authors`, or `author` of version 1.0; nil without a name or URL.
    fileprivate init?(jsonFeed object: JSONItem, at base: HTTPURL) {
        guard let author = object.objects("authors").first ?? object.object("author") else { return nil }
        let url = author.text("url", .url)
        guard let name = author.text("name", .name) ?? url, !name.isEmpty else { return nil }
        // Some feeds put an email address into `url`.
        let email = url.flatMap { $0.hasPrefix("mailto:") ? cleanEmail(String($0.dropFirst(7))) : nil }
        self.init(
            id: email ?? url.flatMap { resolved($0, at: base) } ?? "", name: name,
            avatarURL: author.text("avatar", .url).flatMap { resolved($0, at: base) }, email: email)
    }
}
