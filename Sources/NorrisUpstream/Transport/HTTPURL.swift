import CCurl
import Glibc

/// An absolute `http` or `https` URL, parsed by libcurl (libcurl-url(3)), which also sends the requests. Stricter where
/// parsers disagree: only characters of RFC 3986, valid percent-encoding, no user or password, and as host a name, an
/// IPv4 address, or an IPv6 address in brackets.
package struct HTTPURL: Sendable, Equatable, CustomStringConvertible {
    package let isSecure: Bool
    /// The host in lower case; an IPv6 address has its brackets.
    package let host: String
    package let port: Int?
    /// The path, which begins with a slash.
    let path: String
    var query: String?

    package init?(_ text: String) { self.init(text, at: nil, flags: CURLU_PATH_AS_IS) }

    /// Resolves a reference (RFC 3986, section 5.2). Returns nil if the result is not `http` or `https`.
    func resolving(_ reference: String) -> HTTPURL? {
        let reference = reference.prefix { $0 != "#" }
        return reference.isEmpty ? self : HTTPURL(String(reference), at: self, flags: 0)
    }

    /// - Parameter base: the URL to which a relative text refers; nil if the text must be absolute.
    private init?(_ text: String, at base: HTTPURL?, flags: CInt) {
        guard Self.isWellFormed(Array(text.utf8)), Self.hasTwoSlashes(text), let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        if let base, curl_url_set(handle, CURLUPART_URL, base.description, UInt32(CURLU_PATH_AS_IS)) != CURLUE_OK {
            return nil
        }
        guard curl_url_set(handle, CURLUPART_URL, text, UInt32(flags)) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &value, 0) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME), scheme == "http" || scheme == "https",
            part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil, part(CURLUPART_ZONEID) == nil,
            let host = part(CURLUPART_HOST)?.lowercased(), Self.isHost(host), let path = part(CURLUPART_PATH),
            part(CURLUPART_PORT) != "0"
        else { return nil }
        isSecure = scheme == "https"
        self.host = host
        port = part(CURLUPART_PORT).flatMap { Int($0) }
        self.path = path
        query = part(CURLUPART_QUERY)
    }

    var scheme: String { isSecure ? "https" : "http" }

    /// Host and port, as in the field `Host`.
    var authority: String {
        guard let port, port != (isSecure ? 443 : 80) else { return host }
        return "\(host):\(port)"
    }

    /// Host and path for a message, at most 200 characters. The query is left out, because a query may contain a key.
    var hostAndPath: String { String("\(authority)\(path == "/" ? "" : path)".prefix(200)) }

    package var description: String { "\(scheme)://\(authority)\(path)\(query.map { "?\($0)" } ?? "")" }

    /// Whether the host, as written, is a private address or localhost.
    package var hasPrivateHost: Bool {
        if host.first == "[" { return IPAddress(String(host.dropFirst().dropLast()))?.isPrivate ?? true }
        let name = host.last == "." ? host.dropLast() : host[...]
        return IPAddress(String(name))?.isPrivate ?? (name.split(separator: ".").last == "localhost")
    }

    /// Whether all characters are from RFC 3986, appendix A, with two hexadecimal digits after each percent sign.
    private static func isWellFormed(_ bytes: [UInt8]) -> Bool {
        let isHex = { (index: Int) in bytes.indices.contains(index) && isxdigit(Int32(bytes[index])) != 0 }
        return bytes.indices.allSatisfy { index in
            bytes[index] == "%" ? isHex(index + 1) && isHex(index + 2) : isAllowedInURL(bytes[index])
        }
    }

    /// Returns false if one or three slashes follow a scheme, because libcurl reads both as two.
    private static func hasTwoSlashes(_ text: String) -> Bool {
        let start = text.prefix(9).lowercased()
        guard let scheme = ["https:", "http:"].first(where: { start.utf8.starts(with: $0.utf8) }) else { return true }
        let rest = start.utf8.dropFirst(scheme.utf8.count)
        return rest.starts(with: "//".utf8) && !rest.starts(with: "///".utf8)
    }

    /// Whether a host is an address in its usual form, or a name of at most 253 letters, digits, hyphens, underscores
    /// and dots (RFC 1035, section 2.3.4). The last label must not begin with a digit: resolvers take some such names
    /// for addresses, and libcurl does not normalize percent-encoded addresses (`1%2e1`).
    private static func isHost(_ host: String) -> Bool {
        if host.first == "[" { return true }
        let name = host.last == "." ? host.dropLast() : host[...]
        if IPAddress(String(name)) != nil { return true }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false).map(\.utf8)
        return labels.allSatisfy { (1...63).contains($0.count) } && labels.last?.first.map(isDigit) == false
            && host.utf8.count <= 253 && host.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }
}

/// Whether a URL may contain the character (RFC 3986, appendix A).
func isAllowedInURL(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}".utf8.contains(byte) }

/// Appends a path to a base URL that may end with slashes.
func joinedURL(_ baseURL: String, _ path: String) -> String {
    var baseURL = baseURL
    while baseURL.last == "/" { baseURL.removeLast() }
    return "\(baseURL)/\(path)"
}

/// Encodes a text as a part of a URL: all but unreserved characters (RFC 3986, section 2.3), as UTF-8.
package func percentEncoded(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
        if isLetterOrDigit(byte) || "-._~".utf8.contains(byte) {
            encoded.append(byte)
        } else {
            encoded += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}
