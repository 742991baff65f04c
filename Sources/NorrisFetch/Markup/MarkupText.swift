import Glibc
import NorrisProtocol
import NorrisText

/// The content of markup: plain text and CommonMark with the structure of the original (see PROTOCOL.md), the addresses
/// of its links, pictures, sounds and videos. Nothing is sanitized.
struct MarkupText {
    private(set) var text = ""
    /// Nil for plain text.
    private var blocks: [PostBlock]?
    /// The address of the link before `[n]` has the index `n - 1`. Links without a text follow.
    private(set) var links: [String] = []
    private(set) var images: [Post.Image] = []
    private(set) var attachments: [Post.Attachment] = []

    var isBlank: Bool { text.unicodeScalars.allSatisfy(\.properties.isWhitespace) }

    init(plain text: String) {
        // A no-break space is layout only, and a search must find the words on both sides.
        let spaced = text.unicodeScalars.contains("\u{A0}")
        self.text = trimmed(spaced ? String(text.map { $0 == "\u{A0}" ? " " : $0 }) : text)
    }

    /// The content with all of its structure, in CommonMark.
    var markdown: String {
        if let blocks { return NorrisFetch.markdown(of: blocks) }
        var builder = BlockBuilder()
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = line.drop(while: isWhiteSpace)
            if !line.isEmpty { builder.begin(.paragraph, in: []) }
            builder.append(line)
            builder.breaks += 1
        }
        return NorrisFetch.markdown(of: builder.finish())
    }

    /// - Parameters:
    ///   - element: the element with the content.
    ///   - base: the base of relative addresses; nil if only absolute ones are read.
    ///   - hasLinks: whether links have numbers, which a title has not.
    init(_ element: MarkupElement, at base: HTTPURL?, hasLinks: Bool = true) {
        var writer = MarkupWriter(base: base, hasLinks: hasLinks)
        writer.visit(element)
        writer.addPictureLinks()
        (text, blocks) = (writer.text, writer.blocks.finish())
        (links, images, attachments) = (writer.links, writer.images, writer.attachments)
    }

    init(html: String, at base: HTTPURL?, hasLinks: Bool = true) {
        self.init(markup(html, isTitle: !hasLinks), at: base, hasLinks: hasLinks)
    }

    /// A content that is elsewhere.
    init(at address: String, type: String) {
        var media = FeedMedia()
        if type.isEmpty || type.hasPart("html") { links = [address] } else { media.add(address, type: type) }
        (images, attachments) = (media.images, media.attachments)
    }
}

/// The elements of HTML.
func markup(_ html: String, isTitle: Bool = false) -> MarkupElement {
    var builder = MarkupTreeBuilder(Array(html.utf8), .html, isTitle: isTitle)
    // Only the handler of elements throws, and here it does not.
    return (try? builder.build()) ?? MarkupElement(name: "")
}

/// The plain text of a text that may be HTML. A text without a known tag, a comment or a reference stays as it is.
func plainText(guessing text: String) -> String {
    let text = withoutSections(text)
    return holdsMarkup(text) ? MarkupText(html: text, at: nil, hasLinks: false).text : text
}

/// A text without the marks of CDATA sections that were escaped once more. One at the beginning may have no end.
func withoutSections(_ text: String) -> String {
    guard text.withCString({ strstr($0, "<![CDATA[") }) != nil else { return text }
    let bytes = Array(text.utf8)
    let begins = bytes.places(of: "<![CDATA[".utf8)
    guard let first = begins.first else { return text }
    let ends = bytes.places(of: "]]>".utf8)
    if ends.isEmpty, !bytes[..<first.lowerBound].allSatisfy(isWhiteSpace) { return text }
    let marks = (begins + ends).sorted { $0.lowerBound < $1.lowerBound }
    let kept = zip([0] + marks.map(\.upperBound), marks.map(\.lowerBound) + [bytes.count])
    return String(decoding: kept.flatMap { bytes[$0..<$1] }, as: UTF8.self)
}

/// Whether a text contains a tag of HTML, a comment or a reference, and is therefore HTML.
///
/// - Parameter isText: whether the text is rather none, so that an element needs its end tag.
func holdsMarkup(_ text: String, isText: Bool = false) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.contains(where: { $0 == "<" || $0 == "&" }) else { return false }
    // References that need no semicolon are rather parts of an address.
    var bare = 0
    _ = decodedReferences(bytes[...], bare: &bare)
    let hasComment = bytes.hasPart("<!--".utf8) && bytes.hasPart("-->".utf8)
    if hasComment || bare < bytes.count(where: { $0 == "&" }) { return true }
    var tokenizer = Tokenizer(bytes, .html)
    while let token = tokenizer.next() {
        switch token {
        case .start(let name, _, _):
            if let kind = HTMLKind.kinds[name], !isText || kind.contains(.isVoid) { return true }
        case .end(let name): if HTMLKind.kinds[name] != nil { return true }
        case .text: break
        }
    }
    return false
}

/// Plain text under construction. White space, prefixes of lines, markers of list items and separators of cells are
/// written only before further text.
private struct MarkupWriter {
    /// An open list or quotation.
    private struct Container {
        var block: BlockBuilder.Container
        /// The difference between the numbers of two items.
        var step = 1
        var marker = Marker.none

        enum Marker { case none, pending, written }
    }

    /// Open lists and quotations with prefixes. Deeper ones have none, so that the prefix of a line is short.
    private static let maximumDepth = 8
    /// The largest text, in bytes. Prefixes make a text larger than its markup, and a stored text is shorter.
    private static let maximumBytes = 512 << 10
    /// The numbered links of a post, and the bytes of their addresses. Further links have no number.
    private static let maximumLinks = Post.Limit.links, maximumLinkBytes = 32 << 10
    /// The largest number of pictures, and of attachments.
    private static let maximumPictures = 200
    /// The columns of a table that a cell can span.
    private static let maximumColumns = 256

    private var base: HTTPURL?
    private let hasLinks: Bool
    private var bytes: [UInt8] = []
    var blocks: BlockBuilder
    private(set) var links: [String] = []
    private(set) var images: [Post.Image] = []
    private(set) var attachments: [Post.Attachment] = []
    private var numbers: [String: Int] = [:]
    private var linkBytes = 0

    private var containers: [Container] = []
    /// The number of lists, quotations and tables so far.
    private var count = 0
    /// The containers that have been open since the last text. A separating line has only their prefix.
    private var shared = 0
    private var isCode = false
    /// The programming language of the code.
    private var language = ""
    /// The level of the heading.
    private var heading: Int?
    /// Whether text is not added to ``blocks``, which have it already.
    private var isTextOnly = false

    /// Whether white space, a prefix or a separator must be written before the next text.
    private var isPending = true
    /// The newlines before the next text: 1 for a new line, 2 for an empty line between.
    private var newlines = 0
    private var hasSpace = false
    private var hasRule = false
    /// In code, the line breaks and the white space before the next text.
    private var codeBreaks = 0
    private var codeGap: [UInt8] = []
    private var isAtCodeStart = false
    /// The cells of the row that end before the next text.
    private var cells = 0
    private var isInRow = false
    /// Whether everything stays on the line, because it is in one of several cells of a row.
    private var isInCell = false
    /// The separator before the next text in the cell, if a line has ended in it.
    private var cellBreak: String?
    private var table = Table()
    /// The alternative text of a picture at the beginning of a line, and the address to which the picture leads. They
    /// are written if text follows on the line.
    private var alternative: (text: String, link: String?)?
    /// The addresses of links that consist of a picture.
    private var pictureLinks: [String] = []
    /// The sources of the element `picture` around a picture.
    private var sources: [MarkupElement] = []
    /// Whether a script of the page replaces the content.
    private var isFallback = false
    /// The number of pictures; of the last one, whether it was a fallback, its address, and the end of the text then.
    private var pictures = (count: 0, isFallback: Bool?.none, url: String?.none, end: 0)
    /// For each open element with marks, the position of its first text; nil before that.
    private var starts: [Start?] = []
    /// A superscript or subscript that has ended: digits that follow directly would seem to belong to it.
    private var script: (start: Start, end: Int)?

    /// A position in the text, and in the blocks.
    private struct Start {
        let text: Int
        let block: BlockBuilder.Place
    }

    init(base: HTTPURL?, hasLinks: Bool) {
        (self.base, self.hasLinks) = (base, hasLinks)
        // A title has no marks.
        blocks = BlockBuilder(isEmpty: !hasLinks)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    private var isFull: Bool { bytes.count >= Self.maximumBytes }

    // MARK: Text

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { text in
            var index = 0
            while index < text.count {
                let start = index
                while index < text.count, isPlain(text[index...], after: index - start) { index += 1 }
                if start < index { write(text[start..<index]) }
                guard index < text.count else { break }
                let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[index...])
                index += appendSpecial(text[index], rest)
            }
        }
    }

    /// Whether the first byte is written as it is: all but white space. A space between two words is, too.
    private func isPlain(_ rest: Slice<UnsafeBufferPointer<UInt8>>, after count: Int) -> Bool {
        let next = { (offset: Int) in offset < rest.count ? rest[rest.startIndex + offset] : 0 }
        switch next(0) {
        case 0x20: return count > 0 && next(1) > 0x20 && next(1) != 0xC2 && next(1) != 0xE2
        case 0xC2: return next(1) != 0xA0
        case 0xE2: return next(1) != 0x80 || next(2) & 0xFE != 0xA8
        case let byte: return byte > 0x20
        }
    }

    /// Appends a character that may be white space. Returns its length in bytes.
    private mutating func appendSpecial(_ byte: UInt8, _ rest: UnsafeRawBufferPointer) -> Int {
        switch byte {
        case "\r" where rest.count > 1 && rest[1] == "\n": return 1
        case "\n", "\r": appendBreak()
        case " ", "\t", 0x0C: appendSpace(byte == 0x0C ? 0x20 : byte)
        // U+00A0 stays, but it does not indent a line, because an indented line is code.
        case 0xC2 where rest.count > 1 && rest[1] == 0xA0:
            if isCode || bytes.isEmpty || newlines > 0 { appendSpace(0x20) } else { write([0x20]) }
            return 2
        // U+2028 and U+2029
        case 0xE2 where rest.count > 2 && rest[1] == 0x80 && (0xA8...0xA9).contains(rest[2]):
            appendBreak()
            return 3
        default: write([byte])
        }
        return 1
    }

    private mutating func appendBreak() { if isCode { breakCode() } else { appendSpace(0x20) } }

    private mutating func appendSpace(_ byte: UInt8) {
        if isCode, !isInCell { codeGap.append(byte) } else { hasSpace = true }
        isPending = true
    }

    private mutating func write(_ text: some Collection<UInt8>) {
        let isDirect = !isPending
        if isPending { flush() }
        if let script {
            self.script = nil
            if isDirect, script.end == bytes.count, text.first.map(isDigit) == true {
                add(")")
                insert("(", at: script.start, after: 1)
            }
        }
        for index in starts.indices.reversed() {
            // The elements around an element begin before it.
            if starts[index] != nil { break }
            starts[index] = Start(text: bytes.count, block: blocks.place())
        }
        bytes += text
        if isTextOnly { return }
        // A no-break space has no style.
        if text.count == 1, text.first == 0x20 { blocks.appendSpace(" ") } else { blocks.append(text) }
    }

    private mutating func appendToText(_ text: String, only isTextOnly: Bool = true) {
        self.isTextOnly = isTextOnly
        append(text)
        self.isTextOnly = false
    }

    private mutating func add(_ text: String) {
        bytes += text.utf8
        blocks.append(text.utf8)
    }

    private mutating func insert(_ text: String, at start: Start, after count: Int = 0) {
        bytes.insert(contentsOf: text.utf8, at: start.text + count)
        blocks.insert(text, at: start.block, after: count)
    }

    private mutating func breakCode() {
        if isInCell { return breakLine(1) }
        // The line break after the tag does not count.
        if !isAtCodeStart { codeBreaks += 1 }
        isAtCodeStart = false
        codeGap = []
        isPending = true
    }

    /// Begins a line, a cell or a block in ``blocks``, if it has not begun.
    private mutating func beginBlock() {
        if !blocks.isBetween { return }
        let kind: BlockBuilder.Kind =
            if isInCell {
                .row(table: table.number, hasHeader: table.hasHeader)
            } else if isCode {
                .code(language: language)
            } else {
                heading.map { .heading($0) } ?? .paragraph
            }
        // An element without items has no prefix.
        blocks.begin(kind, in: containers.lazy.map(\.block).filter { $0.isQuotation || $0.item > 0 })
    }

    /// Writes the line breaks and the white space before further text.
    private mutating func flush() {
        beginBlock()
        if bytes.isEmpty || newlines > 0 {
            if !bytes.isEmpty {
                bytes.append(UInt8(ascii: "\n"))
                if newlines > 1 || hasRule { separate() }
                if hasRule {
                    bytes += prefix(of: shared)
                    bytes += "---\n".utf8
                    separate()
                }
            }
            startLine()
            for _ in 0..<cells { bytes += " | ".utf8 }
            if let alternative {
                bytes += alternative.text.utf8
                if let link = alternative.link.flatMap({ number(ofLink: $0) }) { bytes += "[\(link)]".utf8 }
                if hasSpace { bytes.append(0x20) }
            }
        } else if isCode, !isInCell {
            for _ in 0..<codeBreaks where !isFull {
                bytes.append(UInt8(ascii: "\n"))
                startLine()
                blocks.append("\n".utf8)
            }
        } else if cells > 0 {
            for _ in 0..<cells { bytes += " | ".utf8 }
        } else if let cellBreak {
            let separator = bytes.last.map { ".,:;!?".utf8.contains($0) } == true ? " " : cellBreak
            bytes += separator.utf8
            if !isTextOnly { blocks.appendSpace(separator) }
        } else if hasSpace {
            bytes.append(0x20)
        }
        if hasSpace, !isTextOnly, !isCode || isInCell { blocks.appendSpace(" ") }
        if isCode {
            bytes += codeGap
            blocks.append(codeGap)
        }
        (newlines, hasSpace, hasRule, cells, codeBreaks, isAtCodeStart) = (0, false, false, 0, 0, false)
        (codeGap, alternative, cellBreak) = ([], nil, nil)
        isPending = false
        shared = containers.count
    }

    /// Writes an empty line; in a quotation, a line with `>` only.
    private mutating func separate() {
        var prefix = prefix(of: shared)
        while prefix.last == 0x20 { prefix.removeLast() }
        bytes += prefix
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Writes the prefix of a line: a `>` for each quotation, and the indentation or the marker of list items.
    private mutating func startLine() {
        let innermost = containers.lastIndex { !$0.block.isQuotation }
        for index in containers.indices {
            if index == innermost, containers[index].marker == .pending {
                bytes += (containers[index].block.number.map { "\($0). " } ?? "- ").utf8
                containers[index].marker = .written
            } else {
                bytes += Self.prefix(of: containers[index])
            }
        }
        if isCode, !isInCell { bytes += "    ".utf8 }
    }

    private func prefix(of count: Int) -> [UInt8] { containers.prefix(count).flatMap { Array(Self.prefix(of: $0)) } }

    private static func prefix(of container: Container) -> String.UTF8View {
        if container.block.isQuotation { return "> ".utf8 }
        return container.marker == .none ? "".utf8 : "  ".utf8
    }

    // MARK: Blocks

    /// Writes at least `count` newlines before the next text.
    private mutating func breakLine(_ count: Int) {
        isPending = true
        alternative = nil
        if isInCell {
            breakCell("; ")
        } else if isCode, !bytes.isEmpty, newlines == 0 {
            codeBreaks = max(codeBreaks, 1)
            codeGap = []
        } else {
            newlines = max(newlines, breaks(count))
            blocks.breaks = max(blocks.breaks, count)
        }
    }

    /// Separates what follows in a cell from its text before, if it has any.
    private mutating func breakCell(_ separator: String) {
        isPending = true
        if cells == 0, newlines == 0, cellBreak != "; " { cellBreak = separator }
    }

    /// Lists have no empty lines, because an indented line after an empty line is code.
    private func breaks(_ count: Int) -> Int { containers.contains { !$0.block.isQuotation } ? 1 : count }

    mutating func visit(_ element: MarkupElement) {
        let outer = base
        if let reference = element["xml:base"] { base = base?.resolving(reference) ?? base }
        let hasFormula = element.kinds.contains { Self.formulas.contains(String($0)) }
        for node in element.nodes where !isFull {
            switch node {
            case .text(let text): append(text)
            case .element(let element): if !hasFormula || !isCopy(element) { pass(element) }
            }
        }
        base = outer
    }

    /// Elements with a formula in MathML and a copy for the eye beside it: KaTeX, and MediaWiki.
    private static let formulas: Set<String> = ["katex", "mwe-math-element"]

    private func isCopy(_ element: MarkupElement) -> Bool {
        element.kinds.contains { $0 == "katex-html" || $0.hasPrefix("mwe-math-fallback-image") }
    }

    private mutating func pass(_ element: MarkupElement) {
        switch element.name {
        case "a": passLink(element)
        case "br":
            isPending = true
            alternative = nil
            if isCode || isInCell { return breakCode() }
            newlines = min(newlines + 1, breaks(2))
            blocks.breaks += 1
        case "hr":
            breakLine(2)
            hasRule = !bytes.isEmpty && !isCode && !isInCell && !containers.contains { !$0.block.isQuotation }
            blocks.hasRule = !isCode && !isInCell
        case "h1", "h2", "h3", "h4", "h5", "h6":
            let outer = heading
            heading = Int(element.name.dropFirst())
            passBlock(element, 2)
            heading = outer
        case "b", "strong": visit(element, as: .strong)
        case "em", "i", "cite", "dfn", "var": visit(element, as: .emphasis)
        case "code", "kbd", "samp", "tt": visit(element, as: .code)
        case "pre", "listing", "xmp": passCode(element)
        case "blockquote": passContainer(element, isQuotation: true)
        case "ul", "menu", "dir": passContainer(element)
        case "ol":
            let step = element.attributes["reversed"] == nil ? 1 : -1
            let first = number(element["start"]) ?? (step > 0 ? 1 : element.children("li").count)
            passContainer(element, number: first - step, step: step)
        case "li": passItem(element)
        // As the other lines of an item.
        case "dd": passContainer(element, marker: .written, 1)
        case "table": passTable(element)
        case "thead", "tbody", "tfoot":
            table.ends = []
            passBlock(element, 1)
            table.ends = []
        case "tr": passRow(element)
        case "td", "th", "mtd":
            if isInCell { breakCell(", ") }
            visit(element)
            appendSpace(0x20)
        case "sup": passScript(element, "^")
        case "sub": passScript(element, "_")
        case "msup", "mover", "msub", "munder", "msubsup", "munderover", "mfrac", "msqrt": passMath(element)
        case "q": passMarked(element, "\"", "\"")
        case "del", "s", "strike": passMarked(element, "~~", "~~", as: .deleted)
        case "rt": passMarked(element, "(", ")")
        // The brackets for browsers that do not know readings.
        case "rp": return
        case "img", "image", "amp-img":
            passPicture(element)
            visit(element)
        case "picture", "noscript":
            let outer = (sources, isFallback, pictures.count)
            (sources, isFallback) = (element.children("source"), element.name == "noscript")
            visit(element)
            if !sources.isEmpty, pictures.count == outer.2 { passPicture(element) }
            (sources, isFallback) = (outer.0, outer.1)
        case "iframe", "embed", "object": passEmbedded(element)
        case "audio", "video": passMedia(element)
        case "input": passInput(element)
        default:
            let kind = HTMLKind.kinds[element.name] ?? []
            if kind.contains(.isHidden) { return }
            if kind.isDisjoint(with: [.isBlock, .isParagraph]) { return visit(element) }
            passBlock(element, kind.contains(.isParagraph) ? 2 : 1)
        }
    }

    private mutating func passBlock(_ element: MarkupElement, _ count: Int) {
        breakLine(count)
        visit(element)
        breakLine(count)
    }

    private mutating func visit(_ element: MarkupElement, as mark: PostSpan.Marks) {
        let outer = blocks.style.marks
        blocks.style.marks.insert(mark)
        visit(element)
        blocks.style.marks = outer
    }

    private mutating func passCode(_ element: MarkupElement) {
        guard !isCode else { return passBlock(element, 1) }
        if isInCell {
            isCode = true
            defer { isCode = false }
            return passBlock(element, 1)
        }
        // Cells of code are below each other.
        cells = 0
        breakLine(2)
        newlines = 2
        (isCode, isAtCodeStart, codeGap, language) = (true, true, [], Self.language(of: element))
        visit(element)
        (isCode, isAtCodeStart, hasSpace) = (false, false, false)
        (codeBreaks, codeGap) = (0, [])
        breakLine(2)
        newlines = 2
    }

    /// The programming language of code: a class of it or of the element in it.
    private static func language(of code: MarkupElement) -> String {
        for kind in code.kinds + code.children.prefix(1).flatMap(\.kinds) {
            let prefixes = ["language-", "lang-", "highlight-source-"]
            guard let prefix = prefixes.first(where: kind.hasPrefix) else { continue }
            let name = kind.dropFirst(prefix.count)
            let isName = name.utf8.allSatisfy { isLetterOrDigit($0) || "+#_.-".utf8.contains($0) }
            if isName, 1...30 ~= name.utf8.count { return String(name) }
        }
        return ""
    }

    private mutating func passContainer(
        _ element: MarkupElement, isQuotation: Bool = false, number: Int? = nil, step: Int = 1,
        marker: Container.Marker = .none, _ count: Int = 2
    ) {
        // In code and in a cell, the tag of a container is only a line break.
        guard !isCode, !isInCell, containers.count < Self.maximumDepth else { return passBlock(element, 1) }
        breakLine(count)
        self.count += 1
        let block = BlockBuilder.Container(id: self.count, isQuotation: isQuotation, number: number)
        containers.append(Container(block: block, step: step, marker: marker))
        visit(element)
        containers.removeLast()
        shared = min(shared, containers.count)
        breakLine(count)
    }

    private mutating func passItem(_ element: MarkupElement) {
        breakLine(1)
        if !isCode, !isInCell, let list = containers.indices.last, !containers[list].block.isQuotation {
            containers[list].marker = .pending
            containers[list].block.item += 1
            if let number = containers[list].block.number {
                let next = min(number + containers[list].step, 1_000_000_000)
                containers[list].block.number = self.number(element["value"]) ?? next
            }
        }
        visit(element)
        breakLine(1)
    }

    // MARK: Tables

    /// The state that the rows of a table share.
    private struct Table {
        var number = 0
        var hasHeader = false
        /// The most cells of a row: no cell spans more columns, whatever it says.
        var columns = 1
        var row = 0
        /// For each column, the row after the cell that spans several.
        var ends: [Int] = []
    }

    private mutating func passTable(_ element: MarkupElement) {
        let outer = table
        let rows = element.children.lazy.flatMap { $0.name == "tr" ? [$0] : $0.children("tr") }
        let columns = rows.map { $0.children("td", "th").count }.max() ?? 1
        let hasHeader = rows.first.map { $0.children("td", "th").allSatisfy { $0.name == "th" } } ?? false
        count += 1
        table = Table(number: count, hasHeader: hasHeader, columns: min(columns, Self.maximumColumns))
        passBlock(element, 2)
        table = outer
    }

    /// A row, whose cells stay on its line. The content of an only cell, and code beside code, is a layout with lines.
    private mutating func passRow(_ element: MarkupElement) {
        guard !isCode, !isInCell else { return passBlock(element, 1) }
        breakLine(1)
        while let end = table.ends.last, end <= table.row { table.ends.removeLast() }
        let row = element.children("td", "th")
        let isLayout = row.allSatisfy { $0.children.map(\.name) == ["pre"] } || row.count == 1 && table.ends.isEmpty
        let outer = isInRow
        (isInRow, isInCell) = (true, !isLayout)
        let start = bytes.count
        var (column, next) = (0, 0)
        for node in element.nodes {
            switch node {
            case .element(let cell) where cell.name == "td" || cell.name == "th":
                if !isLayout { beginCell(cell, &column, &next) }
                visit(cell)
            case .element(let element): pass(element)
            case .text(let text): append(text)
            }
        }
        // Cells without text at the end of a row that has text.
        if !isLayout { cells += max(next, table.ends.count) - 1 - column }
        if bytes.count > start { for _ in 0..<cells { bytes += " |".utf8 } }
        (isInRow, isInCell, cells, blocks.cells) = (outer, false, 0, 0)
        table.row += 1
        breakLine(1)
    }

    /// Begins a cell in the next column that no cell above covers.
    private mutating func beginCell(_ cell: MarkupElement, _ column: inout Int, _ next: inout Int) {
        while next < table.ends.count, table.ends[next] > table.row { next += 1 }
        cells += next - column
        blocks.cells += next - column
        isPending = true
        column = next
        next += max(1, min(number(cell["colspan"]) ?? 1, table.columns))
        let rows = number(cell["rowspan"]) ?? 1
        guard rows != 1, next <= Self.maximumColumns else { return }
        if table.ends.count < next { table.ends += Array(repeating: 0, count: next - table.ends.count) }
        // Up to the end of the table.
        let end = rows == 0 ? Int.max : table.row + rows
        for covered in column..<next { table.ends[covered] = end }
    }

    private func number(_ text: String?) -> Int? {
        guard let text, let number = Int(text) else { return nil }
        return (0...999_999_999).contains(number) ? number : nil
    }

    // MARK: Marks

    /// Passes an element, and calls the body with the position where its text begins. Returns false without text.
    @discardableResult
    private mutating func passMarking(_ element: MarkupElement, _ body: (inout MarkupWriter, Start) -> Void) -> Bool {
        starts.append(nil)
        visit(element)
        guard let start = starts.removeLast(), start.text < bytes.count else { return false }
        body(&self, start)
        return true
    }

    /// - Parameter mark: a mark of spans, for which `blocks` need no text.
    private mutating func passMarked(
        _ element: MarkupElement, _ open: String, _ close: String, as mark: PostSpan.Marks = []
    ) {
        guard !isCode else { return visit(element) }
        let outer = blocks.style.marks
        blocks.style.marks.formUnion(mark)
        passMarking(element) { writer, start in
            if mark.isEmpty {
                writer.insert(open, at: start)
                writer.add(close)
            } else {
                writer.bytes.insert(contentsOf: open.utf8, at: start.text)
                writer.bytes += close.utf8
            }
        }
        blocks.style.marks = outer
    }

    /// A superscript or subscript, in parentheses if it contains a space or a digit follows. In a formula, only a word
    /// or a number has none.
    private mutating func passScript(_ element: MarkupElement, _ mark: Unicode.Scalar, isFormula: Bool = false) {
        guard !isCode else { return visit(element) }
        passMarking(element) { writer, start in
            let content = writer.bytes[start.text...]
            let isSimple = content.allSatisfy { $0 > 0x20 } && (!isFormula || isWord(content))
            writer.insert(isSimple ? "\(mark)" : "\(mark)(", at: start)
            if isSimple { writer.script = (start, writer.bytes.count) } else { writer.add(")") }
        }
    }

    /// A formula in MathML (https://www.w3.org/TR/mathml-core/), of which the text keeps what changes its value.
    private mutating func passMath(_ element: MarkupElement) {
        let parts = element.children
        switch (element.name, parts.count) {
        case ("msup", 2), ("mover", 2):
            pass(parts[0])
            passScript(row([.element(parts[1])]), "^", isFormula: true)
        case ("msub", 2), ("munder", 2):
            pass(parts[0])
            passScript(row([.element(parts[1])]), "_", isFormula: true)
        case ("msubsup", 3), ("munderover", 3):
            pass(parts[0])
            passScript(row([.element(parts[1])]), "_", isFormula: true)
            passScript(row([.element(parts[2])]), "^", isFormula: true)
        case ("mfrac", 2):
            passGroup(row([.element(parts[0])]))
            append("/")
            passGroup(row([.element(parts[1])]))
        case ("msqrt", _):
            append("√")
            passGroup(row(element.nodes))
        default: visit(element)
        }
    }

    private func row(_ nodes: [MarkupElement.Node]) -> MarkupElement {
        let row = MarkupElement(name: "mrow")
        row.nodes = nodes
        return row
    }

    /// A part of a formula, in parentheses if it is more than a word or a number.
    private mutating func passGroup(_ row: MarkupElement) {
        passMarking(row) { writer, start in
            if isWord(writer.bytes[start.text...]) { return }
            writer.insert("(", at: start)
            writer.add(")")
        }
    }

    private mutating func passInput(_ element: MarkupElement) {
        guard element["type"]?.lowercased() == "checkbox" else { return }
        append(element.attributes["checked"] == nil ? "[ ]" : "[x]")
        hasSpace = true
        isPending = true
    }

    // MARK: Links

    /// A link with its number directly after its text. The link of a picture has a number if the picture leaves a text.
    /// A link to a part of the same page, and a mention or hashtag of Mastodon, has none: it would clutter many posts.
    private mutating func passLink(_ element: MarkupElement) {
        guard let reference = element["href"], !reference.utf8.isEmpty, reference.utf8.first != UInt8(ascii: "#"),
            let address = address(reference)
        else { return visit(element) }
        let outer = blocks.style
        blocks.style = blocks.style(linkedTo: address)
        defer { blocks.style = outer }
        if element.kinds.contains(where: { $0 == "hashtag" || $0 == "mention" }) { return visit(element) }
        let count = pictures.count
        let hasText = passMarking(element) { writer, _ in
            if let number = writer.number(ofLink: address) { writer.bytes += "[\(number)]".utf8 }
        }
        guard !hasText, pictures.count > count else { return }
        alternative?.link = address
        if pictureLinks.count < Self.maximumLinks { pictureLinks.append(address) }
    }

    /// Adds the links that consist of a picture after those with a number.
    mutating func addPictureLinks() { for address in pictureLinks { _ = number(ofLink: address) } }

    private mutating func number(ofLink address: String) -> Int? {
        guard hasLinks else { return nil }
        if let number = numbers[address] { return number }
        guard links.count < Self.maximumLinks, linkBytes + address.utf8.count <= Self.maximumLinkBytes else {
            return nil
        }
        links.append(address)
        numbers[address] = links.count
        linkBytes += address.utf8.count
        return links.count
    }

    private func address(_ reference: String) -> String? { NorrisFetch.address(reference, at: base) }

    // MARK: Pictures, sounds and players

    /// A picture in running text or in a cell leaves its alternative text; emoji and formulas are nothing else.
    private mutating func passPicture(_ element: MarkupElement) {
        let alt = element["alt"].map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") } ?? ""
        let size = { (name: String) in
            element[name].flatMap { Int($0.hasSuffix("px") ? String($0.dropLast(2)) : trimmed($0)) }
        }
        let (width, height) = (size("width"), size("height"))
        if width ?? .max <= 1 || height ?? .max <= 1 { return }
        let isInline =
            element.kinds.contains { ["emoji", "wp-smiley", "latex"].contains($0) }
            || width ?? .max <= 32 && height ?? .max <= 32
        // Beside a picture that a script loads is the same one for pages without scripts.
        let isCopy = pictures.isFallback == !isFallback && pictures.end == bytes.count
        let url = isInline ? nil : source(of: element)
        defer { pictures = (pictures.count + 1, isCopy ? nil : isFallback, url, bytes.count) }
        if isInline { return isCopy ? () : append(alt) }
        let isNew = !isCopy || pictures.url == nil
        if let url, isNew {
            add(Post.Image(url: url, width: width, height: height, alt: element["alt"], title: element["title"]))
        }
        if isCode { return }
        let hasAlternative = !alt.isEmpty && !isCopy
        let isInText = url == nil || isInRow || !bytes.isEmpty && newlines == 0
        if hasAlternative, isInText, !isPending { hasSpace = true }
        isPending = isPending || hasAlternative
        if let url, isNew {
            beginBlock()
            if hasSpace { blocks.appendSpace(" ") }
            blocks.appendPicture(alt, url)
        }
        if hasAlternative, isInText {
            appendToText(alt, only: url != nil)
        } else if hasAlternative {
            alternative = (alt, nil)
        }
    }

    /// The attributes from which scripts load pictures and pages; their `src` is something else until then.
    private static let lazySources = ["data-src", "data-lazy-src", "data-original", "data-lazy"]

    /// The address of a picture: what scripts load, `src`, one of several sizes, or any attribute with such an address.
    private func source(of picture: MarkupElement) -> String? {
        let sets = ["data-srcset", "data-lazy-srcset"].compactMap { picture[$0] }
        let others = picture.attributes.filter { $0.key.hasPrefix("data-") && isImage(type: nil, url: $0.value) }
        return Self.lazySources.lazy.compactMap { picture[$0].flatMap(address) }.first
            ?? sets.lazy.compactMap(bestSource).first ?? picture["src"].flatMap(address)
            ?? ([picture] + sources).lazy.compactMap { ($0["srcset"] ?? $0["data-srcset"]).flatMap(bestSource) }.first
            ?? others.values.sorted().lazy.compactMap(address).first
    }

    /// The widest picture of `srcset` up to 1,200 pixels, else the smallest one.
    private func bestSource(_ set: String) -> String? {
        // A picture has 600 pixels for a density of 1.
        var candidates: [(reference: Substring, width: Double)] = []
        for word in set.split(whereSeparator: \.isWhitespace) {
            // Some have no space after the comma.
            var parts = word.split(separator: ",", maxSplits: 1)
            if let size = parts.first, let value = Double(size.dropLast()), !candidates.isEmpty {
                if size.last != "h" { candidates[candidates.count - 1].width = size.last == "x" ? value * 600 : value }
                parts.removeFirst()
            } else {
                parts = [word.last == "," ? word.dropLast() : word]
            }
            candidates += parts.map { ($0, 600) }
        }
        let best = candidates.filter { $0.width <= 1200 }.max { $0.width < $1.width }
        return (best ?? candidates.min { $0.width < $1.width }).flatMap { address(String($0.reference)) }
    }

    /// A player or page is a line with its host and a numbered link.
    private mutating func passEmbedded(_ element: MarkupElement) {
        let references = (["src", "data"] + Self.lazySources).compactMap { element[$0] }
        guard let url = references.lazy.compactMap(address).first, let host = HTTPURL(url)?.host else { return }
        let type = element["type"]?.lowercased() ?? ""
        if type.hasPrefix("audio/") || type.hasPrefix("video/") { return add(url, type: type) }
        if type.hasPrefix("image/") { return add(Post.Image(url: url)) }
        guard hasLinks else { return }
        breakLine(2)
        appendToText("[embedded: \(host)]")
        let outer = blocks.style
        blocks.style = blocks.style(linkedTo: url)
        blocks.append("embedded: \(host)".utf8)
        blocks.style = outer
        if let number = number(ofLink: url) { bytes += "[\(number)]".utf8 }
        breakLine(2)
    }

    private mutating func passMedia(_ element: MarkupElement) {
        let sources = [element] + element.children("source")
        for source in sources {
            guard let url = source["src"].flatMap(address) else { continue }
            add(url, type: source["type"])
            break
        }
        if let poster = element["poster"].flatMap(address) { add(Post.Image(url: poster)) }
    }

    private mutating func add(_ image: Post.Image) {
        if images.count < Self.maximumPictures { images.append(image) }
    }

    private mutating func add(_ url: String, type: String?) {
        guard attachments.count < Self.maximumPictures, !attachments.contains(where: { $0.url == url }) else { return }
        attachments.append(Post.Attachment(url: url, type: type))
    }
}

/// Whether a part of a formula consists of letters and digits.
private func isWord(_ text: ArraySlice<UInt8>) -> Bool { text.allSatisfy { isLetterOrDigit($0) || $0 >= 0x80 } }
