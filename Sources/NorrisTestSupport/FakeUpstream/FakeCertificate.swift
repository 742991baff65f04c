/// A self-signed certificate and its key, made by openssl(1) for one test and gone with it.
package final class FakeCertificate: Sendable {
    private let folder = TemporaryFolder()

    /// The path of the certificate, as a file of trusted ones.
    package var path: String { folder("certificate.pem") }
    package var keyPath: String { folder("key.pem") }

    /// - Parameters:
    ///   - names: as in a subjectAltName.
    ///   - isExpired: since yesterday.
    package init(
        names: [String] = ["IP:127.0.0.1", "DNS:localhost", "DNS:jokes.example"], isExpired: Bool = false
    ) throws {
        try openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=norrisd test", "-addext", "subjectAltName=\(names.joined(separator: ","))",
            "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", keyPath, "-out", folder("request.pem"),
        ])
        // Of the two commands only this takes a negative number of days.
        try openssl([
            "x509", "-req", "-in", folder("request.pem"), "-signkey", keyPath, "-copy_extensions", "copyall",
            "-days", isExpired ? "-1" : "2", "-out", path,
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let result = try run("openssl", arguments)
        precondition(result.status == 0, "openssl makes no certificate: \(result)")
    }
}
