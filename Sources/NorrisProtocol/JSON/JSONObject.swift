/// The members of a JSON object, in the order in which they were written, without duplicate keys.
///
/// Keys are the same when their bytes are: `"é"` composed and decomposed are two keys. Look-up is linear, which beats
/// hashing for the handful of members that objects of this protocol have.
package struct JSONObject: Sendable {
    package private(set) var members: [(key: String, value: JSON)]

    package init() { members = [] }

    /// Takes members whose keys the caller has found to be distinct; debug builds check it.
    init(uniqueMembers members: [(key: String, value: JSON)]) {
        assert(Set(members.lazy.map { ByteKey($0.key) }).count == members.count, "A key stands twice in an object.")
        self.members = members
    }

    /// The value of a member. Setting replaces it in its place or appends it; setting `nil` removes it.
    package subscript(_ key: String) -> JSON? {
        get {
            for member in members where member.key.hasSameBytes(as: key) { return member.value }
            return nil
        }
        set {
            let index = members.firstIndex { $0.key.hasSameBytes(as: key) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key: key, value: value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: Equatable {
    /// Equal members, whatever their order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.byKey == right.byKey
    }

    private var byKey: [ByteKey: JSON] {
        // Keys are distinct: every initializer and the subscript's setter keep them so.
        Dictionary(uniqueKeysWithValues: members.lazy.map { (ByteKey($0.key), $0.value) })
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// A key that stands twice is a programming error and traps in debug builds.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(uniqueMembers: elements.map { (key: $0.0, value: $0.1) })
    }
}

/// A string that is equal to another, and hashes like it, only if their UTF-8 bytes are the same.
struct ByteKey: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ByteKey, right: ByteKey) -> Bool { left.text.hasSameBytes(as: right.text) }

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
