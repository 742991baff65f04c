/// The title of a post in one line, unless it is empty or the text begins with it, because many feeds use the first
/// words as a title.
package func visibleTitle(_ title: String, above text: String?) -> String? {
    let title = sanitizedLine(title)
    // Only the beginning of a long text is compared.
    let beginning = text.map { String($0.unicodeScalars.prefix(2 * title.unicodeScalars.count + 100)) }
    guard !title.isEmpty, let words = beginning.map(sanitizedLine), !words.isEmpty else {
        return title.isEmpty ? nil : title
    }
    let isCut = title.hasSuffix("…")
    let start = isCut ? title.dropLast() : title[...]
    guard words.utf8.starts(with: start.utf8) else { return title }
    let next = words.unicodeScalars[words.utf8.index(words.startIndex, offsetBy: start.utf8.count)...].first
    // For example, the title Go stays above a text that begins with Google.
    let endsInWord = next.map { $0.properties.isAlphabetic || $0.properties.numericType != nil } ?? false
    return endsInWord && !isCut ? title : nil
}
