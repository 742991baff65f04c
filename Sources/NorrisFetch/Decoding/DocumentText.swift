import Glibc

/// Converts a document to UTF-8 without the control characters that XML and JSON forbid.
///
/// The encoding is that of a byte order mark or of the zeros of UTF-16; else UTF-8, if nine in ten of the sequences
/// beyond ASCII are valid; else that of `charset` in Content-Type (RFC 7303, section 3.2) or of the XML declaration, if
/// the bytes are valid in it; else windows-1252. An invalid byte becomes U+FFFD.
func convertToText(_ body: inout [UInt8], contentType: String?) {
    switch (body.first, body.dropFirst().first) {
    case (0xEF, 0xBB) where body.dropFirst(2).first == 0xBF: body = utf8(body[3...]).text
    case (0xFE, 0xFF): body = utf16(body[2...], isBigEndian: true)
    case (0xFF, 0xFE): body = utf16(body[2...], isBigEndian: false)
    case (0, let second?) where second != 0: body = utf16(body[...], isBigEndian: true)
    case (let first?, 0) where first != 0: body = utf16(body[...], isBigEndian: false)
    default: convert(&body, contentType)
    }
}

private func convert(_ body: inout [UInt8], _ contentType: String?) {
    let labels = [contentType.flatMap(charsetName), xmlEncodingName(body)]
    let named = labels.compactMap { $0.flatMap { encodings[$0.lowercased()] } }
    let (text, valid, invalid) = utf8(body[...])
    if valid > 0 && valid >= 9 * invalid || valid == 0 && invalid == 0 && named.first.map(isASCII) ?? true {
        return body = text
    }
    for name in named where name != "UTF-8" {
        if let text = converted(&body, from: name, mustBeValid: true) { return body = text }
    }
    // iconv(3) has this encoding on every system with glibc.
    if invalid > 0 { body = converted(&body, from: "CP1252", mustBeValid: false) ?? text } else { body = text }
}

/// Whether ASCII bytes mean the same in an encoding.
private func isASCII(_ encoding: String) -> Bool { !["HZ-GB-2312", "ISO-2022-JP", "ISO-2022-KR"].contains(encoding) }

/// Whether XML and JSON permit the byte.
private func isAllowed(_ byte: UInt8) -> Bool { byte >= 0x20 || isWhiteSpace(byte) }

// MARK: UTF-8

/// The text with U+FFFD in place of invalid bytes, and the numbers of valid and invalid sequences beyond ASCII. A
/// sequence that the end of the document cuts off is neither.
private func utf8(_ bytes: ArraySlice<UInt8>) -> (text: [UInt8], valid: Int, invalid: Int) {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    var (valid, invalid) = (0, 0)
    var index = bytes.startIndex
    while index < bytes.endIndex {
        let start = index
        while index < bytes.endIndex, bytes[index] < 0x80, isAllowed(bytes[index]) { index += 1 }
        text += bytes[start..<index]
        guard index < bytes.endIndex else { break }
        guard bytes[index] >= 0x80 else {
            index += 1
            continue
        }
        let (length, isValid) = sequence(bytes[index...])
        if isValid {
            text += bytes[index..<index + length]
            valid += 1
        } else {
            text += "\u{FFFD}".utf8
            if index + length < bytes.endIndex || length == 1 && bytes[index] < 0xC2 { invalid += 1 }
        }
        index += length
    }
    return (text, valid, invalid)
}

/// The length of the sequence of UTF-8 at the first byte, which is beyond ASCII, or of the invalid part of one (Unicode
/// 15, table 3-7).
private func sequence(_ bytes: ArraySlice<UInt8>) -> (length: Int, isValid: Bool) {
    let first = bytes[bytes.startIndex]
    let count: Int
    switch first {
    case 0xC2...0xDF: count = 2
    case 0xE0...0xEF: count = 3
    case 0xF0...0xF4: count = 4
    default: return (1, false)
    }
    for offset in 1..<count {
        guard offset < bytes.count else { return (offset, false) }
        let byte = bytes[bytes.startIndex + offset]
        var range: ClosedRange<UInt8> = 0x80...0xBF
        if offset == 1 {
            switch first {
            case 0xE0: range = 0xA0...0xBF
            case 0xED: range = 0x80...0x9F
            case 0xF0: range = 0x90...0xBF
            case 0xF4: range = 0x80...0x8F
            default: break
            }
        }
        guard range.contains(byte) else { return (offset, false) }
    }
    return (count, true)
}

// MARK: Other encodings

private func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> [UInt8] {
    let units = (0..<bytes.count / 2).lazy.map { number in
        let index = bytes.startIndex + 2 * number
        let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        return isBigEndian ? first << 8 | second : second << 8 | first
    }
    return String(decoding: units, as: UTF16.self).utf8.filter(isAllowed)
}

/// The text in UTF-8; nil if the system does not know the encoding, or, with `mustBeValid`, if a byte is invalid in it.
private func converted(_ source: inout [UInt8], from name: String, mustBeValid: Bool) -> [UInt8]? {
    let converter = iconv_open("UTF-8", name)
    // iconv_open(3) reports an error as (iconv_t) -1.
    guard let converter, Int(bitPattern: converter) != -1 else { return nil }
    defer { iconv_close(converter) }
    var text: [UInt8] = []
    text.reserveCapacity(source.count * 3 / 2)
    // iconv(3) takes a mutable pointer, but does not change the input.
    let isValid = source.withUnsafeMutableBytes { input in
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { piece in
            var next = input.baseAddress?.assumingMemoryBound(to: CChar.self)
            var left = input.count
            while left > 0 {
                var end = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
                var free = piece.count
                let result = iconv(converter, &next, &left, &end, &free)
                let error = errno
                text += piece[..<(piece.count - free)].lazy.filter(isAllowed)
                if result != -1 { break }
                // E2BIG means that the piece is full, and EINVAL that the document ends in a character.
                if error == E2BIG { continue }
                if mustBeValid, error != EINVAL { return false }
                text += "\u{FFFD}".utf8
                next = next?.successor()
                left -= 1
            }
            return true
        }
    }
    return isValid ? text : nil
}

/// The value of `encoding` in the XML declaration, which white space, marks or text may precede.
private func xmlEncodingName(_ document: [UInt8]) -> String? {
    let head = Array(document.prefix(4096))
    guard let start = head.indices.first(where: { head[$0...].starts(with: "<?xml".utf8) }) else { return nil }
    let declaration = head[start...].prefix { $0 != ">" }
    guard let label = declaration.indices.first(where: { declaration[$0...].starts(with: "encoding".utf8) }) else {
        return nil
    }
    let value = declaration[(label + 8)...].drop { isWhiteSpace($0) || "=\"'".utf8.contains($0) }
    return encodingLabel(value.prefix { !"\"'?".utf8.contains($0) })
}

/// The parameter `charset` of a media type (RFC 9110, section 8.3.1).
private func charsetName(_ contentType: String) -> String? {
    for parameter in contentType.split(separator: ";").dropFirst() {
        let pair = parameter.split(separator: "=", maxSplits: 1)
        guard pair.count == 2, trimmed(String(pair[0])).lowercased() == "charset" else { continue }
        return encodingLabel(pair[1].utf8.filter { !"\"'".utf8.contains($0) })
    }
    return nil
}

private func encodingLabel(_ bytes: some Collection<UInt8>) -> String {
    trimmed(String(decoding: bytes, as: UTF8.self))
}

/// iconv(3)'s names by the labels of the web (<https://encoding.spec.whatwg.org/#names-and-labels>). The list is
/// closed, so that untrusted bytes do not reach other converters. Scripts/generate-markup-tables writes the file.
private let encodings: [String: String] = {
    var encodings: [String: String] = [:]
    for line in String(decoding: PackageResources.EncodingLabels_txt, as: UTF8.self).split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        for label in words.dropFirst() { encodings[label] = words[0] }
    }
    return encodings
}()
