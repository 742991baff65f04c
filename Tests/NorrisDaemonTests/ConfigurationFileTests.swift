import Glibc
@testable import NorrisDaemon
import Testing

/// A directory of its own for a test, removed with all that is in it when the value goes away.
private final class ScratchFolder {
    let path: String

    init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/norrisd-configuration-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        path = String(cString: try #require(made))
    }

    deinit {
        for name in ["config.yaml", "pipe", "loop", "large.yaml"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    func write(_ bytes: [UInt8], to name: String = "config.yaml") throws -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        return file
    }
}

private let loader = ConfigurationLoader(home: nil, currentDirectory: "/")

/// What the loader says of a file that was named.
private func fault(_ path: String) -> String {
    do {
        _ = try loader.load(.init(path: path, isNamed: true))
        return "none"
    } catch {
        return error.description
    }
}

struct ConfigurationFileTests {
    @Test func fileIsRead() throws {
        let folder = try ScratchFolder()
        let file = try folder.write(Array("facts: {fortunes: [cookies], refresh: 1m}\n".utf8))
        let loaded = try loader.load(.init(path: file, isNamed: false))
        #expect(loaded.configuration.facts.fortunes == ["\(folder.path)/cookies"])
        #expect(loaded.warnings.map(\.line) == [1])
        #expect(loaded.warnings.map(\.file) == [file])
    }

    @Test func missingFileIsAFaultOnlyIfNamed() throws {
        let path = try ScratchFolder().path + "/nowhere/config.yaml"
        #expect(fault(path) == "\(path): does not exist; create it, or name another file")
        let defaults = ConfigurationLoader.Loaded(configuration: Configuration())
        #expect(try loader.load(.init(path: path, isNamed: false)) == defaults)
        #expect(try loader.load(.init(path: "/dev/null/config.yaml", isNamed: false)) == defaults)
        #expect(try loader.load(nil) == defaults)
    }

    @Test func directoryIsRefused() throws {
        let folder = try ScratchFolder()
        #expect(fault(folder.path) == "\(folder.path): is a directory; name the file in it")
    }

    @Test("A pipe is refused and not waited for")
    func pipeIsRefused() throws {
        let folder = try ScratchFolder()
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        #expect(
            fault(pipe) == "\(pipe): is not a regular file; name one, because norrisd reads it again at every reload"
        )
    }

    @Test("What cannot be opened is refused, named or not")
    func unreadableIsRefused() throws {
        let folder = try ScratchFolder()
        let loop = folder.path + "/loop"
        try #require(symlink(loop, loop) == 0)
        #expect(fault(loop) == "\(loop): cannot be read: Too many levels of symbolic links")
        #expect(throws: ConfigurationError.self) { try loader.load(.init(path: loop, isNamed: false)) }
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func forbiddenFileIsRefused() throws {
        let folder = try ScratchFolder()
        let file = try folder.write([])
        try #require(chmod(file, 0) == 0)
        #expect(fault(file) == "\(file): may not be read by the user that norrisd runs as; change its owner or mode")
    }

    @Test("A file may be 1 MiB and no more")
    func size() throws {
        let folder = try ScratchFolder()
        var bytes = [UInt8](repeating: UInt8(ascii: "#"), count: 1 << 20)
        #expect(fault(try folder.write(bytes, to: "large.yaml")) == "none")
        bytes.append(UInt8(ascii: "#"))
        let file = try folder.write(bytes, to: "large.yaml")
        #expect(fault(file) == "\(file): is larger than 1 MiB, which no configuration is; check the path")
        #expect(fault("/dev/zero") == "/dev/zero: is larger than 1 MiB, which no configuration is; check the path")
    }

    @Test func deviceNullIsAnEmptyFile() {
        #expect(fault("/dev/null") == "none")
    }

    private static let notUTF8Cases: [(String, [UInt8], Int)] = [
        ("# ", [0xFF], 1), ("log: {}\n# é\n", [0xE9, 0x0A], 3), ("\n", [0xED, 0xA0, 0x80], 2),
        ("", [0xFF, 0xFE, 0x61, 0x00], 1), ("\n\n", [0xC3], 3),
    ]

    @Test("What is not UTF-8 is refused with its line", arguments: notUTF8Cases)
    func notUTF8(start: String, rest: [UInt8], line: Int) throws {
        let folder = try ScratchFolder()
        let file = try folder.write(Array(start.utf8) + rest)
        #expect(fault(file) == "\(file):\(line): is not UTF-8; save the file in that encoding")
    }
}
