import Glibc

/// Converts a document to UTF-8. The encoding is determined by a byte order mark or the zeros of UTF-16, then by
/// `charset` of Content-Type (RFC 7303, section 3.2), then by the XML declaration; the default is UTF-8. Invalid bytes
/// become U+FFFD; control characters that XML and JSON forbid are removed.
///
/// - Parameter contentType: the field's value; an unknown charset is ignored.
/// - Returns: false if the document is valid UTF-8 and was not replaced.
func convertToText(
    _ body: inout [UInt8], contentType: String?
) throws(UpstreamError) -> Bool {
    var text = ConvertedText()
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
            if isAllowedUTF8(body) { return false }
            text.appendUTF8(body[...])
        } else {
            try text.append(&body, from: name)
        }
    }
    body = text.bytes
    return true
}

/// Whether XML and JSON permit the byte.
private func isAllowed(_ byte: UInt8) -> Bool { byte >= 0x20 || isWhiteSpace(byte) }

/// The size of the pieces in which a document is processed, in bytes.
private let pieceSize = 64 << 10

/// The end of a piece of UTF-8, between two characters.
private func pieceEnd(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    guard start + pieceSize < bytes.endIndex else { return bytes.endIndex }
    var end = start + pieceSize
    // A character has at most three bytes after its first.
    for _ in 0..<3 where bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return end
}

/// Whether bytes are UTF-8 without forbidden characters. Checked in pieces, because validation copies its input.
private func isAllowedUTF8(_ bytes: [UInt8]) -> Bool {
    var start = 0
    while start < bytes.count {
        let end = pieceEnd(bytes[...], from: start)
        let piece = bytes[start..<end]
        guard piece.allSatisfy(isAllowed), String(validating: piece, as: UTF8.self) != nil else { return false }
        start = end
    }
    return true
}

/// A document in UTF-8 under construction.
private struct ConvertedText {
    private(set) var bytes: [UInt8] = []

    /// Appends the permitted bytes of a piece of UTF-8.
    private mutating func append(_ piece: some Collection<UInt8>) {
        if piece.allSatisfy(isAllowed) { bytes += piece } else { bytes += piece.lazy.filter(isAllowed) }
    }

    /// Reserves memory for the document, because an array that grows is copied. The kernel provides used pages only.
    private mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    mutating func appendUTF8(_ source: ArraySlice<UInt8>) {
        // U+FFFD has three bytes.
        reserve(3 * source.count)
        var start = source.startIndex
        while start < source.endIndex {
            let end = pieceEnd(source, from: start)
            append(String(decoding: source[start..<end], as: UTF8.self).utf8)
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
            // A piece does not end inside a surrogate pair.
            if units.count > pieceSize || units.count == pieceSize && !UTF16.isTrailSurrogate(unit) {
                append(String(decoding: units, as: UTF16.self).utf8)
                units.removeAll(keepingCapacity: true)
            }
            units.append(unit)
        }
        append(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Converts bytes from an encoding; each invalid byte becomes U+FFFD.
    mutating func append(_ source: inout [UInt8], from name: String) throws(UpstreamError) {
        let converter = iconv_open("UTF-8", name)
        // iconv_open(3) reports an error as (iconv_t) -1.
        guard let converter, Int(bitPattern: converter) != -1 else {
            throw .unusable("answered in the encoding \(name), which iconv(3) on this system does not support")
        }
        defer { iconv_close(converter) }
        reserve(3 * source.count)
        // iconv(3) takes a mutable pointer, but does not change the input.
        source.withUnsafeMutableBytes { input in
            withUnsafeTemporaryAllocation(byteCount: pieceSize, alignment: 1) { piece in
                var next = input.baseAddress?.assumingMemoryBound(to: CChar.self)
                var left = input.count
                while left > 0 {
                    var end = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
                    var free = piece.count
                    let result = iconv(converter, &next, &left, &end, &free)
                    let error = errno
                    append(piece[..<(piece.count - free)])
                    if result != -1 { break }
                    // E2BIG means that the piece is full. Any other error concerns the next byte.
                    if error == E2BIG { continue }
                    append("\u{FFFD}".utf8)
                    next = next?.successor()
                    left -= 1
                }
            }
        }
    }
}

/// The range of the XML declaration. White space may precede it, because some templates write line ends first.
func xmlDeclaration(_ document: [UInt8]) -> Range<Int>? {
    guard let start = document.firstIndex(where: { !isWhiteSpace($0) }) else { return nil }
    let head = document[start...].prefix(1024)
    guard head.starts(with: "<?xml".utf8), head.dropFirst(5).first.map(isWhiteSpace) == true,
        let end = head.indices.first(where: { head[$0...].starts(with: "?>".utf8) })
    else { return nil }
    return start..<end + 2
}

private func xmlEncodingName(_ document: [UInt8]) -> String? {
    guard let declaration = xmlDeclaration(document) else { return nil }
    let text = String(decoding: document[declaration], as: UTF8.self)
    let parts = text.split { $0 == "\"" || $0 == "'" }
    for (label, value) in zip(parts, parts.dropFirst()) {
        // `encoding = `, which follows the previous value.
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

/// The supported labels of the web in lower case (<https://encoding.spec.whatwg.org/#names-and-labels>), with
/// iconv(3)'s names. The list is closed, so that untrusted bytes do not reach other converters.
private let encodings: [String: String] = {
    var encodings = [
        // A document that is labelled UTF-16 and has none of its bytes was converted by a program that kept the label.
        "utf-8": "UTF-8", "utf8": "UTF-8", "us-ascii": "UTF-8", "ascii": "UTF-8", "utf-16": "UTF-8",
        "utf-16le": "UTF-8", "utf-16be": "UTF-8",
        // On the web, Latin-1 means Windows-1252, which has letters in place of some controls.
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
