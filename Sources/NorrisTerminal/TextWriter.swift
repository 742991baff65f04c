import NorrisText

/// Writes text to a descriptor, in ASCII alone where a terminal at its other end knows no UTF-8.
package struct TextWriter: Sendable {
    let descriptor: Int32
    let isASCII: Bool

    package init(descriptor: Int32, isASCII: Bool) {
        self.descriptor = descriptor
        self.isASCII = isASCII
    }

    /// As ``writeAll(_:to:)``.
    ///
    /// - Parameter bytes: whole characters; none of them is combined with one of another call.
    package func write(_ bytes: [UInt8]) throws(WriteError) {
        try writeAll(isASCII ? Array(asciiText(String(decoding: bytes, as: UTF8.self)).utf8) : bytes, to: descriptor)
    }
}
