import Glibc
import NorrisText

/// Setting a fact's text.
extension Typesetter {
    /// The most lines that are centered, because readers find the next of many lines more easily if all begin at the
    /// same column.
    private static let mostCenteredLines = 7

    /// Sets a text, and the author below it in smaller letters.
    ///
    /// - Parameters:
    ///   - measure: the maximum width of a line.
    ///   - room: the intended height of both.
    ///   - isCaption: whether the text is below a headline.
    func column(_ text: CardText, measure: Double, room: Double, width: Double, isCaption: Bool = false) -> TextColumn {
        let line = text.attribution == nil ? 0 : 2 * TypeScale.smallest * width
        let block = block(text, measure: measure, room: room - line, width: width, isCaption: isCaption)
        guard let attribution = text.attribution else { return TextColumn(blocks: [(block, 0)]) }
        let smallest = 0.9 * TypeScale.smallest * width
        let face = isCaption ? Face.caption : .text
        let size = min(max(0.5 * block.size, smallest), 1.4 * TypeScale.smallest * width)
        let layout = layout(attribution, face: face, size: size)
        layout.shrink(to: measure, smallest: smallest)
        layout.setWidth(measure, insideWords: true)
        layout.shrink(to: measure, smallest: 0)
        let alignment = block.alignment == .left ? TextBlock.Alignment.right : block.alignment
        let second = TextBlock(layout, alignment: alignment, measure: measure)
        return TextColumn(blocks: [(block, 0), (second, block.height + 0.6 * line)])
    }

    /// Sets a text as large as its length and the height allow, but not smaller than the smallest size.
    private func block(_ text: CardText, measure: Double, room: Double, width: Double, isCaption: Bool) -> TextBlock {
        let smallest = TypeScale.smallest * width
        let columns = displayWidth(of: text.text)
        let scale = text.isEmoji ? TypeScale.size(emoji: columns / 2) : TypeScale.size(columns: columns)
        let size = width * (isCaption ? min(scale, TypeScale.largestCaption) : scale)
        let face = isCaption ? Face.caption : columns <= 160 ? .display : .text
        let layout = layout(withTies(text.text, language: language), face: face, size: size)
        // To keep the author's lines, and to avoid breaking long words, letters may be somewhat smaller.
        let smaller = max(smallest, 0.7 * size)
        if text.lineCount > 1 { layout.shrink(to: measure, smallest: smaller) }
        // Phrases of Japanese are long; if one fills a line, the others would be too short.
        let widest = language == "ja" ? 0.85 * measure : measure
        layout.setWidth(widest)
        layout.shrink(to: widest, smallest: smaller)
        layout.setWidth(measure)
        let breaksWords = layout.width > measure
        layout.setWidth(measure, insideWords: breaksWords)
        fit(layout, measure: measure, room: room, smallest: smallest)
        // An unbreakable text, such as an emoji of many parts or many combining marks, must fit at any size.
        layout.shrink(to: measure, smallest: 0)
        let isCentered =
            layout.lineCount <= Typesetter.mostCenteredLines
            && (text.lineCount == 1 || text.lineCount == layout.lineCount)
        if isCentered { balance(layout, measure: measure, breaksWords: breaksWords) }
        let alignment: TextBlock.Alignment = isCentered ? .center : isRightToLeft(text.text) ? .right : .left
        return TextBlock(layout, alignment: alignment, measure: measure)
    }

    /// Finds the largest size at which the lines fit.
    private func fit(_ layout: TextLayout, measure: Double, room: Double, smallest: Double) {
        func fits() -> Bool { TextBlock(layout, alignment: .left, measure: measure).height <= room }
        guard layout.size > smallest, !fits() else { return }
        var low = smallest
        var high = layout.size
        for _ in 0..<6 {
            let middle = (low + high) / 2
            layout.setSize(middle)
            if fits() { low = middle } else { high = middle }
        }
        layout.setSize(low)
    }

    /// Finds the smallest width that needs no further line, so that the lines have similar lengths.
    private func balance(_ layout: TextLayout, measure: Double, breaksWords: Bool) {
        let count = layout.lineCount
        guard count > 1 else { return }
        var low = measure / 3
        var high = measure
        for _ in 0..<8 {
            let middle = (low + high) / 2
            layout.setWidth(middle, insideWords: breaksWords)
            if layout.lineCount <= count && layout.width <= middle { high = middle } else { low = middle }
        }
        layout.setWidth(high, insideWords: breaksWords)
    }
}

/// The sizes of letters, as parts of a card's width.
enum TypeScale {
    /// The smallest size that is readable on a telephone.
    static let smallest = 1.0 / 30
    /// A caption is read after its headline, so it is smaller.
    static let largestCaption = 0.044

    /// The size of a text, decreasing with its length.
    ///
    /// - Parameter columns: the length of the text; an ideograph counts as two letters.
    static func size(columns: Int) -> Double {
        let length = log(Double(max(columns, 1)))
        var previous = steps[0]
        for step in steps {
            if columns <= previous.columns { return previous.size }
            if columns <= step.columns {
                let start = log(Double(previous.columns))
                let part = (length - start) / (log(Double(step.columns)) - start)
                return previous.size + part * (step.size - previous.size)
            }
            previous = step
        }
        return smallest
    }

    /// The size of a text with only emoji.
    static func size(emoji count: Int) -> Double { 0.22 / pow(Double(max(count, 1)), 0.25) }

    /// The distance of two lines as a part of the size; large letters need less.
    static func lineHeight(size: Double) -> Double {
        let part = (size - smallest) / (largest - smallest)
        return 1.42 - 0.27 * min(max(part, 0), 1)
    }

    /// The size from which lines have the smallest distance.
    private static let largest = 0.12

    /// Between the steps the size is a function of the logarithm of the length.
    private static let steps: [(columns: Int, size: Double)] = [
        (3, 0.2), (16, 0.125), (40, 0.104), (80, 0.084), (200, 0.055), (400, 0.0425), (700, 0.036), (1000, smallest),
    ]
}
