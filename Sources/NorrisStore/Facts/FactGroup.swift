/// Where facts come from, as far as storing them is concerned: each group is replaced as a whole.
package enum FactGroup: String, Sendable, CaseIterable {
    case builtin
    case fortunes
    case upstream

    /// The group a source's name belongs to: `builtin`, `fortune:NAME`, or the upstream's own name.
    init(source: String) {
        if source == "builtin" {
            self = .builtin
        } else if source.utf8.starts(with: "fortune:".utf8) {
            self = .fortunes
        } else {
            self = .upstream
        }
    }

    /// What holds in SQL of the sources of the group, as ``init(source:)`` has it.
    var condition: String {
        let isFortune = "(source >= 'fortune:' AND source < 'fortune;')"  // In ASCII, ";" comes after ":".
        return switch self {
        case .builtin: "source = 'builtin'"
        case .fortunes: isFortune
        case .upstream: "source <> 'builtin' AND NOT \(isFortune)"
        }
    }

    /// Whether of two facts with the same text the one of this group is kept.
    func outranks(_ other: FactGroup) -> Bool {
        rank > other.rank
    }

    private var rank: Int {
        switch self {
        case .builtin: 2
        case .upstream: 1
        case .fortunes: 0
        }
    }
}
