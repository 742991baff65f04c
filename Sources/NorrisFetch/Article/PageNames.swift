import NorrisText

/// The meaning of the names of an element: its classes and its id, in lower case.
struct PageNames {
    /// Whether such an element is rarely a part of an article.
    let isUnlikely: Bool
    /// Whether it names the author, or has buttons that share the page.
    let isByline: Bool, isSharing: Bool
    /// 25 for names of articles, -25 for names of other parts, 0 for neither or both.
    let weight: Double

    init(_ names: String) {
        let bytes = Array(names.utf8)
        let words = Set(names.split { !$0.isLetter && !$0.isNumber })
        let has = { (parts: [[UInt8]]) in parts.contains { bytes.hasPart($0) } }
        let isAdvert = !words.isDisjoint(with: Self.adverts)
        isUnlikely = isAdvert || has(Self.unlikely) && !has(Self.possible)
        isByline = bytes.hasPart("byline".utf8)
        isSharing = !words.isDisjoint(with: ["share", "sharedaddy", "sharing", "social"])
        weight = (has(Self.good) ? 25 : 0) - (isAdvert || has(Self.bad) ? 25 : 0)
    }

    private static func parts(_ list: String) -> [[UInt8]] { list.split(separator: " ").map { Array($0.utf8) } }

    private static let adverts = Set(
        "ad ads adsbygoogle advert advertisement advertising outbrain sponsored taboola".split(separator: " "))
    /// Parts of the names of elements around an article.
    private static let unlikely = parts(
        """
        agegate banner breadcrumb combx comment community consent cookie disqus extra footer gdpr header legends menu \
        newsletter pager pagination popup related remark replies rss shoutbox sidebar skyscraper social sponsor \
        subscribe supplemental
        """)
    /// Parts of names that may be an article's, whatever else they contain.
    private static let possible = parts("article body column content main mathjax shadow")
    private static let good = parts("article blog body content entry main page post story text")
    private static let bad = parts(
        """
        banner combx comment com- contact cookie footer gdpr hidden masthead media meta newsletter promo related scroll \
        share shopping shoutbox sidebar skyscraper sponsor subscribe tags widget
        """)
}
