import NorrisSystem
import NorrisTestSupport
import NorrisText
import Testing

/// Tests properties of every text with random texts from fixed seeds.
struct TextPropertyTests {
    private static let seeds = Array(UInt64(1)...8)

    private func repeatedly(from seed: UInt64, _ body: (inout SeededRandom) -> Void) {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<250 { body(&generator) }
    }

    /// Uses ranges and properties of the standard library instead of the sanitizer's list.
    private func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\n" && scalar != "\t"
        case .lineSeparator, .paragraphSeparator, .surrogate: true
        default:
            scalar.properties.isBidiControl || scalar.properties.isNoncharacterCodePoint || scalar == "\u{FFFD}"
                || scalar == "\u{FEFF}" || (0xE0000...0xE007F).contains(scalar.value)
        }
    }

    @Test(arguments: seeds) func sanitizedTextsAndLinesHoldNothingForbidden(seed: UInt64) {
        repeatedly(from: seed) { generator in
            let text = generator.text()
            let clean = sanitizedText(text)
            #expect(!clean.unicodeScalars.contains(where: isForbidden), "\(text.debugDescription)")
            #expect(scalars(sanitizedText(clean)) == scalars(clean), "\(text.debugDescription)")
            let line = sanitizedLine(text)
            #expect(!line.unicodeScalars.contains(where: isForbidden), "\(text.debugDescription)")
            #expect(!line.contains { $0.isNewline || $0 == "\t" }, "\(text.debugDescription)")
            #expect(line.unicodeScalars.first?.properties.isWhitespace != true, "\(text.debugDescription)")
            #expect(line.unicodeScalars.last?.properties.isWhitespace != true, "\(text.debugDescription)")
            #expect(scalars(sanitizedLine(line)) == scalars(line), "\(text.debugDescription)")
            let columns = Int.random(in: 0...30, using: &generator)
            #expect(displayWidth(of: truncated(line, toColumns: columns)) <= columns, "\(line.debugDescription)")
            #expect(displayWidth(of: padded(line, toColumns: columns)) >= columns, "\(line.debugDescription)")
            let folded = caseFolded(text)
            #expect(scalars(caseFolded(folded)) == scalars(folded))
        }
    }

    @Test(arguments: seeds) func sanitizedBytesHoldNothingForbidden(seed: UInt64) {
        repeatedly(from: seed) { generator in
            let bytes = generator.bytes()
            let clean = sanitizedText(bytes: bytes)
            #expect(!clean.unicodeScalars.contains(where: isForbidden), "\(bytes)")
            #expect(scalars(sanitizedText(bytes: Array(clean.utf8))) == scalars(clean), "\(bytes)")
        }
    }

    @Test(arguments: seeds) func wrappedLinesFitAndLoseNothing(seed: UInt64) {
        repeatedly(from: seed) { generator in
            let text = sanitizedText(generator.text())
            let width = Int.random(in: 1...30, using: &generator)
            let lines = wrapped(text, width: width)
            for line in lines {
                #expect(displayWidth(of: line) <= width || line.count == 1, "\(text.debugDescription) in \(width)")
                #expect(!line.contains { $0.isNewline || $0 == "\t" }, "\(text.debugDescription) in \(width)")
            }
            // Cut words and wide characters have no space between their parts, so the comparison ignores white space.
            #expect(
                lines.joined().unicodeScalars.filter { !$0.properties.isWhitespace }
                    == text.unicodeScalars.filter { !$0.properties.isWhitespace },
                "\(text.debugDescription) in \(width)")
        }
    }

}

/// Parts of random texts: every kind of character with a special rule.
private let textParts = [
    "a", "Norris", "x", "supercalifragilistic", " ", " ", " ", "   ", "\n", "\t", "\r", "\r\n", "\u{A0}", "\u{3000}",
    "é", "e\u{301}", "\u{301}", "ß", "日", "本語", "。", "「", "」", "ッ", "한", "\u{1112}", "\u{1161}", "\u{11AB}", "कि",
    "क्ष", "स", "्", "กำ", "สวัสดี", "שָׁ", "\u{600}", "👩‍👩‍👧‍👦", "👍🏽", "🔥", "❤", "\u{FE0F}", "\u{FE0E}", "\u{200D}",
    "\u{200C}", "🇨", "🇭", "🏽", "1️⃣", "1", "\u{20E3}", "(", ")", "!", "\u{1B}", "\u{1B}[31m", "\u{1B}]0;", "\u{1B}\\",
    "\u{7}", "[", "]", "3", ";", "m", "\\", "\u{9B}", "\u{9D}", "\u{9C}", "\u{85}", "\u{7F}", "\u{0}", "\u{202E}",
    "\u{2028}", "\u{2067}", "\u{FEFF}", "\u{FFFD}", "\u{E0067}", "\u{E007F}", "\u{AD}", "\u{FFFF}", "\u{10FFFF}",
]

extension SeededRandom {
    mutating func text() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...40, using: &self) {
            if Int.random(in: 0..<10, using: &self) == 0 {
                let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self))
                text.unicodeScalars.append(scalar ?? "?")
            } else {
                text += textParts[Int.random(in: textParts.indices, using: &self)]
            }
        }
        return text
    }

    /// Returns up to 60 bytes, mostly bytes that matter in UTF-8 or escape sequences.
    mutating func bytes() -> [UInt8] {
        let salient: [UInt8] = [
            0x0A, 0x1B, 0x5B, 0x5D, 0x07, 0x5C, 0x6D, 0x80, 0x9B, 0xBF, 0xC0, 0xC2, 0xE2, 0xED, 0xF0, 0xF4,
        ]
        return (0..<Int.random(in: 0...60, using: &self)).map { _ in
            Bool.random(using: &self)
                ? salient[Int.random(in: salient.indices, using: &self)] : UInt8.random(in: 0...255, using: &self)
        }
    }
}

/// Returns the scalars of a text, because `==` treats canonically equivalent strings as equal.
func scalars(_ text: some StringProtocol) -> [Unicode.Scalar] { Array(text.unicodeScalars) }
