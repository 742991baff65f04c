/// Searches for a part of a text or list. The searches of the standard library link its regular expressions, 1 MB of
/// `norrisctl`, whose modules do not import them.
extension Collection where Element: Equatable {
    /// Where this has the elements of `part`, without overlaps. Its time grows with the product of both lengths.
    @inlinable package func places<Part: Collection>(of part: Part) -> [Range<Index>] where Part.Element == Element {
        guard !part.isEmpty else { return [] }
        var found: [Range<Index>] = []
        var start = startIndex
        while start < endIndex {
            if self[start...].starts(with: part) {
                let end = index(start, offsetBy: part.count)
                found.append(start..<end)
                start = end
            } else {
                formIndex(after: &start)
            }
        }
        return found
    }

    /// Whether this has the elements of `part`.
    package func hasPart<Part: Collection>(_ part: Part) -> Bool where Part.Element == Element {
        !places(of: part).isEmpty
    }
}
