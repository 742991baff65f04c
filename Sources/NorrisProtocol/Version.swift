/// The version of norrisd and norrisctl, which are released together.
package enum NorrisVersion {
    /// Semantic Versioning 2.0.0; the protocol's own version is ``ServerInfo/protocolVersion``.
    package static let current = "0.1.0"
}
