import NorrisProtocol
import NorrisText

extension FeedContents {
    /// Reads JSON Feed 1.0 or 1.1 (<https://www.jsonfeed.org/version/1.1/>), which may be cut off.
    init(jsonFeed document: [UInt8], at url: HTTPURL, for source: String) throws(UpstreamError) {
        self.init(source: source, url: url)
        let (whole, isCut) = wholeJSON(document)
        (self.isCut, repairs) = (isCut, isCut ? 1 : 0)
        let members = try JSONItems.members(of: whole)
        guard let items = members["items"] else { throw .unusable("answered with JSON without items") }
        let feed = JSONItem(members, keys: ["title", "icon", "favicon", "author", "authors", "home_page_url"])
        title = feed.text("title")
        link = feed.text("home_page_url").flatMap { linkAddress($0, at: url) }
        let base = link.flatMap { HTTPURL($0) } ?? url
        image = (feed.text("icon") ?? feed.text("favicon")).flatMap { address($0, at: base) }
        author = Post.Author(jsonFeed: feed, at: base)
        try JSONItems.forEach(in: items, named: "items") { item throws(UpstreamError) in
            try add(JSONItem(item: item).map { Post(jsonFeed: $0, at: base) })
        }
    }
}

/// A document up to its end, without what follows. If its end is missing, up to the last whole element of an array in
/// its object, with the brackets that are missing.
func wholeJSON(_ document: [UInt8]) -> (bytes: ArraySlice<UInt8>, isCut: Bool) {
    var depth = 0
    var isInText = false
    // The innermost bracket in the object.
    var isInArray = false
    var end: Int?
    var index = 0
    while index < document.count {
        let byte = document[index]
        if isInText {
            if byte == "\\" { index += 1 } else if byte == "\"" { isInText = false }
        } else if byte == "\"" {
            isInText = true
        } else if byte == "{" || byte == "[" {
            depth += 1
            if depth == 2 { isInArray = byte == "[" }
        } else if byte == "}" || byte == "]" {
            depth -= 1
            if depth == 2, isInArray { end = index + 1 }
            if depth == 0 { return (document[...index], false) }
        }
        index += 1
    }
    guard let end else { return (document[...], false) }
    return ((document[..<end] + Array("]}".utf8))[...], true)
}

extension Post {
    /// Decodes an item of JSON Feed without cleaning it. A missing author or id is empty.
    fileprivate init(jsonFeed item: JSONItem, at base: HTTPURL) {
        let id = item.id("id")
        let link =
            (item.text("url") ?? item.text("external_url")).flatMap { linkAddress($0, at: base) }
            ?? id.flatMap { linkAddress($0, at: nil) }
        let html = item.text("content_html").map { MarkupText(html: $0, at: link.flatMap { HTTPURL($0) } ?? base) }
        let plain = ["content_text", "summary"].lazy.compactMap { item.text($0) }.map { MarkupText(plain: $0) }
        let text = html.flatMap { $0.isBlank ? nil : $0 } ?? plain.first { !$0.isBlank }
        var media = FeedMedia()
        for key in ["image", "banner_image"] {
            guard let url = item.text(key).flatMap({ address($0, at: base) }) else { continue }
            media.images.append(Image(url: url))
        }
        for file in item.objects("attachments") {
            guard let url = file.text("url").flatMap({ address($0, at: base) }) else { continue }
            media.add(
                url, type: file.text("mime_type"), bytes: file.number("size_in_bytes"),
                seconds: file.number("duration_in_seconds"), alt: file.text("title"))
        }
        self.init(
            id: id ?? "", source: "", author: Post.Author(jsonFeed: item, at: base) ?? Post.Author(id: "", name: ""),
            publishedAt: item.date("date_published") ?? item.date("date_modified"), title: item.text("title"),
            text: text?.text, markdown: text?.markdown, tags: item.texts("tags"),
            images: media.images + (html?.images ?? []), attachments: media.attachments + (html?.attachments ?? []),
            links: text?.links ?? html?.links, url: link)
    }
}

extension Post.Author {
    /// The persons in `authors`, else in `author` of version 1.0: texts or objects. Nil without a name or URL.
    fileprivate init?(jsonFeed object: JSONItem, at base: HTTPURL) {
        func name(_ person: JSONItem) -> String? {
            [person.text("name"), person.text("url")].lazy.compactMap(\.self).first { !$0.isEmpty }
        }
        let lists = ["authors", "author"].lazy.map { object.objects($0, textsAs: "name").filter { name($0) != nil } }
        guard let persons = lists.first(where: { !$0.isEmpty }), let first = persons.first else { return nil }
        let names = persons.compactMap(name)
        guard names.count == 1 else {
            self.init(names: names, email: nil)
            return
        }
        let url = first.text("url")
        // Some feeds put an email address into `url`.
        let email = url.flatMap { $0.hasPrefix("mailto:") ? cleanEmail(String($0.dropFirst(7))) : nil }
        self.init(names: names, email: email, page: url.flatMap { address($0, at: base) })
        avatarURL = first.text("avatar").flatMap { address($0, at: base) }
    }
}
