/// Writes JSON values, one after the other, as the bytes of the wire.
///
/// Commas come by themselves. The caller keeps the grammar otherwise: a key before each value of an object, every
/// bracket closed. Output holds no raw line feed but those of `newline()`, and no character that `string(_:)` escapes.
package struct JSONWriter: ~Copyable, Sendable {
    /// A state to return to: what was written after it can be undone.
    package struct Mark: Sendable {
        fileprivate let count: Int
        fileprivate let needsComma: Bool
    }

    var output: OutputBytes

    /// Whether a value has just ended, so that the next key or value of the same level needs a comma before it.
    private var needsComma = false

    package init(capacity: Int = 512) { output = OutputBytes(capacity: capacity) }

    package var count: Int { output.count }

    /// A copy of what was written.
    package var bytes: [UInt8] { withBytes { Array($0.bindMemory(to: UInt8.self)) } }

    /// Lends what was written from an offset on.
    package func withBytes<Result>(from start: Int = 0, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        output.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    /// Begins anew and keeps the memory.
    package mutating func removeAll() {
        output.shrink(to: 0)
        needsComma = false
    }

    package func mark() -> Mark { Mark(count: output.count, needsComma: needsComma) }

    /// Removes everything written since the mark, which must be of this writer and not from before a `removeAll()`.
    package mutating func rewind(to mark: Mark) {
        output.shrink(to: mark.count)
        needsComma = mark.needsComma
    }

    /// Removes whole lines from the end, up to this count.
    package mutating func truncate(to count: Int) {
        output.shrink(to: count)
        needsComma = false
    }

    /// Ends the line: the next value starts a new one, without comma.
    package mutating func newline() {
        output.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    package mutating func beginObject() {
        beginValue()
        output.append(UInt8(ascii: "{"))
        needsComma = false
    }

    package mutating func endObject() {
        output.append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func beginArray() {
        beginValue()
        output.append(UInt8(ascii: "["))
        needsComma = false
    }

    package mutating func endArray() {
        output.append(UInt8(ascii: "]"))
        needsComma = true
    }

    package mutating func key(_ key: String) {
        beginValue()
        appendQuoted(key)
        output.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A key of the source code, copied as it is: plain ASCII without quote and backslash.
    package mutating func key(_ key: StaticString) {
        beginValue()
        let text = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        assert(text.allSatisfy { 0x20..<0x7F ~= $0 && $0 != 0x22 && $0 != 0x5C }, "The key \(key) needs escapes.")
        output.append(UInt8(ascii: "\""))
        output.append(UnsafeRawBufferPointer(text))
        output.append(UInt8(ascii: "\""))
        output.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func null() { appendWord("null") }

    package mutating func bool(_ value: Bool) { appendWord(value ? "true" : "false") }

    package mutating func string(_ value: String) {
        beginValue()
        appendQuoted(value)
    }

    /// One complete value that is encoded already, copied unseen.
    package mutating func raw(_ encoded: [UInt8]) {
        beginValue()
        output.append(encoded)
    }

    /// One complete value that is encoded already, copied unseen.
    package mutating func raw(_ encoded: UnsafeRawBufferPointer) {
        beginValue()
        output.append(encoded)
    }

    /// A value, or the first part of one, as the source code spells it out.
    ///
    /// - Parameter endsValue: whether what follows on the same level needs a comma before it.
    package mutating func literal(_ text: StaticString, endsValue: Bool = false) {
        beginValue()
        join(text, endsValue: endsValue)
    }

    /// A further part of a value, the commas before it included.
    package mutating func join(_ text: StaticString, endsValue: Bool = false) {
        output.append(text)
        needsComma = endsValue
    }

    /// The last part of a value that is encoded already, the commas before it included.
    package mutating func join(_ encoded: [UInt8]) {
        output.append(encoded)
        needsComma = true
    }

    /// Complete lines that are encoded already, with their ends.
    package mutating func raw(lines: UnsafeRawBufferPointer) {
        output.append(lines)
        needsComma = false
    }

    private mutating func appendWord(_ word: StaticString) {
        beginValue()
        output.append(word)
    }

    /// Separates what follows from the value before it.
    mutating func beginValue() {
        if needsComma { output.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

extension JSONWriter {
    /// An integer; beyond ±`JSON.maximumInteger` it would not be read back, so such a number must go as a string.
    package mutating func integer(_ value: Int64) {
        assert(value.magnitude <= UInt64(JSON.maximumInteger), "\(value) is beyond 2^53.")
        beginValue()
        if value < 0 { output.append(UInt8(ascii: "-")) }
        // 20 digits hold any number of 64 bits; they are found from the last to the first.
        var digits: InlineArray<20, UInt8> = InlineArray(repeating: 0)
        var first = 20
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<20 { output.append(digits[index]) }
    }

    package mutating func integer(_ value: Int) { integer(Int64(value)) }

    /// The shortest text that reads back as the same double. JSON has no infinity and no NaN: they become `null`.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        // `description` is the shortest round trip, and its forms (`0.1`, `5e-324`, `1e+16`) are all JSON numbers.
        output.append(Array(value.description.utf8))
    }
}

extension JSONWriter {
    /// Appends the text in quotes.
    ///
    /// Escaped are the quote, the backslash and whatever could harm a terminal or a reader by lines: C0, DEL, C1, the
    /// bidi controls (Unicode annex 9, section 2) and the separators U+2028 and U+2029. Everything else stays UTF-8.
    mutating func appendQuoted(_ text: String) {
        output.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { appendEscaped($0) }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        let raw = UnsafeRawBufferPointer(text)
        var copied = 0
        var position = 0
        while position < text.count {
            let end = min(position + 8, text.count)
            if end == position + 8, !raw.loadUnaligned(fromByteOffset: position, as: UInt64.self).hasByteToInspect {
                position = end
                continue
            }
            while position < end {
                guard let (length, scalar) = Self.scalarToEscape(text, at: position) else {
                    position += 1
                    continue
                }
                output.append(UnsafeRawBufferPointer(rebasing: raw[copied..<position]))
                appendEscape(scalar)
                position += length
                copied = position
            }
        }
        output.append(UnsafeRawBufferPointer(rebasing: raw[copied...]))
    }

    /// The scalar that begins at the position and its length in bytes, if it is one that must be escaped.
    ///
    /// `text` is valid UTF-8, so the bytes that the first one announces are there.
    private static func scalarToEscape(
        _ text: UnsafeBufferPointer<UInt8>, at position: Int
    ) -> (length: Int, scalar: UInt16)? {
        let first = text[position]
        switch first {
        case 0..<0x20, 0x22, 0x5C, 0x7F: return (1, UInt16(first))
        case 0xC2 where text[position + 1] < 0xA0:  // U+0080...U+009F
            return (2, UInt16(text[position + 1]))
        case 0xD8 where text[position + 1] == 0x9C: return (2, 0x061C)
        case 0xE2 where text[position + 1] == 0x80 || text[position + 1] == 0x81:
            let scalar = 0x2000 + UInt16(text[position + 1] & 1) << 6 + UInt16(text[position + 2] & 0x3F)
            switch scalar {
            case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: return (3, scalar)
            default: return nil
            }
        default: return nil
        }
    }

    private mutating func appendEscape(_ scalar: UInt16) {
        output.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22: output.append(UInt8(ascii: "\""))
        case 0x5C: output.append(UInt8(ascii: "\\"))
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        default:
            output.append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] {
                let digit = UInt8(scalar >> UInt16(shift) & 0xF)
                output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}

// Eight bytes of text looked at together: strings are most of what is read and written.
//
// `x - 0x01…01` borrows into the top bit of a byte that is zero, and `~x` rules out those that had it set before. A
// borrow may run on from such a byte into the next one, never start elsewhere: an answer of "no" is always right.

private let ones: UInt64 = 0x0101_0101_0101_0101
private let topBits: UInt64 = 0x8080_8080_8080_8080

extension UInt64 {
    /// How many bytes stand before the first that is a quote, a backslash or below U+0020: what ends a run of a JSON
    /// string. The lowest byte comes first. The lowest mark is always right, for borrows run upwards.
    var plainBytes: Int {
        let belowSpace = (self &- ones &* 0x20) & ~self
        let marks = (belowSpace | zeroByteMark(xor: 0x22) | zeroByteMark(xor: 0x5C)) & topBits
        return marks.trailingZeroBitCount / 8
    }

    /// Whether one of the eight bytes is anything but printable ASCII without quote and backslash.
    var hasByteToInspect: Bool {
        let belowSpace = (self &- ones &* 0x20) & ~self
        let marks = belowSpace | zeroByteMark(xor: 0x22) | zeroByteMark(xor: 0x5C) | zeroByteMark(xor: 0x7F)
        return (marks | self) & topBits != 0
    }

    private func zeroByteMark(xor byte: UInt64) -> UInt64 {
        let word = self ^ (ones &* byte)
        return (word &- ones) & ~word
    }
}
