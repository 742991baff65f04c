/// Whether an address begins with http or https and contains only visible ASCII, so that it can be printed unchanged.
package func isWebAddress(_ address: String) -> Bool {
    guard address.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return false }
    // In lower case, which changes neither the colon nor the slash.
    let bytes = address.utf8.lazy.map { $0 | 0x20 }
    return bytes.starts(with: "http://".utf8) || bytes.starts(with: "https://".utf8)
}

/// The URL of a source as a person writes it: read as browsers do, without a fragment, and `https` without a scheme. A
/// host that is no ASCII is percent-encoded. Nil unless it is an `http` or `https` URL of at most 2,048 bytes.
package func sourceAddress(_ text: String) -> String? {
    // No person writes other control characters than white space.
    let isWritten = text.utf8.allSatisfy { 0x20...0x7E ~= $0 || 0x9...0xD ~= $0 || $0 >= 0x80 }
    guard text.utf8.count <= 8192, isWritten else { return nil }
    var url = urlText(text)
    url = String(url.prefix { $0 != "#" })
    if url.hasPrefix("//") { url = "https:" + url }
    // `localhost:8080` has no scheme.
    let port = url.drop { $0 != ":" }.dropFirst().prefix { $0 != "/" }
    let isPort = !port.isEmpty && port.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    if !hasScheme(url) || isPort { url = "https://" + url }
    // Of several signs the last one is before the host.
    let start = url.places(of: "://").first?.upperBound ?? url.startIndex
    if let at = url[start...].prefix(while: { !"/?".contains($0) }).lastIndex(of: "@") {
        let user = url[start..<at].split(separator: "@", omittingEmptySubsequences: false).joined(separator: "%40")
        url = url[..<start] + user + url[at...]
    }
    return url.utf8.count <= 2048 && isSourceURL(url) ? url : nil
}

/// Whether a text is an `http` or `https` URL, whose host may be percent-encoded.
package func isSourceURL(_ text: String) -> Bool {
    if HTTPURL(text) != nil { return true }
    guard let start = text.places(of: "://").first?.upperBound else { return false }
    let authority = text[start...].prefix { !"/?#".contains($0) }
    let host = authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
    let name = host.prefix { $0 != ":" }
    // Only characters beyond ASCII are encoded in a host.
    let escapes = name.split(separator: "%", omittingEmptySubsequences: false).dropFirst()
    let isEncoded = escapes.allSatisfy { $0.first.map { "89ABCDEFabcdef".contains($0) } ?? false }
    guard !escapes.isEmpty, isEncoded else { return false }
    return HTTPURL(text[..<name.startIndex] + "x" + text[name.endIndex...]) != nil
}

/// A text as a URL: without white space around it, with other characters percent-encoded, and without `feed:` before an
/// address.
package func urlText(_ text: String) -> String {
    var trimmed = text.unicodeScalars[...]
    while trimmed.first?.properties.isWhitespace == true { trimmed.removeFirst() }
    while trimmed.last?.properties.isWhitespace == true { trimmed.removeLast() }
    var url = String(trimmed)
    if !url.utf8.allSatisfy(isAllowedInURL) {
        var encoded = ""
        // Browsers remove line breaks and tabs.
        for byte in url.utf8 where ![0x9, 0xA, 0xD].contains(byte) {
            if isAllowedInURL(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        url = encoded
    }
    guard url.prefix(5).lowercased() == "feed:" else { return url }
    let rest = url.dropFirst(5)
    return rest.hasPrefix("//") ? "http:" + rest : String(rest)
}

/// Whether a reference begins with a scheme (RFC 3986, section 4.3).
package func hasScheme(_ reference: String) -> Bool {
    let bytes = reference.utf8
    let scheme = bytes.prefix { 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 | 0x20 || "+-.".utf8.contains($0) }
    return scheme.first.map { 0x61...0x7A ~= $0 | 0x20 } == true && scheme.endIndex < bytes.endIndex
        && bytes[scheme.endIndex] == UInt8(ascii: ":")
}
