import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// Decodes a web page: its article is a post without title, author, date and address, which a feed knows better.
func decodeArticle(_ response: inout HTTPResponse, for source: String) throws(UpstreamError) -> Fetched {
    var document = response.body
    response.body = []
    let type = response.headers["content-type"]
    if let type, !["html", "xml", "text/plain"].contains(where: type.lowercased().hasPart) {
        throw .noArticle("it is no web page (\(UpstreamError.cut(String(type.prefix { $0 != ";" }), to: 60)))")
    }
    if document.count > 8 << 20 { throw .noArticle("it has more than 8 MiB") }
    convertToText(&document, contentType: type?.hasPart("charset") == true ? type : typeInPage(document))
    let page = try ArticlePage(document)
    // As in a feed, no link may contain a token.
    (response.url.query, response.url.userInfo) = (nil, nil)
    let reference = page.named.first { $0.name == "base" }?["href"]
    let base = reference.flatMap { address($0, at: response.url) }.flatMap { HTTPURL($0) } ?? response.url
    let text = MarkupText(try page.article(), at: base)
    let post = Post(
        id: "article", source: source, author: Post.Author(id: "", name: ""), text: text.text, markdown: text.markdown,
        images: text.images, attachments: text.attachments, links: text.links)
    var batch = PostBatchBuilder(source: source)
    try batch.add(post)
    return try batch.batch()
}

/// The media type with the encoding that a page names itself.
private func typeInPage(_ document: [UInt8]) -> String? {
    let head = document.prefix(4096).lowercasedASCII
    guard let name = head.places(of: "charset=".utf8).first else { return nil }
    let label = head[name.upperBound...].prefix { isLetterOrDigit($0) || "-_\"'".utf8.contains($0) }
    return "text/html; charset=\(String(decoding: label, as: UTF8.self))"
}

/// A web page that may have an article.
private struct ArticlePage {
    /// The most elements of a page, which all are in memory at once; real pages have far fewer.
    private static let maximumElements = 200_000

    private let root: MarkupElement
    /// The elements that say something about the page: `base`, `input`, `title`.
    let named: [MarkupElement]

    init(_ document: [UInt8]) throws(UpstreamError) {
        var (count, named) = (0, [MarkupElement]())
        var builder = MarkupTreeBuilder(document, .html) { element, _, _ throws(UpstreamError) in
            count += 1
            if count > Self.maximumElements { throw .noArticle("it has more than \(Self.maximumElements) elements") }
            if ["base", "input", "title"].contains(element.name) { named.append(element) }
            return true
        }
        (root, self.named) = (try builder.build(), named)
    }

    /// The content of the article, without what surrounds it. In a page with little text, less is left out.
    func article() throws(UpstreamError) -> MarkupElement {
        var (best, measure) = (MarkupElement(name: ""), PageMeasure())
        let title = named.first { $0.name == "title" }?.text ?? ""
        for leniency in 0...2 where measure.length < 500 {
            var finder = ArticleFinder(root, title: title, leniency: leniency)
            let next = finder.article()
            if next.measure.length > measure.length || leniency == 0 { (best, measure) = next }
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
        if measure.length > 500 { return nil }
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
