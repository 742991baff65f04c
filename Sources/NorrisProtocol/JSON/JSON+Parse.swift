extension JSON {
    /// How many brackets may be open at one time.
    package static let maximumDepth = 32

    /// The largest magnitude of an integer literal, 2^53: up to here every integer is exact in a binary64 as well, so
    /// peers that know only doubles read the same number (RFC 8259, section 6).
    package static let maximumInteger: Int64 = 1 << 53

    /// Reads exactly one value, with white space around it.
    ///
    /// RFC 8259 and stricter where it leaves room: valid UTF-8 without byte order mark, no duplicate keys (compared
    /// after decoding, by bytes), at most `maximumDepth` open brackets, integer literals within ±`maximumInteger`, no
    /// number that overflows binary64 (underflow gives zero), no lone surrogate escapes.
    package static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
        var parser = JSONParser(bytes)
        return try parser.document()
    }

    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
            try parse(UnsafeRawBufferPointer(buffer))
        }
    }

    package static func parse(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSON {
        try bytes.withRawBytes { bytes throws(JSONError) in try parse(bytes) }
    }

    package static func parse(_ text: String) throws(JSONError) -> JSON {
        try parse(Array(text.utf8))
    }
}
