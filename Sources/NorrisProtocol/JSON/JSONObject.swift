/// The members of a JSON object, in their original order, without duplicate keys.
///
/// Keys are compared by bytes: a composed and a decomposed `"é"` are different keys. Look-up is linear, which is faster
/// than hashing for the few members of a typical object.
package struct JSONObject: Sendable {
    package private(set) var members: [(key: String, value: JSON)]

    package init() { members = [] }

    /// The caller guarantees that the keys are distinct; debug builds check this.
    init(uniqueMembers members: [(key: String, value: JSON)]) {
        assert(Set(members.lazy.map { Array($0.key.utf8) }).count == members.count, "A key stands twice in an object.")
        self.members = members
    }

    /// The value of a member. Setting a value replaces the member in place or appends it; setting `nil` removes it.
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
    /// Compares the members regardless of their order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.byKey == right.byKey
    }

    private var byKey: [[UInt8]: JSON] {
        // Does not trap, because all initializers and the setter keep the keys distinct.
        Dictionary(uniqueKeysWithValues: members.lazy.map { (Array($0.key.utf8), $0.value) })
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// A duplicate key is a programming error and traps in debug builds.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(uniqueMembers: elements.map { (key: $0.0, value: $0.1) })
    }
}

extension String {
    /// Whether both texts have the same bytes; `==` also accepts canonically equivalent texts.
    package func hasSameBytes(as other: String) -> Bool {
        // Most unequal strings differ in length.
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
