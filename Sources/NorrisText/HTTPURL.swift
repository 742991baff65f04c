/// An absolute `http` or `https` URL (RFC 3986). Stricter where parsers disagree: only characters of the RFC, and as
/// host a name, an IPv4 address, or an IPv6 address in brackets. A bare `%` is allowed, as in browsers.
package struct HTTPURL: Sendable, Equatable, CustomStringConvertible {
    package let isSecure: Bool
    /// `USER` or `USER:PASSWORD`, percent-encoded.
    package var userInfo: String?
    /// The host in lower case; an IPv6 address has its brackets.
    package let host: String
    package let port: Int?
    /// The path, which begins with a slash.
    package private(set) var path: String
    package var query: String?

    /// - Parameter text: the URL; a fragment is left out.
    package init?(_ text: String) {
        // All bytes are ASCII, and bytes are faster to compare than characters.
        let bytes = text.utf8
        guard bytes.allSatisfy(isAllowedInURL) else { return nil }
        let start = bytes.prefix(8).map { $0 | 0x20 }
        isSecure = start.elementsEqual("https://".utf8)
        guard isSecure || start.starts(with: "http://".utf8) else { return nil }
        var rest = bytes.dropFirst(isSecure ? 8 : 7).prefix { $0 != UInt8(ascii: "#") }
        var authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        rest = rest[authority.endIndex...]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            userInfo = String(Substring(authority[..<at]))
            authority = authority[authority.index(after: at)...]
        }
        var digits = authority[authority.endIndex...]
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")), !authority[colon...].contains(UInt8(ascii: "]")) {
            digits = authority[authority.index(after: colon)...]
            authority = authority[..<colon]
        }
        if !digits.isEmpty {
            guard digits.allSatisfy(HTTPURL.isDigit), let number = UInt16(Substring(digits)), number > 0 else {
                return nil
            }
            port = Int(number)
        } else {
            port = nil
        }
        host = Substring(authority).lowercased()
        guard HTTPURL.isHost(host) else { return nil }
        let mark = rest.firstIndex(of: UInt8(ascii: "?"))
        let path = rest[..<(mark ?? rest.endIndex)]
        self.path = path.isEmpty ? "/" : String(Substring(path))
        query = mark.map { String(Substring(rest[rest.index(after: $0)...])) }
    }

    /// Resolves a reference (RFC 3986, section 5.2). Returns nil if the result is not `http` or `https`.
    package func resolving(_ reference: String) -> HTTPURL? {
        let reference = reference.prefix { $0 != "#" }
        if reference.isEmpty { return self }
        // A scheme ends with a colon before the first slash.
        let isAbsolute = reference.prefix { !"/?".contains($0) }.contains(":")
        if isAbsolute || reference.hasPrefix("//") {
            guard var url = HTTPURL(isAbsolute ? String(reference) : "\(scheme):\(reference)") else { return nil }
            url.path = HTTPURL.withoutDots(url.path[...])
            return url
        }
        guard reference.utf8.allSatisfy(isAllowedInURL) else { return nil }
        let mark = reference.firstIndex(of: "?") ?? reference.endIndex
        let path = reference[..<mark]
        var url = self
        if !path.isEmpty {
            let folder = self.path[...(self.path.lastIndex(of: "/") ?? self.path.startIndex)]
            url.path = HTTPURL.withoutDots(path.hasPrefix("/") ? path : folder + path)
        }
        url.query = mark == reference.endIndex ? nil : String(reference[reference.index(after: mark)...])
        return url
    }

    /// Removes the segments `.` and `..` from a path (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: Substring) -> String {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for segment in segments where segment != "." {
            if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
        }
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        return "/" + kept.joined(separator: "/")
    }

    package var scheme: String { isSecure ? "https" : "http" }

    /// Host and port, as in the field `Host`.
    package var authority: String {
        guard let port, port != (isSecure ? 443 : 80) else { return host }
        return "\(host):\(port)"
    }

    /// Host and path for a message, at most 200 characters. User and query are left out, because they may contain a
    /// key.
    package var hostAndPath: String { String("\(authority)\(path == "/" ? "" : path)".prefix(200)) }

    package var description: String {
        "\(scheme)://\(userInfo.map { "\($0)@" } ?? "")\(authority)\(path)\(query.map { "?\($0)" } ?? "")"
    }

    /// Whether the host, as written, is a private address or localhost.
    package var hasPrivateHost: Bool {
        if host.first == "[" { return IPAddress(String(host.dropFirst().dropLast()))?.isPrivate ?? true }
        let name = host.last == "." ? host.dropLast() : host[...]
        return IPAddress(String(name))?.isPrivate ?? (name.split(separator: ".").last == "localhost")
    }

    /// Whether a host is an address in its usual form, or a name of at most 253 letters, digits, hyphens, underscores
    /// and dots (RFC 1035, section 2.3.4). The last label must not begin with a digit, because resolvers take some such
    /// names for addresses.
    private static func isHost(_ host: String) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") {
            return host.last == "]" && IPAddress(String(host.dropFirst().dropLast()))?.bytes.count == 16
        }
        let dot = UInt8(ascii: ".")
        let name = host.utf8.last == dot ? host.utf8.dropLast() : host.utf8[...]
        if name.first.map(HTTPURL.isDigit) == true, IPAddress(String(Substring(name)))?.bytes.count == 4 { return true }
        let labels = name.split(separator: dot, omittingEmptySubsequences: false)
        return labels.allSatisfy { (1...63).contains($0.count) } && labels.last?.first.map(HTTPURL.isDigit) == false
            && host.utf8.count <= 253
            && host.utf8.allSatisfy { HTTPURL.isDigit($0) || 0x61...0x7A ~= $0 || "-._".utf8.contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
}

/// Whether a URL may contain the character (RFC 3986, appendix A).
package func isAllowedInURL(_ byte: UInt8) -> Bool {
    switch byte {
    // " < > \ ^ ` { | }
    case 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D: false
    default: (0x21...0x7E).contains(byte)
    }
}

/// Encodes a text as a part of a URL: all but unreserved characters (RFC 3986, section 2.3), as UTF-8.
package func percentEncoded(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
        if 0x30...0x39 ~= byte || 0x61...0x7A ~= byte | 0x20 || "-._~".utf8.contains(byte) {
            encoded.append(byte)
        } else {
            encoded += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}
