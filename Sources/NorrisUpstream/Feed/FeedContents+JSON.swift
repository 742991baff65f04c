import NorrisProtocol

extension FeedContents {
    /// Reads JSON Feed 1.0 or 1.1 (<https://www.jsonfeed.org/version/1.1/>).
    init(jsonFeed document: [UInt8], at url: HTTPURL, _ budget: DecodingBudget) throws(UpstreamError) {
        self.init()
        let members = try JSONItems.members(of: document[...], budget)
        guard let items = members["items"] else { throw .unusable("answered with JSON without items") }
        try JSONItems.forEach(in: items, named: "items", budget) { item throws(UpstreamError) in
            add(JSONObject(item: item).map { Post(jsonFeed: $0, at: url, budget) }, budget)
        }
        var feed = JSONObject()
        for key in ["title", "icon", "favicon", "author", "authors"] {
            if let value = members[key], value.count <= JSONItems.maximumItem { feed[key] = try? JSON.parse(value) }
        }
        title = feed.text("title")
        image = (feed.text("icon") ?? feed.text("favicon")).flatMap { resolved($0, at: url) }
        author = Post.Author(jsonFeed: feed, at: url)
    }
}

extension Post {
    /// A post from an item of JSON Feed, not cleaned; without author and id where it has none.
    fileprivate init(jsonFeed item: JSONObject, at base: HTTPURL, _ budget: DecodingBudget) {
        let html = item.text("content_html").map { FeedText(html: $0, budget) }
        let plain = ["content_text", "summary"].compactMap { item.text($0).map { FeedText(plain: $0) } }
        let text = ([html].compactMap(\.self) + plain).first { !$0.isBlank }
        let link = (item.text("url") ?? item.text("external_url")).flatMap { resolved($0, at: base) }
        let id = item.id("id")
        let pictures = ["image", "banner_image"].compactMap { item.text($0).map { Image(url: $0) } }
        let attachments = item.objects("attachments").compactMap { attachment -> Image? in
            guard let url = attachment.text("url"), isImage(type: attachment.text("mime_type"), url: url) else {
                return nil
            }
            return Image(url: url, alt: attachment.text("title"))
        }
        self.init(
            id: id ?? "", source: "", author: Post.Author(jsonFeed: item, at: base) ?? Post.Author(id: "", name: ""),
            publishedAt: item.date("date_published") ?? item.date("date_modified"),
            title: item.text("title").map { FeedText(guessing: $0, budget).plain }, text: text?.plain,
            tags: item.texts("tags"),
            images: (pictures + attachments).compactMap { picture in
                resolved(picture.url, at: base).map { Image(url: $0, alt: picture.alt) }
            } + (html?.html.map { Image.images(inHTML: $0, at: base, budget) } ?? []),
            url: link ?? id.flatMap(cleanURL)
        )
    }
}

extension Post.Author {
    /// The first of `authors`, or `author` as version 1.0 has it; nil without a name or a page.
    fileprivate init?(jsonFeed object: JSONObject, at base: HTTPURL) {
        guard let author = object.objects("authors").first ?? object.object("author") else { return nil }
        let url = author.text("url")
        guard let name = author.text("name") ?? url, !name.isEmpty else { return nil }
        // Some put an email address there.
        let email = url.flatMap { $0.hasPrefix("mailto:") ? cleanEmail(String($0.dropFirst(7))) : nil }
        self.init(
            id: email ?? url.flatMap { resolved($0, at: base) } ?? "", name: name,
            avatarURL: author.text("avatar").flatMap { resolved($0, at: base) }, email: email
        )
    }
}
