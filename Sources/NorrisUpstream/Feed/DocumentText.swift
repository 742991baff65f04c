import Glibc

/// Converts a document to UTF-8, whatever encoding it came in. What the bytes themselves show counts first, that is a
/// byte order mark or the zeros of UTF-16; then `charset` of Content-Type (RFC 7303, section 3.2), then the XML
/// declaration, else it is UTF-8. Bytes that are no characters become U+FFFD; control characters that neither XML nor
/// JSON may hold are left out.
///
/// - Parameter contentType: the field's value; a charset in it that is not known does not count.
/// - Returns: whether the document was replaced; it is not if it was such UTF-8 before.
func convertToText(
    _ body: inout [UInt8], contentType: String?, _ budget: DecodingBudget
) throws(UpstreamError) -> Bool {
    budget.spend(bytes: body.count)
    try budget.check()
    var text = ConvertedText(budget)
    switch (body.first, body.dropFirst().first) {
    case (0xEF, 0xBB) where body.dropFirst(2).first == 0xBF: text.appendUTF8(body[3...])
    case (0xFE, 0xFF): text.appendUTF16(body[2...], isBigEndian: true)
    case (0xFF, 0xFE): text.appendUTF16(body[2...], isBigEndian: false)
    case (0, let second?) where second != 0: text.appendUTF16(body[...], isBigEndian: true)
    case (let first?, 0) where first != 0: text.appendUTF16(body[...], isBigEndian: false)
    default:
        var encoding = contentType.flatMap(charsetName).flatMap { encodings[$0.lowercased()] }
        if encoding == nil, let name = xmlEncodingName(body) {
            encoding = encodings[name.lowercased()]
            if encoding == nil {
                let name = UpstreamError.cut(name, to: 40)
                throw .unusable("answered in the encoding \(name), which norrisd does not know")
            }
        }
        let name = encoding ?? "UTF-8"
        if name == "UTF-8" {
            if isAllowedUTF8(body, budget) { return false }
            text.appendUTF8(body[...])
        } else {
            try text.append(&body, from: name)
        }
    }
    try budget.check()
    body = text.bytes
    return true
}

/// Whether a byte may stand in XML or JSON.
private func isAllowed(_ byte: UInt8) -> Bool { byte >= 0x20 || isWhiteSpace(byte) }

/// The pieces in which a document is read, in bytes.
private let pieceSize = 64 << 10

/// The end of the piece of UTF-8 that begins at an index: where a character begins.
private func pieceEnd(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    guard start + pieceSize < bytes.endIndex else { return bytes.endIndex }
    var end = start + pieceSize
    // At most three bytes of a character follow its first.
    for _ in 0..<3 where bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return end
}

/// Whether bytes are UTF-8 without any character that is left out: read in pieces, because each is copied.
private func isAllowedUTF8(_ bytes: [UInt8], _ budget: DecodingBudget) -> Bool {
    var start = 0
    while start < bytes.count, budget.isLeft {
        let end = pieceEnd(bytes[...], from: start)
        let piece = bytes[start..<end]
        guard piece.allSatisfy(isAllowed), String(validating: piece, as: UTF8.self) != nil else { return false }
        budget.read(bytes: piece.count)
        start = end
    }
    return true
}

/// A document in UTF-8 that is made piece by piece, each of which is counted.
private struct ConvertedText {
    private(set) var bytes: [UInt8] = []
    private let budget: DecodingBudget

    init(_ budget: DecodingBudget) { self.budget = budget }

    /// Appends what is allowed of a piece of UTF-8; false if no more should be appended.
    private mutating func append(_ piece: some Collection<UInt8>) -> Bool {
        guard budget.spend(bytes: piece.count), budget.hold(piece.count) else { return false }
        if piece.allSatisfy(isAllowed) { bytes += piece } else { bytes += piece.lazy.filter(isAllowed) }
        return true
    }

    /// Asks for the memory of the whole at once: an array that grows is copied. The kernel gives only what is used.
    private mutating func reserve(_ count: Int) { bytes.reserveCapacity(min(count, budget.limits.memory)) }

    mutating func appendUTF8(_ source: ArraySlice<UInt8>) {
        // Bytes that are no characters take three times their size.
        reserve(3 * source.count)
        var start = source.startIndex
        while start < source.endIndex {
            let end = pieceEnd(source, from: start)
            guard append(String(decoding: source[start..<end], as: UTF8.self).utf8) else { return }
            start = end
        }
    }

    mutating func appendUTF16(_ source: ArraySlice<UInt8>, isBigEndian: Bool) {
        reserve(source.count / 2 * 3)
        var units: [UInt16] = []
        units.reserveCapacity(pieceSize)
        for index in stride(from: source.startIndex, to: source.endIndex - 1, by: 2) {
            let (first, second) = (UInt16(source[index]), UInt16(source[index + 1]))
            let unit = isBigEndian ? first << 8 | second : second << 8 | first
            // A piece does not end between the halves of a pair.
            if units.count > pieceSize || units.count == pieceSize && !UTF16.isTrailSurrogate(unit) {
                guard append(String(decoding: units, as: UTF16.self).utf8) else { return }
                units.removeAll(keepingCapacity: true)
            }
            units.append(unit)
        }
        _ = append(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Appends bytes of an encoding, with U+FFFD for each byte that is no character in it.
    mutating func append(_ source: inout [UInt8], from name: String) throws(UpstreamError) {
        let converter = iconv_open("UTF-8", name)
        // What iconv_open(3) returns for an error is (iconv_t) -1.
        guard let converter, Int(bitPattern: converter) != -1 else {
            throw .unusable("answered in the encoding \(name), for which this system has no table")
        }
        defer { iconv_close(converter) }
        reserve(3 * source.count)
        // iconv(3) wants a pointer to bytes that may change, and changes none.
        source.withUnsafeMutableBytes { input in
            withUnsafeTemporaryAllocation(byteCount: pieceSize, alignment: 1) { piece in
                var next = input.baseAddress?.assumingMemoryBound(to: CChar.self)
                var left = input.count
                while left > 0, budget.isLeft {
                    var end = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
                    var free = piece.count
                    let result = iconv(converter, &next, &left, &end, &free)
                    let error = errno
                    guard append(piece[..<(piece.count - free)]), result == -1 else { break }
                    // The piece is full, which is no fault; any other error is about the next byte.
                    if error == E2BIG { continue }
                    guard append("\u{FFFD}".utf8) else { break }
                    next = next?.successor()
                    left -= 1
                }
            }
        }
        try budget.check()
    }
}

/// The range of an XML declaration, which begins at the first byte that is not white space: XML wants it at the very
/// beginning, but templates put line ends before it.
func xmlDeclaration(_ document: [UInt8]) -> Range<Int>? {
    guard let start = document.firstIndex(where: { !isWhiteSpace($0) }) else { return nil }
    let head = document[start...].prefix(1024)
    guard head.starts(with: "<?xml".utf8), head.dropFirst(5).first.map(isWhiteSpace) == true,
        let end = head.indices.first(where: { head[$0...].starts(with: "?>".utf8) })
    else { return nil }
    return start..<end + 2
}

/// The value of `encoding` in the XML declaration.
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
        let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { !" \t\"'".contains($0) } }
        if pair.count == 2, pair[0].lowercased() == "charset" { return pair[1] }
    }
    return nil
}

/// The encodings of the web that norrisd reads, by their labels in small letters, as iconv(3) names them
/// (<https://encoding.spec.whatwg.org/#names-and-labels>). A closed list: whatever else iconv(3) knows is code that
/// nobody needs to reach with bytes from outside.
private let encodings: [String: String] = {
    var encodings = [
        // What calls itself UTF-16 in bytes that are not was encoded again by a program that left the name.
        "utf-8": "UTF-8", "utf8": "UTF-8", "us-ascii": "UTF-8", "ascii": "UTF-8", "utf-16": "UTF-8",
        "utf-16le": "UTF-8", "utf-16be": "UTF-8",
        // Pages that say Latin-1 mean the encoding of Windows, which has letters where Latin-1 has controls.
        "iso-8859-1": "CP1252", "iso8859-1": "CP1252", "latin1": "CP1252", "iso-8859-9": "CP1254", "koi8-r": "KOI8-R",
        "koi8-u": "KOI8-U", "macintosh": "MACINTOSH", "ibm866": "IBM866", "cp866": "IBM866", "tis-620": "TIS-620",
        "gbk": "GBK", "gb2312": "GBK", "gb18030": "GB18030", "big5": "BIG5", "shift_jis": "CP932", "shift-jis": "CP932",
        "sjis": "CP932", "windows-31j": "CP932", "euc-jp": "EUC-JP", "euc-kr": "EUC-KR",
    ]
    for part in [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16] { encodings["iso-8859-\(part)"] = "ISO-8859-\(part)" }
    for page in 1250...1258 {
        encodings["windows-\(page)"] = "CP\(page)"
        encodings["cp\(page)"] = "CP\(page)"
    }
    return encodings
}()
