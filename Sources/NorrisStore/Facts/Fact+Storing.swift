package import NorrisProtocol

extension Fact {
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
}
