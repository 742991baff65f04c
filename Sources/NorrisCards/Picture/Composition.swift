import CPango
import NorrisProtocol
import NorrisText

/// The composition of a card.
package enum CardStyle: Equatable, Sendable {
    /// The text on a landscape.
    case scenic
    /// A motivational poster: a black mat with a framed landscape, a headline, and the text as its caption.
    ///
    /// - Parameter headline: nil for the headline of the fact's category.
    case poster(headline: String?)
}

/// The positions of the parts of a card, in pixels.
struct Composition {
    /// The highest card, in widths.
    static let maximumHeight = 32

    let width: Int
    let height: Int
    /// The position of the landscape.
    let picture: Rectangle
    /// The large word of a poster.
    let headline: String?
    private let column: TextColumn
    private let columnX: Double
    private let columnY: Double
    private let headlineBlock: (block: TextBlock, y: Double)?
    private let foot: Foot?

    /// As parts of the width.
    private enum Part {
        /// The margin beside the text.
        static let margin = 0.085
        static let captionMargin = 0.12
        /// The space above the text, and below it without a foot.
        static let head = 0.1
        /// The space below the text with a foot.
        static let foot = 0.17
        /// The size of the foot's letters, and the height of their baseline above the lower edge.
        static let footSize = 0.0255
        static let footBaseline = 0.072
        /// The height of a poster unless the caption needs more, and the range of the height of its picture.
        static let poster = 1.25
        static let pictures = 0.6...0.84
        /// The gap between picture and rule, the rule, between rule and headline, between headline and caption, and
        /// below the caption.
        static let gap = 0.011
        static let rule = 0.0022
        static let aboveHeadline = 0.068
        static let aboveCaption = 0.05
        static let belowCaption = 0.1
    }

    init(_ fact: Fact, text: CardText, size: Int, style: CardStyle = .scenic, showsTags: Bool) throws(CardError) {
        let typesetter = try Typesetter(language: language(of: text.text))
        let unit = Double(size)
        let measure = unit * (1 - 2 * Part.margin)
        width = size
        switch style {
        case .scenic:
            (headline, headlineBlock) = (nil, nil)
            foot = Foot(
                fact, showsTags: showsTags, measure: measure, size: Part.footSize * unit,
                isMirrored: isRightToLeft(text.text), typesetter: typesetter)
            let below = foot == nil ? Part.head : Part.foot
            let room = unit * (1 - Part.head - below)
            column = typesetter.column(text, measure: measure, room: room, width: unit)
            height = max(size, Int((column.height + unit * (Part.head + below)).rounded(.up)))
            columnX = unit * Part.margin
            // Above the middle, where the sky is, so that sun or moon are below the text.
            columnY = unit * Part.head + max(room - column.height, 0) * 0.37
            picture = Rectangle(x: 0, y: 0, width: size, height: height)
        case .poster(let wanted):
            let words = wanted ?? Headline.word(for: fact.categories.first)
            headline = words
            let layout = typesetter.layout(words.uppercased(), face: .headline, size: 0.088 * unit)
            layout.shrink(to: measure, smallest: 0)
            let block = TextBlock(layout, alignment: .center, measure: measure)
            // No tags, because the headline is one.
            foot = Foot(
                fact, showsTags: false, measure: measure, size: 0.8 * Part.footSize * unit,
                isMirrored: isRightToLeft(text.text), typesetter: typesetter)
            let around = Part.margin + Part.gap + Part.aboveHeadline + Part.aboveCaption + Part.belowCaption
            let room = unit * (Part.poster - around - Part.pictures.lowerBound) - block.height
            columnX = unit * Part.captionMargin
            column = typesetter.column(text, measure: unit - 2 * columnX, room: room, width: unit, isCaption: true)
            let others = unit * around + block.height + column.height
            let free = unit * Part.poster - others
            let pictureHeight = min(max(free, unit * Part.pictures.lowerBound), unit * Part.pictures.upperBound)
            height = max(Int(unit * Part.poster), Int((others + pictureHeight).rounded(.up)))
            let margin = Int(unit * Part.margin)
            picture = Rectangle(x: margin, y: margin, width: size - 2 * margin, height: Int(pictureHeight))
            // The remaining space is divided among headline, caption and edges.
            let slack = max(Double(height) - others - pictureHeight, 0)
            let top = Double(margin) + pictureHeight + unit * (Part.gap + Part.aboveHeadline) + 0.4 * slack
            headlineBlock = (block, top)
            columnY = top + block.height + unit * Part.aboveCaption + 0.1 * slack
        }
        guard height <= Composition.maximumHeight * size else { throw .tooTall }
    }

    /// The area of the letters on the picture; nil without letters.
    var letters: Rectangle? {
        headline != nil ? nil : rectangle(columnX + column.left, columnY, column.right - column.left, column.height)
    }

    /// The areas that are dimmed so that the letters are readable.
    var scrims: [Scrim] {
        guard var area = letters else { return [] }
        let unit = Double(width)
        // Slightly more than the contrast of 4.5 in WCAG 2.2 (success criterion 1.4.3), because of the grain.
        let ceiling = (relativeLuminance(Composition.color) + 0.05) / 4.7 - 0.05
        let padding = Int(0.03 * unit)
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

    /// The color of all letters: a warm white.
    static let color: UInt32 = 0xFF_FC_F7
    /// The color of a poster's mat.
    static let mat: UInt32 = 0x0B_0B_0C

    /// Draws the letters in some rows on a canvas of these rows.
    func drawLetters(on canvas: OpaquePointer, rows: Range<Int>) {
        let unit = Double(width)
        let x = unit * Part.margin
        if let (block, y) = headlineBlock {
            block.draw(on: canvas, x: x, y: y, rows: rows)
            cairo_set_source_rgb(canvas, 0.82, 0.80, 0.77)
            let line = max(unit * Part.rule, 1)
            let outset = unit * Part.gap + line / 2
            cairo_set_line_width(canvas, line)
            cairo_rectangle(
                canvas, Double(picture.x) - outset, Double(picture.y - rows.lowerBound) - outset,
                Double(picture.width) + 2 * outset, Double(picture.height) + 2 * outset)
            cairo_stroke(canvas)
        }
        column.draw(on: canvas, x: columnX, y: columnY, rows: rows)
        let isPoster = headline != nil
        if isPoster { cairo_set_source_rgb(canvas, 0.45, 0.44, 0.43) }
        let baseline = Double(height) - (isPoster ? 0.5 : 1) * Part.footBaseline * unit
        foot?.draw(on: canvas, x: x, baseline: baseline, rows: rows)
    }
}

/// The word above a poster's caption.
enum Headline {
    /// In characters.
    static let longest = 24

    /// A user's headline as drawn; nil if it is not visible or too long.
    static func checked(_ text: String) -> String? {
        let line = sanitizedLine(text).split(separator: " ").joined(separator: " ")
        return (1...longest).contains(line.count) && displayWidth(of: line) > 0 ? line : nil
    }

    /// The headline of a category.
    static func word(for category: String?) -> String {
        guard let category, Fact.isCategoryName(category) else { return "Determination" }
        let name = category.split { $0 == "-" || $0 == "_" }.joined(separator: " ")
        return named[category] ?? checked(name) ?? "Determination"
    }

    /// The headlines of api.chucknorris.io's categories whose names are not suitable.
    private static let named = [
        "animal": "Wildlife", "career": "Ambition", "celebrity": "Fame", "dev": "Development", "explicit": "Courage",
        "fashion": "Style", "food": "Appetite", "money": "Fortune", "movie": "Drama", "music": "Harmony",
        "political": "Leadership", "religion": "Faith", "sport": "Strength", "travel": "Adventure",
    ]
}
