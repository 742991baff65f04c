import Testing

@testable import NorrisStore

/// A fortune file's bytes, cut into texts.
struct FortuneTextTests {
    private func texts(_ text: String) -> [String] {
        texts(in: Array(text.utf8))
    }

    private func texts(in bytes: some Collection<UInt8>) -> [String] {
        var texts: [String] = []
        Fortunes.forEachText(in: bytes) { texts.append($0) }
        return texts
    }

    @Test(arguments: [
        ("", []),
        ("\n", []),
        ("%\n", []),
        ("%", []),
        ("%\n%\n%\n", []),
        ("One.\n%\nTwo.\n%\n", ["One.", "Two."]),
        ("One.\n%\nTwo.\n", ["One.", "Two."]),
        ("One.\n%\nTwo.", ["One.", "Two."]),
        ("%\nOne.\n%\n%\n\n%\nTwo.\n%", ["One.", "Two."]),
        // Only a line of nothing but the sign ends a text.
        ("100%\n%%\n% \n %\n%x\n", ["100%\n%%\n% \n %\n%x"]),
        ("One.\r\nMore.\r\n%\r\nTwo.\r\n", ["One.\nMore.", "Two."]),
        ("\n \n\n  One.\n\n  More.\n \t\n\n%\nTwo. \t\n", ["  One.\n\n  More.", "Two."]),
        ("\tOne\tand\n", ["\tOne\tand"]),
    ])
    func linesOfAPercentSignDivide(text: String, expected: [String]) {
        #expect(texts(text) == expected)
    }

    @Test(arguments: [
        ("_\u{8}a_\u{8}b", "ab"),
        ("b\u{8}bo\u{8}old", "bold"),
        ("x_\u{8}\u{8}\u{8}y", "y"),
        ("é\u{8}e", "e"),
        ("_\u{8}é", "é"),
        ("\u{8}\u{8}a", "a"),
        ("a\n\u{8}b", "a\nb"),
        ("a\u{8}\u{8}\u{8}", ""),
    ])
    func laterCharacterOfAnOverstrikeStays(text: String, expected: String) {
        #expect(texts(text) == [expected].filter { !$0.isEmpty })
    }

    @Test(arguments: [
        ("\u{1B}[31mred\u{1B}[0m", "red"),
        ("\u{1B}]0;title\u{7}text", "text"),
        ("a\u{7}b\u{7F}c\u{85}d", "abcd"),
        ("a\u{202E}b\u{2066}c", "abc"),
        ("\u{1B}[2J", ""),
        ("\u{200B}\u{FEFF}", ""),
    ])
    func nothingThatMovesATerminalStays(text: String, expected: String) {
        #expect(texts(text) == [expected].filter { !$0.isEmpty })
    }

    @Test func invalidBytesAreLeftOut() {
        #expect(texts(in: [0x61, 0xFF, 0x62, 0xC3, 0x0A, 0x25, 0x0A, 0xE9, 0x74, 0xE9]) == ["ab", "t"])
        #expect(texts(in: [0xFF, 0xFE, 0x0A, 0x25, 0x0A, 0x63]) == ["c"])
    }

    @Test func textsOfAnyLengthAFactMayHaveAreRead() {
        let longest = String(repeating: "é", count: 10_000)
        #expect(texts("\(longest)\n%\n\(longest)x\n%\nshort") == [longest, "short"])
    }

    // MARK: Large files

    /// What is long and holds little. Each would take hours if the time grew with the square of the length.
    @Test(arguments: ["\n", " \n", "%\n", "%\n\n", "\t", "\r\n", "\u{8}", "_\u{8}", "\u{2003}", "\u{1B}[", "\u{1B}]"])
    func largeFilesGiveTheTextsBetween(unit: String) {
        let filling = String(repeating: unit, count: 1_000_000 / unit.utf8.count)
        #expect(texts("One.\n%\n\(filling)\n%\n Two.\n%\n").filter { $0.utf8.count < 10 } == ["One.", " Two."])
    }

    /// Bytes that count how often they are looked at.
    private struct CountedBytes: RandomAccessCollection {
        final class Reads { var count = 0 }

        let bytes: [UInt8]
        let reads = Reads()
        var startIndex: Int { 0 }
        var endIndex: Int { bytes.count }

        subscript(index: Int) -> UInt8 {
            reads.count += 1
            return bytes[index]
        }
    }

    @Test(arguments: ["\n", "%\n", "%", "x", "\u{8}", "x\n%\n"])
    func eachByteIsLookedAtAFewTimes(unit: String) {
        let counted = CountedBytes(bytes: Array(String(repeating: unit, count: 20_000).utf8))
        _ = texts(in: counted)
        #expect(counted.reads.count <= 5 * counted.count)
    }
}
