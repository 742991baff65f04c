/// What tells one walk of a user from another.
package struct WalkFilter: Hashable, Sendable {
    /// Sorted and without doubles; empty for all facts.
    package let categories: [String]
    package let allowsExplicit: Bool
    /// In code points of the stored text; nil for any.
    package let maxLength: Int?

    package init(categories: [String] = [], allowsExplicit: Bool = false, maxLength: Int? = nil) {
        self.categories = categories.count > 1 ? Set(categories).sorted() : categories
        self.allowsExplicit = allowsExplicit
        self.maxLength = maxLength
    }
}

extension WalkFilter {
    /// The form the filter has in `state.db`; category names hold none of its marks.
    var key: String {
        let length = maxLength.map { String($0) } ?? ""
        return "\(categories.joined(separator: ","))/\(allowsExplicit ? "explicit" : "")/\(length)"
    }

    /// nil for a text that is no such form.
    init?(key: String) {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        self.init(
            categories: parts[0].split(separator: ",").map(String.init),
            allowsExplicit: !parts[1].isEmpty,
            maxLength: Int(parts[2])
        )
        guard self.key.utf8.elementsEqual(key.utf8), maxLength.map({ $0 > 0 }) ?? true else { return nil }
    }

    /// The rosters that hold the matching facts. A fact of several of the categories is in several of them.
    var rosters: [RosterName] {
        let names = categories.isEmpty ? [""] : categories
        return names.flatMap { name in
            allowsExplicit
                ? [RosterName(category: name, isExplicit: false), RosterName(category: name, isExplicit: true)]
                : [RosterName(category: name, isExplicit: false)]
        }
    }

    /// The strips of each roster.
    var strips: [Strip] {
        guard let maxLength else { return [.all] }
        return LengthInterval.covering(upTo: maxLength).map(Strip.lengths)
    }
}

/// A roster's name: its category, or none for all facts; explicit facts sit on rosters of their own.
struct RosterName: Hashable, Sendable {
    let category: String
    let isExplicit: Bool

    /// The form in `state.db`.
    var key: String {
        isExplicit ? category + "!" : category
    }

    init(category: String, isExplicit: Bool) {
        self.category = category
        self.isExplicit = isExplicit
    }

    init(key: String) {
        isExplicit = key.utf8.last == UInt8(ascii: "!")
        category = isExplicit ? String(key.dropLast()) : key
    }
}
