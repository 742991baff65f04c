import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// The article of a web page and of the pages that continue it: a post without title, author, date and address, which
/// a feed knows better.
struct Article {
    /// The limits of all pages together.
    private static let maximumPages = 5, maximumBytes = 8 << 20

    /// The address of the next page; nil if there is none.
    private(set) var next: HTTPURL?
    private var first: HTTPURL?
    private let content = MarkupElement(name: "")
    private var bytes = 0, elements = 0

    /// Adds a page. Returns the post of all pages.
    mutating func add(_ response: inout HTTPResponse, for source: String) throws(UpstreamError) -> Fetched {
        var (document, url) = (response.body, response.url)
        response.body = []
        let type = response.headers["content-type"]
        if let type, !["html", "xml", "text/plain"].contains(where: type.lowercased().hasPart) {
            throw .noArticle("it is no web page (\(UpstreamError.cut(String(type.prefix { $0 != ";" }), to: 60)))")
        }
        bytes += document.count
        if bytes > Self.maximumBytes { throw .noArticle("it has more than 8 MiB") }
        convertToText(&document, contentType: type?.hasPart("charset") == true ? type : typeInPage(document))
        let page = try ArticlePage(document, elements: &elements)
        // As in a feed, no link may contain a token.
        (url.query, url.userInfo) = (nil, nil)
        let reference = page.named.first { $0.name == "base" }?["href"]
        let base = reference.flatMap { address($0, at: url) }.flatMap { HTTPURL($0) } ?? url
        let part = MarkupElement(name: "div", attributes: ["xml:base": base.description])
        part.nodes = try page.article().nodes
        // All pages of comments have the same article.
        let start = prefix(of: part.text, codePoints: 200)
        let isOther = next != nil && next != response.url || content.children.contains { $0.text.hasPrefix(start) }
        if isOther { throw .noArticle("it is no further page of one") }
        content.nodes.append(.element(part))
        first = first ?? response.url
        let number = content.nodes.count + 1
        next = number > Self.maximumPages ? nil : first.flatMap { page.link(to: number, of: $0, at: base) }
        let text = MarkupText(content, at: url)
        let post = Post(
            id: "article", source: source, author: Post.Author(id: "", name: ""), text: text.text,
            markdown: text.markdown, images: text.images, attachments: text.attachments, links: text.links)
        var batch = PostBatchBuilder(source: source)
        try batch.add(post)
        return try batch.batch()
    }
}

/// The media type with the encoding that a page names itself.
private func typeInPage(_ document: [UInt8]) -> String? {
    let head = document.prefix(4096).lowercasedASCII
    let name = head.places(of: "charset=".utf8).first.map { head[$0.lowerBound...].prefix { !" />".utf8.contains($0) } }
    return name.map { "text/html; \(String(decoding: $0, as: UTF8.self))" }
}

/// A web page that may have an article.
private struct ArticlePage {
    /// The most elements of a page, which all are in memory at once; real pages have far fewer.
    private static let maximumElements = 200_000

    private let root: MarkupElement
    /// The elements that say something about the page: `a`, `base`, `input`, `link`, `title`.
    let named: [MarkupElement]

    /// - Parameter elements: the number of elements so far.
    init(_ document: [UInt8], elements: inout Int) throws(UpstreamError) {
        var (count, named) = (elements, [MarkupElement]())
        var builder = MarkupTreeBuilder(document, .html) { element, _, _ throws(UpstreamError) in
            count += 1
            if count > Self.maximumElements { throw .noArticle("it has more than \(Self.maximumElements) elements") }
            if ["a", "base", "input", "link", "title"].contains(element.name) { named.append(element) }
            return true
        }
        (root, self.named, elements) = (try builder.build(), named, count)
    }

    /// The address of a further page of the article, to which a link with `rel=next`, "Next" or the number leads. It is
    /// the address of the first page with the number, because many sites link the next article in the same way.
    func link(to number: Int, of first: HTTPURL, at base: HTTPURL) -> HTTPURL? {
        let path = first.path.last == "/" ? String(first.path.dropLast()) : first.path
        let query = "\(first.path)?\(first.query.map { "\($0)&" } ?? "")page=\(number)"
        let pages = ["\(path)/\(number)", "\(path)/\(number)/", "\(path)/page/\(number)/", query]
            .map { "\(first.scheme)://\(first.authority)\($0)" }
        let next = named.lazy.filter { link in
            let text = link.text.lowercased().filter { !$0.isWhitespace }
            return text == "\(number)" || text.hasPrefix("next") || link["rel"]?.lowercased().hasPart("next") ?? false
        }.compactMap { $0["href"].flatMap { address($0, at: base) } }
        return next.first(where: pages.contains).flatMap { HTTPURL($0) }
    }

    /// The content of the article, without what surrounds it. If it is short, less is left out if that finds far more.
    func article() throws(UpstreamError) -> MarkupElement {
        var (best, measure) = (MarkupElement(name: ""), PageMeasure())
        let title = named.first { $0.name == "title" }?.text ?? ""
        for leniency in 0...2 where measure.length < 300 {
            var finder = ArticleFinder(root, title: title, leniency: leniency)
            let next = finder.article()
            if next.measure.length > 3 * measure.length || leniency == 0 { (best, measure) = next }
        }
        if let fault = fault(best, measure) { throw .noArticle(fault) }
        return best
    }

    /// The reason why a page has no article; nil if it has one.
    private func fault(_ content: MarkupElement, _ measure: PageMeasure) -> String? {
        // Longer articles may be about the same things.
        if measure.length > 1500 { return nil }
        let words = content.text.lowercased().split { !$0.isLetter }
        let consent = words.count { ["consent", "cookie", "cookies", "einwilligung", "privacy"].contains($0) }
        if consent > 2, consent * 150 > measure.length { return "it asks for consent to cookies" }
        if measure.length > 250 { return nil }
        if named.contains(where: { $0["type"]?.lowercased() == "password" }) { return "it asks for a login" }
        let text = MarkupText(root, at: nil, hasLinks: false).text.lowercased()
        if text.hasPart("javascript") { return "it needs JavaScript" }
        if text.hasPart("captcha") || text.hasPart("are human") { return "it asks whether you are human" }
        let isShort = measure.length < 10 && measure.pictures == 0
        return isShort ? "it has only \(measure.length) characters of text" : nil
    }
}

extension UpstreamError {
    /// A page without an article, which a second request would not change.
    fileprivate static func noArticle(_ reason: String) -> UpstreamError {
        var error = unusable("has no article: \(reason); open it in a browser")
        error.isDamage = false
        return error
    }
}
