package import NorrisProtocol

extension Fact {
    /// The name of the category whose facts are given only to those who ask for them.
    package static let explicitCategory = "explicit"

    /// A fact longer than this is not stored: the longest that `max_length` can name, in code points.
    package static let maximumLength = 10_000

    package var isExplicit: Bool {
        categories.contains { $0.hasSameBytes(as: Fact.explicitCategory) }
    }

    /// Whether the fact is from the starting collection or a fortune file.
    package var isLocal: Bool {
        FactGroup(source: source) != .upstream
    }

    /// In code points of the text.
    package var length: Int {
        text.unicodeScalars.count
    }

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
