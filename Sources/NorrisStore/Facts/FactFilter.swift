package import NorrisProtocol

/// The facts that a shuffle serves or a search reads. A user has one shuffle for each filter.
package struct FactFilter: Hashable, Sendable {
    package let source: FactScope
    package let allowsExplicit: Bool
    /// In code points of the stored text; nil for any.
    package let maxLength: Int?
    /// Sorted, without duplicates; empty for all facts. A fact needs one of the categories.
    package let categories: [String]

    package init(
        categories: [String] = [], source: FactScope = .all, allowsExplicit: Bool = false, maxLength: Int? = nil
    ) {
        self.categories = categories.count > 1 ? Set(categories).sorted() : categories
        self.source = source
        self.allowsExplicit = allowsExplicit
        self.maxLength = maxLength
    }

    /// By hand, because most filters have no categories, and `fact.random` compares filters.
    @inline(__always) package static func == (left: FactFilter, right: FactFilter) -> Bool {
        left.source == right.source && left.maxLength == right.maxLength && left.allowsExplicit == right.allowsExplicit
            && left.categories.count == right.categories.count
            && (left.categories.isEmpty || left.categories == right.categories)
    }

    var kinds: FactKind.Set { FactKind.Set(source, allowsExplicit: allowsExplicit) }

    /// The filter in `state.db`. Category names contain none of the separators.
    var key: String {
        let length = maxLength.map { String($0) } ?? ""
        return "\(categories.joined(separator: ","))/\(source.rawValue)/\(allowsExplicit ? "explicit" : "")/\(length)"
    }

    /// nil for an invalid text.
    init?(key: String) {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, let source = FactScope(rawValue: String(parts[1])) else { return nil }
        self.init(
            categories: parts[0].split(separator: ",").map(String.init), source: source,
            allowsExplicit: !parts[2].isEmpty, maxLength: Int(parts[3]))
        guard self.key.utf8.elementsEqual(key.utf8), maxLength.map({ $0 > 0 }) ?? true else { return nil }
    }
}

/// A search in the facts: every word must occur, in any order, ignoring case.
package struct FactQuery: Sendable {
    private let search: SearchWords
    package let filter: FactFilter

    /// - Throws: `-32602` for a text that ``SearchWords`` refuses.
    package init(text: String, categories: [String] = [], source: FactScope = .all) throws(ResponseError) {
        search = try SearchWords(text)
        filter = FactFilter(categories: categories, source: source)
    }

    /// The text as typed.
    package var text: String { search.text }
    var words: [String] { search.words }

    /// Distinguishes the query's cursors from the cursors of other lists.
    var list: [String] { ["facts", filter.source.rawValue, "\(words.count)"] + words + filter.categories }
}

/// The groups of facts, in their order of precedence.
package enum FactGroup: UInt8, Sendable {
    /// The starting collection.
    case builtin
    case upstream
    case fortune

    /// The group of a fact's source: `builtin`, `fortune:NAME`, or an upstream's name.
    init(source: String) {
        self = source == "builtin" ? .builtin : source.utf8.starts(with: "fortune:".utf8) ? .fortune : .upstream
    }
}

/// The group of a fact, and whether it is explicit.
package struct FactKind: Sendable {
    /// Twice the group, and 1 for an explicit fact.
    private let number: UInt8

    init(_ group: FactGroup, _ categories: [String]) {
        number = group.rawValue * 2 + (categories.contains { $0.hasSameBytes(as: Fact.explicitCategory) } ? 1 : 0)
    }

    // Not nil, because the number contains a group.
    var group: FactGroup { FactGroup(rawValue: number / 2)! }
    package var isLocal: Bool { number / 2 != FactGroup.upstream.rawValue }
    package var isExplicit: Bool { number & 1 == 1 }

    /// Some of the kinds, a bit for each.
    struct Set {
        private let bits: UInt8

        init(_ source: FactScope, allowsExplicit: Bool) {
            let groups: UInt8 = source == .norris ? 0b00_11_11 : source == .fortune ? 0b11_00_00 : 0b11_11_11
            bits = allowsExplicit ? groups : groups & 0b01_01_01
        }

        @inline(__always) func contains(_ kind: FactKind) -> Bool { bits >> kind.number & 1 == 1 }
    }
}

extension Fact {
    package var isExplicit: Bool { categories.contains { $0.hasSameBytes(as: Fact.explicitCategory) } }

    /// Whether the fact is from the starting collection or a fortune file.
    package var isLocal: Bool { FactGroup(source: source) != .upstream }

    /// In code points of the text: the bytes of UTF-8 that are no continuation.
    package var length: Int {
        let continuations = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 1 : 0) }
        }
        return continuations.map { text.utf8.count - $0 } ?? text.unicodeScalars.count
    }
}
