import Glibc

/// The credentials that the service manager keeps for this service alone: "CREDENTIALS" in systemd.exec(5).
package struct Credentials: Sendable {
    /// The folder that holds one file per credential; nil where the service manager passed none.
    package let directory: String?

    package init(directory: String?) {
        self.directory = directory
    }

    /// The credentials of this process, from `CREDENTIALS_DIRECTORY`.
    package static func ofThisProcess() -> Credentials {
        Credentials(directory: getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) })
    }

    /// The credential of that name, without its trailing line end.
    ///
    /// - Parameter name: a file name as in `LoadCredential=`, without a slash.
    /// - Returns: nil when there is no such credential.
    package func secret(named name: String) throws(CredentialError) -> Secret? {
        precondition(!name.utf8.contains(UInt8(ascii: "/")), "A credential's name is a file name.")
        guard let directory, !directory.isEmpty else { return nil }
        return try Secret.read(path: "\(directory)/\(name)")
    }
}
