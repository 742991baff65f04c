import NorrisText

/// The meaning of the names of an element: its classes and its id, in lower case.
struct PageNames {
    /// Whether it is about the author and the date, or has buttons that share the page.
    let isByline: Bool, isSharing: Bool
    /// 25 for names of articles, -25 for names of other parts of pages, 0 for neither or both.
    let weight: Double

    init(_ names: String) {
        let (bytes, words) = (Array(names.utf8), Set(names.split { !$0.isLetter && !$0.isNumber }))
        let has = { (parts: [[UInt8]]) in parts.contains { bytes.hasPart($0) } }
        isByline = bytes.hasPart("byline".utf8) || !words.isDisjoint(with: ["dateline", "meta"])
        isSharing = !words.isDisjoint(with: ["share", "sharedaddy", "sharing", "social"])
        let isArticle = has(Self.article) || !words.isDisjoint(with: Self.text)
        // Elementor, which makes pages, calls everything a widget.
        let isWidget = words.contains("widget") && !words.contains("elementor")
        let isAround = isWidget || words.contains("toc") || has(Self.around)
        weight = !words.isDisjoint(with: Self.adverts) ? -25 : (isArticle ? 25 : 0) - (isAround ? 25 : 0)
    }

    // Whole words, because others may contain their letters: adverts, and texts.
    private static let adverts = Set("ad ads advert advertisement advertising sponsored".split(separator: " "))
    private static let text = Set("entry hentry post story text".split(separator: " "))

    private static func parts(_ list: String) -> [[UInt8]] { list.split(separator: " ").map { Array($0.utf8) } }

    // Parts of words, because many names are compounds such as `articlebody` or `sitefooter`.
    private static let article = parts("article body content main")
    private static let around = parts(
        """
        banner breadcrumb comment consent contact cookie disqus editsection footer gdpr header login menu modal \
        newsletter outbrain pager paginat popup promo recommend related share sidebar signup social sponsor subscri \
        taboola tags toolbar
        """)
}
