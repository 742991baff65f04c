package import NorrisProtocol
import NorrisSystem

/// The facts inside the daemon, so that a first start works without a network.
package enum StartingCollection {
    package typealias Section = (category: String, lines: String)

    /// All facts in the order of ``sections``. The section's category is the first category of a fact.
    package static func facts() -> [Fact] { facts(in: sections) }

    /// 16 hexadecimal digits that change with any text or category.
    package static var digest: String { digest(of: sections) }

    static func facts(in sections: [Section]) -> [Fact] {
        sections.flatMap { section in
            section.lines.split(separator: "\n").map { fact(line: $0, category: section.category) }
        }
    }

    static func digest(of sections: [Section]) -> String {
        var hash = FNV1a64()
        for section in sections {
            // A section ends with a byte that no line contains, so that moving a line to another section changes the
            // digest.
            for text in [section.category, "\n", section.lines, "\0"] { hash.combine(text) }
        }
        return hash.value.digits(radix: 16, width: 16)
    }

    private static func fact(line: Substring, category: String) -> Fact {
        var text = line
        var further: [String] = []
        while let space = text.lastIndex(of: " "), text[space...].hasPrefix(" #") {
            further.insert(String(text[space...].dropFirst(2)), at: 0)
            text = text[..<space]
        }
        var hash = FNV1a64()
        hash.combine(text)
        // Only the text is hashed, so that adding or moving facts changes no other id. 13 digits of five bits suffice
        // for a hash of 64 bits.
        let id = "builtin-" + hash.value.digits(radix: 32, width: 13)
        return Fact(id: id, text: String(text), categories: [category] + further, source: "builtin")
    }
}
