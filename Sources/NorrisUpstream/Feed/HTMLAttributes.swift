/// The attributes of the start tags of one element in a piece of HTML, in the order of the tags.
///
/// - Parameter element: in small letters.
/// - Returns: for each tag its attributes with names in small letters and entities decoded; the first of a name counts.
func htmlTags(_ element: String, in html: [UInt8], _ budget: DecodingBudget) -> [[String: String]] {
    var tags: [[String: String]] = []
    var index = 0
    while let start = html[index...].firstIndex(of: UInt8(ascii: "<")) {
        guard budget.read(bytes: start + 1 - index) else { break }
        index = start + 1
        guard let tag = HTMLTag(html[start...]) else { continue }
        guard budget.spend(elements: 1) else { break }
        index = start + tag.length
        if tag.name == element, !tag.isEnd {
            tags.append(htmlAttributes(html[(start + 1 + element.utf8.count)..<(index - 1)], budget))
        }
    }
    return tags
}

/// - Parameter bytes: what stands in a tag behind its name.
private func htmlAttributes(_ bytes: ArraySlice<UInt8>, _ budget: DecodingBudget) -> [String: String] {
    let isGap = { (byte: UInt8) in isWhiteSpace(byte) || byte == UInt8(ascii: "/") }
    var attributes: [String: String] = [:]
    var rest = bytes.drop(while: isGap)
    while !rest.isEmpty {
        let name = rest.prefix { !isGap($0) && $0 != UInt8(ascii: "=") }
        rest = rest[name.endIndex...].drop(while: isWhiteSpace)
        var value = rest.prefix(0)
        if rest.first == UInt8(ascii: "=") {
            rest = rest.dropFirst().drop(while: isWhiteSpace)
            if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                value = rest.dropFirst().prefix { $0 != quote }
                rest = rest[value.endIndex...].dropFirst()
            } else {
                value = rest.prefix { !isWhiteSpace($0) }
                rest = rest[value.endIndex...]
            }
        }
        let key = String(decoding: name, as: UTF8.self).lowercased()
        if attributes[key] == nil {
            attributes[key] = plainText(fromHTML: String(decoding: value, as: UTF8.self), budget)
        }
        rest = rest.drop(while: isGap)
    }
    return attributes
}
