import NorrisProtocol

extension Post {
    /// A post from an item of RSS (<https://www.rssboard.org/rss-specification>,
    /// <https://web.resource.org/rss/1.0/spec>), not cleaned; without author and id where it has none.
    init(rss item: XMLElement, _ budget: DecodingBudget) {
        let short = item.text(of: "description").map { FeedText(guessing: $0, budget) }
        let full = item.text(of: "encoded", in: .content).map { FeedText(html: $0, budget) }
        let text = [full, short, item.mediaDescription(budget)].compactMap { $0 }.first { !$0.isBlank }
        let guid = item.text(of: "guid")
        let about = item.value(XMLName("about", in: .rdf))
        let isLink = item.children("guid").first?["isPermaLink"]?.lowercased() != "false"
        let url = item.url(of: "link") ?? item.atomLink
            ?? (isLink ? guid.flatMap(cleanURL) : nil) ?? about.flatMap(cleanURL)
        self.init(
            id: guid ?? about ?? "",
            source: "",
            author: Post.Author(rss: item) ?? Post.Author(id: "", name: ""),
            publishedAt: item.date(Self.dates),
            title: (item.text(of: "title") ?? item.text(of: "title", in: .media))
                .map { FeedText(guessing: $0, budget).plain },
            text: text?.plain,
            tags: item.children("category").map(\.text) + item.children("subject", in: .dublinCore).map(\.text),
            images: item.rssImages + [full, short].flatMap { text in
                text?.html.map { Image.images(inHTML: $0, at: item.base, budget) } ?? []
            },
            stats: Stats(comments: item.count("comments", in: .slash)),
            url: url
        )
    }

    /// Those of when it was written before those of when it was changed.
    private static let dates = [
        XMLName("pubDate"), XMLName("date", in: .dublinCore), XMLName("published", in: .atom),
        XMLName("created", in: .dublinCore), XMLName("issued", in: .dublinCore), XMLName("updated", in: .atom),
        XMLName("modified", in: .dublinCore),
    ]
}

extension Post.Author {
    /// The author of an item: `author` is an address with the name behind it, the others are a name; nil without any.
    fileprivate init?(rss item: XMLElement) {
        let author = item.text(of: "author").map(Mailbox.init)
        let name = author?.name ?? item.text(of: "creator", in: .dublinCore) ?? item.text(of: "author", in: .itunes)
            ?? item.children("author", in: .atom).first?.text(of: "name", in: .atom) ?? author?.email
        guard let name else { return nil }
        self.init(id: author?.email ?? "", name: name, email: author?.email)
    }
}

extension XMLElement {
    /// Enclosures, then media; a podcast's picture if there is no other.
    fileprivate var rssImages: [Post.Image] {
        var images = children("enclosure").compactMap { enclosure -> Post.Image? in
            guard let url = enclosure["url"].flatMap({ resolved($0, at: base) }),
                isImage(type: enclosure["type"], url: url)
            else { return nil }
            return Post.Image(url: url)
        }
        images += Post.Image.images(inMediaOf: self)
        if images.isEmpty, let url = children("image", in: .itunes).first?["href"].flatMap({ resolved($0, at: base) }) {
            images.append(Post.Image(url: url))
        }
        return images
    }

    fileprivate func count(_ local: String, in namespace: XMLNamespace) -> Int? {
        text(of: local, in: namespace).flatMap { Int($0.filter { !$0.isWhitespace }) }
    }
}
