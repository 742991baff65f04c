import CPango
import NorrisArguments
import NorrisProtocol
import NorrisSystem
import NorrisText

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
    let column: TextColumn
    private let columnX: Double
    private let columnY: Double
    private let headlineBlock: (block: TextBlock, y: Double)?
    private let foot: Foot?
    /// The shorter side of the card without the height that a long text adds.
    private let unit: Double

    /// As parts of the unit, the shorter side.
    private enum Part {
        /// The margin beside the text.
        static let margin = 0.085
        static let captionMargin = 0.12
        /// The widest text.
        static let measure = 1.3
        /// The space above the text, and below it for the landscape and the foot.
        static let head = 0.1
        static let landscape = 0.3
        /// The size of the foot's letters, and the height of their baseline above the lower edge.
        static let footSize = 0.0255
        static let footBaseline = 0.062
        /// The height of a poster unless the caption needs more.
        static let poster = 1.25
        /// The range of the height of a poster's picture, the least height in a given aspect, and the largest part of
        /// the height.
        static let leastPicture = 0.6
        static let leastGivenPicture = 0.36
        static let mostPicture = 0.672
        /// The gap between picture and rule, the rule, between rule and headline, between headline and caption, and
        /// below the caption.
        static let gap = 0.011
        static let rule = 0.0022
        static let aboveHeadline = 0.068
        static let aboveCaption = 0.05
        static let belowCaption = 0.1
    }

    init(_ fact: Fact, text: CardText, _ options: CardOptions) throws(CardError) {
        let typesetter = try Typesetter(language: language(of: text.text))
        let size = options.size
        let given = options.shared.aspect.map { $0.height(width: size) }
        let unit = Double(min(size, given ?? size))
        width = size
        self.unit = unit
        // Whether the text has no room in the given aspect.
        let isCut: Bool
        let isPoster = options.isPoster
        let footMeasure = Double(size) - 2 * unit * Part.margin
        // A poster has no tags, because its headline is one.
        foot = Foot(
            fact, signature: options.shared.signature, showsTags: !options.shared.leavesOutTags && !isPoster,
            measure: footMeasure, size: Part.footSize * unit, isMirrored: isRightToLeft(text.text),
            typesetter: typesetter)
        let margin = isPoster ? Part.captionMargin : Part.margin
        let measure = min(Double(size) - 2 * unit * margin, unit * Part.measure)
        columnX = (Double(size) - measure) / 2
        if !isPoster {
            (headline, headlineBlock) = (nil, nil)
            let around = unit * (Part.head + Part.landscape)
            let least = Double(given ?? size)
            column = typesetter.column(text, measure: measure, room: least - around, width: unit)
            height = given ?? max(size, Int((column.height + around).rounded(.up)))
            // In the middle of the sky.
            columnY = unit * Part.head + max(Double(height) - around - column.height, 0) * 0.5
            picture = Rectangle(x: 0, y: 0, width: size, height: height)
            isCut = column.height + around > Double(height) + 1
        } else {
            let words = options.shared.headline ?? Headline.word(for: fact.categories.first, id: fact.id)
            headline = words
            let layout = typesetter.layout(words.uppercased(), face: .headline, size: 0.088 * unit)
            layout.shrink(to: footMeasure, smallest: 0)
            let block = TextBlock(layout, alignment: .center, measure: footMeasure)
            let least = Double(given ?? Int(Part.poster * unit))
            let leastPicture = unit * (given == nil ? Part.leastPicture : Part.leastGivenPicture)
            let around = unit * (Part.margin + Part.gap + Part.aboveHeadline + Part.aboveCaption + Part.belowCaption)
            let room = least - around - leastPicture - block.height
            column = typesetter.column(text, measure: measure, room: room, width: unit, isCaption: true)
            let others = around + block.height + column.height
            let pictureHeight = max(min(least - others, least * Part.mostPicture), leastPicture)
            height = given ?? max(Int(least), Int((others + pictureHeight).rounded(.up)))
            let margin = Int(unit * Part.margin)
            picture = Rectangle(x: margin, y: margin, width: size - 2 * margin, height: Int(pictureHeight))
            // The remaining space is divided among headline, caption and edges.
            let slack = max(Double(height) - others - pictureHeight, 0)
            let top = Double(margin) + pictureHeight + unit * (Part.gap + Part.aboveHeadline) + 0.4 * slack
            headlineBlock = (block, top)
            columnY = top + block.height + unit * Part.aboveCaption + 0.1 * slack
            isCut = others + pictureHeight > Double(height) + 1
        }
        if let aspect = options.shared.aspect, isCut, !options.leavesOutText { throw .tooLong(for: aspect) }
        guard height <= Composition.maximumHeight * size else { throw .tooTall }
    }

    /// The area of the letters on the picture; nil without letters.
    var letters: Rectangle? {
        headline != nil ? nil : rectangle(columnX + column.left, columnY, column.right - column.left, column.height)
    }

    /// The characters that no font has.
    var unknown: [Unicode.Scalar] {
        let blocks = column.blocks.map(\.block) + [headlineBlock?.block, foot?.tags, foot?.source].compactMap(\.self)
        return blocks.flatMap(\.lines).flatMap(\.unknown)
    }

    /// The rows that are dimmed so that the letters are readable. The foot is on the near bank, which is dark.
    var shade: Shade? {
        guard let letters else { return nil }
        // Slightly more than the contrast of 4.5 in WCAG 2.2 (success criterion 1.4.3), because of the grain.
        let ceiling = (relativeLuminance(Composition.color) + 0.05) / 4.7 - 0.05
        let end = letters.y + letters.height + Int(0.012 * unit)
        return Shade(rows: 0..<end, fade: Int(0.1 * unit), ceiling: ceiling)
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
        if isPoster { cairo_set_source_rgb(canvas, 0.60, 0.58, 0.56) }
        let baseline = Double(height) - (isPoster ? 0.5 : 1) * Part.footBaseline * unit
        foot?.draw(on: canvas, x: x, baseline: baseline, rows: rows)
    }
}

/// The word above a poster's caption.
enum Headline {
    /// The headline of a fact: one of five of its first category, or the category itself.
    static func word(for category: String?, id: String) -> String {
        // Another hash than the landscape's, which would pair each headline with the same scenes.
        let number = Int(stableHash("headline \(id)") % 5)
        if let category, Fact.isCategoryName(category) {
            if let words = named[category] { return words[number] }
            let name = category.split { $0 == "-" || $0 == "_" }.joined(separator: " ")
            if let name = CardArguments.headline(name) { return name }
        }
        return others[number]
    }

    /// The headlines of api.chucknorris.io's categories.
    private static let named = [
        "animal": ["Instinct", "Loyalty", "Patience", "Respect", "Wildlife"],
        "career": ["Ambition", "Initiative", "Promotion", "Teamwork", "Vision"],
        "celebrity": ["Charisma", "Fame", "Glory", "Legend", "Presence"],
        "dev": ["Patience", "Precision", "Resilience", "Simplicity", "Uptime"],
        "explicit": ["Audacity", "Candor", "Courage", "Honesty", "Nerve"],
        "fashion": ["Confidence", "Elegance", "Poise", "Style", "Taste"],
        "food": ["Appetite", "Hunger", "Moderation", "Nourishment", "Sharing"],
        "history": ["Destiny", "Greatness", "Legacy", "Tradition", "Wisdom"],
        "money": ["Fortune", "Prosperity", "Thrift", "Value", "Wealth"],
        "movie": ["Action", "Drama", "Suspense", "Talent", "Timing"],
        "music": ["Harmony", "Passion", "Rhythm", "Silence", "Virtuosity"],
        "political": ["Consensus", "Diplomacy", "Duty", "Integrity", "Leadership"],
        "religion": ["Faith", "Grace", "Hope", "Humility", "Miracles"],
        "science": ["Certainty", "Curiosity", "Discovery", "Gravity", "Progress"],
        "sport": ["Discipline", "Endurance", "Fair Play", "Strength", "Victory"],
        "travel": ["Adventure", "Arrival", "Direction", "Freedom", "Journey"],
    ]

    /// The headlines of facts without a category.
    private static let others = ["Courage", "Determination", "Excellence", "Focus", "Perseverance"]
}
