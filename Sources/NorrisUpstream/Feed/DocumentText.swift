import Glibc

/// A document in UTF-8, whatever it came in, so that no reader behind this has to know of encodings.
///
/// What the bytes themselves show counts first, that is a byte order mark or the zeros of UTF-16; then `charset` of
/// Content-Type (RFC 7303, section 3.2), then the XML declaration, else it is UTF-8. Bytes that are no characters
/// become U+FFFD; control characters that neither XML nor JSON may hold are left out.
///
/// - Parameter contentType: the field's value; a charset in it that is not known does not count.
func documentText(
    _ body: [UInt8], contentType: String?, _ budget: DecodingBudget
) throws(UnusableBody) -> [UInt8] {
    budget.spend(bytes: body.count)
    try budget.check()
    if body.starts(with: [0xEF, 0xBB, 0xBF]) { return withoutControls(valid(body[3...])) }
    if body.starts(with: [0xFE, 0xFF]) { return withoutControls(utf16(body[2...], isBigEndian: true)) }
    if body.starts(with: [0xFF, 0xFE]) { return withoutControls(utf16(body[2...], isBigEndian: false)) }
    switch (body.first, body.dropFirst().first) {
    case (0, let second?) where second != 0: return withoutControls(utf16(body[...], isBigEndian: true))
    case (let first?, 0) where first != 0: return withoutControls(utf16(body[...], isBigEndian: false))
    default: break
    }
    var charset = contentType.flatMap(charsetName).flatMap(Charset.init)
    if charset == nil, let name = xmlEncodingName(body) {
        charset = Charset(name)
        if charset == nil {
            throw .fault("answered in the encoding \(UpstreamError.cut(name, to: 40)), which norrisd does not know")
        }
    }
    switch charset {
    case nil, .utf8: return withoutControls(valid(body[...]))
    case .other(let name): return withoutControls(try converted(body, from: name, budget))
    }
}

/// The range of an XML declaration, which begins at the first byte that is not white space: XML wants it at the very
/// beginning, but templates put line ends before it.
func xmlDeclaration(_ document: [UInt8]) -> Range<Int>? {
    guard let start = document.firstIndex(where: { !isWhiteSpace($0) }),
        document[start...].starts(with: "<?xml".utf8), document[start...].count > 5, isWhiteSpace(document[start + 5])
    else { return nil }
    let head = document[start...].prefix(1024)
    guard let end = head.indices.first(where: { head[$0...].starts(with: "?>".utf8) }) else { return nil }
    return start..<end + 2
}

func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\t")
}

/// What stands in quotes behind `encoding` in the XML declaration.
private func xmlEncodingName(_ document: [UInt8]) -> String? {
    guard let declaration = xmlDeclaration(document) else { return nil }
    let text = String(decoding: document[declaration], as: UTF8.self)
    let parts = text.split { $0 == "\"" || $0 == "'" }
    for (label, value) in zip(parts, parts.dropFirst()) {
        // `encoding = `, at the end of what stands between two values.
        let words = label.split { " \t\r\n=".contains($0) }
        if words.last == "encoding", label.contains("=") { return String(value) }
    }
    return nil
}

/// The parameter `charset` of a media type (RFC 9110, section 8.3.1).
private func charsetName(_ contentType: String) -> String? {
    for parameter in contentType.split(separator: ";").dropFirst() {
        let pair = parameter.split(separator: "=", maxSplits: 1)
        if pair.count == 2, pair[0].filter({ $0 != " " && $0 != "\t" }).lowercased() == "charset" {
            return pair[1].filter { !" \t\"'".contains($0) }
        }
    }
    return nil
}

private func valid(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array(String(decoding: bytes, as: UTF8.self).utf8)
}

private func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2)
    for index in stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2) {
        let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        units.append(isBigEndian ? first << 8 | second : second << 8 | first)
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
}

private func withoutControls(_ text: [UInt8]) -> [UInt8] {
    let isAllowed = { (byte: UInt8) in byte >= 0x20 || isWhiteSpace(byte) }
    return text.allSatisfy(isAllowed) ? text : text.filter(isAllowed)
}
