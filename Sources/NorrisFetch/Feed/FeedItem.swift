import NorrisProtocol
import NorrisText

extension FeedContents {
    /// Reads RSS 0.9x, 1.0, 2.0 or Atom. Some feeds have items both in the channel (RSS 2.0) and beside it (RSS 1.0).
    /// An item that the end of the document cuts off is left out.
    ///
    /// - Parameter link: the page of the feed, if it is known from reading the document before.
    init(xml document: [UInt8], at url: HTTPURL, for source: String, link: String? = nil) throws(UpstreamError) {
        var contents = FeedContents(source: source, url: url)
        contents.link = link
        var isLate = false
        var builder = MarkupTreeBuilder(document, .xml) { element, parent, bases throws(UpstreamError) in
            let hadLink = contents.link != nil
            let isKept = try contents.add(element, in: parent, bases)
            isLate = isLate || !hadLink && contents.link != nil && !contents.isEmpty
            return isKept
        }
        _ = try builder.build()
        if isLate {
            // The items before the link were resolved without it.
            self = try FeedContents(xml: document, at: url, for: source, link: contents.link)
            return
        }
        if builder.isCut, contents.isEmpty {
            throw .unusable("answered with a feed that ends before the end of its first item")
        }
        contents.author = Post.Author(of: contents.persons, at: contents.link.flatMap { HTTPURL($0) } ?? url)
        contents.repairs = builder.faults + (builder.isCut ? 1 : 0)
        contents.isCut = builder.isCut
        self = contents
    }

    private static let containers: Set<String> = ["channel", "feed", "rdf:rdf", "rdf", "rss"]

    /// Reads an item, or an element of the feed itself. Returns whether it belongs to the element around it.
    private mutating func add(
        _ element: MarkupElement, in parent: MarkupElement, _ bases: [String]
    ) throws(UpstreamError) -> Bool {
        let explicit = bases.isEmpty ? nil : bases.reduce(url) { $0.resolving($1) ?? $0 }
        let base = explicit ?? link.flatMap { HTTPURL($0) } ?? url
        switch element.name {
        case "item", "entry", "atom:entry":
            try add(Post(item: element, at: base, explicit))
            return false
        case _ where !Self.containers.contains(parent.name): return true
        case "title", "atom:title":
            let isAtom = parent.name == "feed" || element.name == "atom:title"
            title = title ?? element.decodeMarkup(isAtom: isAtom, at: base, hasLinks: false)?.text
        case "link", "atom:link": if link == nil { link = parent.link(in: [element], at: base) }
        case "image": image = element.text(of: "url").flatMap { address($0, at: base) } ?? image
        case "itunes:image": image = image ?? element["href"].flatMap { address($0, at: base) }
        case "logo", "icon", "atom:logo", "atom:icon": image = image ?? address(element.text, at: base)
        case "author", "atom:author", "managingeditor", "dc:creator", "itunes:author":
            persons.nodes.append(.element(element))
        default: break
        }
        return false
    }
}

extension Post {
    /// Decodes an item of RSS (<https://www.rssboard.org/rss-specification>, <https://web.resource.org/rss/1.0/spec>)
    /// or an entry of Atom (RFC 4287, and version 0.3) without cleaning it. A missing author or id is empty.
    ///
    /// - Parameters:
    ///   - base: the URL to which relative addresses refer, except those in a text.
    ///   - explicit: the value of `xml:base`, to which those in a text refer too.
    init(item: MarkupElement, at base: HTTPURL, _ explicit: HTTPURL?) {
        let isAtom = item.name != "item"
        let guid = item.text(of: "guid", "id", "atom:id") ?? item["rdf:about"]
        let media = item.mediaElements
        let permalink = item.children("guid").first?["ispermalink"]?.lowercased()
        // Without the attribute, most guids that are no addresses are no paths either.
        let page = permalink == "false" ? nil : guid.flatMap { linkAddress($0, at: permalink == "true" ? base : nil) }
        let player = ([item] + media).lazy.flatMap { $0.children("media:player") }.compactMap { $0["url"] }.first
        let elsewhere = item.children("content").first { $0["type"]?.lowercased().hasPart("html") ?? false }?["src"]
        let link =
            item.link(in: item.children("link", "atom:link"), at: base) ?? page
            ?? (player ?? elsewhere).flatMap { address($0, at: base) }
        let textBase = explicit ?? link.flatMap { HTTPURL($0) } ?? base

        var content: MarkupText?
        // A picture may be the only content of a link.
        var links: [String] = []
        var files = item.media(at: base)
        for name in Self.texts + Self.shortTexts where content == nil || Self.texts.contains(name) {
            for element in item.children(name) {
                let isTyped = isAtom && !name.contains(":") || name.hasPrefix("atom:")
                guard let text = element.decodeMarkup(isAtom: isTyped, at: textBase) else { continue }
                if !text.isBlank, content == nil { content = text } else if text.isBlank { links += text.links }
                files.images += text.images
                files.attachments += text.attachments
            }
        }
        if content == nil, let element = media.lazy.flatMap({ $0.children("media:description") }).first {
            content = element.decodeMarkup(isAtom: false, at: textBase)
        }
        let titled = Self.titles.lazy.flatMap { item.children($0) } + media.flatMap { $0.children("media:title") }
        let titles = titled.lazy.compactMap { title in
            let isTyped = isAtom && title.name == "title" || title.name == "atom:title"
            return title.decodeMarkup(isAtom: isTyped, at: nil, hasLinks: false)
        }
        self.init(
            id: guid ?? "", source: "", author: Post.Author(of: item, at: base) ?? Post.Author(id: "", name: ""),
            publishedAt: Self.dates.lazy.flatMap { item.children($0) }.compactMap { UpstreamDate.parse($0.text) }.first,
            title: titles.first { !$0.isBlank }?.text, text: content?.text, markdown: content?.markdown,
            tags: item.children("category", "dc:subject", "atom:category")
                .map { plainText(guessing: $0["label"] ?? $0["term"] ?? $0.text) },
            images: files.images, attachments: files.attachments, links: (content?.links ?? []) + links,
            stats: Stats(comments: item.text(of: "slash:comments").flatMap { Int($0) }), url: link)
    }

    // The elements of an item by their meaning, the best first.

    private static let titles = ["title", "atom:title", "media:title", "dc:title"]
    /// Each of these may contain pictures.
    private static let texts = [
        "content:encoded", "content", "atom:content", "description", "summary", "atom:summary",
    ]
    private static let shortTexts = ["itunes:summary", "dc:description", "media:description", "itunes:subtitle"]
    /// Dates of publication, then dates of change.
    private static let dates = [
        "pubdate", "published", "dc:date", "atom:published", "issued", "created", "dc:created", "dc:issued", "date",
        "updated", "atom:updated", "modified", "dc:modified",
    ]
}

extension Post.Author {
    /// The authors of an item or a feed, from the first of the elements below that has a name.
    fileprivate init?(of item: MarkupElement, at base: HTTPURL) {
        // `author` of RSS is an address followed by a name; the other elements contain a name.
        let mailboxes =
            ["author", "managingeditor"].lazy
            .map { item.children($0).filter { !$0.hasElements }.map { Mailbox($0.text) } }.first { !$0.isEmpty } ?? []
        let lists = ["dc:creator", "itunes:author"].map { item.children($0).map(\.text) }
        let names = ([mailboxes.compactMap(\.name)] + lists).lazy.map { $0.map { plainText(guessing: $0) } }
        if let named = names.first(where: { $0.contains { cleanLine($0, upTo: 200) != nil } }) {
            let email = mailboxes.count == 1 ? mailboxes[0].email : nil
            self.init(names: named, email: email)
        } else {
            let persons = item.children("author", "atom:author", "managingeditor")
            let sources = item.children("source", "atom:source").flatMap { $0.children("author", "atom:author") }
            self.init(persons: persons.isEmpty ? sources : persons, at: base)
        }
    }

    /// The persons of Atom; nil without a name, an email address or a URI.
    init?(persons: [MarkupElement], at base: HTTPURL) {
        var (names, email, uri): ([String], String?, String?) = ([], nil, nil)
        for person in persons {
            let mailbox = Mailbox(person.text(of: "email", "atom:email") ?? (person.hasElements ? "" : person.text))
            email = mailbox.email
            // Version 0.3 calls the URI `url`.
            uri = person.text(of: "uri", "atom:uri", "url", "atom:url").flatMap { address($0, at: base) }
            let written = person.hasElements ? person.text(of: "name", "atom:name") : mailbox.name
            if let name = written ?? email ?? uri { names.append(plainText(guessing: name)) }
        }
        guard !names.isEmpty else { return nil }
        self.init(names: names, email: names.count == 1 ? email : nil, page: names.count == 1 ? uri : nil)
    }

    /// An author, or several with all their names. Persons who share an address differ in their names.
    ///
    /// - Parameter page: the address that distinguishes persons of one name without an email address.
    init(names: [String], email: String?, page: String? = nil) {
        var unique: [String] = []
        for name in names.compactMap({ cleanLine($0, upTo: 200) }) where !unique.contains(name) { unique.append(name) }
        let name = unique.joined(separator: ", ")
        let address = email ?? page
        self.init(id: address.map { $0 == name ? $0 : "\($0)\n\(name)" } ?? "", name: name, email: email)
    }
}

extension MarkupElement {
    /// The text of the first child that is not blank, in the order of the names.
    func text(of names: String...) -> String? {
        for name in names {
            for child in children where child.name == name {
                let text = trimmed(child.text)
                if !text.isEmpty { return text }
            }
        }
        return nil
    }

    /// The page that links name: the text of one, or the address of one with the relation `alternate`, the default.
    func link(in links: [MarkupElement], at base: HTTPURL) -> String? {
        let pages = links.filter { $0["rel"]?.lowercased() ?? "alternate" == "alternate" }
        for link in pages where link["href"] == nil {
            if let url = linkAddress(link.text, at: base) { return url }
        }
        let page = pages.first { $0["href"] != nil && $0["type"]?.hasPrefix("text/html") ?? true }
        return (page ?? pages.first { $0["href"] != nil })?["href"].flatMap { linkAddress($0, at: base) }
    }

    /// Decodes the text in an element: of Atom by its type (RFC 4287, sections 3.1 and 4.1.3), nil for data; else HTML
    /// if it has a known tag, a comment or a reference. Content of Atom without a type may be HTML too; that at another
    /// address is a file or a link. Escaped HTML becomes nodes of the element.
    func decodeMarkup(isAtom: Bool, at base: HTTPURL?, hasLinks: Bool = true) -> MarkupText? {
        let base = self["xml:base"].flatMap { base?.resolving($0) } ?? base
        var type = name == "content:encoded" ? "html" : ""
        if isAtom {
            type = trimmed(String((self["type"] ?? "").lowercased().prefix { $0 != ";" }))
            if let source = self["src"] { return address(source, at: base).map { MarkupText(at: $0, type: type) } }
            if self["mode"]?.lowercased() == "base64" { return nil }
        }
        if hasElements {
            // Between inline elements, texts of HTML may be escaped.
            if !type.hasPart("xhtml") {
                nodes = nodes.flatMap { node -> [Node] in
                    guard case .text(let text) = node, holdsMarkup(text) else { return [node] }
                    return markup(text, isTitle: !hasLinks).nodes
                }
            }
            return MarkupText(self, at: base, hasLinks: hasLinks)
        }
        let text = withoutSections(text)
        if type.hasPart("html") { return MarkupText(html: text, at: base, hasLinks: hasLinks) }
        if isAtom {
            if type.hasPart("/"), !type.hasPrefix("text/") { return nil }
            guard type.isEmpty, hasLinks, holdsMarkup(text, isText: true) else { return MarkupText(plain: text) }
        }
        if isAtom || holdsMarkup(text) { return MarkupText(html: text, at: base, hasLinks: hasLinks) }
        // The white space at the beginning of each line indents the document.
        let lines = text.split(separator: "\n" as Character, omittingEmptySubsequences: false)
        return MarkupText(plain: lines.map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "\n"))
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
