/// The kind of an HTML element: how it affects the structure and the text of a document.
struct HTMLKind: OptionSet {
    let rawValue: UInt32

    /// Every element of HTML and MathML; others may be texts in brackets, such as `<int>`.
    static let isHTML = HTMLKind(rawValue: 1)
    /// Without content.
    static let isVoid = HTMLKind(rawValue: 1 << 1)
    /// Begins and ends a line.
    static let isBlock = HTMLKind(rawValue: 1 << 2)
    /// Between empty lines.
    static let isParagraph = HTMLKind(rawValue: 1 << 3)
    /// An element that a browser does not show, or shows only if a player is missing.
    static let isHidden = HTMLKind(rawValue: 1 << 4)

    // Elements that end others whose end tags are missing.
    private static let p = HTMLKind(rawValue: 1 << 5), endsP = HTMLKind(rawValue: 1 << 6)
    private static let a = HTMLKind(rawValue: 1 << 7), li = HTMLKind(rawValue: 1 << 8)
    private static let list = HTMLKind(rawValue: 1 << 9), term = HTMLKind(rawValue: 1 << 10)
    private static let terms = HTMLKind(rawValue: 1 << 11), cell = HTMLKind(rawValue: 1 << 12)
    private static let row = HTMLKind(rawValue: 1 << 13), rows = HTMLKind(rawValue: 1 << 14)
    private static let table = HTMLKind(rawValue: 1 << 15), section = HTMLKind(rawValue: 1 << 16)
    private static let reading = HTMLKind(rawValue: 1 << 17)

    /// Formatting that means nothing within itself.
    static let isMark = HTMLKind(rawValue: 1 << 18)

    /// Whether it is a part of a list or of a row.
    var isItem: Bool { !isDisjoint(with: [.li, .term, .cell]) }

    /// Whether it is no part of a line of text.
    var isStructure: Bool { !isDisjoint(with: [.isBlock, .isParagraph, .endsP, .li, .term, .cell, .row, .rows]) }

    /// The elements that the start tag of an element ends, and those beyond which it ends none
    /// (https://html.spec.whatwg.org, "Optional tags").
    static func ended(by kind: HTMLKind) -> (ended: HTMLKind, scope: HTMLKind)? {
        if kind.contains(.li) { return (.li, .list) }
        if kind.contains(.cell) { return (.cell, .table) }
        if kind.contains(.endsP) { return (.p, .section) }
        if kind.contains(.term) { return (.term, .terms) }
        if kind.contains(.row) { return (.row, .table) }
        if kind.contains(.rows) { return ([.rows, .row], .table) }
        if kind.contains(.reading) { return (.reading, .section) }
        if kind.contains(.a) { return (.a, []) }
        return nil
    }

    static let kinds: [String: HTMLKind] = {
        let names: [(HTMLKind, String)] = [
            (.isVoid, "area br col embed hr img input param track wbr"),
            (
                .isHidden,
                """
                annotation annotation-xml audio head iframe link meta noembed noframes object script source \
                    style svg template textarea title track video
                """
            ), (.isParagraph, "dl figure h1 h2 h3 h4 h5 h6 p table"),
            (
                .isBlock,
                """
                address article aside body caption center dd details div dt fieldset figcaption footer form header \
                html legend main nav section summary tbody tfoot thead
                """
            ),
            (
                .endsP,
                """
                address article aside blockquote center details div dl fieldset figcaption figure footer form h1 h2 h3 \
                h4 h5 h6 header hr main nav ol p pre section table ul
                """
            ), (.p, "p"), (.a, "a"), (.li, "li"), (.list, "ul ol menu dir"), (.term, "dt dd"), (.terms, "dl"),
            (.cell, "td th"), (.row, "tr"), (.rows, "thead tbody tfoot"), (.table, "table"),
            (.section, "td th li blockquote div figure ruby"), (.reading, "rb rp rt rtc"),
            (.isMark, "b big code del em i ins q s small strike strong sub sup u"),
            (
                [],
                """
                abbr acronym b base bdi bdo big button canvas cite code colgroup data datalist del dfn dir em \
                font frame frameset i ins kbd label li listing main map mark menu meter nobr noscript ol \
                optgroup option output picture plaintext pre progress q rb rp rt ruby s samp select slot small span \
                strike strong sub sup time tt u ul var xmp math maction mfrac mi mmultiscripts mn mo mover mpadded \
                mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover \
                semantics
                """
            ),
        ]
        var kinds: [String: HTMLKind] = [:]
        for (kind, list) in names {
            for name in list.split(separator: " ") { kinds[String(name), default: .isHTML].insert(kind) }
        }
        return kinds
    }()
}
