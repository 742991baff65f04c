import Glibc
package import NorrisSystem
import NorrisText

/// Writes text to a descriptor, in ASCII only if a terminal at its other end cannot show UTF-8.
package struct TextWriter: Sendable {
    let descriptor: Int32
    let isASCII: Bool

    package init(descriptor: Int32, isASCII: Bool) {
        self.descriptor = descriptor
        self.isASCII = isASCII
    }

    /// - Parameter bytes: whole characters; none of them combines with a character of another call.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(isASCII ? Array(asciiText(String(decoding: bytes, as: UTF8.self)).utf8) : bytes, to: descriptor)
    }
}
