/// Returns the parts of a text that are code between backquotes on one line, with the backquotes, as in Markdown.
///
/// The quotes of TeX, a backquote before and an apostrophe after a word, are not code.
package func codeSpans(in text: some Collection<Character>) -> [Range<Int>] {
    let characters = Array(text)
    func isWord(_ index: Int) -> Bool {
        characters.indices.contains(index) && (characters[index].isLetter || characters[index].isNumber)
    }
    func isBlank(_ index: Int) -> Bool {
        !characters.indices.contains(index) || characters[index].isWhitespace || characters[index] == "`"
    }
    var result: [Range<Int>] = []
    var start: Int?
    for index in characters.indices {
        if characters[index].isNewline { start = nil }
        guard characters[index] == "`" else { continue }
        if let open = start, !isBlank(index - 1), !isWord(index + 1),
            index + 1 == characters.count || characters[index + 1] != "`"
        {
            result.append(open..<index + 1)
            start = nil
        } else if !isBlank(index + 1), !isWord(index - 1), index == 0 || characters[index - 1] != "`" {
            start = index
        }
    }
    return result
}
