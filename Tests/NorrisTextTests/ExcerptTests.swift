import NorrisText
import Testing

struct ExcerptTests {
    @Test(arguments: [
        ("", [], false), ("one two three", ["one two", "three"], false),
        ("one\n\n\ntwo\n\nthree\n\n", ["one", "two", "three"], false),
        ("a b c d e f g h i j k l m", ["a b c d", "e f g h", "i j k l…"], true),
        ("1234567 1234567 1234567 x", ["1234567", "1234567", "1234567…"], true),
        ("12345678 12345678 12345678 x", ["12345678", "12345678", "1234567…"], true),
        ("一二三四五六七八九十一二三四五六", ["一二三四", "五六七八", "九十一…"], true),
        ("a\nb\nc\n \n\t\n", ["a", "b", "c"], false),
    ] as [(String, [String], Bool)])
    func cutsAtThreeLines(text: String, lines: [String], isCut: Bool) {
        let excerpt = excerpt(of: text, width: 8, lines: 3)
        #expect(excerpt.lines == lines)
        #expect(excerpt.isCut == isCut)
    }

    @Test func hasOneLineAtLeast() {
        #expect(excerpt(of: "a b", width: 1, lines: 0).lines == ["…"])
        #expect(excerpt(of: "a b", width: 0, lines: 1).lines == ["…"])
        #expect(excerpt(of: "a", width: -3, lines: -1).lines == ["a"])
    }

    @Test(arguments: UInt64(1)...40)
    func isTheBeginningAndFits(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let text = sanitizedText(generator.text())
            let width = Int.random(in: 1...30, using: &generator)
            let count = Int.random(in: 1...4, using: &generator)
            let excerpt = excerpt(of: text, width: width, lines: count)
            let all = wrapped(text, width: width).filter { !$0.isEmpty }
            #expect(excerpt.isCut == (all.count > count), "\(text.debugDescription) in \(width)")
            #expect(excerpt.lines.count == min(count, all.count), "\(text.debugDescription) in \(width)")
            #expect(excerpt.isCut || excerpt.lines == all, "\(text.debugDescription) in \(width)")
            let end = excerpt.lines.last?.unicodeScalars.last
            #expect(!excerpt.isCut || end == "…", "\(text.debugDescription) in \(width)")
            for line in excerpt.lines {
                #expect(displayWidth(of: line) <= width || line.count == 1, "\(text.debugDescription) in \(width)")
            }
        }
    }
}
