import Glibc

/// Why the bytes of a configuration file could not be had.
enum ConfigurationFileError: Error {
    case missing
    case directory
    /// A pipe, a socket: what would block or can be read only once.
    case notAFile
    case tooLarge
    case unreadable(errno: Int32)

    /// What is wrong with the file, and what to do.
    var message: String {
        switch self {
        case .missing: "does not exist; create it, or name another file"
        case .directory: "is a directory; name the file in it"
        case .notAFile: "is not a regular file; name one, because norrisd reads it again at every reload"
        case .tooLarge: "is larger than 1 MiB, which no configuration is; check the path"
        case .unreadable(EACCES): "may not be read by the user that norrisd runs as; change its owner or mode"
        case .unreadable(let code): "cannot be read: \(String(cString: strerror(code)))"
        }
    }
}

/// The configuration file as bytes.
enum ConfigurationFileContents {
    private static let largest = 1 << 20

    /// All of a file of at most 1 MiB. `/dev/null` is an empty one.
    static func read(_ path: String) throws(ConfigurationFileError) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            let code = errno
            throw code == ENOENT || code == ENOTDIR ? .missing : .unreadable(errno: code)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFCHR: break
        case S_IFDIR: throw .directory
        default: throw .notAFile
        }
        return try readAll(descriptor)
    }

    private static func readAll(_ descriptor: Int32) throws(ConfigurationFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count <= largest {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            switch count {
            case 0: return bytes
            case 1...: bytes += chunk[..<count]
            case _ where errno == EINTR: continue
            default: throw .unreadable(errno: errno)
            }
        }
        throw .tooLarge
    }

    /// The line, from 1, of the first byte that is not part of a character; nil if all are.
    static func lineOfInvalidUTF8(in bytes: [UInt8]) -> Int? {
        var line = 1
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let scalar): if scalar.first == UInt8(ascii: "\n") { line += 1 }
            case .emptyInput: return nil
            case .error: return line
            }
        }
    }
}
