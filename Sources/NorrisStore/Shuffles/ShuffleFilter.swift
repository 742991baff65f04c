package import NorrisProtocol

/// The facts that a shuffle serves. A user has one shuffle for each filter.
package struct ShuffleFilter: Hashable, Sendable {
    /// Sorted, without duplicates; empty for all facts. A fact needs one of the categories.
    package let categories: [String]
    package let source: FactScope
    package let allowsExplicit: Bool
    /// In code points of the stored text; nil for any.
    package let maxLength: Int?

    package init(
        categories: [String] = [], source: FactScope = .all, allowsExplicit: Bool = false, maxLength: Int? = nil
    ) {
        self.categories = categories.count > 1 ? Set(categories).sorted() : categories
        self.source = source
        self.allowsExplicit = allowsExplicit
        self.maxLength = maxLength
    }

    /// The lists with the matching facts. A fact with several categories is in several lists.
    var lists: [FactListName] {
        let kinds = source.kinds(allowsExplicit: allowsExplicit)
        return (categories.isEmpty ? [""] : categories).flatMap { category in
            kinds.map { FactListName(category: category, kind: $0) }
        }
    }

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

/// The name of a list: a category, or empty for all facts, and the kind of the facts.
package struct FactListName: Hashable, Sendable {
    let category: String
    let kind: FactKind
}

/// Whether a fact is a fortune, and whether it is explicit. The raw values are stored in `cache.db`.
package enum FactKind: UInt8, Sendable, CaseIterable {
    case norris, explicitNorris, fortune, explicitFortune

    init(_ group: FactGroup, categories: [String]) {
        let isExplicit = categories.contains { $0.hasSameBytes(as: Fact.explicitCategory) }
        self =
            group == .fortunes ? (isExplicit ? .explicitFortune : .fortune) : (isExplicit ? .explicitNorris : .norris)
    }

    var isExplicit: Bool { self == .explicitNorris || self == .explicitFortune }
}

extension FactKind: ColumnInteger {
    static let columnRange: ClosedRange<Int64> = 0...Int64(FactKind.allCases.count - 1)
    var columnValue: Int64 { Int64(rawValue) }
    // Every raw value in the range has a case.
    init(columnValue: Int64) { self = FactKind(rawValue: UInt8(truncatingIfNeeded: columnValue)) ?? .norris }
}

extension FactScope {
    func kinds(allowsExplicit: Bool) -> [FactKind] {
        let kinds: [FactKind] =
            switch self {
            case .norris: [.norris, .explicitNorris]
            case .fortune: [.fortune, .explicitFortune]
            case .all: FactKind.allCases
            }
        return allowsExplicit ? kinds : kinds.filter { !$0.isExplicit }
    }
}
