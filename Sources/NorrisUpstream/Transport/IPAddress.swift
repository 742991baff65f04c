import Glibc

/// An address of IPv4 or IPv6 as its bytes.
struct IPAddress: Equatable, Sendable {
    /// 4 or 16, in network order.
    let bytes: [UInt8]

    var isVersion6: Bool { bytes.count == 16 }

    init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "An address has 4 or 16 bytes")
        self.bytes = bytes
    }

    /// The textual forms of inet_pton(3), without zone; nil for anything else.
    init?(_ text: String) {
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
}

extension IPAddress {
    /// Whether the address is not one of the public internet, so that no upstream may send us there.
    ///
    /// The registries of special-purpose addresses (RFC 6890), the prefixes that are not globally reachable, and
    /// multicast. Addresses of IPv6 that carry one of IPv4 count as that one.
    var isPrivate: Bool {
        if isVersion6, let embedded { return embedded.isPrivate }
        return (isVersion6 ? Self.private6 : Self.private4).contains { $0.contains(self) }
    }

    private static let private4: [Prefix] = [
        Prefix([0], 8),  // "this network", RFC 791
        Prefix([10], 8),  // RFC 1918
        Prefix([100, 64], 10),  // carrier-grade NAT, RFC 6598
        Prefix([127], 8),  // loopback, RFC 1122
        Prefix([169, 254], 16),  // link-local, RFC 3927
        Prefix([172, 16], 12),  // RFC 1918
        Prefix([192, 0, 0], 24),  // protocol assignments, RFC 6890
        Prefix([192, 0, 2], 24),  // documentation, RFC 5737
        Prefix([192, 168], 16),  // RFC 1918
        Prefix([198, 18], 15),  // benchmarks, RFC 2544
        Prefix([198, 51, 100], 24),  // documentation, RFC 5737
        Prefix([203, 0, 113], 24),  // documentation, RFC 5737
        Prefix([224], 4),  // multicast, RFC 5771
        Prefix([240], 4),  // reserved and limited broadcast, RFC 1112 and RFC 919
    ]

    private static let private6: [Prefix] = [
        Prefix([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 128),  // unspecified, RFC 4291
        Prefix([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128),  // loopback, RFC 4291
        Prefix([0x00, 0x64, 0xFF, 0x9B, 0x00, 0x01], 48),  // NAT64 of a local network, RFC 8215
        Prefix([0x01, 0x00, 0, 0, 0, 0, 0, 0], 64),  // discard, RFC 6666
        Prefix([0x20, 0x01, 0x00], 23),  // protocol assignments, Teredo among them, RFC 2928
        Prefix([0x20, 0x01, 0x0D, 0xB8], 32),  // documentation, RFC 3849
        Prefix([0x3F, 0xFF, 0x00], 20),  // documentation, RFC 9637
        Prefix([0x5F, 0x00], 16),  // segment routing, RFC 9602
        Prefix([0xFC], 7),  // unique local, RFC 4193
        Prefix([0xFE, 0x80], 10),  // link-local, RFC 4291
        Prefix([0xFE, 0xC0], 10),  // site-local, RFC 3879
        Prefix([0xFF], 8),  // multicast, RFC 4291
    ]

    /// The address of IPv4 that an address of IPv6 stands for.
    private var embedded: IPAddress? {
        // `::` and `::1` look like compatible addresses and are none.
        let isUnspecifiedOrLoopback = bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1
        for (prefix, offset) in Self.embedding where prefix.contains(self) && !isUnspecifiedOrLoopback {
            return IPAddress(bytes: Array(bytes[offset..<offset + 4]))
        }
        return nil
    }

    private static let embedding: [(prefix: Prefix, offset: Int)] = [
        (Prefix([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96), 12),  // mapped, RFC 4291
        (Prefix([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 96), 12),  // compatible, RFC 4291
        (Prefix([0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96), 12),  // NAT64, RFC 6052
        (Prefix([0x20, 0x02], 16), 2),  // 6to4, RFC 3056
    ]
}

/// The leading bits that a block of addresses has in common.
private struct Prefix {
    private let bytes: [UInt8]
    private let length: Int

    /// - Parameter length: in bits; `bytes` holds at least as many.
    init(_ bytes: [UInt8], _ length: Int) {
        self.bytes = bytes
        self.length = length
    }

    func contains(_ address: IPAddress) -> Bool {
        let (whole, rest) = length.quotientAndRemainder(dividingBy: 8)
        guard address.bytes.starts(with: bytes[..<whole]) else { return false }
        return rest == 0 || (address.bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0
    }
}
