import NorrisProtocol
import NorrisText

/// The content of markup: plain text with the structure of the original (PROTOCOL.md has the notation), the addresses
/// of its links, pictures, sounds and videos. Nothing is sanitized.
struct MarkupText {
    private(set) var text = ""
    /// The address of the link before `[n]` has the index `n - 1`.
    private(set) var links: [String] = []
    private(set) var images: [Post.Image] = []
    private(set) var attachments: [Post.Attachment] = []

    var isBlank: Bool { text.unicodeScalars.allSatisfy(\.properties.isWhitespace) }

    init(plain text: String) {
        // A no-break space is layout only, and a search must find the words on both sides.
        let spaced = text.unicodeScalars.contains("\u{A0}")
        self.text = trimmed(spaced ? String(text.map { $0 == "\u{A0}" ? " " : $0 }) : text)
    }

    /// - Parameters:
    ///   - element: the element with the content.
    ///   - base: the base of relative addresses; nil if only absolute ones are read.
    ///   - hasLinks: whether links have numbers, which a title has not.
    init(_ element: MarkupElement, at base: HTTPURL?, hasLinks: Bool = true) {
        var writer = MarkupWriter(base: base, hasLinks: hasLinks)
        writer.visit(element)
        text = writer.text
        (links, images, attachments) = (writer.links, writer.images, writer.attachments)
    }

    init(html: String, at base: HTTPURL?, hasLinks: Bool = true) {
        self.init(markup(html), at: base, hasLinks: hasLinks)
    }
}

/// The elements of HTML.
func markup(_ html: String) -> MarkupElement {
    var builder = MarkupTreeBuilder(Array(html.utf8), .html)
    // Only the handler of elements throws, and here it does not.
    return (try? builder.build()) ?? MarkupElement(name: "")
}

/// The plain text of a text that may be HTML. A text without a known tag, a comment or a reference stays as it is.
func plainText(guessing text: String) -> String {
    holdsMarkup(text) ? MarkupText(html: text, at: nil, hasLinks: false).text : text
}

/// Whether a text contains a tag of HTML, a comment or a reference, and is therefore HTML.
func holdsMarkup(_ text: String) -> Bool {
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
        case .start(let name, _, _), .end(let name): if HTMLKind.kinds[name] != nil { return true }
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
        let isQuotation: Bool
        /// The number of the current item of an ordered list; nil for a list with dashes.
        var number: Int?
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

    private var base: HTTPURL?
    private let hasLinks: Bool
    private var bytes: [UInt8] = []
    private(set) var links: [String] = []
    private(set) var images: [Post.Image] = []
    private(set) var attachments: [Post.Attachment] = []
    private var numbers: [String: Int] = [:]
    private var linkBytes = 0

    private var containers: [Container] = []
    /// The containers that have been open since the last text. A separating line has only their prefix.
    private var shared = 0
    private var isCode = false

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
    private var endsInCode = false
    /// The alternative text of a picture at the beginning of a line, which is written if text follows on the line.
    private var alternative: String?
    /// For each open element with marks, the position of its first text; nil before that.
    private var starts: [Int?] = []
    /// A superscript or subscript that has ended: digits that follow directly would seem to belong to it.
    private var script: Range<Int>?

    init(base: HTTPURL?, hasLinks: Bool) { (self.base, self.hasLinks) = (base, hasLinks) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    private var isFull: Bool { bytes.count >= Self.maximumBytes }

    // MARK: Text

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { text in
            var index = 0
            while index < text.count {
                let start = index
                while index < text.count, !isSpecial(text[index]) { index += 1 }
                if start < index { write(text[start..<index]) }
                guard index < text.count else { break }
                let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[index...])
                index += appendSpecial(text[index], rest)
            }
        }
    }

    /// Whether a byte is white space, or begins a character that is.
    private func isSpecial(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0xC2 || byte == 0xE2 }

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
        if isCode { codeGap.append(byte) } else { hasSpace = true }
        isPending = true
    }

    private mutating func write(_ text: some Collection<UInt8>) {
        let isDirect = !isPending
        if isPending { flush() }
        if let script {
            self.script = nil
            if isDirect, script.upperBound == bytes.count, text.first.map(isDigit) == true {
                bytes.append(UInt8(ascii: ")"))
                bytes.insert(UInt8(ascii: "("), at: script.lowerBound)
            }
        }
        for index in starts.indices.reversed() {
            // The elements around an element begin before it.
            if starts[index] != nil { break }
            starts[index] = bytes.count
        }
        bytes += text
    }

    private mutating func breakCode() {
        // The line break after the tag does not count.
        if !isAtCodeStart { codeBreaks += 1 }
        isAtCodeStart = false
        codeGap = []
        isPending = true
    }

    /// Writes the line breaks and the white space before further text.
    private mutating func flush() {
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
                bytes += alternative.utf8
                if hasSpace { bytes.append(0x20) }
            }
        } else if isCode {
            for _ in 0..<codeBreaks where !isFull {
                bytes.append(UInt8(ascii: "\n"))
                startLine()
            }
        } else if cells > 0 {
            for _ in 0..<cells { bytes += " | ".utf8 }
        } else if hasSpace {
            bytes.append(0x20)
        }
        if isCode { bytes += codeGap }
        (newlines, hasSpace, hasRule, cells, codeBreaks, isAtCodeStart) = (0, false, false, 0, 0, false)
        (codeGap, alternative) = ([], nil)
        (isPending, endsInCode) = (false, false)
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
        let innermost = containers.lastIndex { !$0.isQuotation }
        for index in containers.indices {
            if index == innermost, containers[index].marker == .pending {
                bytes += (containers[index].number.map { "\($0). " } ?? "- ").utf8
                containers[index].marker = .written
            } else {
                bytes += Self.prefix(of: containers[index])
            }
        }
        if isCode { bytes += "    ".utf8 }
    }

    private func prefix(of count: Int) -> [UInt8] { containers.prefix(count).flatMap { Array(Self.prefix(of: $0)) } }

    private static func prefix(of container: Container) -> String.UTF8View {
        if container.isQuotation { return "> ".utf8 }
        return container.marker == .none ? "".utf8 : "  ".utf8
    }

    // MARK: Blocks

    /// Writes at least `count` newlines before the next text.
    private mutating func breakLine(_ count: Int) {
        isPending = true
        alternative = nil
        // A block at the start of a cell stays in the row.
        if cells > 0 { return }
        if isCode, !bytes.isEmpty, newlines == 0 {
            codeBreaks = max(codeBreaks, 1)
            codeGap = []
        } else {
            newlines = max(newlines, breaks(count))
        }
    }

    /// Lists have no empty lines, because an indented line after an empty line is code.
    private func breaks(_ count: Int) -> Int { containers.contains { !$0.isQuotation } ? 1 : count }

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
            if isCode { breakCode() } else { newlines = min(newlines + 1, breaks(2)) }
        case "hr":
            breakLine(2)
            hasRule = !bytes.isEmpty && !isCode && !containers.contains { !$0.isQuotation }
        case "pre", "listing", "xmp": passCode(element)
        case "blockquote": passContainer(element, Container(isQuotation: true))
        case "ul", "menu", "dir": passContainer(element, Container(isQuotation: false))
        case "ol":
            // The number of the item before the first one.
            let first = number(element["start"]) ?? 1
            passContainer(element, Container(isQuotation: false, number: first - 1))
        case "li": passItem(element)
        case "tr": passRow(element)
        case "td", "th", "mtd":
            visit(element)
            appendSpace(0x20)
        case "sup": passScript(element, "^")
        case "sub": passScript(element, "_")
        case "msup", "mover", "msub", "munder", "msubsup", "munderover", "mfrac", "msqrt": passMath(element)
        case "q": passMarked(element, "\"")
        case "del", "s", "strike": passMarked(element, "~~")
        case "img": passPicture(element)
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

    private mutating func passCode(_ element: MarkupElement) {
        // Cells of code are below each other.
        cells = 0
        guard !isCode else { return passBlock(element, 1) }
        breakLine(2)
        newlines = 2
        (isCode, isAtCodeStart, codeGap) = (true, true, [])
        visit(element)
        (isCode, isAtCodeStart, hasSpace) = (false, false, false)
        (codeBreaks, codeGap) = (0, [])
        breakLine(2)
        (newlines, endsInCode) = (2, true)
    }

    /// Writes the separators before a cell that begins with a block.
    private mutating func endCells() { if cells > 0 { write([]) } }

    private mutating func passContainer(_ element: MarkupElement, _ container: Container) {
        // In code, the tag of a container is only a line break.
        guard !isCode, containers.count < Self.maximumDepth else { return passBlock(element, 1) }
        endCells()
        breakLine(2)
        containers.append(container)
        visit(element)
        containers.removeLast()
        shared = min(shared, containers.count)
        breakLine(2)
    }

    private mutating func passItem(_ element: MarkupElement) {
        breakLine(1)
        if !isCode, let list = containers.indices.last, !containers[list].isQuotation {
            containers[list].marker = .pending
            if let number = containers[list].number {
                containers[list].number = self.number(element["value"]) ?? min(number + 1, 1_000_000_000)
            }
        }
        visit(element)
        breakLine(1)
    }

    private mutating func passRow(_ element: MarkupElement) {
        guard !isCode else { return passBlock(element, 1) }
        breakLine(1)
        let outer = isInRow
        isInRow = true
        let start = bytes.count
        var isFirst = true
        for node in element.nodes {
            switch node {
            case .element(let cell) where cell.name == "td" || cell.name == "th":
                if !isFirst, !endsInCode {
                    cells += 1
                    isPending = true
                }
                isFirst = false
                visit(cell)
                // A block at the end of a cell does not end the row.
                if cells == 0, newlines > 0, bytes.count > start, !endsInCode { newlines = 0 }
            case .element(let element): pass(element)
            case .text(let text): append(text)
            }
        }
        isInRow = outer
        // Cells without text at the end of a row that has text.
        if bytes.count > start { for _ in 0..<cells { bytes += " |".utf8 } }
        cells = 0
        breakLine(1)
    }

    private func number(_ text: String?) -> Int? {
        guard let text, let number = Int(text) else { return nil }
        return (0...999_999_999).contains(number) ? number : nil
    }

    // MARK: Marks

    /// Passes an element, and calls the body with the position where its text begins, if it has any.
    private mutating func passMarking(_ element: MarkupElement, _ body: (inout MarkupWriter, Int) -> Void) {
        starts.append(nil)
        visit(element)
        if let start = starts.removeLast(), start < bytes.count { body(&self, start) }
    }

    private mutating func passMarked(_ element: MarkupElement, _ mark: String) {
        guard !isCode else { return visit(element) }
        passMarking(element) { writer, start in
            writer.bytes.insert(contentsOf: mark.utf8, at: start)
            writer.bytes += mark.utf8
        }
    }

    /// A superscript or subscript, in parentheses if it contains a space or a digit follows. In a formula, only a word
    /// or a number has none.
    private mutating func passScript(_ element: MarkupElement, _ mark: Unicode.Scalar, isFormula: Bool = false) {
        guard !isCode else { return visit(element) }
        passMarking(element) { writer, start in
            let content = writer.bytes[start...]
            let isSimple = content.allSatisfy { $0 > 0x20 } && (!isFormula || isWord(content))
            writer.bytes.insert(contentsOf: (isSimple ? "\(mark)" : "\(mark)(").utf8, at: start)
            if isSimple {
                writer.script = start + 1..<writer.bytes.count
            } else {
                writer.bytes.append(UInt8(ascii: ")"))
            }
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
            if isWord(writer.bytes[start...]) { return }
            writer.bytes.insert(UInt8(ascii: "("), at: start)
            writer.bytes.append(UInt8(ascii: ")"))
        }
    }

    private mutating func passInput(_ element: MarkupElement) {
        guard element["type"]?.lowercased() == "checkbox" else { return }
        append(element.attributes["checked"] == nil ? "[ ]" : "[x]")
        hasSpace = true
        isPending = true
    }

    // MARK: Links

    /// A link with its number directly after its text. A link without text, to a part of the same page, and a mention
    /// or hashtag of Mastodon, has no number: those of mentions and hashtags would clutter many posts.
    private mutating func passLink(_ element: MarkupElement) {
        let reference = element["href"] ?? ""
        guard !reference.isEmpty, reference.utf8.first != UInt8(ascii: "#"),
            !element.kinds.contains(where: { $0 == "hashtag" || $0 == "mention" })
        else { return visit(element) }
        passMarking(element) { writer, _ in
            if let number = writer.number(ofLink: reference) { writer.bytes += "[\(number)]".utf8 }
        }
    }

    private mutating func number(ofLink reference: String) -> Int? {
        guard hasLinks, let address = address(reference) else { return nil }
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
        if isInline { return append(alt) }
        let sources = [element["src"], element["data-src"]].compactMap { $0 }.filter { !$0.hasPrefix("data:") }
        if let url = sources.lazy.compactMap(address).first {
            add(Post.Image(url: url, width: width, height: height, alt: element["alt"], title: element["title"]))
        }
        guard !alt.isEmpty, !isCode else { return }
        if cells > 0 || isInRow || !bytes.isEmpty && newlines == 0 {
            if !isPending { hasSpace = true }
            isPending = true
            append(alt)
        } else {
            alternative = alt
            isPending = true
        }
    }

    /// A player or page is a line with its host and a numbered link.
    private mutating func passEmbedded(_ element: MarkupElement) {
        let references = ["src", "data", "data-src"].compactMap { element[$0] }
        guard let url = references.lazy.compactMap(address).first, let host = HTTPURL(url)?.host else { return }
        let type = element["type"]?.lowercased() ?? ""
        if type.hasPrefix("audio/") || type.hasPrefix("video/") { return add(url, type: type) }
        if type.hasPrefix("image/") { return add(Post.Image(url: url)) }
        guard hasLinks else { return }
        breakLine(2)
        append("[embedded: \(host)]")
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
