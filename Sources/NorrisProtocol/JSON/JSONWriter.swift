/// Writes JSON values, one after the other, as the bytes of the wire.
///
/// Commas come by themselves. The caller keeps the grammar otherwise: a key before each value of an object, every
/// bracket closed. Output holds no raw line feed but those of `newline()`, and no character that `string(_:)` escapes.
package struct JSONWriter: Sendable {
    /// A state to return to: what was written after it can be undone.
    package struct Mark: Sendable {
        fileprivate let count: Int
        fileprivate let needsComma: Bool
    }

    package internal(set) var bytes: [UInt8]

    /// Whether a value has just ended, so that the next key or value of the same level needs a comma before it.
    private var needsComma = false

    package init(capacity: Int = 512) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Goes on with an array that has been opened, and may hold elements.
    package init(resuming array: [UInt8]) {
        bytes = array
        needsComma = array.count > 1
    }

    package var count: Int { bytes.count }

    /// Begins anew and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    package func mark() -> Mark {
        Mark(count: bytes.count, needsComma: needsComma)
    }

    /// Removes everything written since the mark, which must be of this writer and not from before a `removeAll()`.
    package mutating func rewind(to mark: Mark) {
        bytes.removeSubrange(mark.count...)
        needsComma = mark.needsComma
    }

    /// Ends the line: the next value starts a new one, without comma.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    package mutating func beginObject() {
        beginValue()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    package mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func beginArray() {
        beginValue()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    package mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    package mutating func key(_ key: String) {
        beginValue()
        appendQuoted(key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A key of the source code, copied as it is: plain ASCII without quote and backslash.
    package mutating func key(_ key: StaticString) {
        beginValue()
        let text = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        assert(text.allSatisfy { 0x20..<0x7F ~= $0 && $0 != 0x22 && $0 != 0x5C }, "The key \(key) needs escapes.")
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
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
        bytes.append(contentsOf: encoded)
    }

    /// One complete value that is encoded already, copied unseen.
    package mutating func raw(_ encoded: UnsafeRawBufferPointer) {
        beginValue()
        bytes.append(contentsOf: encoded)
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
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        needsComma = endsValue
    }

    /// An array that has been opened elsewhere and may hold elements; it is gone on with here.
    package mutating func reopen(array: [UInt8]) {
        beginValue()
        bytes.append(contentsOf: array)
        needsComma = array.count > 1
    }

    /// Complete lines that are encoded already, with their ends.
    package mutating func raw(lines: [UInt8]) {
        bytes.append(contentsOf: lines)
        needsComma = false
    }

    private mutating func appendWord(_ word: StaticString) {
        beginValue()
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    /// Separates what follows from the value before it.
    mutating func beginValue() {
        if needsComma {
            bytes.append(UInt8(ascii: ","))
        }
        needsComma = true
    }
}
