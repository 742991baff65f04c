import Glibc
import NorrisSystem

/// Reads a `Configuration` from a file, or reports all faults of the file.
///
/// Used by a start, `--check-config` and a reload; only `load` reads the disk.
struct ConfigurationLoader: Sendable {
    /// A valid configuration, and warnings about it.
    struct Loaded: Sendable, Equatable {
        var configuration: Configuration
        var warnings: [ConfigurationFault] = []
    }

    /// The home directory, for `~/`; nil if unknown.
    let home: String?
    /// The absolute path to which a relative path of a configuration file refers.
    let currentDirectory: String
    /// Whether a missing group or file is a warning. At a start each is logged at its first use instead.
    var checksSystem = false

    private static let maximumBytes = 1 << 20

    /// Reads the file that `Paths` found. A key has its default if there is no file and no flag or variable names a
    /// file.
    func load(_ file: Paths.ConfigurationFile?) throws(ConfigurationError) -> Loaded {
        guard let file, let bytes = try Self.read(file) else { return Loaded(configuration: Configuration()) }
        return try parse(bytes, file: file.path)
    }

    /// Reads the text of a file.
    ///
    /// - Parameter file: the path for messages and for relative paths; not opened.
    func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> Loaded {
        let path = file.hasPrefix("/") ? file : Paths.join(currentDirectory, file)
        var reader = ConfigurationReader(
            file: file, context: .init(folder: Paths.parent(of: path), home: home, checksSystem: checksSystem))
        var configuration = Configuration()
        do throws(YAMLProblem) {
            if let root = try YAMLNode(document: text) {
                reader.read(ConfigurationSchema.keys, in: root, into: &configuration)
            }
        } catch {
            reader.refuse(error)
        }
        guard reader.faultCount == 0 else { throw ConfigurationError(faults: reader.faults) }
        return Loaded(configuration: configuration, warnings: reader.warnings)
    }

    /// The content of a file; nil if there is no file and no flag or variable names a file. `/dev/null` is an empty
    /// file.
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
        // A read of a pipe or a socket would block, or work only once.
        default: throw refusal("is not a regular file; name one, because norrisd reads it again at every reload")
        }
        let bytes: [UInt8]
        do {
            bytes = try readAll(descriptor, limit: maximumBytes)
        } catch {
            throw failure(error)
        }
        guard bytes.count <= maximumBytes else {
            throw refusal("is larger than \(maximumBytes >> 20) MiB, which no configuration is; check the path")
        }
        return bytes
    }
}

/// A fault of a configuration file, or a warning about it.
struct ConfigurationFault: Sendable, Equatable, CustomStringConvertible {
    /// The path as passed to norrisd.
    var file: String
    /// From 1; nil for a fault of the whole file.
    var line: Int?
    /// The dotted path of the key, such as `posts.sources.planet.url`; nil for a fault without a key.
    var key: String?
    /// One sentence with the fault and its correction.
    var message: String

    /// `FILE:LINE: key: message`, without unknown parts.
    var description: String { file + (line.map { ":\($0)" } ?? "") + (key.map { ": \($0)" } ?? "") + ": " + message }
}

/// The faults of a refused configuration, as many as were found at once.
struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Never empty, in the order of the file.
    var faults: [ConfigurationFault]

    /// One fault a line.
    var description: String { faults.map(\.description).joined(separator: "\n") }
}

extension [ConfigurationFault] {
    /// The faults for a person: the path once, then a line for each fault, such as `line 3: facts.refesh: …`.
    var lines: [String] {
        var lines: [String] = []
        var file: String?
        for fault in self {
            let place = [fault.line.map { "line \($0)" }, fault.key].compactMap(\.self).map { $0 + ": " }.joined()
            if place.isEmpty {
                // A fault of a whole file is a sentence that begins with the path.
                lines.append("\(fault.file) \(fault.message)")
            } else {
                if fault.file != file { lines.append("\(fault.file):") }
                lines.append("\(place)\(fault.message)")
            }
            file = place.isEmpty ? nil : fault.file
        }
        return lines
    }
}
