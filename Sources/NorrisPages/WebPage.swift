package import NorrisProtocol
import NorrisText

/// A page for a browser: items of the protocol as one complete document of HTML, without scripts, and without fonts or
/// styles from elsewhere. Only images, sounds and videos of the items are loaded.
package struct WebPage: Sendable {
    let title: String, now: Timestamp, freshness: Freshness?, next: Position, showsAll: Bool

    /// The place of a page in its list.
    package struct Position: Sendable {
        /// The items on the page and in the list, such as `1–20 of 42 posts`; empty if the number is unknown.
        var summary = ""
        /// The names of the files with the pages before and after this one.
        var previous: String?, next: String?
        /// The command for the next page if no file has it.
        var command: String?
        /// The sentence of an empty list.
        var nothing: String?

        package init(
            summary: String = "", previous: String? = nil, next: String? = nil, command: String? = nil,
            nothing: String? = nil
        ) {
            (self.summary, self.previous, self.next) = (summary, previous, next)
            (self.command, self.nothing) = (command, nothing)
        }
    }

    /// - Parameters:
    ///   - title: the heading of the page and the title of its window.
    ///   - now: the time when the page is made.
    ///   - freshness: the time and the last failure of the content's fetch, shown below the heading.
    ///   - next: the place of the page in its list.
    ///   - showsAll: whether long texts and sensitive content are open from the start.
    package init(
        title: String, now: Timestamp, freshness: Freshness? = nil, next: Position = Position(), showsAll: Bool = false
    ) {
        (self.title, self.now, self.freshness, self.next, self.showsAll) = (title, now, freshness, next, showsAll)
    }

    /// The page of one post, whose title is the heading.
    package static func post(_ post: Post, now: Timestamp) -> String {
        let title = post.isSensitive ? "" : sanitizedLine(post.title ?? "")
        let page = WebPage(title: title.isEmpty ? post.authorName : title, now: now, showsAll: true)
        return page.document(hasHead: false) { PostArticle(post: post, page: page).write(&$0) }
    }

    /// The page of posts as cards.
    package func posts(_ posts: [Post]) -> String {
        document { html in
            for (index, post) in posts.enumerated() {
                PostArticle(post: post, number: index + 1, page: self).write(&html)
            }
        }
    }

    /// The page of GIFs in rows, in the named rendition if a GIF has it, else in the best one for a page.
    package func gifs(_ gifs: [Gif], rendition: String? = nil) -> String {
        document(hasGifs: true) { html in
            let rendition = rendition ?? (gifs.count == 1 ? "original" : nil)
            for gif in gifs { GifFigure(gif: gif, rendition: rendition).write(&html) }
        }
    }

    /// The page of facts as quotations.
    package func facts(_ facts: [Fact]) -> String {
        document { html in facts.forEach { write($0, &html) } }
    }

    /// The page of favorites: their content, or the title of those whose content is no longer stored.
    package func favorites(_ favorites: [Favorite]) -> String {
        document(hasGifs: favorites.contains { $0.gif != nil }) { html in
            for (index, favorite) in favorites.enumerated() {
                let note = "added \(shortTime(favorite.addedAt, at: now))"
                if let post = favorite.post {
                    PostArticle(post: post, number: index + 1, page: self, note: note).write(&html)
                } else if let gif = favorite.gif {
                    html.element("div", [.class("card")]) { GifFigure(gif: gif, note: note).write(&$0) }
                } else {
                    let (title, kind) = (favorite.title, "\(favorite.kind.rawValue), no longer stored")
                    let gone = Fact(id: favorite.id, text: title, categories: [], source: kind)
                    write(favorite.fact ?? gone, note: note, &html)
                }
            }
        }
    }

    private func document(
        hasHead: Bool = true, hasGifs: Bool = false, content: (inout HTMLWriter) -> Void
    ) -> String {
        var html = HTMLWriter()
        html.fixed(Self.head)
        html.element("title", text: sanitizedLine(title))
        html.fixed("</head>\n")
        html.element("body") { html in
            if hasHead {
                html.element("header") { html in
                    html.element("h1", [.anyDirection], text: sanitizedLine(title))
                    let time = freshness?.fetchedAt.map { "fetched \(shortTime($0, at: now))" }
                    let parts = [next.summary, time ?? (freshness == nil ? "" : "not fetched yet")]
                    if parts != ["", ""] { html.element("p", [.class("dim")]) { $0.spans(parts) } }
                    if let error = freshness?.error {
                        html.element("p", [.class("old"), .anyDirection], text: sanitizedLine(error.message))
                    }
                }
            }
            html.element("main") { html in
                if let nothing = next.nothing { html.element("p", text: nothing) }
                content(&html)
            }
            if next.previous ?? next.next != nil {
                html.element("nav", [.text(.label, "Pages")]) { html in
                    if let file = next.previous { html.element("a", [.file(file)], text: "Previous page") }
                    if next.previous != nil, next.next != nil { html.dot() }
                    if let file = next.next { html.element("a", [.file(file)], text: "Next page") }
                }
            }
            html.element("footer") { html in
                if hasGifs { html.element("p", text: Gif.attribution) }
                if let command = next.command {
                    html.element("p") { html in
                        html.text("Next page: ")
                        html.element("code", text: command)
                    }
                }
                html.element("p", text: "Made by norrisctl on \(exactTime(now))")
            }
        }
        html.fixed("</html>\n")
        return String(decoding: html.bytes, as: UTF8.self)
    }

    private func write(_ fact: Fact, note: String = "", _ html: inout HTMLWriter) {
        html.element("figure", [.class("card fact")]) { html in
            html.element("blockquote", [.anyDirection]) { writeInline(sanitizedText(fact.text), &$0) }
            html.element("figcaption") { html in
                let isBuiltIn = fact.source == Freshness.Origin.builtin.rawValue
                if !isBuiltIn { html.link(fact.url) { $0.text(fact.source) } }
                html.spans(fact.categories.map { "#" + $0 } + [note], isStart: isBuiltIn)
            }
        }
    }
}

extension HTMLWriter {
    /// Writes a time with its exact form as a tooltip.
    mutating func time(_ time: Timestamp, at now: Timestamp) {
        let exact = [Attribute.text(.datetime, time.description), .text(.title, exactTime(time))]
        element("time", exact, text: shortTime(time, at: now))
    }

    /// Writes content as a link, or alone if the address is not an http or https address.
    mutating func link(_ address: String?, _ attributes: [Attribute] = [], content: (inout HTMLWriter) -> Void) {
        guard let address = PageAddress(address) else { return content(&self) }
        element("a", attributes + [.address(.href, address)], content: content)
    }

    /// Writes each text that is not empty as one line, with dots before them, but for the first one of a line. The
    /// direction of a text does not affect the others.
    mutating func spans(_ texts: [String], isStart: Bool = true) {
        for (index, text) in texts.map(sanitizedLine).filter({ !$0.isEmpty }).enumerated() {
            if index > 0 || !isStart { dot() }
            element("bdi", text: text)
        }
    }

    /// Separates parts of a line, which breaks only after the dot.
    mutating func dot() { fixed("\u{A0}· ") }

    /// Writes text for screen readers only.
    mutating func hidden(_ text: String) { element("span", [.class("vh")], text: text) }
}

/// A local time, because a page is kept: `26 Nov, 23:36`, with the year if it is not the year of the page.
private func shortTime(_ time: Timestamp, at now: Timestamp) -> String {
    time.localText(time.localDay.year == now.localDay.year ? "%-d %b, %H:%M" : "%-d %b %Y, %H:%M")
}

/// The local time with its zone: `26 November 2026, 23:36 UTC`.
private func exactTime(_ time: Timestamp) -> String { time.localText("%-d %B %Y, %H:%M %Z") }
