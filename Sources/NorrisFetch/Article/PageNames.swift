import NorrisText

/// What the names of an element say about it: its classes and its id.
struct PageNames {
    /// Whether such an element is rarely a part of an article.
    let isUnlikely: Bool
    /// Whether it names the author, or has buttons that share the page.
    let isByline: Bool, isSharing: Bool
    /// 25 for names of articles, -25 for names of other parts, 0 for neither or both.
    let weight: Double

    /// - Parameter names: the classes and the id, in lower case.
    init(_ names: String) {
        let bytes = Array(names.utf8)
        let words = Set(names.split { !$0.isLetter && !$0.isNumber })
        let has = { (parts: [Substring]) in parts.contains { bytes.hasPart($0.utf8) } }
        let isAdvert = !words.isDisjoint(with: Self.adverts)
        isUnlikely = isAdvert || has(Self.unlikely) && !has(Self.possible)
        isByline = has(["byline", "dateline"])
        isSharing = !words.isDisjoint(with: ["share", "sharedaddy", "sharing", "social"])
        weight = (has(Self.good) ? 25 : 0) - (isAdvert || has(Self.bad) ? 25 : 0)
    }

    private static let adverts = Set(
        "ad ads adsbygoogle advert advertisement advertising outbrain sponsored taboola".split(separator: " "))
    /// Parts of the names of elements around an article.
    private static let unlikely = """
        agegate banner breadcrumb combx comment community consent cookie disqus extra footer gdpr header legends menu \
        newsletter pager pagination popup related remark replies rss shoutbox sidebar skyscraper social sponsor \
        subscribe supplemental
        """.split(separator: " ")
    /// Parts of names that may be an article's, whatever else they contain.
    private static let possible = "article body column content main mathjax shadow".split(separator: " ")
    private static let good = "article blog body content entry main page post story text".split(separator: " ")
    private static let bad = """
        banner combx comment com- contact cookie footer gdpr hidden masthead media meta newsletter promo related scroll \
        share shopping shoutbox sidebar skyscraper sponsor subscribe tags widget
        """.split(separator: " ")
}
