/// A string that is equal to another, and hashes like it, only if their UTF-8 bytes are the same.
struct ByteKey: Hashable {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ByteKey, right: ByteKey) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// The standard library's hasher is keyed at random in every process, so a peer cannot choose colliding keys.
    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether both texts are the same bytes; `==` would also accept canonically equivalent ones.
    package func hasSameBytes(as other: String) -> Bool {
        // Different lengths settle nearly every comparison without a look at the bytes.
        guard utf8.count == other.utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in left.elementsEqual(right) }
        }
        // Native strings, and there are no others here, always have their bytes in one piece.
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
