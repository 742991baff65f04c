import NorrisProtocol

/// Where the parts of a card are, in pixels.
struct Composition {
    /// The highest card, in widths.
    static let maximumHeight = 32

    let width: Int
    let height: Int
    private let block: TextBlock
    private let blockY: Double
    private let foot: Foot?

    /// As parts of the width.
    private enum Part {
        /// Beside the text.
        static let margin = 0.085
        /// Above the text, and below it where there is no foot.
        static let head = 0.1
        /// Below the text where there is one.
        static let foot = 0.17
        /// The size of the foot's letters, and the height of their baseline above the lower edge.
        static let footSize = 0.0255
        static let footBaseline = 0.072
    }

    init(_ fact: Fact, text: CardText, size: Int, showsTags: Bool) throws(CardError) {
        let typesetter = try Typesetter(language: language(of: text.text))
        let unit = Double(size)
        let measure = unit * (1 - 2 * Part.margin)
        foot = Foot(
            fact, showsTags: showsTags, measure: measure, size: Part.footSize * unit,
            isMirrored: isRightToLeft(text.text), typesetter: typesetter)
        let below = foot == nil ? Part.head : Part.foot
        let room = unit * (1 - Part.head - below)
        block = typesetter.block(text, measure: measure, room: room, width: unit)
        width = size
        height = max(size, Int((block.height + unit * (Part.head + below)).rounded(.up)))
        guard height <= Composition.maximumHeight * size else { throw .tooTall }
        // Above the middle: there is the sky, and sun or moon are below.
        blockY = unit * Part.head + max(room - block.height, 0) * 0.37
    }

    /// What the letters of the text take.
    var letters: Rectangle {
        rectangle(Double(width) * Part.margin + block.left, blockY, block.right - block.left, block.height)
    }

    /// What has to be dimmed so that the letters can be read.
    var scrims: [Scrim] {
        let unit = Double(width)
        // A contrast of somewhat more than the 4.5 of WCAG 2.2 (success criterion 1.4.3), for the grain.
        let ceiling = (relativeLuminance(Composition.color) + 0.05) / 4.7 - 0.05
        let padding = Int(0.03 * unit)
        var area = letters
        area.x -= padding
        area.y -= padding
        area.width += 2 * padding
        area.height += 2 * padding
        let text = Scrim(area: area, fade: Int(0.16 * unit), ceiling: ceiling)
        let footHeight = 0.11 * unit
        let below = rectangle(0, Double(height) - footHeight, unit, footHeight + 1)
        return foot == nil ? [text] : [text, Scrim(area: below, fade: Int(0.1 * unit), ceiling: ceiling)]
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Rectangle {
        Rectangle(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
    }

    /// Of all letters: white, a little warm.
    static let color: UInt32 = 0xFF_FC_F7

    /// Draws the letters that reach into some rows on a canvas of these rows.
    func drawLetters(on canvas: OpaquePointer, rows: Range<Int>) {
        let x = Double(width) * Part.margin
        block.draw(on: canvas, x: x, y: blockY, rows: rows)
        let baseline = Double(height) - Part.footBaseline * Double(width)
        foot?.draw(on: canvas, x: x, baseline: baseline, rows: rows)
    }
}
