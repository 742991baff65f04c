import CPango
import Glibc
import NorrisProtocol
import NorrisStore
import Testing

@testable import NorrisCards

/// Measures how readable scenic cards are. `NORRIS_MEASURED_CARDS=1000` measures as many cards instead of a few, and
/// prints the distribution of each measure.
struct CardMeasureTests {
    private static let count = getenv("NORRIS_MEASURED_CARDS").flatMap { Int(String(cString: $0)) } ?? 32

    /// A card of the starting collection; after all facts, each fact is drawn in other looks.
    private static func card(_ number: Int, of facts: [Fact]) throws -> (Card, CardText) {
        var fact = facts[number % facts.count]
        fact.id += " \(number)"
        // Every fourth card has another name of two words.
        let name = number % 4 == 0 ? "Grace Hopper" : nil
        if let name {
            fact.text = fact.text.split(separator: "Chuck Norris", omittingEmptySubsequences: false).joined(
                separator: name)
        }
        let options = CardOptions(size: 320, name: name)
        return (try Card(fact: fact, options), try CardText(fact.text, name: name))
    }

    @Test func cardsAreReadable() throws {
        let facts = StartingCollection.facts()
        var measures: [CardMeasure] = []
        for number in 0..<Self.count {
            // Neighbors in the collection are of one category.
            let (card, text) = try Self.card(number * 37, of: facts)
            let measure = try CardMeasure(card, text)
            #expect((4.5...21).contains(measure.contrast) && measure.tornNames == 0, "\(number)")
            #expect(measure.leastContrast >= 4.5, "\(number)")
            #expect(measure.stepBeside < 3 && measure.crossed < 0.02 && measure.crossedFoot < 0.05, "\(number)")
            measures.append(measure)
        }
        guard getenv("NORRIS_MEASURED_CARDS") != nil else { return }
        func line(_ name: String, above limit: Float, _ value: (CardMeasure) -> Float) {
            let sorted = measures.enumerated().map { (value($1), $0) }.sorted { $0 < $1 }
            let last = sorted.count - 1
            let parts = [0, 0.5, 0.95, 1].map { sorted[Int($0 * Double(last))].0 }
            let count = sorted.count { $0.0 > limit }
            print("measured: \(name): \(parts), \(count) above \(limit) most \(sorted.suffix(5).map(\.1))")
        }
        line("step beside the letters", above: 2, \.stepBeside)
        line("step above and below", above: 2, \.stepBelow)
        line("torn names", above: 0) { Float($0.tornNames) }
        line("letters on edges", above: 0.01, \.crossed)
        line("letters of the foot on edges", above: 0.1, \.crossedFoot)
        line("contrast", above: 4.5, \.contrast)
        line("contrast with the brightest pixel", above: 4.5, \.leastContrast)
    }

    /// The contrast of WCAG 2.2 (success criterion 1.4.3), also of long texts, on the brightest pixel.
    @Test(arguments: 0..<24) func lettersStandOut(seed: Int) throws {
        let categories = ["animal", "dev", "food", "history", "movie", "science", "travel", ""]
        let text = String(repeating: "He looked at it, and it was. ", count: [1, 4, 18][seed % 3])
        let fact = fact(text, id: "seed \(seed)", categories: [categories[seed % 8]])
        let measure = try CardMeasure(Card(fact: fact, CardOptions(size: 256)), CardText(text))
        // Infinite without letters.
        #expect((4.5...21).contains(measure.leastContrast))
    }
}

/// The measures of one card. Lightness is L* of CIELAB, from 0 to 100.
struct CardMeasure {
    /// The largest difference of lightness that the shade adds to two places of a row, a fortieth of the width apart.
    private(set) var stepBeside: Float = 0
    /// The same in a column.
    private(set) var stepBelow: Float = 0
    private(set) var tornNames = 0
    /// The part of the text's ink that is on an edge of the landscape.
    private(set) var crossed: Float = 0
    private(set) var crossedFoot: Float = 0
    /// The lowest contrast of a letter with the mean of its surroundings ("contrast ratio" of WCAG 2.2).
    private(set) var contrast: Float = .infinity
    /// The contrast with the brightest pixel below the ink.
    private(set) var leastContrast: Float = .infinity

    init(_ card: Card, _ text: CardText) throws {
        let composition = card.composition
        let (width, height) = (composition.width, composition.height)
        func painted(_ shade: Shade?) throws -> Grid {
            let canvas = try Canvas(width: width, rows: height)
            card.landscape.paint(rows: 0..<height, shade: shade, into: canvas.pixels)
            return Grid(width: width, height: height, values: canvas.pixels.map { relativeLuminance($0) })
        }
        let canvas = try Canvas(width: width, rows: height)
        try canvas.draw(color: 0xFFFFFF) { composition.drawLetters(on: $0, rows: 0..<height) }
        let ink = Grid(width: width, height: height, values: canvas.pixels.map { Float($0 & 0xFF) / 255 })
        let ground = try painted(composition.shade)
        let lightness = ground.lightness
        measureSteps(plain: try painted(nil).lightness, lightness, sparing: card.landscape.halo)
        let lines = composition.column.blocks.flatMap { $0.block.lines.map(\.text) }
        for name in text.names {
            tornNames += text.text.count(of: name) - lines.reduce(0) { $0 + $1.count(of: name) }
        }
        (crossed, crossedFoot) = CardMeasure.crossed(ink, lightness)
        for letter in ink.letters {
            contrast = min(contrast, CardMeasure.contrast(ground.mean(around: letter)))
        }
        for (index, ink) in ink.values.enumerated() where ink > 0 {
            leastContrast = min(leastContrast, CardMeasure.contrast(ground.values[index]))
        }
    }

    private static func contrast(_ luminance: Float) -> Float {
        (relativeLuminance(Composition.color) + 0.05) / (luminance + 0.05)
    }

    /// Compares means of squares, because the shade does not change the grain. The disc of sun or moon is not dimmed.
    private mutating func measureSteps(plain: Grid, _ shaded: Grid, sparing halo: Halo?) {
        let size = plain.width / 40
        let (before, after) = (plain.cells(size), shaded.cells(size))
        func isSpared(_ row: Int, _ column: Int) -> Bool {
            halo.map { $0.share(column: size * column + size / 2, row: size * row + size / 2) > 0 } ?? false
        }
        for row in 0..<before.height - 1 {
            for column in 0..<before.width - 1 where !isSpared(row, column) {
                func added(_ row2: Int, _ column2: Int) -> Float {
                    guard !isSpared(row2, column2) else { return 0 }
                    return abs(after[row2, column2] - after[row, column])
                        - abs(before[row2, column2] - before[row, column])
                }
                stepBeside = max(stepBeside, added(row, column + 1))
                stepBelow = max(stepBelow, added(row + 1, column))
            }
        }
    }

    /// The parts of the ink of text and foot where the lightness changes by more than 8 within 4 pixels.
    private static func crossed(_ ink: Grid, _ lightness: Grid) -> (Float, Float) {
        var inked: [Float] = [0, 0], crossing: [Float] = [0, 0]
        for row in 2..<ink.height - 2 {
            let part = row > ink.height - ink.width / 8 ? 1 : 0
            for column in 2..<ink.width - 2 where ink[row, column] > 0.5 {
                inked[part] += 1
                let beside = abs(lightness[row, column + 2] - lightness[row, column - 2])
                let below = abs(lightness[row + 2, column] - lightness[row - 2, column])
                if max(beside, below) > 8 { crossing[part] += 1 }
            }
        }
        return (crossing[0] / max(inked[0], 1), crossing[1] / max(inked[1], 1))
    }
}

/// A value for each pixel.
private struct Grid {
    let width: Int
    let height: Int
    var values: [Float]

    subscript(row: Int, column: Int) -> Float { values[row * width + column] }

    /// L* of relative luminances (CIE 15).
    var lightness: Grid {
        Grid(width: width, height: height, values: values.map { $0 > 0.008856 ? 116 * cbrtf($0) - 16 : 903.3 * $0 })
    }

    /// The means of square cells.
    func cells(_ size: Int) -> Grid {
        let (columns, rows) = (width / size, height / size)
        var cells = [Float](repeating: 0, count: columns * rows)
        for row in 0..<rows * size {
            for column in 0..<columns * size {
                cells[row / size * columns + column / size] += self[row, column] / Float(size * size)
            }
        }
        return Grid(width: columns, height: rows, values: cells)
    }

    /// The connected areas above 0.5, as rectangles.
    var letters: [Rectangle] {
        var seen = values.map { $0 <= 0.5 }
        var result: [Rectangle] = []
        for start in seen.indices where !seen[start] {
            var (rows, columns) = (start / width...start / width, start % width...start % width)
            var open = [start]
            seen[start] = true
            while let index = open.popLast() {
                let (row, column) = (index / width, index % width)
                rows = min(rows.lowerBound, row)...max(rows.upperBound, row)
                columns = min(columns.lowerBound, column)...max(columns.upperBound, column)
                for next in [index - 1, index + 1, index - width, index + width]
                where seen.indices.contains(next) && !seen[next] {
                    seen[next] = true
                    open.append(next)
                }
            }
            result.append(
                Rectangle(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count))
        }
        return result
    }

    /// The mean of a rectangle and of two pixels around it.
    func mean(around area: Rectangle) -> Float {
        var (sum, count): (Float, Float) = (0, 0)
        for row in max(area.y - 2, 0)..<min(area.y + area.height + 2, height) {
            for column in max(area.x - 2, 0)..<min(area.x + area.width + 2, width) {
                sum += self[row, column]
                count += 1
            }
        }
        return sum / count
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
