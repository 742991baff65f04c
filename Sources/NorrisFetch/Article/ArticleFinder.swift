import NorrisText

/// The amounts of text, links and pictures in a part of a page.
struct PageMeasure {
    /// The characters of its text, of which a run of white space counts once, and those in links.
    var length = 0, linked = 0
    /// The number of commas, and of pictures and players.
    var commas = 0, pictures = 0

    init(_ text: String = "") {
        var hasSpace = true
        for scalar in text.unicodeScalars {
            let isSpace = scalar.value <= 0x20 || scalar == "\u{A0}"
            if !isSpace || !hasSpace { length += 1 }
            hasSpace = isSpace
            // Also those of Arabic, Chinese and Japanese.
            if scalar == "," || scalar == "\u{60C}" || scalar == "\u{3001}" || scalar == "\u{FF0C}" { commas += 1 }
        }
    }

    var linkDensity: Double { length == 0 ? 0 : Double(linked) / Double(length) }

    static func += (sum: inout PageMeasure, part: PageMeasure) {
        sum.length += part.length
        sum.linked += part.linked
        sum.commas += part.commas
        sum.pictures += part.pictures
    }

    /// Counts an element that has this content.
    mutating func count(_ element: MarkupElement) {
        // A link within the page is rather a footnote.
        if element.name == "a" { linked = element["href"]?.hasPrefix("#") == true ? length / 3 : length }
        if Self.media.contains(element.name) { pictures += 1 }
    }

    static let media: Set<String> = ["amp-img", "audio", "embed", "iframe", "image", "img", "object", "video"]
}

/// Finds the article of a page.
///
/// Each paragraph counts for the elements around it, by its length and its commas, the more the nearer they are; much
/// text in links counts against an element. Elements beside the best one may belong to the article too.
struct ArticleFinder {
    /// An element of the page without what is left out.
    private struct Part {
        let element: MarkupElement
        let parent: Int
        var measure = PageMeasure()
        var isBlock: Bool
        /// The points of the element itself, and of its paragraphs.
        let weight: Double
        var points = 0.0

        var isText: Bool { element.name == "p" && measure.length > 80 && measure.linkDensity < 0.25 }
        var score: Double { points == 0 ? 0 : (weight + points) * (1 - measure.linkDensity) }
    }

    /// 0; or 1 if elements with unlikely names are not left out; or 2 if nothing counts against an element.
    private let leniency: Int
    private var parts: [Part] = []
    private var names: [String: PageNames] = [:]
    /// The words of the title of the page, until it is found in the article.
    private var title: Set<Substring>

    init(_ page: MarkupElement, title: String, leniency: Int) {
        (self.leniency, self.title) = (leniency, Self.words(title))
        _ = add(page, in: -1, isData: false)
    }

    private static func words(_ text: String) -> Set<Substring> {
        Set(text.lowercased().split { !$0.isLetter && !$0.isNumber })
    }

    private mutating func names(of element: MarkupElement) -> PageNames {
        let words = ["class", "id"].compactMap { element[$0].map { prefix(of: $0, codePoints: 200) } }
        // Numbers say nothing, and many ids differ only in them.
        let key = String(decoding: words.joined(separator: " ").utf8.filter { !isDigit($0) }, as: UTF8.self)
            .lowercased()
        // No real page has as many names; the root has none.
        if let known = names[key] ?? (names.count < 5_000 ? nil : names[""]) { return known }
        let new = PageNames(key)
        names[key] = new
        return new
    }

    /// Adds an element with its content, and returns its index; nil if it is left out.
    private mutating func add(_ element: MarkupElement, in parent: Int, isData: Bool) -> Int? {
        let kind = HTMLKind.kinds[element.name] ?? []
        let names = names(of: element)
        if isHidden(element, kind, names, isData: isData) { return nil }
        let index = parts.count
        let copy = MarkupElement(name: element.name, attributes: element.attributes)
        let weight = (leniency < 2 ? names.weight : 0) + (Self.weights[element.name] ?? 0)
        parts.append(Part(element: copy, parent: parent, isBlock: kind.isStructure, weight: weight))
        let isData = isData || element.name == "table" || element.name == "code"
        var (total, text, isMixed) = (PageMeasure(), PageMeasure(), element.name == "td")
        for node in element.nodes {
            var (node, measure, isBlock) = (node, PageMeasure(), false)
            if case .text(let text) = node { measure = PageMeasure(text) }
            if case .element(let child) = node {
                guard let child = add(child, in: index, isData: isData) else { continue }
                (node, measure, isBlock) = (.element(parts[child].element), parts[child].measure, parts[child].isBlock)
            }
            copy.nodes.append(node)
            total += measure
            if isBlock { isMixed = true } else { text += measure }
        }
        parts[index].isBlock = parts[index].isBlock || isMixed
        // A block without others is a paragraph of the element around it; text beside blocks is one of this element.
        if parts[index].isBlock { count(text, for: isMixed ? index : parent) }
        total.count(element)
        parts[index].measure = total
        return index
    }

    private static let weights: [String: Double] = [
        "article": 25, "main": 25, "div": 5, "pre": 3, "td": 3, "blockquote": 3, "ol": -3, "ul": -3, "li": -3,
    ]

    /// Counts a paragraph for an element and for those around it.
    private mutating func count(_ paragraph: PageMeasure, for index: Int) {
        guard paragraph.length >= 25, index >= 0 else { return }
        let points = 1 + Double(paragraph.commas) + min(Double(paragraph.length / 100), 3)
        for (index, divisor) in zip([index] + ancestors(of: index), [1.0, 2, 6, 9, 12]) {
            parts[index].points += points / divisor
        }
    }

    /// Whether an element is not shown, is a control, or has an unlikely name or role.
    private func isHidden(_ element: MarkupElement, _ kind: HTMLKind, _ names: PageNames, isData: Bool) -> Bool {
        if ["button", "dialog", "menu", "nav", "select"].contains(element.name) { return true }
        if kind.contains(.isHidden), !PageMeasure.media.contains(element.name), element.name != "source" { return true }
        let style = element["style"]?.lowercased().filter { !$0.isWhitespace } ?? ""
        let isUnseen = element.attributes["hidden"] != nil || element["aria-hidden"] == "true" && element.name != "img"
        if isUnseen || style.hasPart("display:none") || style.hasPart("visibility:hidden") { return true }
        if leniency > 0 || isData || ["html", "body", "a"].contains(element.name) { return false }
        let roles = ["alert", "alertdialog", "complementary", "dialog", "menubar", "navigation"]
        return names.weight < 0 || element["role"].map { roles.contains($0.lowercased()) } ?? false
    }

    /// The article without foreign elements, and its measure.
    mutating func article() -> (content: MarkupElement, measure: PageMeasure) {
        let best = parts.indices.filter { parts[$0].points > 0 }.sorted { parts[$0].score > parts[$1].score }
        var top = best.first ?? 0
        // Several good candidates are parts of one article.
        let around = best.prefix(5).dropFirst().filter { parts[$0].score >= 0.75 * parts[top].score }.map(ancestors)
        top = ancestors(of: top).first { index in around.count { $0.contains(index) } >= 3 } ?? top
        let content = joined(outer(top))
        return (content, clean(content))
    }

    /// The elements around one, the innermost first.
    private func ancestors(of index: Int) -> [Int] {
        Array(sequence(first: index) { [parts] in parts[$0].parent < 0 ? nil : parts[$0].parent }.dropFirst())
    }

    /// An element around a candidate that has a higher score than the one in it, or no other elements; else the
    /// candidate.
    private func outer(_ index: Int) -> Int {
        let around = ancestors(of: index).filter { parts[$0].element.name != "body" }
        // https://schema.org/articleBody
        let marked = around.first { parts[$0].element["itemprop"]?.lowercased().hasPart("articlebody") ?? false }
        if let marked { return marked }
        let scored = [index] + around.filter { parts[$0].points > 0 }
        let chain = scored.prefix { parts[$0].score * 3 >= parts[index].score }
        let top = zip(chain, chain.dropFirst()).first { parts[$0].score < parts[$1].score }?.1 ?? index
        // An only child has no neighbours, and the neighbours of its parent may belong to the article.
        return around.drop { $0 >= top }.prefix { parts[$0].element.children.count == 1 }.last ?? top
    }

    /// An element with those beside it that are alike.
    private func joined(_ top: Int) -> MarkupElement {
        let content = MarkupElement(name: "div")
        let (best, limit) = (parts[top], max(10, 0.2 * parts[top].score))
        for part in parts where part.parent == best.parent {
            let isSame = part.element["class"].map { $0 == best.element["class"] } ?? false && part.points > 0
            if isSame || part.score >= limit || part.isText || part.element === best.element {
                content.nodes.append(.element(part.element))
            }
        }
        return content
    }

    /// Removes what does not belong to an article, except from code, figures and tables of data. Returns what is left.
    private mutating func clean(_ element: MarkupElement, isData: Bool = false) -> PageMeasure {
        let isTable = !element.children("caption", "thead").isEmpty
        let isData = isData || isTable || ["pre", "code", "figure"].contains(element.name)
        var total = PageMeasure()
        element.nodes = element.nodes.filter { node in
            var measure = PageMeasure()
            switch node {
            case .text(let text): measure = PageMeasure(text)
            case .element(let child):
                if ["aside", "footer", "input", "textarea"].contains(child.name) { return false }
                measure = clean(child, isData: isData)
                if isAside(child, measure) || !isData && isClutter(child, measure) { return false }
            }
            total += measure
            return true
        }
        total.count(element)
        return total
    }

    /// Whether an element with such a content is the title, the author, buttons that share the page, or a foreign page.
    private mutating func isAside(_ element: MarkupElement, _ measure: PageMeasure) -> Bool {
        let names = names(of: element)
        let isAuthor = names.isByline || element["rel"] == "author" || element["itemprop"]?.hasPart("author") ?? false
        if isAuthor && measure.length < 100 || names.isSharing && measure.length < 500 { return measure.pictures == 0 }
        switch element.name {
        case "embed", "iframe", "object":
            let source = element["src"] ?? element["data-src"] ?? element["data"] ?? ""
            let players = ["archive.org/", "soundcloud.com/", "vimeo.com/", "youtube.com/", "nocookie.com/"]
            return !players.contains(where: source.hasPart)
        case "noscript": return measure.length > 0
        case "a": return ["#", "¶", "§"].contains(element.text)
        case "h1", "h2":
            let words = title.isEmpty || measure.length > 500 ? [] : Self.words(element.text)
            if words.isEmpty || words.count(where: title.contains) * 4 <= words.count * 3 { return names.weight < 0 }
            title = []
            return true
        default: return false
        }
    }

    /// Whether an element with such a content rather is a list of links, a form or an advert.
    private mutating func isClutter(_ element: MarkupElement, _ measure: PageMeasure) -> Bool {
        let isList = element.name == "ul" || element.name == "ol"
        guard isList || ["div", "fieldset", "form", "header"].contains(element.name), leniency < 2 else { return false }
        let weight = names(of: element).weight
        if weight < 0 || measure.length == 0 && measure.pictures == 0 { return true }
        if measure.commas >= 10 { return false }
        if element.name == "form", measure.length < 250 { return true }
        let isShort = measure.length < 25 && measure.linked > 0
        return !isList && isShort && (measure.pictures == 0 || measure.pictures > 2)
            || !isList && weight == 0 && measure.linkDensity > 0.2 || measure.linkDensity > 0.5 && weight > 0
    }
}
