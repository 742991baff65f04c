import NorrisText

/// How a fact's text is set.
extension Typesetter {
    /// More lines than these are not centred: the eye finds the next line where lines begin at the same place.
    private static let mostCenteredLines = 7

    /// Sets a text as large as its length and the room allow, and at the smallest size where there is not room enough.
    ///
    /// - Parameters:
    ///   - measure: the widest a line may be.
    ///   - room: the height that the block should keep to.
    ///   - width: of the card.
    func block(_ text: CardText, measure: Double, room: Double, width: Double) -> TextBlock {
        let smallest = TypeScale.smallest * width
        let columns = displayWidth(of: text.text)
        let size = width * (text.isEmoji ? TypeScale.size(emoji: columns / 2) : TypeScale.size(columns: columns))
        let face = columns <= 160 ? Face.display : .text
        let layout = layout(withTies(text.text, language: language), face: face, size: size)
        // Lines that the writer has made, and long words, are worth somewhat smaller letters.
        let smaller = max(smallest, 0.7 * size)
        if text.lineCount > 1 {
            shrink(layout, to: measure, smallest: smaller)
        }
        layout.setWidth(measure)
        shrink(layout, to: measure, smallest: smaller)
        let breaksWords = layout.width > measure
        layout.setWidth(measure, insideWords: breaksWords)
        fit(layout, measure: measure, room: room, smallest: smallest)
        // What no line can break, such as an emoji of many parts or marks piled up, has to fit at any size.
        shrink(layout, to: measure, smallest: 0)
        let isCentered =
            layout.lineCount <= Typesetter.mostCenteredLines
            && (text.lineCount == 1 || text.lineCount == layout.lineCount)
        guard isCentered else {
            return TextBlock(layout, alignment: isRightToLeft(text.text) ? .right : .left, measure: measure)
        }
        balance(layout, measure: measure, breaksWords: breaksWords)
        return TextBlock(layout, alignment: .center, measure: measure)
    }

    /// Makes letters smaller, where that keeps the widest line to the measure.
    private func shrink(_ layout: TextLayout, to measure: Double, smallest: Double) {
        let size = layout.size * measure / layout.width
        if size < layout.size && size >= smallest {
            // Widths go with the size, but for what rounding does.
            layout.setSize(0.999 * size)
        }
    }

    /// Finds the largest size at which the lines fit the room.
    private func fit(_ layout: TextLayout, measure: Double, room: Double, smallest: Double) {
        func fits() -> Bool {
            TextBlock(layout, alignment: .left, measure: measure).height <= room
        }
        guard layout.size > smallest, !fits() else { return }
        var low = smallest
        var high = layout.size
        for _ in 0..<6 {
            let middle = (low + high) / 2
            layout.setSize(middle)
            if fits() {
                low = middle
            } else {
                high = middle
            }
        }
        layout.setSize(low)
    }

    /// Finds the narrowest width that needs no further line, so that the lines are about equally long.
    private func balance(_ layout: TextLayout, measure: Double, breaksWords: Bool) {
        let count = layout.lineCount
        guard count > 1 else { return }
        var low = measure / 3
        var high = measure
        for _ in 0..<8 {
            let middle = (low + high) / 2
            layout.setWidth(middle, insideWords: breaksWords)
            if layout.lineCount <= count && layout.width <= middle {
                high = middle
            } else {
                low = middle
            }
        }
        layout.setWidth(high, insideWords: breaksWords)
    }
}
