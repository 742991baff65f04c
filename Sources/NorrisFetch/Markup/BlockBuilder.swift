import NorrisText

/// The blocks of a content under construction, which the walk that writes its text fills.
struct BlockBuilder {
    /// The kind of block to which a text belongs.
    enum Kind: Equatable {
        case paragraph, heading(Int), code(language: String)
        /// The rows of a table have its number.
        case row(table: Int, hasHeader: Bool)
    }

    /// A list or quotation around the next text.
    struct Container: Equatable {
        /// The number of the element.
        let id: Int
        let isQuotation: Bool
        /// How many items have begun.
        var item = 0
        /// The number of the item; nil in a list without numbers.
        var number: Int?
    }

    /// How a text is shown: its marks, and the number of its link in ``addresses``.
    struct Style: Equatable {
        var marks: PostSpan.Marks = []
        var link = 0
    }

    /// A position in the current block.
    struct Place { fileprivate let block: Int, offset: Int }

    /// A part of the text, up to the begin of the next one.
    private struct Run {
        var begin: Int
        let style: Style
        /// The number of the picture whose description is the text.
        var picture = 0
    }

    /// An open list or quotation with its complete blocks. The blocks of the current item are not yet in the list.
    private struct Level {
        var container: Container
        var blocks: [PostBlock] = []
        var start: Int?
        var items: [[PostBlock]] = []

        mutating func endItem() {
            if !blocks.isEmpty { items.append(blocks) }
            blocks = []
        }

        /// Returns the list or quotation, and makes it empty; nil if it is empty.
        mutating func end() -> PostBlock? {
            defer { (blocks, items) = ([], []) }
            if container.isQuotation { return blocks.isEmpty ? nil : .quotation(blocks) }
            endItem()
            return items.isEmpty ? nil : .list(start: start, items: items)
        }
    }

    /// The largest content with the addresses of its links, in bytes. A stored post is smaller.
    private static let maximumBytes = 512 << 10
    /// The largest number in the marker of an item.
    private static let maximumNumber = 999_999_999

    /// The style of the next text.
    var style = Style() {
        didSet {
            held.marks.formIntersection(style.marks)
            if held.link != style.link { held.link = 0 }
        }
    }
    /// The style that has held since the last text.
    private var held = Style()
    /// The addresses of links and pictures, from 1.
    private var addresses: [String?] = [nil]
    /// The line breaks before the next text; 2 for the end of the block.
    var breaks = 2
    /// The cells that end before the next text.
    var cells = 0
    /// Whether a rule is before the next text.
    var hasRule = false
    private var levels = [Level(container: Container(id: 0, isQuotation: true))]
    private var kind = Kind.paragraph
    private var block = 0
    /// The text of the current block or cell, and the white space after it.
    private var text: [UInt8] = [], space: [UInt8] = []
    private var runs: [Run] = []
    private var rows: [[[PostSpan]]] = []
    private var size: Int

    /// - Parameter isEmpty: whether everything is left out.
    init(isEmpty: Bool = false) { size = isEmpty ? Self.maximumBytes : 0 }

    private var isFull: Bool { size >= Self.maximumBytes }

    /// Whether the next text begins a line, a cell or a block.
    var isBetween: Bool { !isFull && (breaks > 0 || cells > 0) }

    mutating func finish() -> [PostBlock] {
        endBlock()
        closeLevels(to: 1)
        return levels[0].blocks
    }

    // MARK: Text

    /// Begins a line, a cell or a block.
    mutating func begin(_ next: Kind, in containers: [Container]) {
        if breaks > 0 {
            let isSame = levels.dropFirst().map(\.container) == containers
            if case .row = next, isSame, next == kind, !rows.isEmpty {
                endCell()
                rows.append([])
            } else if breaks == 1, isSame, next == kind {
                appendSpace("\n")
            } else {
                endBlock()
                kind = next
                open(containers)
                if case .row = next { rows = [[]] }
            }
        }
        if !rows.isEmpty { for _ in 0..<cells { endCell() } }
        (breaks, cells) = (0, 0)
    }

    mutating func append(_ text: some Collection<UInt8>) {
        guard !isFull, !text.isEmpty else { return }
        writeSpace()
        append(text, style)
        held = style
    }

    private mutating func append(_ text: some Collection<UInt8>, _ style: Style) {
        let continues = runs.last.map { $0.style == style && $0.picture == 0 } ?? false
        if !continues { runs.append(Run(begin: self.text.count, style: style)) }
        self.text += text
        size += text.count
    }

    /// Appends white space or a separator before further text. No line begins with a space, because the mark of a block
    /// could follow.
    mutating func appendSpace(_ text: String) {
        if !runs.isEmpty, text != " " || space.last != "\n" { space += text.utf8 }
    }

    /// Writes the white space before further text, in the style that holds on both sides.
    private mutating func writeSpace() {
        if space.isEmpty { return }
        if space.contains(UInt8(ascii: "\n")) { held.marks.remove(.code) }
        append(space, held)
        space.removeAll(keepingCapacity: true)
    }

    mutating func appendPicture(_ alternative: String, _ address: String) {
        guard !isFull else { return }
        writeSpace()
        held = Style(marks: style.marks.subtracting(.code), link: style.link)
        runs.append(Run(begin: text.count, style: held, picture: add(address)))
        text += sanitizedLine(alternative).utf8
    }

    /// Returns the style of words that lead to an address.
    mutating func style(linkedTo address: String) -> Style { Style(marks: style.marks, link: add(address)) }

    private mutating func add(_ address: String) -> Int {
        guard !isFull else { return 0 }
        size += address.utf8.count
        addresses.append(address)
        return addresses.count - 1
    }

    /// The position of the next text.
    mutating func place() -> Place {
        writeSpace()
        return Place(block: block, offset: text.count)
    }

    /// Inserts a text some bytes after a position, unless that is in a block before.
    mutating func insert(_ text: String, at place: Place, after count: Int = 0) {
        let offset = place.offset + count
        guard place.block == block, offset <= self.text.count else { return }
        self.text.insert(contentsOf: text.utf8, at: offset)
        for index in runs.indices where runs[index].begin > offset { runs[index].begin += text.utf8.count }
    }

    // MARK: Structure

    private mutating func endBlock() {
        let last = levels.count - 1
        switch kind {
        case .paragraph, .heading:
            let spans = takeSpans()
            if case .heading(let level) = kind, !spans.isEmpty {
                levels[last].blocks.append(.heading(level: level, spans))
            } else if !spans.isEmpty {
                levels[last].blocks.append(.paragraph(spans))
            }
        case .code(let language):
            let code = takeSpans().map(\.text).joined()
            if !code.isEmpty { levels[last].blocks.append(.code(code, language: language)) }
        case .row(_, let hasHeader):
            endCell()
            let columns = rows.lazy.map(\.count).max() ?? 0
            let table = (hasHeader ? rows : [[]] + rows).map { $0 + repeatElement([], count: columns - $0.count) }
            levels[last].blocks.append(.table(table))
            rows = []
        }
    }

    private mutating func endCell() { rows[rows.count - 1].append(takeSpans()) }

    /// The spans of the runs, without white space at both ends unless they are code.
    private mutating func takeSpans() -> [PostSpan] {
        var spans = runs.indices.compactMap { index -> PostSpan? in
            let run = runs[index], end = index + 1 < runs.count ? runs[index + 1].begin : text.count
            let span = PostSpan(
                sanitizedText(bytes: text[run.begin..<end]), marks: run.style.marks, link: addresses[run.style.link],
                picture: addresses[run.picture])
            return span.text.isEmpty && span.picture == nil ? nil : span
        }
        text.removeAll(keepingCapacity: true)
        space.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        block += 1
        if case .code = kind { return spans.allSatisfy { $0.text.utf8.allSatisfy(isWhiteSpace) } ? [] : spans }
        while let last = spans.last, last.picture == nil, last.text.utf8.last.map(isWhiteSpace) ?? true {
            if last.text.isEmpty { spans.removeLast() } else { spans[spans.count - 1].text.removeLast() }
        }
        while let first = spans.first, first.picture == nil, first.text.utf8.first.map(isWhiteSpace) ?? true {
            if first.text.isEmpty { spans.removeFirst() } else { spans[0].text.removeFirst() }
        }
        return spans
    }

    /// Closes the containers that are not around the next text, and opens those that are.
    private mutating func open(_ containers: [Container]) {
        let shared = 1 + zip(levels.dropFirst(), containers).prefix { $0.container == $1 }.count
        let next = containers.dropFirst(shared - 1)
        let isNextItem = shared < levels.count && levels[shared].container.id == next.first?.id
        closeLevels(to: isNextItem ? shared + 1 : shared)
        // An item does not begin with a rule, whose line would be one without the item.
        if hasRule, !levels[levels.count - 1].blocks.isEmpty { levels[levels.count - 1].blocks.append(.rule) }
        hasRule = false
        for container in next {
            let number = container.number.flatMap { 0...Self.maximumNumber ~= $0 ? $0 : nil }
            if isNextItem, container.id == levels[shared].container.id {
                levels[shared].endItem()
                levels[shared].container = container
                // The numbers of a list follow each other.
                if levels[shared].start.map({ $0 + levels[shared].items.count }) != number {
                    if let list = levels[shared].end() { levels[shared - 1].blocks.append(list) }
                    levels[shared].start = number
                }
            } else {
                levels.append(Level(container: container, start: number))
            }
            if number != container.number, let number = container.number { append("\(number). ".utf8) }
        }
    }

    private mutating func closeLevels(to count: Int) {
        while levels.count > count {
            var level = levels.removeLast()
            if let block = level.end() { levels[levels.count - 1].blocks.append(block) }
        }
    }
}
