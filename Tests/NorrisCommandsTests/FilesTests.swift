import Foundation
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

struct FilesTests {
    private let folder = TemporaryFolder()
    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func contents(_ name: String) throws -> [UInt8] { try readFile(folder(name), limit: 1 << 20) }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func mode(_ name: String) -> mode_t {
        var status = stat()
        lstat(folder(name), &status)
        return status.st_mode
    }

    @Test func readsAFileToItsEndOrPastTheLimit() throws {
        let path = try folder.write(String(repeating: "0123456789", count: 10_000), to: "f")
        #expect(try readFile(path, limit: 100_000).count == 100_000)
        #expect(try (20_001..<60_000).contains(readFile(path, limit: 20_000).count))
        #expect(throws: SystemError("open", code: ENOENT)) { try readFile(folder("nope"), limit: 10) }
        #expect(throws: SystemError("read", code: EISDIR)) { try readFile(folder("."), limit: 10) }
        #expect(SystemError("open", code: EISDIR).reason == "Is a directory")
    }

    @Test func writesANewFile() throws {
        try writeFile(folder("new.png"), bytes)
        #expect(try contents("new.png") == bytes)
        // The reference: the mode of a new file from creat(2).
        close(creat(folder("other"), 0o666))
        #expect(mode("new.png") == mode("other"))
        #expect(try names() == ["new.png", "other"])
    }

    @Test(arguments: [mode_t(0o600), 0o666]) func replacesAFileAndKeepsItsMode(mode: mode_t) throws {
        let path = try folder.write("old", to: "f")
        chmod(path, mode)
        #expect(symlink("f", folder("link")) == 0)
        let reader = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        try writeFile(folder("link"), bytes)
        #expect(try contents("f") == bytes)
        #expect(self.mode("f") & 0o7777 == mode)
        #expect(self.mode("link") & S_IFMT == S_IFLNK)
        #expect(try names() == ["f", "link"])
        // The old file is replaced, not overwritten, so an open reader still reads the old contents.
        var buffer = [UInt8](repeating: 0, count: 10)
        #expect(read(reader, &buffer, 10) == 3)
    }

    @Test func aLinkWithoutAFileStaysAndGetsOne() throws {
        #expect(mkdir(folder("below"), 0o700) == 0)
        #expect(symlink("second", folder("first")) == 0)
        #expect(symlink("below/f", folder("second")) == 0)
        try writeFile(folder("first"), bytes)
        #expect(try contents("below/f") == bytes)
        #expect(mode("first") & S_IFMT == S_IFLNK && mode("second") & S_IFMT == S_IFLNK)
    }

    @Test(.enabled(if: geteuid() == 0)) func whatIsReplacedKeepsItsOwner() throws {
        let file = try folder.write("old", to: "f")
        #expect(chown(file, 1234, 5678) == 0 && chmod(file, 0o640) == 0)
        try writeFile(file, [1])
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect((status.st_uid, status.st_gid, status.st_mode & 0o7777) == (1234, 5678, 0o640))
    }

    @Test("A file gets every name that the file system permits", arguments: [250, 255])
    func writesAFileOfALongName(length: Int) throws {
        let name = String(repeating: "n", count: length)
        for _ in 0..<2 { try writeFile(folder(name), bytes) }
        #expect(try contents(name) == bytes)
        #expect(throws: SystemError("rename", code: ENAMETOOLONG)) { try writeFile(folder(name + "nnnnnn"), bytes) }
        #expect(try names() == [name])
    }

    @Test func otherFilesStay() throws {
        let other = try folder.write("mine", to: "f.\(getpid()).tmp")
        try writeFile(folder("f"), bytes)
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
    }

    @Test func writesIntoWhatIsNoPlainFile() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await TestThread.run {
            try writeFile("/dev/null", bytes)
            #expect(throws: SystemError("write", code: ENOSPC)) { try writeFile("/dev/full", bytes) }
            #expect(mkfifo(folder("pipe"), 0o600) == 0)
            let reader = try ChildProcess("cat", [folder("pipe")], output: folder("copy"))
            try writeFile(folder("pipe"), bytes)
            #expect(reader.wait() == 0)
            #expect(try contents("copy") == bytes)
            // A reader that closes the pipe early causes no error.
            let impatient = try ChildProcess("head", ["-c1", folder("pipe")])
            try writeFile(folder("pipe"), bytes)
            #expect(impatient.wait() == 0)
            #expect(try names() == ["copy", "pipe"])
        }
    }

    @Test func saysWhyItCannotWriteAndLeavesNothing() throws {
        _ = try folder.write("old", to: "f")
        for (path, number) in [
            (folder("none/f"), ENOENT), (folder.path, EISDIR), (folder("f/x"), ENOTDIR), ("", ENOENT),
            ("/proc/x", ENOENT),
        ] {
            let error = #expect(throws: SystemError.self, "\(path)") { try writeFile(path, bytes) }
            #expect(error?.code == number)
        }
        #expect(try names() == ["f"])
        #expect(try contents("f") == Array("old".utf8))
    }
}
