import NorrisText
import Testing

/// What holds for every text, tried on random ones of fixed seeds.
struct TextPropertyTests {
    private static let seeds = Array(UInt64(1)...40)
    private static let textsPerSeed = 50

    /// By ranges and properties of the standard library, written apart from the sanitiser's own list.
    private func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\n" && scalar != "\t"
        case .lineSeparator, .paragraphSeparator, .surrogate: true
        default:
            scalar.properties.isBidiControl || scalar.properties.isNoncharacterCodePoint || scalar == "\u{FFFD}"
                || scalar == "\u{FEFF}" || (0xE0000...0xE007F).contains(scalar.value)
        }
    }

    @Test(arguments: seeds)
    func sanitizedTextHoldsNothingForbidden(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.textsPerSeed {
            let text = generator.text()
            let clean = sanitizedText(text)
            #expect(!clean.unicodeScalars.contains(where: isForbidden), "\(text.debugDescription)")
            #expect(scalars(sanitizedText(clean)) == scalars(clean), "\(text.debugDescription)")
        }
    }

    @Test(arguments: seeds)
    func sanitizedBytesHoldNothingForbidden(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.textsPerSeed {
            let bytes = generator.bytes()
            let clean = sanitizedText(bytes: bytes)
            #expect(!clean.unicodeScalars.contains(where: isForbidden), "\(bytes)")
            #expect(scalars(sanitizedText(bytes: Array(clean.utf8))) == scalars(clean), "\(bytes)")
        }
    }

    @Test(arguments: seeds)
    func sanitizedLineIsOneTrimmedLine(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.textsPerSeed {
            let text = generator.text()
            let line = sanitizedLine(text)
            #expect(!line.unicodeScalars.contains(where: isForbidden), "\(text.debugDescription)")
            #expect(!line.contains { $0.isNewline || $0 == "\t" }, "\(text.debugDescription)")
            #expect(line.unicodeScalars.first?.properties.isWhitespace != true, "\(text.debugDescription)")
            #expect(line.unicodeScalars.last?.properties.isWhitespace != true, "\(text.debugDescription)")
            #expect(scalars(sanitizedLine(line)) == scalars(line), "\(text.debugDescription)")
        }
    }

    @Test(arguments: seeds)
    func wrappedLinesFitAndLoseNothing(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.textsPerSeed {
            let text = sanitizedText(generator.text())
            let width = Int.random(in: 1...30, using: &generator)
            let lines = wrapped(text, width: width)
            for line in lines {
                #expect(displayWidth(of: line) <= width || line.count == 1, "\(text.debugDescription) in \(width)")
                #expect(!line.contains { $0.isNewline || $0 == "\t" }, "\(text.debugDescription) in \(width)")
            }
            // Cut words and wide characters part without a space, so all white space is left out of the comparison.
            #expect(
                lines.joined().unicodeScalars.filter { !$0.properties.isWhitespace }
                    == text.unicodeScalars.filter { !$0.properties.isWhitespace },
                "\(text.debugDescription) in \(width)")
        }
    }

    @Test(arguments: seeds)
    func wordsThatFitStayWhole(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.textsPerSeed {
            let words = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
                String(repeating: "é", count: Int.random(in: 1...12, using: &generator))
            }
            let lines = wrapped(words.joined(separator: " "), width: Int.random(in: 12...40, using: &generator))
            #expect(lines.flatMap { $0.split(separator: " ") }.map(String.init) == words)
        }
    }

    @Test(arguments: seeds)
    func truncatedAndPaddedLinesKeepTheirColumns(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.textsPerSeed {
            let line = sanitizedLine(generator.text())
            let columns = Int.random(in: 0...30, using: &generator)
            #expect(displayWidth(of: truncated(line, toColumns: columns)) <= columns, "\(line.debugDescription)")
            #expect(displayWidth(of: padded(line, toColumns: columns)) >= columns, "\(line.debugDescription)")
        }
    }

    @Test(arguments: seeds)
    func foldingCaseTwiceChangesNothingMore(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.textsPerSeed {
            let folded = caseFolded(generator.text())
            #expect(scalars(caseFolded(folded)) == scalars(folded))
        }
    }
}
