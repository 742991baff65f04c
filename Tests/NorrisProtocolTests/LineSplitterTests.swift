import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
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

    private func lines(_ input: String, maximumLength: Int = 65_536) -> [String] {
        lines([Array(input.utf8)], maximumLength: maximumLength)
    }

    private func text(_ line: LineSplitter.Line) -> String {
        switch line {
        case .line(let bytes): String(decoding: bytes, as: UTF8.self)
        case .tooLong: "<too long>"
        }
    }

    @Test func endsLinesAtLineFeedWithOrWithoutCarriageReturn() {
        #expect(lines("a\nbc\r\nd\r\r\n e \n") == ["a", "bc", "d\r", " e "])
    }

    @Test func keepsCarriageReturnsInsideLines() { #expect(lines("a\rb\n") == ["a\rb"]) }

    @Test func skipsBlankLines() { #expect(lines("\n\r\n \t \n\r\r\na\n\n \t\r\nb\n\n") == ["a", "b"]) }

    @Test func handsOutALastLineWithoutEnd() {
        #expect(lines("a\nb") == ["a", "b"])
        #expect(lines("a\nb\r") == ["a", "b"])
        #expect(lines("a\n \t\r") == ["a"])
        #expect(lines("") == [])
    }

    @Test func finishesWithCompleteLinesFirst() {
        var splitter = LineSplitter()
        Array("a\nb\nc".utf8).withUnsafeBytes { splitter.append($0) }
        #expect(splitter.finish() == .line(ArraySlice("a".utf8)))
        #expect(splitter.finish() == .line(ArraySlice("b".utf8)))
        #expect(splitter.finish() == .line(ArraySlice("c".utf8)))
        #expect(splitter.finish() == nil)
    }

    @Test func saysHowMuchItHolds() {
        var splitter = LineSplitter()
        Array("a\nbcd".utf8).withUnsafeBytes { splitter.append($0) }
        #expect(splitter.bufferedBytes == 5)
        #expect(splitter.next() == .line(ArraySlice("a".utf8)))
        #expect(splitter.bufferedBytes == 3)
        #expect(splitter.next() == nil)
        #expect(splitter.bufferedBytes == 3)
    }

    @Test(arguments: ["\n", "\r\n", ""], [1, 7, 4096, 65_536, 65_537, 65_538, 200_000])
    func takesExactly65536Bytes(end: String, chunk: Int) {
        func input(_ length: Int) -> [[UInt8]] {
            chunks(Array((String(repeating: "x", count: length) + end).utf8), of: chunk)
        }
        #expect(lines(input(65_536)) == [String(repeating: "x", count: 65_536)])
        #expect(lines(input(65_537)) == ["<too long>"])
    }

    @Test func doesNotTakeACarriageReturnBeyondTheLimitForTheEnd() {
        #expect(lines("abcd\rx\n", maximumLength: 4) == ["<too long>"])
        #expect(lines("abc\r\r\n", maximumLength: 4) == ["abc\r"])
        #expect(lines("abcd\r\r\n", maximumLength: 4) == ["<too long>"])
        #expect(lines("     \nok\n", maximumLength: 4) == ["<too long>", "ok"])
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

    @Test func reportsATooLongLineAtTheEndOfInput() {
        #expect(lines("12345", maximumLength: 4) == ["<too long>"])
        #expect(lines(chunks(Array("1234567890".utf8), of: 1), maximumLength: 4) == ["<too long>"])
        #expect(lines("ok\n123456789\n\n", maximumLength: 4) == ["ok", "<too long>"])
    }

    @Test(arguments: UInt64(1)...30) func cutsTheSameLinesHoweverTheInputArrives(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        let alphabet = Array("abcdefgh \t\r\r\n\n\n".utf8)
        let input = (0..<2000).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
        let whole = expected(input, maximumLength: 9)
        #expect(lines([input], maximumLength: 9) == whole)
        #expect(lines(chunks(input, of: 1), maximumLength: 9) == whole)
        var rest = input[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...40, using: &generator))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        #expect(lines(pieces, maximumLength: 9) == whole)
    }

    @Test func staysFastOnABufferOfManyLines() {
        // Moving or searching the remaining bytes for each line would take 10^10 steps.
        let input = Array(String(repeating: "x\n", count: 200_000).utf8)
        #expect(lines([input], maximumLength: 500_000).count == 200_000)
        let withLongLine = input + Array(repeating: UInt8(ascii: "x"), count: 400_000)
        #expect(lines(chunks(withLongLine, of: 3), maximumLength: 500_000).count == 200_001)
    }

    @Test func leavesLinesThatAreStillHeldAlone() {
        var splitter = LineSplitter()
        Array("first\nse".utf8).withUnsafeBytes { splitter.append($0) }
        let held = splitter.next()
        Array("cond\nthird\n".utf8).withUnsafeBytes { splitter.append($0) }
        #expect(splitter.next() == .line(ArraySlice("second".utf8)))
        #expect(held == .line(ArraySlice("first".utf8)))
    }

    /// The rules of the splitter in their simplest form.
    private func expected(_ input: [UInt8], maximumLength: Int) -> [String] {
        input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).compactMap { line in
            let line = line.last == 0x0D ? line.dropLast() : line
            guard line.count <= maximumLength else { return "<too long>" }
            return line.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } ? nil : String(decoding: line, as: UTF8.self)
        }
    }

    private func chunks(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    // MARK: Memory of incomplete lines

    @Test("The rest of a line takes at most two pages beside its bytes", arguments: [1, 100, 4_096, 65_000])
    func capacityOfHalfLines(chunk: Int) {
        var splitter = LineSplitter()
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: chunk)
        while splitter.bufferedBytes + chunk <= LineSplitter.maximumRequest {
            bytes.withUnsafeBytes { splitter.append($0) }
            #expect(splitter.next() == nil)
            guard splitter.capacity > splitter.bufferedBytes + 8_192 else { continue }
            Issue.record("\(splitter.capacity) bytes for \(splitter.bufferedBytes)")
            return
        }
    }

    @Test func whatTheRestOfALineDoesNotNeedIsGivenBack() {
        var splitter = LineSplitter()
        let text = String(repeating: "x", count: 60_000) + "\nabc"
        Array(text.utf8).withUnsafeBytes { splitter.append($0) }
        #expect(splitter.next() != nil && splitter.next() == nil)
        splitter.shrink()
        #expect(splitter.capacity <= 4_096)
        Array("def\n".utf8).withUnsafeBytes { splitter.append($0) }
        #expect(splitter.next() == .line(Array("abcdef".utf8)[...]))
    }
}
