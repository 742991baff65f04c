/// Writes a sequence of JSON values in their wire form.
///
/// The writer adds the commas. The caller writes a key before each value of an object, and closes every bracket. The
/// output has no raw LF except from `newline()`, and no character that `string(_:)` escapes.
package struct JSONWriter: ~Copyable, @unchecked Sendable {
    /// A state of the writer, to which it can be rewound.
    package struct Mark: Sendable {
        @usableFromInline let count: Int
        @usableFromInline let needsComma: Bool

        @usableFromInline init(count: Int, needsComma: Bool) { (self.count, self.needsComma) = (count, needsComma) }
    }

    // Not `[UInt8]`, whose checks of uniqueness cost more than the short copies of a reply. @unchecked Sendable: only
    // this value owns the memory. It cannot be copied, so only one thread at a time uses it.
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    /// The bytes of the output, at most ``capacity``, which are initialized.
    @usableFromInline package internal(set) var count = 0

    /// Whether the next key or value on the same level needs a comma before it.
    @usableFromInline var needsComma = false

    package init(capacity: Int = 512) {
        self.capacity = max(capacity, 16)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// A copy of the output.
    package var bytes: [UInt8] { withBytes { Array($0.bindMemory(to: UInt8.self)) } }

    /// Calls the body with the output.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withBytes(in: 0..<count, body)
    }

    /// Calls the body with a part of the output.
    @inlinable @inline(__always)
    package func withBytes<Result>(in range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        precondition(range.upperBound <= count)
        return body(UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    /// Removes all output and keeps the memory.
    package mutating func removeAll() {
        count = 0
        needsComma = false
    }

    @inlinable package func mark() -> Mark { Mark(count: count, needsComma: needsComma) }

    /// Removes the output after a mark of this writer. A `removeAll()` invalidates all marks.
    package mutating func rewind(to mark: Mark) {
        precondition(mark.count <= count)
        (count, needsComma) = (mark.count, mark.needsComma)
    }

    /// Ends the line; the next value begins without a comma.
    package mutating func newline() {
        append(UInt8(ascii: "\n"))
        needsComma = false
    }

    package mutating func beginObject() {
        beginValue()
        append(UInt8(ascii: "{"))
        needsComma = false
    }

    package mutating func endObject() {
        append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func beginArray() {
        beginValue()
        append(UInt8(ascii: "["))
        needsComma = false
    }

    package mutating func endArray() {
        append(UInt8(ascii: "]"))
        needsComma = true
    }

    package mutating func key(_ key: String) {
        beginValue()
        appendQuoted(key)
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Copies a key without escaping. The key must be printable ASCII without quotes and backslashes.
    package mutating func key(_ key: StaticString) {
        beginValue()
        let text = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        assert(text.allSatisfy { 0x20..<0x7F ~= $0 && $0 != 0x22 && $0 != 0x5C }, "The key \(key) needs escapes.")
        append(UInt8(ascii: "\""))
        append(UnsafeRawBufferPointer(text))
        append(UInt8(ascii: "\""))
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func null() { literal("null", endsValue: true) }

    package mutating func bool(_ value: Bool) { literal(value ? "true" : "false", endsValue: true) }

    package mutating func string(_ value: String) {
        beginValue()
        appendQuoted(value)
    }

    /// Writes a text that is valid UTF-8.
    package mutating func string(utf8: UnsafeRawBufferPointer) {
        beginValue()
        appendQuoted(utf8)
    }

    /// Copies one complete encoded value without checks.
    package mutating func raw(_ encoded: [UInt8]) { encoded.withUnsafeBytes { raw($0) } }

    /// Copies one complete encoded value without checks.
    @inlinable @inline(__always) package mutating func raw(_ encoded: UnsafeRawBufferPointer) {
        beginValue()
        append(encoded)
    }

    /// Copies a value, or the first part of a value, from a literal.
    ///
    /// - Parameter endsValue: whether the next value on the same level needs a comma before it.
    @inlinable @inline(__always) package mutating func literal(_ text: StaticString, endsValue: Bool = false) {
        beginValue()
        join(text, endsValue: endsValue)
    }

    /// Copies a further part of a value, which includes the commas.
    @inlinable @inline(__always) package mutating func join(_ text: StaticString, endsValue: Bool = false) {
        append(text)
        needsComma = endsValue
    }

    /// Copies the last, already encoded part of a value, which includes the commas.
    package mutating func join(_ encoded: [UInt8]) {
        encoded.withUnsafeBytes { append($0) }
        needsComma = true
    }

    /// Copies complete encoded lines, including the LF of each.
    package mutating func raw(lines: UnsafeRawBufferPointer) {
        append(lines)
        needsComma = false
    }

    /// Writes a comma if the next value needs one.
    @inlinable @inline(__always) mutating func beginValue() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

extension JSONWriter {
    @inlinable @inline(__always) mutating func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inlinable @inline(__always) mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if let source = bytes.baseAddress { append(source, bytes.count) }
    }

    @inlinable @inline(__always) mutating func append(_ text: StaticString) {
        append(text.utf8Start, text.utf8CodeUnitCount)
    }

    @inlinable @inline(__always) mutating func append(_ source: UnsafeRawPointer, _ length: Int) {
        if length > capacity - count { grow(by: length) }
        (base + count).copyMemory(from: source, byteCount: length)
        count += length
    }

    @usableFromInline @inline(never) mutating func grow(by length: Int) {
        capacity = max(2 * capacity, count + length)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
    }
}

extension JSONWriter {
    /// Writes an integer. Larger integers than ±`JSON.maximumInteger` must be strings, because the parser refuses them.
    package mutating func integer(_ value: Int64) {
        assert(value.magnitude <= UInt64(JSON.maximumInteger), "\(value) is beyond 2^53.")
        beginValue()
        if value < 0 { append(UInt8(ascii: "-")) }
        // A 64-bit number has at most 20 digits. The last digit is computed first.
        var digits: InlineArray<20, UInt8> = InlineArray(repeating: 0)
        var first = 20
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<20 { append(digits[index]) }
    }

    package mutating func integer(_ value: Int) { integer(Int64(value)) }

    /// Writes the shortest text that reads back as the same double; `null` for infinity and NaN, which JSON lacks.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        // `description` is that text, and all its forms (`0.1`, `5e-324`, `1e+16`) are JSON numbers.
        var text = value.description
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
}

extension JSONWriter {
    /// Appends the text in quotes.
    ///
    /// Escapes quotes, backslashes and all characters that can harm a terminal or a line reader: C0, DEL, C1, bidi
    /// controls (Unicode annex 9, section 2), U+2028 and U+2029. All other characters remain UTF-8.
    mutating func appendQuoted(_ text: String) {
        var text = text
        text.withUTF8 { appendQuoted(UnsafeRawBufferPointer($0)) }
    }

    /// Whether a text of valid UTF-8 may be output of a writer: it contains no character that a writer escapes, except
    /// quotes and backslashes.
    package static func isPossibleOutput(_ text: UnsafeRawBufferPointer) -> Bool {
        text.indices.allSatisfy { position in
            guard text[position] < 0x20 || text[position] >= 0x7F else { return true }
            // A value of JSON ends with a bracket, so the last two bytes begin no longer character.
            guard position + 2 < text.count else { return text[position] < 0x7F }
            return scalarToEscape(text, at: position) == nil
        }
    }

    private mutating func appendQuoted(_ text: UnsafeRawBufferPointer) {
        append(UInt8(ascii: "\""))
        var copied = 0
        var position = 0
        while position < text.count {
            let end = min(position + 8, text.count)
            if end == position + 8, !text.loadUnaligned(fromByteOffset: position, as: UInt64.self).hasByteToInspect {
                position = end
                continue
            }
            while position < end {
                guard let (length, scalar) = Self.scalarToEscape(text, at: position) else {
                    position += 1
                    continue
                }
                append(UnsafeRawBufferPointer(rebasing: text[copied..<position]))
                appendEscape(scalar)
                position += length
                copied = position
            }
        }
        append(UnsafeRawBufferPointer(rebasing: text[copied...]))
        append(UInt8(ascii: "\""))
    }

    /// Returns the scalar at the position and its length in bytes if it must be escaped. `text` is valid UTF-8, so the
    /// reads after the first byte are in bounds.
    private static func scalarToEscape(
        _ text: UnsafeRawBufferPointer, at position: Int
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
        append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22: append(UInt8(ascii: "\""))
        case 0x5C: append(UInt8(ascii: "\\"))
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        default:
            append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] {
                let digit = UInt8(scalar >> UInt16(shift) & 0xF)
                append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}

// Tests eight bytes of text at once, because most input and output is strings.
//
// `x - 0x01…01` borrows into the top bit of a zero byte, and `~x` excludes bytes whose top bit was set before. A borrow
// can continue from a zero byte into the next byte but never begins elsewhere: a false mark has a true mark below it.

private let ones: UInt64 = 0x0101_0101_0101_0101
private let topBits: UInt64 = 0x8080_8080_8080_8080

extension UInt64 {
    /// The number of bytes before the first quote, backslash or byte below 0x20, the lowest byte first. The lowest mark
    /// is always exact, because borrows propagate upwards.
    var plainBytes: Int {
        let belowSpace = (self &- ones &* 0x20) & ~self
        let marks = (belowSpace | zeroByteMark(xor: 0x22) | zeroByteMark(xor: 0x5C)) & topBits
        return marks.trailingZeroBitCount / 8
    }

    /// Whether any byte is not printable ASCII, or is a quote or a backslash.
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
