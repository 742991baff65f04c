/// Why bytes are not JSON as this protocol understands it, and where.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        case byteOrderMark
        case controlCharacter
        case duplicateKey
        case integerOutOfRange
        case invalidEscape
        case invalidNumber
        case invalidUTF8
        case loneSurrogate
        case numberTooLarge
        case tooDeep
        case trailingBytes
        case unexpectedByte
        case unexpectedEnd
    }

    package let reason: Reason

    /// The byte at which the fault was found, counted from 0; for a fault of a whole string or number, its first byte.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// One sentence. It never repeats bytes of the input, so it may be logged and printed as it is.
    package var description: String {
        switch reason {
        case .byteOrderMark: "A byte order mark stands at byte \(offset); send plain UTF-8."
        case .controlCharacter: "The control character at byte \(offset) must be escaped inside a string."
        case .duplicateKey: "The key at byte \(offset) stands twice in its object."
        case .integerOutOfRange: "The integer at byte \(offset) is beyond 2^53; send large numbers as strings."
        case .invalidEscape: "The escape at byte \(offset) is none that JSON knows."
        case .invalidNumber: "The number at byte \(offset) lacks a digit."
        case .invalidUTF8: "The string at byte \(offset) is not valid UTF-8."
        case .loneSurrogate: "The \\u escape at byte \(offset) is half of a surrogate pair."
        case .numberTooLarge: "The number at byte \(offset) is too large for a double."
        case .tooDeep: "The bracket at byte \(offset) opens more than \(JSON.maximumDepth) levels."
        case .trailingBytes: "Something follows the end of the value at byte \(offset)."
        case .unexpectedByte: "The byte at \(offset) is not JSON there."
        case .unexpectedEnd: "The value ends too early at byte \(offset)."
        }
    }
}
