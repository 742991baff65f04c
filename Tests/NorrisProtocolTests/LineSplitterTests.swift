import NorrisProtocol
import Testing

struct LineSplitterTests {
    private func lines(_ chunks: [[UInt8]], maximumLength: Int = 65_536) -> [String] {
        var splitter = LineSplitter(maximumLength: maximumLength)
        var lines: [String] = []
        for chunk in chunks {
            chunk.withUnsafeBytes { splitter.append($0) }
            while let line = splitter.next() { lines.append(text(line)) }
            #expect(splitter.bufferedBytes <= maximumLength + 1)
        }
        while let line = splitter.finish() { lines.append(text(line)) }
        #expect(splitter.finish() == nil)
        return lines
    }

    private func text(_ line: LineSplitter.Line) -> String {
        switch line {
        case .line(let bytes): String(decoding: bytes, as: UTF8.self)
        case .tooLong: "<too long>"
        }
    }

    @Test(
        arguments: [
            ("a\rb\nbc\r\nd\r\r\n e \n", 65_536, ["a\rb", "bc", "d\r", " e "]),
            ("\n\r\n \t \n\r\r\na\n\n \t\r\nb\n\n", 65_536, ["a", "b"]), ("a\nb", 65_536, ["a", "b"]),
            ("a\nb\r", 65_536, ["a", "b"]), ("a\n \t\r", 65_536, ["a"]), ("", 65_536, []),
            // A carriage return beyond the limit is not taken for the end.
            ("abcd\rx\n", 4, ["<too long>"]), ("abc\r\r\n", 4, ["abc\r"]), ("abcd\r\r\n", 4, ["<too long>"]),
            ("     \nok\n", 4, ["<too long>", "ok"]), ("12345", 4, ["<too long>"]),
            ("ok\n123456789\n\n", 4, ["ok", "<too long>"]),
        ] as [(String, Int, [String])])
    func cutsLines(input: String, maximumLength: Int, expected: [String]) {
        #expect(lines([Array(input.utf8)], maximumLength: maximumLength) == expected)
        #expect(lines(chunks(Array(input.utf8), of: 1), maximumLength: maximumLength) == expected)
    }

    @Test(arguments: ["\n", "\r\n", ""], [1, 7, 4096, 65_536, 65_537, 65_538, 200_000])
    func takesExactly65536Bytes(end: String, chunk: Int) {
        func input(_ length: Int) -> [[UInt8]] {
            chunks(Array((String(repeating: "x", count: length) + end).utf8), of: chunk)
        }
        #expect(lines(input(65_536)) == [String(repeating: "x", count: 65_536)])
        #expect(lines(input(65_537)) == ["<too long>"])
    }

    @Test func reportsATooLongLineOnceWhenItsEndArrives() {
        var splitter = LineSplitter(maximumLength: 10)
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 8)
        for _ in 0..<1000 {
            chunk.withUnsafeBytes { splitter.append($0) }
            #expect(splitter.next() == nil)
            #expect(splitter.bufferedBytes <= 11)
        }
        Array("x\nok\nrest".utf8).withUnsafeBytes { splitter.append($0) }
        #expect(splitter.next() == .tooLong)
        #expect(splitter.next() == .line(ArraySlice("ok".utf8)))
        #expect(splitter.next() == nil)
        #expect(splitter.finish() == .line(ArraySlice("rest".utf8)))
    }

    @Test func givesTheMemoryOfALargeLineBack() {
        var splitter = LineSplitter()
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 65_000) + [UInt8(ascii: "\n")]
        line.withUnsafeBytes { splitter.append($0) }
        #expect(splitter.next() != nil)
        #expect(splitter.next() == nil)
        #expect(splitter.capacity == 0)

        let tooLong = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
        tooLong.withUnsafeBytes { splitter.append($0) }
        #expect(splitter.next() == nil)
        #expect(splitter.capacity == 0)
    }

    private func chunks(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }
}
