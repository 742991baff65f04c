import Glibc

/// The parts of an absolute `http` or `https` URL, checked by the grammar of RFC 3986.
struct WebAddress {
    /// Lower case.
    var scheme: String
    /// As written, still percent-encoded.
    var userInfo: String?
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    var host: String
    var port: Int?
    /// As written; empty or with a leading slash.
    var path: String
    var query: String?
    var fragment: String?

    /// The texts name no part of the URL itself, because it may hold a password.
    init(_ text: String) throws(ConfigurationRefusal) {
        let lowered = text.lowercased()
        guard let scheme = ["http", "https"].first(where: { lowered.hasPrefix($0 + "://") }) else {
            throw .sentence("must be an absolute URL that begins with http:// or https://")
        }
        self.scheme = scheme
        guard Self.holdsOnlyURLCharacters(text) else {
            throw .sentence("holds a character that no URL may hold; write it as %XX, and a host name as xn--…")
        }
        var rest = text.utf8.dropFirst(scheme.utf8.count + 3)
        fragment = Self.cut(&rest, at: "#")
        query = Self.cut(&rest, at: "?")
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        path = String(rest[slash...]) ?? ""
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            userInfo = String(authority[..<at])
            authority = authority[authority.index(after: at)...]
        }
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            !authority[colon...].contains(UInt8(ascii: "]"))
        {
            let digits = String(authority[authority.index(after: colon)...]) ?? ""
            guard let port = Int64(plainDigits: digits), (1...65535).contains(port) else {
                throw .sentence("has a port that is not a number from 1 to 65535; correct it or leave it out")
            }
            self.port = Int(port)
            authority = authority[..<colon]
        }
        host = String(authority) ?? ""
        guard Self.isHost(host) else {
            throw .sentence("has no valid host; write a name such as api.example.org or an address such as [::1]")
        }
    }

    /// `scheme://host:port/path?query`, without user information and fragment.
    var text: String {
        scheme + "://" + host + (port.map { ":\($0)" } ?? "") + path + (query.map { "?" + $0 } ?? "")
    }

    /// Takes the part behind the first occurrence of a mark away from the rest; nil if the mark is not there.
    private static func cut(_ rest: inout Substring.UTF8View, at mark: Unicode.Scalar) -> String? {
        guard let index = rest.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        defer { rest = rest[..<index] }
        return String(rest[rest.index(after: index)...])
    }

    /// Whether only unreserved and reserved characters and whole `%XX` stand in it (RFC 3986, section 2).
    private static func holdsOnlyURLCharacters(_ text: String) -> Bool {
        var hexDigitsDue = 0
        for byte in text.utf8 {
            switch byte {
            case _ where hexDigitsDue > 0:
                guard hexValue(byte) != nil else { return false }
                hexDigitsDue -= 1
            case UInt8(ascii: "%"):
                hexDigitsDue = 2
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A:
                continue
            default:
                guard "-._~:/?#[]@!$&'()*+,;=".utf8.contains(byte) else { return false }
            }
        }
        return hexDigitsDue == 0
    }

    private static func isHost(_ host: String) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            var address = in6_addr()
            return inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1
        }
        var labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        return host.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.count)
                    && label.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                        default: false
                        }
                    }
            }
    }
}

/// The value of a hexadecimal digit; nil for any other byte.
private func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}

extension WebAddress {
    /// Percent-decoding (RFC 3986, section 2.1); nil if the bytes are not UTF-8.
    static func percentDecoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.popFirst().flatMap(hexValue),
                let low = rest.popFirst().flatMap(hexValue)
            {
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
