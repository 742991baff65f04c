/// Decodes the character references in a text (https://html.spec.whatwg.org, "Character reference state"): numeric
/// ones, and all of HTML's names. Anything else stays unchanged, such as `AT&T`.
///
/// - Parameters:
///   - inAttribute: whether `&copy=1` is no reference, because it is part of an address.
///   - bare: takes the number of `&` that begin no reference with a semicolon, which is a fault in XML.
func decodedReferences(_ bytes: ArraySlice<UInt8>, inAttribute: Bool = false, bare: inout Int) -> String {
    guard var mark = bytes.firstIndex(of: UInt8(ascii: "&")) else { return String(decoding: bytes, as: UTF8.self) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var copied = bytes.startIndex
    while true {
        if let (text, length) = reference(bytes[mark...], inAttribute: inAttribute) {
            decoded += bytes[copied..<mark]
            decoded += text.utf8
            copied = mark + length
            if bytes[copied - 1] != ";" { bare += 1 }
        } else {
            bare += 1
        }
        guard let next = bytes[max(copied, mark + 1)...].firstIndex(of: UInt8(ascii: "&")) else { break }
        mark = next
    }
    return String(decoding: decoded + bytes[copied...], as: UTF8.self)
}

/// Decodes the reference at the first byte, an `&`. Returns its text and its length in bytes.
private func reference(_ bytes: ArraySlice<UInt8>, inAttribute: Bool) -> (text: String, length: Int)? {
    let rest = bytes.dropFirst()
    if rest.first == "#" { return number(rest.dropFirst()).map { ($0.text, $0.length + 2) } }
    let word = rest.prefix(longestReference).prefix(while: isLetterOrDigit)
    guard !word.isEmpty else { return nil }
    let hasSemicolon = word.endIndex < bytes.endIndex && bytes[word.endIndex] == ";"
    if hasSemicolon {
        let name = String(decoding: word, as: UTF8.self)
        // Most documents need no others, and the table takes a millisecond.
        if let text = common[name] ?? references[name]?.text { return (text, word.count + 2) }
    }
    // The longest name that needs no semicolon.
    var name = word.prefix(longestShort)
    while name.count > 1 {
        if let found = references[String(decoding: name, as: UTF8.self)], found.isShort {
            let next = name.endIndex < bytes.endIndex ? bytes[name.endIndex] : nil
            if inAttribute, let next, next == "=" || isLetterOrDigit(next) { return nil }
            return (found.text, name.count + 1)
        }
        name = name.dropLast()
    }
    return nil
}

/// The character of a number after `&#` (https://html.spec.whatwg.org, "Numeric character reference end state").
private func number(_ bytes: ArraySlice<UInt8>) -> (text: String, length: Int)? {
    let isHex = bytes.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
    let radix: UInt32 = isHex ? 16 : 10
    var (value, length) = (UInt32(0), isHex ? 1 : 0)
    let begin = length
    for byte in bytes.dropFirst(length) {
        let digit: UInt32
        switch byte {
        case "0"..."9": digit = UInt32(byte) - 0x30
        case "a"..."f" where isHex, "A"..."F" where isHex: digit = UInt32(byte | 0x20) - 0x57
        default: digit = .max
        }
        guard digit != .max else { break }
        value = min(value * radix + digit, 0x110000)
        length += 1
    }
    guard length > begin else { return nil }
    let end = bytes.startIndex + length
    if end < bytes.endIndex, bytes[end] == ";" { length += 1 }
    if (0x80...0x9F).contains(value), let scalar = windows1252[Int(value) - 0x80] { return (String(scalar), length) }
    guard value != 0, let scalar = Unicode.Scalar(value) else { return ("\u{FFFD}", length) }
    return (String(scalar), length)
}

private let common = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}"]

private let windows1252: [Unicode.Scalar?] = [
    "€", nil, "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", nil, "Ž", nil,
    nil, "‘", "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", nil, "ž", "Ÿ",
]

/// A text in UTF-8 whose C1 controls are the characters that windows-1252 has in their place, as the programs of feeds
/// mean them.
func withoutControls(_ bytes: [UInt8]) -> [UInt8] {
    var repaired: [UInt8] = []
    var copied = 0
    var rest = bytes[...]
    while let index = rest.firstIndex(of: 0xC2), index + 1 < bytes.count {
        rest = bytes[(index + 1)...]
        guard rest[index + 1] < 0xA0, let scalar = windows1252[Int(rest[index + 1] & 0x1F)] else { continue }
        repaired += bytes[copied..<index]
        repaired += String(scalar).utf8
        copied = index + 2
    }
    return copied == 0 ? bytes : repaired + bytes[copied...]
}

/// The lengths of the longest names.
private let longestReference = 31, longestShort = 6

/// The named references of `References.txt`, whose lines have the name, the code points in hexadecimal, and `!` if the
/// semicolon may be missing. Scripts/generate-markup-tables writes the file.
private let references: [String: (text: String, isShort: Bool)] = {
    var references: [String: (text: String, isShort: Bool)] = [:]
    references.reserveCapacity(2_200)
    for entry in String(decoding: PackageResources.References_txt, as: UTF8.self).split(separator: "\n") {
        let parts = entry.split(separator: "=")
        let points = parts[1].prefix { $0 != "!" }.split(separator: "+")
        let scalars = points.compactMap { UInt32($0, radix: 16).flatMap(Unicode.Scalar.init) }
        references[String(parts[0])] = (String(String.UnicodeScalarView(scalars)), parts[1].hasSuffix("!"))
    }
    return references
}()
