import NorrisText

/// The text of a post as plain text with the structure of its HTML, and the addresses of its links. PROTOCOL.md has the
/// notation. The text is not sanitized.
struct PostText: Equatable {
    var text: String
    /// The address of the link before `[n]` has the index `n - 1`.
    var links: [String] = []

    init(plain text: String) { self.text = text }

    /// Converts HTML.
    ///
    /// - Parameter base: the base of relative links; nil if only absolute links are numbered.
    init(html: String, at base: HTTPURL?) {
        var reader = HTMLReader(html, knowsTagsOnly: false, StructuredOutput(base: base))
        reader.read()
        reader.output.end()
        (text, links) = (reader.output.text, reader.output.links)
    }
}

/// The HTML of a post as structured text under construction. White space, prefixes of lines and markers of list items
/// are written only before further text.
private struct StructuredOutput: HTMLOutput {
    /// An open list or quotation.
    private struct Container {
        let isQuotation: Bool
        /// The number of the current item of an ordered list; nil for a list with dashes.
        var number: Int?
        var marker = Marker.none

        enum Marker { case none, pending, written }
    }

    /// Open lists and quotations with prefixes. Deeper ones are counted only, so that the prefix of a line is short.
    private static let maximumDepth = 8
    /// The largest text, in bytes. Prefixes make a text larger than its HTML, and a stored text is shorter.
    private static let maximumBytes = 256 << 10
    /// The numbered links of a post, and the bytes of their addresses. Further links have no number.
    private static let maximumLinks = 100, maximumLinkBytes = 32 << 10

    private let base: HTTPURL?
    private var bytes: [UInt8] = []
    private(set) var links: [String] = []
    private var numbers: [String: Int] = [:]
    private var linkBytes = 0
    /// The address of the open link, as written, and the length of the text before the link.
    private var link: (reference: String, start: Int)?

    private var containers: [Container] = []
    /// The open lists and quotations beyond ``maximumDepth``.
    private var uncounted = 0
    /// The containers that have been open since the last text. A separating line has only their prefix.
    private var shared = 0
    /// The number of containers around the open `pre`; nil outside of one.
    private var codeDepth: Int?

    /// Whether white space, a prefix or a marker must be written before the next text.
    private var isPending = true
    /// The newlines before the next text: 1 for a new line, 2 for an empty line between.
    private var newlines = 0
    private var hasSpace = false
    private var hasRule = false
    /// In code, the line breaks and the white space before the next text.
    private var codeBreaks = 0
    private var codeGap: [UInt8] = []
    private var isAtCodeStart = false
    private var previous: UInt8 = 0
    /// The length of the text at the start of the table row; nil outside of a row.
    private var rowStart: Int?
    /// Whether the next text begins another cell of the row.
    private var hasCell = false

    init(base: HTTPURL?) { self.base = base }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var isFull: Bool { bytes.count >= Self.maximumBytes }

    // MARK: Text

    mutating func append(_ byte: UInt8) {
        defer { previous = byte }
        if codeDepth != nil {
            switch byte {
            case "\n" where previous == "\r": break
            case "\n", "\r": breakCode()
            case " ", "\t":
                codeGap.append(byte)
                isPending = true
            default: write(byte)
            }
        } else if isWhiteSpace(byte) || byte == 0x0C {
            hasSpace = true
            isPending = true
        } else {
            write(byte)
        }
    }

    private mutating func write(_ byte: UInt8) {
        if isPending { flush() }
        bytes.append(byte)
    }

    mutating func append(_ entity: String) {
        switch entity {
        // A no-break space stays, but it does not indent a line, because an indented line is code.
        case " " where codeDepth == nil && !bytes.isEmpty && newlines == 0: break
        case " ", "\n", "\r", "\t": return append(entity.utf8.first ?? 0)
        // Sanitizing makes newlines of them.
        case "\u{2028}", "\u{2029}": return append(UInt8(ascii: "\n"))
        default: break
        }
        flush()
        bytes += entity.utf8
        previous = 0
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
        } else if codeDepth != nil {
            for _ in 0..<codeBreaks where !isFull {
                bytes.append(UInt8(ascii: "\n"))
                startLine()
            }
        } else if hasCell {
            bytes += " | ".utf8
        } else if hasSpace {
            bytes.append(UInt8(ascii: " "))
        }
        if codeDepth != nil { bytes += codeGap }
        (newlines, hasSpace, hasRule, hasCell, codeBreaks, isAtCodeStart) = (0, false, false, false, 0, false)
        codeGap = []
        isPending = false
        shared = containers.count
    }

    /// Writes an empty line; in a quotation, a line with `>` only.
    private mutating func separate() {
        var prefix = prefix(of: shared)
        while prefix.last == " " { prefix.removeLast() }
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
        if codeDepth != nil { bytes += "    ".utf8 }
    }

    private func prefix(of count: Int) -> [UInt8] { containers.prefix(count).flatMap { Array(Self.prefix(of: $0)) } }

    private static func prefix(of container: Container) -> String.UTF8View {
        if container.isQuotation { return "> ".utf8 }
        return container.marker == .none ? "".utf8 : "  ".utf8
    }

    // MARK: Tags

    mutating func pass(_ tag: HTMLTag, _ attributes: ArraySlice<UInt8>) {
        isPending = true
        switch tag.name {
        case "a": tag.isEnd ? endLink() : startLink(attributes)
        case "br": if codeDepth != nil { breakCode() } else { newlines = min(newlines + 1, breaks(2)) }
        case "hr":
            breakLine(2)
            hasRule = !bytes.isEmpty && codeDepth == nil && !containers.contains { !$0.isQuotation }
        case "pre": passCode(tag)
        case "blockquote": tag.isEnd ? close(isQuotation: true) : open(Container(isQuotation: true))
        case "ul": tag.isEnd ? close(isQuotation: false) : open(Container(isQuotation: false))
        case "ol":
            guard !tag.isEnd else { return close(isQuotation: false) }
            // The number of the item before the first one.
            open(Container(isQuotation: false, number: (number("start", attributes) ?? 1) - 1))
        case "li": passItem(tag, attributes)
        case "tr":
            hasCell = false
            breakLine(1)
            rowStart = tag.isEnd ? nil : bytes.count
        case "table":
            hasCell = false
            rowStart = nil
            breakLine(2)
        case "td", "th": if !tag.isEnd { startCell() }
        case _ where HTMLTag.paragraphs.contains(tag.name): breakLine(2)
        case _ where HTMLTag.blocks.contains(tag.name): breakLine(1)
        default: break
        }
    }

    mutating func end() { endLink() }

    /// Writes at least `count` newlines before the next text.
    private mutating func breakLine(_ count: Int) {
        // A block at the start of a cell stays in the row.
        if hasCell { return }
        if codeDepth != nil, !bytes.isEmpty, newlines == 0 {
            codeBreaks = max(codeBreaks, 1)
            codeGap = []
        } else {
            newlines = max(newlines, breaks(count))
        }
    }

    /// Lists have no empty lines, because an indented line after an empty line is code.
    private func breaks(_ count: Int) -> Int { containers.contains { !$0.isQuotation } ? 1 : count }

    private mutating func passCode(_ tag: HTMLTag) {
        hasCell = false
        guard !tag.isEnd else { return endCode() }
        guard codeDepth == nil else { return breakLine(1) }
        newlines = 2
        codeDepth = containers.count
        isAtCodeStart = true
        codeGap = []
    }

    private mutating func endCode() {
        guard codeDepth != nil else { return breakLine(2) }
        codeDepth = nil
        newlines = 2
        (codeBreaks, codeGap, isAtCodeStart, hasSpace) = (0, [], false, false)
    }

    private mutating func open(_ container: Container) {
        // In code, the tag of a container is only a line break.
        guard codeDepth == nil else { return breakLine(1) }
        hasCell = false
        breakLine(2)
        if containers.count < Self.maximumDepth, uncounted == 0 {
            containers.append(container)
        } else {
            uncounted += 1
        }
    }

    /// Closes the innermost list or quotation, and the containers that are still open in it.
    private mutating func close(isQuotation: Bool) {
        if uncounted > 0 {
            uncounted -= 1
            return breakLine(1)
        }
        guard let index = containers.lastIndex(where: { $0.isQuotation == isQuotation }) else { return breakLine(2) }
        if let codeDepth, index < codeDepth { endCode() }
        guard codeDepth == nil else { return breakLine(1) }
        containers.removeSubrange(index...)
        shared = min(shared, containers.count)
        hasCell = false
        breakLine(2)
    }

    private mutating func passItem(_ tag: HTMLTag, _ attributes: ArraySlice<UInt8>) {
        hasCell = false
        if let codeDepth, containers[..<codeDepth].contains(where: { !$0.isQuotation }) { endCode() }
        breakLine(1)
        guard codeDepth == nil, !tag.isEnd, let list = containers.lastIndex(where: { !$0.isQuotation }) else { return }
        // An item ends the quotations that were not closed in the item before it.
        if uncounted == 0, list + 1 < containers.count {
            containers.removeSubrange((list + 1)...)
            shared = min(shared, containers.count)
        }
        containers[list].marker = .pending
        if let number = containers[list].number {
            containers[list].number = self.number("value", attributes) ?? min(number + 1, 1_000_000_000)
        }
    }

    private mutating func startCell() {
        guard codeDepth == nil, let rowStart, bytes.count > rowStart else { return hasSpace = true }
        (newlines, hasCell) = (0, true)
    }

    private func number(_ name: String, _ attributes: ArraySlice<UInt8>) -> Int? {
        guard let text = value(name, attributes), let number = Int(text) else { return nil }
        return (0...999_999_999).contains(number) ? number : nil
    }

    private func value(_ name: String, _ attributes: ArraySlice<UInt8>) -> String? {
        let value = tagAttributes(attributes).first { String(decoding: $0.name, as: UTF8.self).lowercased() == name }
        return value.map { String(decoding: $0.value, as: UTF8.self) }
    }

    // MARK: Links

    /// Starts a link. A link to a part of the same page, and a mention or hashtag of Mastodon, stays text: the numbers of
    /// mentions and hashtags would clutter many posts.
    private mutating func startLink(_ attributes: ArraySlice<UInt8>) {
        endLink()
        guard links.count < Self.maximumLinks, linkBytes < Self.maximumLinkBytes,
            let reference = value("href", attributes), !reference.isEmpty, reference.utf8.first != "#"
        else { return }
        let kinds = value("class", attributes)?.split(whereSeparator: \.isWhitespace) ?? []
        if kinds.contains(where: { ["hashtag", "mention"].contains($0) }) { return }
        link = (reference, bytes.count)
    }

    /// Ends the open link, and writes its number directly after its text; a link without text has no number.
    private mutating func endLink() {
        guard let link else { return }
        self.link = nil
        guard bytes.count > link.start else { return }
        let isEncoded = link.reference.utf8.contains(UInt8(ascii: "&"))
        let reference = isEncoded ? plainText(fromHTML: link.reference) : link.reference
        let address = base.map { resolved(reference, at: $0) } ?? cleanURL(reference)
        guard let address, linkBytes + address.utf8.count <= Self.maximumLinkBytes else { return }
        let number = numbers[address] ?? links.count + 1
        if number > links.count {
            links.append(address)
            numbers[address] = number
            linkBytes += address.utf8.count
        }
        bytes += "[\(number)]".utf8
    }
}
