import Glibc
import NorrisText

/// Setting a fact's text.
extension Typesetter {
    /// The most lines that are centered, because readers find the next of many lines more easily if all begin at the
    /// same column. A high picture has space for more.
    private static func mostCenteredLines(measure: Double, room: Double) -> Int { room < 1.2 * measure ? 5 : 7 }

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
        let breaks = breaker(layout, attribution, names: []).breaks(measure: measure / layout.size, isBalanced: true)
        layout.set(size: layout.size, breaks: breaks.breaks)
        layout.shrink(to: measure, smallest: 0)
        let alignment = block.alignment == .left ? TextBlock.Alignment.right : block.alignment
        let second = TextBlock(layout, alignment: alignment, measure: measure)
        return TextColumn(blocks: [(block, 0), (second, block.height + 0.6 * line)])
    }

    private func breaker(_ layout: TextLayout, _ text: String, names: [String]) -> LineBreaker {
        let hyphen = self.layout("-", face: .text, size: 1000).width / 1000
        return LineBreaker(
            layout.characters(ties: ties(in: text, language: language)), hyphen: hyphen, names: names)
    }

    /// Sets a text as large as its length and the height allow, but not smaller than the smallest size.
    private func block(_ text: CardText, measure: Double, room: Double, width: Double, isCaption: Bool) -> TextBlock {
        let smallest = TypeScale.smallest * width
        let columns = displayWidth(of: text.text)
        let scale = text.isEmoji ? TypeScale.size(emoji: columns / 2) : TypeScale.size(columns: columns)
        var size = width * (isCaption ? min(scale, TypeScale.largestCaption) : scale)
        let face = isCaption ? Face.caption : columns <= 160 ? .display : .text
        let layout = layout(text.text, code: text.code, face: face, size: size)
        let breaker = breaker(layout, text.text, names: text.names)
        // To keep the author's lines, and to avoid breaking names and long words, letters may be somewhat smaller.
        let smaller = max(smallest, 0.7 * size)
        // Phrases of Japanese are long; if one fills a line, the others would be too short.
        let widest = [
            (text.lineCount > 1 ? breaker.widestParagraph : 0, measure),
            (breaker.widestWord, language == "ja" ? 0.85 * measure : measure),
        ]
        for (part, measure) in widest where part * size > measure && 0.999 * measure / part >= smaller {
            size = 0.999 * measure / part
        }
        /// Sets the text in a size, and returns its height.
        func height(_ size: Double, _ breaks: [LineBreak]) -> Double {
            layout.set(size: size, breaks: breaks)
            return TextBlock(layout, alignment: .left, measure: measure).height
        }
        func breaks(_ size: Double, isBalanced: Bool = true, surplus: Int = 0) -> (breaks: [LineBreak], cost: Double) {
            breaker.breaks(measure: measure / size, isBalanced: isBalanced, surplus: surplus)
        }
        var chosen = breaks(size)
        if size > smallest, height(size, chosen.breaks) > room {
            var low = smallest
            for _ in 0..<6 {
                let middle = (low + size) / 2
                if height(middle, breaks(middle).breaks) <= room { low = middle } else { size = middle }
            }
            size = low
            chosen = breaks(size)
        }
        let most = Typesetter.mostCenteredLines(measure: measure, room: room)
        if text.lineCount == 1, chosen.breaks.count >= most {
            // Somewhat smaller letters may have fewer lines.
            let sizes = stride(from: 0.95, to: 0.69, by: -0.05).map { $0 * size }
            let few = sizes.first { $0 >= smallest && breaks($0).breaks.count < most }
            if let few { (size, chosen) = (few, breaks(few)) }
        }
        let lineCount = chosen.breaks.count + text.lineCount
        let isCentered =
            lineCount <= most && (text.lineCount == 1 || text.lineCount == lineCount)
        if !isCentered {
            chosen = breaks(size, isBalanced: false)
        } else if lineCount > text.lineCount {
            // Somewhat smaller letters, or one more line than necessary, may have better breaks.
            let largest = size
            for (step, surplus) in [(0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
                let smaller = largest * (1 - 0.05 * Double(step))
                var other = breaks(smaller, surplus: surplus)
                other.cost += 4 * Double(step + surplus)
                guard other.cost < chosen.cost, smaller >= smallest, other.breaks.count < most,
                    height(smaller, other.breaks) <= room
                else { continue }
                (size, chosen) = (smaller, other)
            }
        }
        layout.set(size: size, breaks: chosen.breaks)
        // An unbreakable text, such as an emoji of many parts or many combining marks, must fit at any size.
        layout.shrink(to: measure, smallest: 0)
        let alignment: TextBlock.Alignment = isCentered ? .center : isRightToLeft(text.text) ? .right : .left
        return TextBlock(layout, alignment: alignment, measure: measure)
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
        let length = log(Double(max(columns, steps[0].columns)))
        for (step, next) in zip(steps, steps.dropFirst()) where columns <= next.columns {
            let start = log(Double(step.columns))
            let part = (length - start) / (log(Double(next.columns)) - start)
            return step.size + part * (next.size - step.size)
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
