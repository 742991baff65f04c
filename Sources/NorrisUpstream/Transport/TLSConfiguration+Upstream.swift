import NIOSSL

extension TLSConfiguration {
    /// TLS 1.2 or newer, and certificates that the system, or the file that is named, trusts.
    static func upstream(_ settings: HTTPSettings) -> TLSConfiguration {
        var configuration = makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let path = settings.trustRoots { configuration.trustRoots = .file(path) }
        return configuration
    }
}
