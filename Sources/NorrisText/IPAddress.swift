import Glibc

package struct IPAddress: Equatable, Sendable {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]

    /// Parses the textual forms of inet_pton(3), without a zone.
    package init?(_ text: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            bytes = withUnsafeBytes(of: v4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            bytes = withUnsafeBytes(of: v6) { Array($0) }
        } else {
            return nil
        }
    }

    private init(bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    /// Whether the address is outside the public internet, so that no redirect may lead there: a special-purpose
    /// address (RFC 6890) without global reach, or multicast. An IPv4 address embedded in an IPv6 address decides.
    package var isPrivate: Bool {
        // `::` and `::1` match the prefix of compatible addresses, but embed no IPv4 address.
        let isLoopback = bytes.count == 16 && bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1
        if isLoopback { return true }
        if let (_, offset) = Self.embedding.first(where: { $0.prefix.contains(self) }) {
            return IPAddress(bytes: bytes[offset..<offset + 4]).isPrivate
        }
        return Self.privatePrefixes.contains { $0.contains(self) }
    }

    private static let privatePrefixes: [Prefix] = [
        Prefix("0.0.0.0", 8),  // "this network", RFC 791
        Prefix("10.0.0.0", 8),  // RFC 1918
        Prefix("100.64.0.0", 10),  // carrier-grade NAT, RFC 6598
        Prefix("127.0.0.0", 8),  // loopback, RFC 1122
        Prefix("169.254.0.0", 16),  // link-local, RFC 3927
        Prefix("172.16.0.0", 12),  // RFC 1918
        Prefix("192.0.0.0", 24),  // protocol assignments, RFC 6890
        Prefix("192.0.2.0", 24),  // documentation, RFC 5737
        Prefix("192.168.0.0", 16),  // RFC 1918
        Prefix("198.18.0.0", 15),  // benchmarks, RFC 2544
        Prefix("198.51.100.0", 24),  // documentation, RFC 5737
        Prefix("203.0.113.0", 24),  // documentation, RFC 5737
        Prefix("224.0.0.0", 4),  // multicast, RFC 5771
        Prefix("240.0.0.0", 4),  // reserved and limited broadcast, RFC 1112 and RFC 919
        Prefix("64:ff9b:1::", 48),  // NAT64 of a local network, RFC 8215
        Prefix("100::", 64),  // discard, RFC 6666
        Prefix("2001::", 23),  // protocol assignments, Teredo among them, RFC 2928
        Prefix("2001:db8::", 32),  // documentation, RFC 3849
        Prefix("3fff::", 20),  // documentation, RFC 9637
        Prefix("5f00::", 16),  // segment routing, RFC 9602
        Prefix("fc00::", 7),  // unique local, RFC 4193
        Prefix("fe80::", 10),  // link-local, RFC 4291
        Prefix("fec0::", 10),  // site-local, RFC 3879
        Prefix("ff00::", 8),  // multicast, RFC 4291
    ]

    /// The IPv6 prefixes that embed an IPv4 address, and the index of its first byte.
    private static let embedding: [(prefix: Prefix, offset: Int)] = [
        (Prefix("::ffff:0.0.0.0", 96), 12),  // mapped, RFC 4291
        (Prefix("::", 96), 12),  // compatible, RFC 4291
        (Prefix("64:ff9b::", 96), 12),  // NAT64, RFC 6052
        (Prefix("2002::", 16), 2),  // 6to4, RFC 3056
    ]

    private struct Prefix {
        private let bytes: [UInt8]
        private let length: Int

        /// - Parameter length: in bits.
        init(_ address: String, _ length: Int) {
            // Safe, because all prefixes are constants in this file, and tests check each one.
            bytes = IPAddress(address)!.bytes
            self.length = length
        }

        func contains(_ address: IPAddress) -> Bool {
            let (whole, rest) = length.quotientAndRemainder(dividingBy: 8)
            guard address.bytes.count == bytes.count, address.bytes.starts(with: bytes[..<whole]) else { return false }
            return rest == 0 || (address.bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0
        }
    }
}
