import Glibc

/// An absolute `http` or `https` URL, taken apart (RFC 3986).
///
/// Stricter than the RFC where its parsers disagree: only ASCII that a URL may hold, valid percent-encoding, no user
/// and password, a host that is a name, an IPv4 address or an IPv6 address in brackets.
package struct HTTPURL: Sendable, Equatable {
    package let isSecure: Bool
    /// In small letters; an IPv6 address with its brackets.
    package let host: String
    package let port: Int?
    /// Begins with a slash.
    package let path: String
    /// What stands behind the question mark.
    package let query: String?

    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard Self.isWellFormed(bytes) else { return nil }
        let lower = text.lowercased()
        let start: Int
        if lower.utf8.starts(with: "https://".utf8) {
            (isSecure, start) = (true, 8)
        } else if lower.utf8.starts(with: "http://".utf8) {
            (isSecure, start) = (false, 7)
        } else {
            return nil
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        guard start <= end else { return nil }
        let rest = bytes[start..<end]
        let authorityEnd = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? end
        guard let authority = Self.authority(rest[..<authorityEnd]) else { return nil }
        (host, port) = authority
        let mark = rest[authorityEnd...].firstIndex(of: UInt8(ascii: "?")) ?? end
        let path = String(decoding: rest[authorityEnd..<mark], as: UTF8.self)
        self.path = path.isEmpty ? "/" : path
        query = mark < end ? String(decoding: rest[(mark + 1)...], as: UTF8.self) : nil
    }

    init(isSecure: Bool, host: String, port: Int?, path: String, query: String?) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }

    package var scheme: String { isSecure ? "https" : "http" }

    /// Host and port, as the field `Host` has them.
    package var authority: String {
        let standard = isSecure ? 443 : 80
        guard let port, port != standard else { return host }
        return "\(host):\(port)"
    }

    /// Path and query, as a request line has them.
    package var target: String {
        query.map { "\(path)?\($0)" } ?? path
    }

    /// Host and path for a message: never the query, in which a key may stand.
    package var place: String {
        String("\(authority)\(path == "/" ? "" : path)".prefix(200))
    }

    /// Only characters of RFC 3986, appendix A, and two hexadecimal digits behind each percent sign.
    private static func isWellFormed(_ bytes: [UInt8]) -> Bool {
        let isHex = { (index: Int) in bytes.indices.contains(index) && isxdigit(Int32(bytes[index])) != 0 }
        return bytes.indices.allSatisfy { index in
            switch bytes[index] {
            case UInt8(ascii: "%"): isHex(index + 1) && isHex(index + 2)
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
                UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
                false
            case let byte: (0x21...0x7E).contains(byte)
            }
        }
    }

    private static func authority(_ bytes: ArraySlice<UInt8>) -> (host: String, port: Int?)? {
        let hostEnd: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let address = String(decoding: bytes[(bytes.startIndex + 1)..<bracket], as: UTF8.self)
            guard IPAddress(address)?.isVersion6 == true else { return nil }
            hostEnd = bracket + 1
        } else {
            hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            let isName = bytes[..<hostEnd].allSatisfy {
                isalnum(Int32($0)) != 0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
            }
            guard isName, (1...253).contains(hostEnd - bytes.startIndex) else { return nil }
        }
        let host = String(decoding: bytes[..<hostEnd], as: UTF8.self).lowercased()
        guard hostEnd < bytes.endIndex else { return (host, nil) }
        let digits = bytes[(hostEnd + 1)...]
        guard bytes[hostEnd] == UInt8(ascii: ":"), digits.allSatisfy({ isdigit(Int32($0)) != 0 }) else { return nil }
        if digits.isEmpty { return (host, nil) }
        guard let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port) else { return nil }
        return (host, port)
    }
}

extension HTTPURL: CustomStringConvertible {
    package var description: String { "\(scheme)://\(authority)\(target)" }
}
