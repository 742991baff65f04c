/// One fact of the starting collection, before it gets its wire form.
package struct StartingFact: Sendable, Equatable {
    /// `builtin-` and 13 digits of base 32, derived from `text` alone: adding and moving facts changes no other id.
    package let id: String
    /// One line of plain text that holds "Chuck Norris" in this spelling.
    package let text: String
    /// The category whose section the fact stands in, then the further ones of its line.
    package let categories: [String]
}

/// The facts that ship inside the daemon, so that a first start works without any network.
///
/// Nothing is parsed or hashed before it is asked for.
package enum StartingCollection {
    /// The facts of one category as they are written down.
    package struct Section: Sendable {
        /// The category of every fact in `lines`.
        let category: String
        /// One fact a line; a line may end in further categories, each as a space, `#` and the name.
        let lines: String

        package init(category: String, lines: String) {
            self.category = category
            self.lines = lines
        }
    }

    /// All facts that ship, in the order they are written down.
    package static func facts() -> [StartingFact] {
        facts(in: sections)
    }

    /// 16 hexadecimal digits that change whenever a shipped text or its categories do.
    package static var digest: String {
        digest(of: sections)
    }

    /// The facts of the given sections, in their order.
    package static func facts(in sections: [Section]) -> [StartingFact] {
        sections.flatMap { section in
            section.lines.split(separator: "\n").map { fact(line: $0, category: section.category) }
        }
    }

    /// The digest of the given sections; their order counts.
    package static func digest(of sections: [Section]) -> String {
        var hash = FNV1a64()
        for section in sections {
            hash.combine(section.category)
            hash.combine("\n")
            hash.combine(section.lines)
            // A byte that no line holds ends a section, so that moving a line over its edge changes the digest.
            hash.combine("\0")
        }
        return zeroPadded(String(hash.value, radix: 16), to: 16)
    }

    private static func fact(line: Substring, category: String) -> StartingFact {
        var text = line
        var further: [String] = []
        while let space = text.lastIndex(of: " "), text[space...].hasPrefix(" #") {
            further.insert(String(text[space...].dropFirst(2)), at: 0)
            text = text[..<space]
        }
        var hash = FNV1a64()
        hash.combine(text)
        // 13 digits of five bits are the fewest that hold any 64-bit hash.
        let id = "builtin-" + zeroPadded(String(hash.value, radix: 32), to: 13)
        return StartingFact(id: id, text: String(text), categories: [category] + further)
    }

    private static func zeroPadded(_ digits: String, to width: Int) -> String {
        String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// The 64-bit FNV-1a hash of bytes; its parameters are those of draft-eastlake-fnv.
///
/// Not `Hasher`, whose seed differs from process to process.
private struct FNV1a64 {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func combine(_ text: some StringProtocol) {
        for byte in text.utf8 {
            value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
    }
}
