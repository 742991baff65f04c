import NorrisProtocol
import NorrisText

extension Post {
    /// Decodes an entry of Atom (RFC 4287, or version 0.3) without cleaning it. A missing author or id is empty.
    init(atom entry: XMLElement) {
        let contents = entry.atomTexts("content")
        let summaries = entry.atomTexts("summary")
        let text = (contents + summaries).compactMap(\.text).first { !$0.isBlank } ?? entry.mediaDescription()
        let enclosures = entry.children("link", in: .atom).compactMap { link -> Image? in
            guard link["rel", .word] == "enclosure", let url = link.url("href"),
                isImage(type: link["type", .word], url: url)
            else { return nil }
            return Image(url: url, alt: link["title", .line])
        }
        let inText = [contents.first, summaries.first].flatMap { first -> [Image] in
            guard let first, let html = first.text?.html else { return [] }
            return Image.images(inHTML: html, at: first.base)
        }
        let author =
            entry.children("author", in: .atom).first
            ?? entry.children("source", in: .atom).first?.children("author", in: .atom).first
        self.init(
            id: entry.text(of: "id", in: .atom, .id) ?? "", source: "",
            author: author.flatMap(Post.Author.init(atom:)) ?? Post.Author(id: "", name: ""),
            publishedAt: entry.date(Self.atomDates),
            title: entry.children("title", in: .atom).lazy.compactMap { feedTitle(construct: $0) }.first {
                !$0.allSatisfy(\.isWhitespace)
            }, text: text?.content.text,
            tags: entry.children("category", in: .atom).compactMap { $0["label", .tag] ?? $0["term", .tag] },
            images: enclosures + Image.images(inMediaOf: entry) + inText, links: text?.content.links,
            url: entry.atomLink)
    }

    private static let atomDates = ["published", "issued", "created", "updated", "modified"].map {
        XMLName($0, in: .atom)
    }
}

extension Post.Author {
    /// An Atom person; nil without a name, an email address or a URI.
    init?(atom person: XMLElement) {
        let email = person.text(of: "email", in: .atom, .name).flatMap { Mailbox($0).email }
        // Version 0.3 calls the URI `url`.
        let uri = person.url(of: "uri", in: .atom) ?? person.url(of: "url", in: .atom)
        guard let name = person.text(of: "name", in: .atom, .name) ?? email ?? uri else { return nil }
        self.init(id: email ?? uri ?? "", name: name, email: email)
    }
}

extension XMLElement {
    /// The text constructs with a name, each nil if not a text, and the base of their URLs.
    fileprivate func atomTexts(_ local: String) -> [(text: FeedText?, base: HTTPURL)] {
        children(local, in: .atom).map { (FeedText(construct: $0), $0.base) }
    }

    /// The page of an entry: a link whose relation is `alternate`, which is the default.
    var atomLink: String? {
        let links = children("link", in: .atom).filter { $0["rel", .word] ?? "alternate" == "alternate" }
        let link = links.first { $0["type", .word]?.hasPrefix("text/html") ?? true } ?? links.first
        return link?.url("href")
    }

    /// The description of the media of an item without other text.
    func mediaDescription() -> FeedText? {
        let text =
            text(of: "description", in: .media, .text)
            ?? children("group", in: .media).first?.text(of: "description", in: .media, .text)
        return text.map { FeedText(guessing: $0, at: base) }
    }

    /// The first valid date among the children with these names, in the order of the names.
    func date(_ names: [XMLName]) -> Timestamp? {
        names.lazy.flatMap { children($0.local, in: $0.namespace) }.compactMap { UpstreamDate.parse($0.text(.date)) }
            .first
    }
}
