import Glibc
import NorrisSystem

/// Makes a `Configuration` of a file, or reports everything that is wrong with it.
///
/// Reads the disk in `load` only; no other state, so it serves a start, `--check-config` and a reload alike.
struct ConfigurationLoader: Sendable {
    /// A configuration that may be used, and what its author should know all the same.
    struct Loaded: Sendable, Equatable {
        var configuration: Configuration
        var warnings: [ConfigurationFault] = []
    }

    /// For `~/`; nil if it is unknown.
    let home: String?
    /// What a relative path of a configuration file is relative to; absolute.
    let currentDirectory: String
    /// Whether groups and files that this machine does not have are warnings. At a start each is logged where it is
    /// missed.
    var checksSystem = false

    /// Reads the file that `Paths` found; the defaults if there is none and nobody named it.
    func load(_ file: Paths.ConfigurationFile?) throws(ConfigurationError) -> Loaded {
        guard let file else { return Loaded(configuration: Configuration()) }
        guard let bytes = try Self.read(file) else { return Loaded(configuration: Configuration()) }
        return try parse(bytes, file: file.path)
    }

    /// Reads the text of a file.
    ///
    /// - Parameter file: its path, for messages and for what the text is relative to; not opened.
    func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> Loaded {
        let path = file.hasPrefix("/") ? file : Paths.join(currentDirectory, file)
        var reader = ConfigurationReader(
            file: file, context: .init(folder: Paths.parent(of: path), home: home, checksSystem: checksSystem))
        var configuration = Configuration()
        let document = YAMLDocument(text)
        if let root = document.root, reader.isReadable(root) {
            reader.read(ConfigurationSchema.keys, in: root, into: &configuration)
        }
        if let problem = document.problem { reader.refuse(problem) }
        guard reader.faultCount == 0 else { throw ConfigurationError(faults: reader.faults) }
        return Loaded(configuration: configuration, warnings: reader.warnings)
    }

    /// All of a file of at most 1 MiB; nil if there is none and nobody named it. `/dev/null` is an empty one.
    private static func read(_ file: Paths.ConfigurationFile) throws(ConfigurationError) -> [UInt8]? {
        func refusal(_ message: String) -> ConfigurationError {
            ConfigurationError(faults: [ConfigurationFault(file: file.path, message: message)])
        }
        func failure(_ error: SystemError) -> ConfigurationError {
            switch error.code {
            case ENOENT, ENOTDIR: refusal("does not exist; create it, or name another file")
            case EACCES: refusal("may not be read by the user that norrisd runs as; change its owner or mode")
            default: refusal("cannot be read: \(error.reason)")
            }
        }
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let descriptor: CInt
        do throws(SystemError) {
            descriptor = try openFile(file.path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        } catch {
            if !file.isNamed, error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw failure(error)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(SystemError("fstat")) }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFCHR: break
        case S_IFDIR: throw refusal("is a directory; name the file in it")
        // A pipe, a socket: it would block, or can be read only once.
        default: throw refusal("is not a regular file; name one, because norrisd reads it again at every reload")
        }
        let bytes: [UInt8]
        do {
            bytes = try readAll(descriptor, limit: 1 << 20)
        } catch {
            throw failure(error)
        }
        guard bytes.count <= 1 << 20 else {
            throw refusal("is larger than 1 MiB, which no configuration is; check the path")
        }
        return bytes
    }
}

/// One thing that is wrong with, or worth a warning about, a configuration file.
struct ConfigurationFault: Sendable, Equatable, CustomStringConvertible {
    /// The path as it was given.
    var file: String
    /// Counted from 1; nil where the fault is the file itself.
    var line: Int?
    /// The dotted path of the key, such as `posts.sources.planet.url`; nil where the fault is not about one.
    var key: String?
    /// One sentence that says what is wrong and what to write instead.
    var message: String

    /// `FILE:LINE: key: message`, without the parts that are unknown.
    var description: String { file + (line.map { ":\($0)" } ?? "") + (key.map { ": \($0)" } ?? "") + ": " + message }
}

/// Why a configuration was refused: every fault that could be found at once.
struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Never empty, in the order of the file.
    var faults: [ConfigurationFault]

    /// One fault a line.
    var description: String { faults.map(\.description).joined(separator: "\n") }
}
