/// A self-signed certificate and its key, made by openssl(1) for one test and gone with it.
package final class FakeCertificate: Sendable {
    private let folder = TemporaryFolder()

    /// The path of the certificate, as a file of trusted ones.
    package var path: String { folder("certificate.pem") }
    package var keyPath: String { folder("key.pem") }

    /// - Parameter names: as in a subjectAltName.
    package init(names: [String] = ["IP:127.0.0.1", "DNS:localhost", "DNS:jokes.example"]) throws {
        let result = try run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=norrisd test", "-addext", "subjectAltName=\(names.joined(separator: ","))",
                "-keyout", keyPath, "-out", path,
            ]
        )
        precondition(result.status == 0, "openssl makes no certificate: \(result)")
    }
}
