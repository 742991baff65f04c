import NorrisProtocol

/// The place in a list where a page ends, as a text that nobody can make up.
struct SealedCursor: Equatable {
    /// What the list is sorted by first, or what else is a number.
    let number: Int64
    /// What tells items with the same number apart.
    let text: String

    init(number: Int64, text: String = "") {
        self.number = number
        self.text = text
    }

    /// Reads what ``sealed(for:key:)`` wrote for the same list with the same key.
    ///
    /// - Throws: `-32602` for any other text.
    init(_ sealed: String, of list: [String], key: UInt64) throws(ResponseError) {
        // Over bytes: a text that begins with a combining mark is one character with the dot before it.
        let parts = sealed.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
            .map(Substring.init)
        guard parts.count == 3, let number = Int64(parts[0], radix: 36) else { throw SealedCursor.refusal }
        self.init(number: number, text: String(parts[2]))
        guard self.sealed(for: list, key: key).hasSameBytes(as: sealed) else { throw SealedCursor.refusal }
    }

    /// - Parameter list: what tells the list from all others with this key, in a fixed order.
    func sealed(for list: [String], key: UInt64) -> String {
        let number = String(number, radix: 36)
        // 0xFF is in no UTF-8, so no two lists of texts give the same bytes.
        var bytes: [UInt8] = []
        for field in [number, text] + list { bytes += Array(field.utf8) + [0xFF] }
        let tag = String(SipHash.hash(bytes, key: (key, 0)), radix: 36)
        return "\(number).\(tag).\(text)"
    }

    private static let refusal = ResponseError.invalidParams(
        "The cursor is not of this list.", parameter: "cursor", hint: "Begin again without a cursor."
    )
}
