import Glibc

/// The file `prompt-facts`, which the shells of all users read.
struct PromptFile: Sendable {
    private static let name = "prompt-facts"

    /// Made where it is missing; its parent is the login's or the service manager's to make.
    let folder: String

    var path: String { Paths.join(folder, PromptFile.name) }

    /// Puts lines in place of those before, all at once: who reads it meanwhile has the old ones or the new ones.
    func replace(with lines: [String]) throws(PromptFileError) {
        try makeFolder()
        // Daemons may share the folder. What a killed one with this process id left behind is in nobody's way.
        let temporary = Paths.join(folder, ".\(PromptFile.name).\(getpid())")
        unlink(temporary)
        do throws(PromptFileError) {
            try write(Array(lines.map { $0 + "\n" }.joined().utf8), to: temporary)
            guard rename(temporary, path) == 0 else { throw failure(errno) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private func makeFolder() throws(PromptFileError) {
        if mkdir(folder, 0o755) == 0 {
            // Whatever the umask is.
            chmod(folder, 0o755)
        } else if errno != EEXIST {
            throw failure(errno)
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws(PromptFileError) {
        // O_EXCL follows no link either (open(2)).
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        // Whatever the umask is.
        guard fchmod(descriptor, 0o644) == 0 else { throw failure(errno) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(errno) }
            rest.removeFirst(count)
        }
    }

    private func failure(_ code: CInt) -> PromptFileError {
        PromptFileError(path: path, code: code)
    }
}

/// Why the file could not be written.
struct PromptFileError: Error, Equatable, CustomStringConvertible {
    let path: String
    /// A number of errno(3).
    let code: CInt

    var description: String {
        "\(path): cannot be written (\(String(cString: strerror(code)))); "
            + "check the folder's owner and permissions, and the disk's space, or give another --runtime-dir"
    }
}
