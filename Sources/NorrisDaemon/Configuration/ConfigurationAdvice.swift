import NorrisText

extension ConfigurationSchema {
    /// The advice about an unknown key: the key that was probably meant, or a list of all valid keys.
    static func advice(for name: String, in section: String, among siblings: [String]) -> String {
        func path(_ name: String) -> String { section.isEmpty ? name : "\(section).\(name)" }
        // `{kind:feed}` is one key without a value in YAML.
        if let colon = name.firstIndex(of: ":"), siblings.contains(String(name[..<colon])) {
            return "put a space after the colon"
        }
        if let nearest = nearest(to: name, among: siblings) {
            return "did you mean \(path(nearest))?"
        }
        let all = keys.map(\.name) + ConfigurationKey.values(of: keys).map(\.path)
        let elsewhere = all.filter { $0 == name || $0.hasSuffix("." + name) }
        // A source has few keys, and a key of another section was not meant.
        if elsewhere.isEmpty || section.hasPrefix("posts.sources.") {
            return "valid here: " + siblings.joined(separator: ", ")
        }
        return "did you mean \(elsewhere.joined(separator: " or "))? Indent a key below its section"
    }

    /// The candidate nearest to a mistyped key, or nil if no candidate is near: at most one edit for every three
    /// letters.
    ///
    /// Ignores case, and treats `-` as `_`. The first of equally near candidates wins.
    private static func nearest(to key: String, among candidates: [String]) -> String? {
        func folded(_ key: String) -> [Unicode.Scalar] {
            // All valid keys are shorter, and the cost of an endless key must not grow with the square of its length.
            key.lowercased().unicodeScalars.prefix(64).map { $0 == "-" ? "_" : $0 }
        }
        let wanted = folded(key)
        let distances = candidates.map { (candidate: $0, distance: editDistance(wanted, folded($0))) }
        let near = distances.filter { $0.distance <= max(1, $0.candidate.unicodeScalars.count / 3) }
        return near.min { $0.distance < $1.distance }?.candidate
    }
}
