/// The beginning of a text, as lines for a terminal.
package struct Excerpt: Equatable, Sendable {
    package let lines: [String]
    /// Whether the text goes on.
    package let isCut: Bool
}

/// The first lines of a text as `wrapped(_:width:)` breaks it, empty ones left out; where there are more than `count`
/// (at least 1) the last one ends in `…`.
package func excerpt(of text: String, width: Int, lines count: Int) -> Excerpt {
    let all = wrapped(text, width: width).filter { !$0.isEmpty }
    let count = max(count, 1)
    guard all.count > count else { return Excerpt(lines: all, isCut: false) }
    let last = truncated(all[count - 1] + "…", toColumns: max(width, 1))
    return Excerpt(lines: all[..<(count - 1)] + [last], isCut: true)
}
