package import NorrisProtocol

/// The facts that ship inside the daemon, so that a first start works without a network.
package enum StartingCollection {
    package typealias Section = (category: String, lines: String)

    /// All facts that ship, in the order of ``sections``. The category of the section comes before those of the line.
    package static func facts() -> [Fact] { facts(in: sections) }

    /// 16 hexadecimal digits that change whenever a shipped text or its categories do.
    package static var digest: String { digest(of: sections) }

    static func facts(in sections: [Section]) -> [Fact] {
        sections.flatMap { section in
            section.lines.split(separator: "\n").map { fact(line: $0, category: section.category) }
        }
    }

    static func digest(of sections: [Section]) -> String {
        var hash = FNV1a64()
        for section in sections {
            // A byte that no line holds ends a section, so that moving a line over its edge changes the digest.
            for text in [section.category, "\n", section.lines, "\0"] { hash.combine(text) }
        }
        return zeroPadded(String(hash.value, radix: 16), to: 16)
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
        // Of the text alone: adding and moving facts changes no other id. 13 digits of five bits hold any 64-bit hash.
        let id = "builtin-" + zeroPadded(String(hash.value, radix: 32), to: 13)
        return Fact(id: id, text: String(text), categories: [category] + further, source: "builtin")
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
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
}
