package import NorrisProtocol
import NorrisSystem

/// The facts inside the daemon, so that a first start works without a network.
///
/// `StartingCollection.txt` has a section for each category, which begins with the name in brackets, and in it a fact
/// on each line. A line may end with more categories, each as a space, `#` and the name.
package enum StartingCollection {
    /// All facts in the order of the file. The section's category is the first category of a fact.
    package static func facts() -> [Fact] {
        var category = ""
        let lines = String(decoding: PackageResources.StartingCollection_txt, as: UTF8.self).split(separator: "\n")
        return lines.compactMap { line in
            guard line.first == "[" else { return fact(line: line, category: category) }
            category = String(line.dropFirst().dropLast())
            return nil
        }
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
