import NorrisProtocol

extension ServerStatus.Database {
    /// How large the databases are, how much they may grow, and whether they may.
    var parts: [Span] {
        var parts = [Span("cache \(byteSizeText(cacheBytes))"), Span("state \(byteSizeText(stateBytes))")]
        if let freeBytes {
            parts.append(Span("\(byteSizeText(freeBytes)) free", freeBytes < Self.scarceBytes ? .warning : .normal))
        }
        if isReadOnly {
            parts.append(Span("read-only", .warning))
        }
        return parts
    }

    /// With less free space something is about to fail.
    private static let scarceBytes = 64 << 20
}
