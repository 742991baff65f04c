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

    package init(capacity: Int = 512) {
        output = OutputBytes(capacity: capacity)
    }

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

    package func mark() -> Mark {
        Mark(count: output.count, needsComma: needsComma)
    }

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

    package mutating func null() {
        appendWord("null")
    }

    package mutating func bool(_ value: Bool) {
        appendWord(value ? "true" : "false")
    }

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
        if needsComma {
            output.append(UInt8(ascii: ","))
        }
        needsComma = true
    }
}
