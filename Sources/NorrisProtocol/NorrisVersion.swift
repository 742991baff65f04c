/// The version of norrisd and norrisctl, which are released together.
package enum NorrisVersion {
    /// Semantic Versioning 2.0.0; the protocol's own version is ``ServerInfo/protocolVersion``.
    package static let current = "0.1.0"

    /// When the year of this release began; a clock that says less is wrong.
    // The text is a time of RFC 3339.
    package static let beginningOfYear = Timestamp("2026-01-01T00:00:00Z")!
}
