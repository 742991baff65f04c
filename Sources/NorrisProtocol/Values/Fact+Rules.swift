/// What every source of facts has to keep to.
extension Fact {
    /// A fact longer than this is not stored: the longest that `max_length` can name, in code points.
    package static let maximumLength = 10_000

    /// A fact has no more categories than these; further ones are dropped, but never ``explicitCategory``.
    package static let maximumCategories = 16

    /// The name of the category whose facts are given only to those who ask for them.
    package static let explicitCategory = "explicit"

    /// Whether a name may be a category: `[a-z0-9_-]{1,40}`.
    package static func isCategoryName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }
}

/// Which facts are meant by where they come from: the parameter `source` of the methods `fact.*`.
package enum FactScope: String, Hashable, Sendable, CaseIterable {
    /// The upstream and the starting collection.
    case norris
    /// The fortune files.
    case fortune
    case all
}

extension FactScope {
    static let parameter = MethodDescription.Parameter.optional(
        "source", .word(allCases.map(\.rawValue)),
        "Which facts: norris (the upstream and the starting collection), fortune (fortune files) or all."
    )

    package init?(_ arguments: Arguments) {
        guard let text = arguments.string("source") else { return nil }
        self.init(rawValue: text)
    }
}
