import Glibc
package import NorrisSystem

/// The credentials that the service manager provides to this service: "CREDENTIALS" in systemd.exec(5).
package struct Credentials: Sendable {
    /// The folder with one file per credential; nil if the service manager passed none.
    package let directory: String?

    package init(directory: String?) { self.directory = directory }

    /// The credentials of this process, from `CREDENTIALS_DIRECTORY`.
    package static func ofThisProcess() -> Credentials {
        Credentials(directory: getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) })
    }

    /// The credential with a name, without its final newline; nil if there is no such credential.
    ///
    /// - Parameter name: a file name as in `LoadCredential=`, without a slash.
    package func secret(named name: String) throws(ExplainedError) -> Secret? {
        guard let directory, !directory.isEmpty else { return nil }
        return try Secret.read(path: "\(directory)/\(name)")
    }
}

/// A value that must not be shown: printing, interpolating, dumping or reflecting it shows a mask.
///
/// Only code that uses ``value`` gets the text.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself.
    package let value: String

    package init(_ value: String) { self.value = value }

    package var description: String { "<secret>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    /// The maximum number of bytes that are read; no key is longer.
    package static let maximumLength = 4096

    /// Reads a secret from a file, without the final newline of editors; nil if the file does not exist. An error
    /// contains the path, never the content.
    package static func read(path: String) throws(ExplainedError) -> Secret? {
        // Without O_NONBLOCK, opening a pipe by mistake would wait for a writer.
        var bytes: ArraySlice<UInt8>
        do throws(SystemError) {
            let descriptor = try openFile(path, O_RDONLY | O_NONBLOCK)
            defer { close(descriptor) }
            bytes = try readAll(descriptor, limit: maximumLength).prefix(maximumLength)
        } catch {
            if error.call == "open", error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw ExplainedError(
                """
                The credential \(path) cannot be read (\(error.reason)): let the user that runs norrisd read this \
                file.
                """
            )
        }
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else {
            throw ExplainedError("The credential \(path) is empty: write the key into the file, or remove it.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ExplainedError(
                "The credential \(path) is not UTF-8 text: the file must hold the key and nothing else.")
        }
        return Secret(text)
    }
}
