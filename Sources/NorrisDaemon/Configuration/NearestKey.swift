/// Finding the key that somebody meant.
enum NearestKey {
    /// The candidate nearest to a mistyped key, or nil if none is near: one slip for every three letters.
    ///
    /// Case does not count and `-` is taken for `_`. Of equally near candidates the first one wins.
    static func nearest(to key: String, among candidates: [String]) -> String? {
        let wanted = folded(key)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(wanted, folded(candidate))
            if distance <= max(1, candidate.unicodeScalars.count / 3), distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.candidate
    }

    /// Edits between two words: insertions, deletions, replacements, and swaps of two neighbours (optimal string
    /// alignment, so nothing is edited twice).
    static func distance(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for i in first.indices {
            var row = [i + 1]
            for j in second.indices {
                let replaced = last[j] + (first[i] == second[j] ? 0 : 1)
                var cost = min(replaced, last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[second.count]
    }

    private static func folded(_ key: String) -> [Unicode.Scalar] {
        // No valid key is longer, and an endless one must not cost its length squared.
        key.lowercased().unicodeScalars.prefix(64).map { $0 == "-" ? "_" : $0 }
    }
}
