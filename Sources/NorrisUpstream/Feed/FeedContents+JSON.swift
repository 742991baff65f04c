import NorrisProtocol

extension FeedContents {
    /// Reads JSON Feed 1.0 or 1.1 (<https://www.jsonfeed.org/version/1.1/>).
    init(jsonFeed document: [UInt8], at url: HTTPURL, _ budget: DecodingBudget) throws(UnusableBody) {
        var contents = FeedContents()
        var feed = JSONObject()
        try JSONItems.forEach(in: document, under: "items", budget) { key, value in
            if ["title", "icon", "favicon", "author", "authors"].contains(key) { feed[key] = value }
        } _: { item throws(UnusableBody) in
            // Without content it is skipped, and counted.
            let nothing = Post(id: "", source: "", author: Post.Author(id: "", name: ""))
            guard item.count <= JSONItems.maximumItem, case .object(let object)? = try? JSON.parse(item) else {
                return try contents.add(nothing, budget)
            }
            try contents.add(Post(jsonFeed: object, at: url, budget), budget)
        }
        contents.title = feed.text("title")
        contents.image = (feed.text("icon") ?? feed.text("favicon")).flatMap { resolved($0, at: url) }
        contents.author = Post.Author(jsonFeed: feed, at: url)
        self = contents
    }
}

extension Post {
    /// A post from an item of JSON Feed, not cleaned; without author and id where it has none.
    fileprivate init(jsonFeed item: JSONObject, at base: HTTPURL, _ budget: DecodingBudget) {
        let html = item.text("content_html").map { FeedText(html: $0, budget) }
        let summary = item.text("summary").map { FeedText(plain: $0) }
        let text = [html, item.text("content_text").map { FeedText(plain: $0) }, summary].compactMap { $0 }
            .first { !$0.isBlank }
        let link = (item.text("url") ?? item.text("external_url")).flatMap { resolved($0, at: base) }
        let id = item.id("id")
        let pictures = ["image", "banner_image"].compactMap { item.text($0) }.map { (url: $0, alt: nil as String?) }
        let attachments = item.elements("attachments").compactMap { attachment -> (url: String, alt: String?)? in
            guard case .object(let object) = attachment, let url = object.text("url"),
                isImage(type: object.text("mime_type"), url: url)
            else { return nil }
            return (url, object.text("title"))
        }
        self.init(
            id: id ?? "",
            source: "",
            author: Post.Author(jsonFeed: item, at: base) ?? Post.Author(id: "", name: ""),
            publishedAt: (item.text("date_published") ?? item.text("date_modified")).flatMap(FeedDate.parse),
            title: item.text("title").map { FeedText(guessing: $0, budget).plain },
            text: text?.plain,
            tags: item.elements("tags").compactMap { if case .string(let tag) = $0 { tag } else { nil } },
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
        let all = object.elements("authors").compactMap { if case .object(let author) = $0 { author } else { nil } }
        guard let author = all.first ?? object.object("author") else { return nil }
        let url = author.text("url")
        guard let name = author.text("name") ?? url, !name.isEmpty else { return nil }
        // Some give the address to write to as the page.
        let email = url.flatMap { $0.hasPrefix("mailto:") ? cleanEmail(String($0.dropFirst(7))) : nil }
        self.init(
            id: email ?? url.flatMap { resolved($0, at: base) } ?? "",
            name: name,
            avatarURL: author.text("avatar").flatMap { resolved($0, at: base) },
            email: email
        )
    }
}
