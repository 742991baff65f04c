import NorrisProtocol
import NorrisText

/// A post: title, author, source and date, text, images, sounds and videos, reactions.
struct PostArticle {
    let post: Post
    /// The position of the post on the page, from 1; nil for a page of this post alone, which is then not a card.
    var number: Int?
    let page: WebPage
    /// The last part of the foot of a favorite.
    var note: String?

    /// Distinguishes the controls of this post from those of others, for screen readers.
    private var reference: String { number.map { "post \($0), by \(post.authorName)" } ?? "the post" }
    private var heading: Attribute { .number("id", "p", number ?? 1) }
    private var source: String { post.sourceTitle ?? post.source }

    func write(_ html: inout HTMLWriter) {
        html.fixed("\n")
        let label = Attribute.number("aria-labelledby", "p", number ?? 1)
        html.element("article", [number == nil ? nil : .class("card"), label]) { html in
            writeHead(&html)
            if post.isSensitive {
                html.element("details", [.class("warn"), page.showsAll ? .fixed("open") : nil]) { html in
                    html.element("summary", [.anyDirection]) { html in
                        html.text(["Sensitive", post.title ?? ""].filter { !$0.isEmpty }.joined(separator: ": "))
                        html.hidden(", \(reference)")
                    }
                    writeContent(isWhole: true, &html)
                }
            } else {
                writeContent(isWhole: page.showsAll, &html)
            }
            writeFoot(&html)
        }
    }

    /// Writes the title with one line below it, or the author of a post without a title.
    private func writeHead(_ html: inout HTMLWriter) {
        let title = post.isSensitive ? nil : post.title.flatMap { visibleTitle($0, above: post.text) }
        let element: StaticString = number == nil ? "h1" : "h2"
        let (author, handle) = (post.authorName, sanitizedLine(post.author.handle ?? ""))
        html.element("header") { html in
            if title == nil, let avatar = post.author.avatarURL { html.image(avatar, alt: "", size: (44, 44)) }
            html.element("div") { html in
                if let title {
                    html.element(element, [heading, .anyDirection]) { $0.link(post.url) { writeInline(title, &$0) } }
                } else {
                    html.element(element, [heading, .class("name")]) { $0.element("bdi", text: author) }
                }
                html.element("p", [.class("dim")]) { html in
                    if number != nil, note == nil, !post.isRead {
                        html.element("span", [.class("new")], text: "Unread")
                        html.dot()
                    }
                    let name = title == nil ? handle : author
                    let isKnown = name.hasSameBytes(as: title == nil ? author : source)
                    html.spans([isKnown ? "" : name, source])
                    guard let time = post.publishedAt else { return }
                    html.dot()
                    html.time(time, at: page.now)
                }
            }
        }
    }

    private func writeContent(isWhole: Bool, _ html: inout HTMLWriter) {
        let text = PostText(post, isAlone: number == nil)
        let (placed, others) = (post.images.filter { text.places($0.url) }, post.images.filter { !text.places($0.url) })
        if !text.blocks.isEmpty, let excerpt = isWhole ? nil : text.excerpt(lines: 3, columns: 66) {
            html.element("p", [.class("start"), .anyDirection]) { $0.lines(excerpt) }
            html.element("details") { html in
                writeSummary("Show full", "Show less", "text", image: nil, &html)
                text.write(&html)
            }
            // The style hides these pictures while the whole text, which has them in their places, is shown.
            write(placed, "images placed i", &html)
        } else if !text.blocks.isEmpty {
            text.write(&html)
        }
        write(others, "images i", &html)
        for attachment in post.attachments { write(attachment, &html) }
    }

    /// Writes the control of hidden content, with its labels while the content is hidden and while it is shown.
    private func writeSummary(_ open: String, _ close: String, _ part: String, image: String?, _ html: inout HTMLWriter)
    {
        html.element("summary") { html in
            if let image { html.image(image, alt: "") }
            html.element("span", [.class("open")], text: open)
            html.element("span", [.class("close")], text: close)
            html.hidden(" \(part) of \(reference)")
        }
    }

    /// Writes one wide image, two side by side, a large one with two others, or four in a square; of more images three,
    /// and the others behind their number.
    private func write(_ images: [Post.Image], _ style: StaticString, _ html: inout HTMLWriter) {
        let (count, shown) = (images.count, images.count > 4 ? 3 : images.count)
        if count == 0 { return }
        html.element("div", [.number("class", style, min(count, 4))]) { html in
            writeTiles(images[..<shown], of: count, &html)
            if shown == count { return }
            html.element("details") { html in
                let number = "+\(groupedDigits(count - shown))"
                writeSummary(number, "Show fewer", "images", image: images[shown].url, &html)
                html.element("div", [.class("images i4")]) { writeTiles(images[shown...], of: count, &$0) }
            }
        }
    }

    private func writeTiles(_ images: ArraySlice<Post.Image>, of count: Int, _ html: inout HTMLWriter) {
        for (index, image) in zip(images.indices, images) {
            let position = "Image \(index + 1) of \(count)"
            let title = sanitizedLine(image.title ?? "")
            let name = [sanitizedLine(image.alt ?? ""), title].first { !$0.isEmpty } ?? position
            let tooltip: Attribute? = title.isEmpty ? nil : .text(.title, title)
            html.link(image.url) { $0.image(image.url, alt: name, size: (image.width, image.height), tooltip) }
        }
    }

    /// Writes a sound or video with the browser's controls, or another file, as a link with its properties.
    private func write(_ attachment: Post.Attachment, _ html: inout HTMLWriter) {
        let (address, type) = (PageAddress(attachment.url), sanitizedLine(attachment.type ?? ""))
        let name = attachment.url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last ?? "file"
        // Elements of pages often have no type.
        let isVideo = type.hasPrefix("video/") || type.isEmpty && [".mp4", ".webm"].contains { name.hasSuffix($0) }
        let isSound = type.hasPrefix("audio/") || type.isEmpty && [".mp3", ".ogg"].contains { name.hasSuffix($0) }
        html.element("figure", [.class("file")]) { html in
            if let address, isVideo || isSound {
                let attributes = [Attribute.address(.src, address), .fixed("controls"), .fixed("preload", "none")]
                html.element(isVideo ? "video" : "audio", attributes + [.text(.label, String(name))], text: "")
            }
            html.element("figcaption") { html in
                html.link(attachment.url) { $0.text(name) }
                let length = attachment.seconds.map { lengthText(seconds: max($0, 0)) }
                html.spans([type, attachment.bytes.map(byteSizeText) ?? "", length ?? ""], isStart: false)
            }
        }
    }

    private func writeFoot(_ html: inout HTMLWriter) {
        html.element("footer") { html in
            let stats = [(post.stats.likes, "like"), (post.stats.comments, "comment"), (post.stats.shares, "share")]
            let reactions = stats.map { count, noun in count.map { $0 > 0 ? countText($0, noun) : "" } ?? "" }
            html.spans(reactions + post.tags.map { $0.isEmpty ? "" : "#" + $0 } + [note ?? ""])
            if let address = PageAddress(post.url) {
                html.element("a", [.class("from"), .address(.href, address)]) { html in
                    html.text("Open on \(address.host)")
                    html.hidden(", \(reference)")
                }
            }
        }
    }
}

extension Post {
    /// The author's name, or else the handle or the id.
    var authorName: String {
        [author.name, author.handle ?? "", author.id].map(sanitizedLine).first { !$0.isEmpty } ?? "?"
    }
}

extension HTMLWriter {
    /// Writes an image that is loaded when it is near the visible part of the page, without a referrer; for another
    /// address than http and https its description.
    mutating func image(_ address: String, alt: String, size: (Int?, Int?) = (nil, nil), _ more: Attribute? = nil) {
        guard let address = PageAddress(address) else { return text(alt) }
        var attributes = [.address(.src, address), .text(.alt, alt), .fixed("loading", "lazy"), more]
        // No format has larger pictures.
        if let width = size.0, let height = size.1, 1...65_535 ~= width, 1...65_535 ~= height {
            attributes += [.number("width", "", width), .number("height", "", height)]
        }
        void("img", attributes + [.fixed("decoding", "async"), .fixed("referrerpolicy", "no-referrer")])
    }
}
