import Foundation
import NorrisCommands
import NorrisTestSupport
import Testing

/// Files on a real disk.
struct FileWritingTests {
    private let folder = TemporaryFolder()
    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func contents(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: folder(name))))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func status(_ path: String) -> stat {
        var status = stat()
        lstat(path, &status)
        return status
    }

    private func mode(_ name: String) -> mode_t { status(folder(name)).st_mode & 0o7777 }

    @Test func writesANewFile() throws {
        try writeFile(folder("new.png"), bytes)
        #expect(try contents("new.png") == bytes)
        // What any program's new file gets here.
        close(creat(folder("other"), 0o666))
        #expect(mode("new.png") == mode("other"))
        #expect(try names() == ["new.png", "other"])
        try writeFile(folder("empty"), [])
        #expect(try contents("empty") == [])
    }

    @Test(arguments: [mode_t(0o600), 0o644, 0o666, 0o640])
    func replacesAFileAndKeepsItsMode(mode: mode_t) throws {
        let path = try folder.write("old", to: "f")
        chmod(path, mode)
        let reader = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        try writeFile(path, bytes)
        #expect(try contents("f") == bytes)
        #expect(self.mode("f") == mode)
        #expect(try names() == ["f"])
        // It is replaced, not written over: who reads the old one reads it to its end.
        var buffer = [UInt8](repeating: 0, count: 10)
        #expect(read(reader, &buffer, 10) == 3)
    }

    @Test func followsSymbolicLinks() throws {
        try FileManager.default.createDirectory(atPath: folder("far"), withIntermediateDirectories: false)
        _ = try folder.write("old", to: "far/there")
        for (target, link) in [
            ("far/there", "near"), ("near", "chain"), (folder("far/there"), "whole"), ("far/missing", "dangling"),
            ("far", "folder"),
        ] {
            #expect(symlink(target, folder(link)) == 0)
        }
        for (link, file) in [
            ("near", "there"), ("chain", "there"), ("whole", "there"), ("dangling", "missing"), ("folder/new", "new"),
        ] {
            try writeFile(folder(link), Array(link.utf8))
            #expect(try contents("far/\(file)") == Array(link.utf8))
        }
        for link in ["near", "chain", "whole", "dangling", "folder"] {
            #expect(status(folder(link)).st_mode & S_IFMT == S_IFLNK)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("far")).sorted() == [
            "missing", "new", "there",
        ])
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can give files away."))
    func keepsOwnerAndGroupAsFarAsItMay() throws {
        let path = try folder.write("old", to: "f")
        #expect(chown(path, 1, 54_321) == 0)
        chmod(path, 0o662)
        try writeFile(path, bytes)
        #expect(status(path).st_uid == 1)
        #expect(status(path).st_gid == 54_321)
        #expect(mode("f") == 0o662)
        // Somebody else may give it neither; what was for the group alone is not for theirs.
        chmod(folder.path, 0o777)
        try asNobody { try writeFile(path, bytes) }
        #expect(status(path).st_uid == 65_534)
        #expect(status(path).st_gid == getegid())
        #expect(mode("f") == 0o622)
        // The group it is in already it keeps.
        #expect(chown(path, 1, getegid()) == 0)
        chmod(path, 0o662)
        try asNobody { try writeFile(path, bytes) }
        #expect(status(path).st_uid == 65_534)
        #expect(mode("f") == 0o662)
        #expect(try contents("f") == bytes)
        #expect(try names() == ["f"])
    }

    /// In Swift such a mark and the slash before it are one character.
    @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}"])
    func namesThatBeginWithAMarkAreNamesLikeOthers(mark: String) throws {
        try FileManager.default.createDirectory(atPath: folder(mark + "far"), withIntermediateDirectories: false)
        let kept = try folder.write("kept", to: "there")
        #expect(symlink("there", folder(mark + "far/\(mark)link")) == 0)
        try writeFile(folder(mark + "far/\(mark)link"), bytes)
        try writeFile(folder(mark + "far/\(mark)new"), bytes)
        #expect(try contents(mark + "far/there") == bytes)
        #expect(try contents(mark + "far/\(mark)new") == bytes)
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "kept")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder(mark + "far")).count == 3)
    }

    @Test func writesToADescriptorAsItIs() throws {
        // One that has lost its name: what the system says instead of it would be another file's.
        let path = try folder.write("", to: "f")
        let descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC)
        defer { close(descriptor) }
        unlink(path)
        #expect(symlink("/dev/fd/\(descriptor)", folder("link")) == 0)
        for name in ["/dev/fd/\(descriptor)", "/proc/self/fd/\(descriptor)", folder("link")] {
            try writeFile(name, bytes)
        }
        var status = stat()
        #expect(fstat(descriptor, &status) == 0)
        #expect(status.st_size == 3 * off_t(bytes.count))
        #expect(try names() == ["link"])
        #expect(throws: FileWriteError.system(errno: EBADF)) { try writeFile("/dev/fd/999999", bytes) }
        // A folder with a number in it is none.
        try writeFile(folder("7"), bytes)
        #expect(try contents("7") == bytes)
    }

    @Test func writesIntoWhatIsNoPlainFile() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await TestThread.run {
            try writeFile("/dev/null", bytes)
            #expect(status("/dev/null").st_mode & S_IFMT == S_IFCHR)
            #expect(throws: FileWriteError.system(errno: ENOSPC)) { try writeFile("/dev/full", bytes) }
            #expect(status("/dev/full").st_mode & S_IFMT == S_IFCHR)

            #expect(mkfifo(folder("pipe"), 0o600) == 0)
            let reader = try ChildProcess("cat", [folder("pipe")], output: folder("copy"))
            try writeFile(folder("pipe"), bytes)
            #expect(reader.wait() == 0)
            #expect(try contents("copy") == bytes)
            // One who has read enough is no error.
            let impatient = try ChildProcess("head", ["-c1", folder("pipe")])
            try writeFile(folder("pipe"), bytes)
            #expect(impatient.wait() == 0)
            #expect(try names() == ["copy", "pipe"])
        }
    }

    @Test func writesToNoTerminal() throws {
        #expect(throws: FileWriteError.terminal) { try writeFile("/dev/ptmx", [1]) }
        #expect(FileWriteError.terminal.reason == "It is a terminal")
    }

    @Test func saysWhyItCannotWriteAndLeavesNothing() throws {
        _ = try folder.write("old", to: "f")
        #expect(symlink("loop", folder("loop")) == 0)
        #expect(symlink("nowhere/f", folder("lost")) == 0)
        let before = try names()
        for (path, number) in [
            (folder("none/f"), ENOENT), (folder.path, EISDIR), (folder.path + "/", EISDIR), (folder("new/"), ENOENT),
            (folder("f/x"), ENOTDIR), (folder("f/"), ENOTDIR), ("", ENOENT), (folder("loop"), ELOOP),
            (folder("lost"), ENOENT), (folder(String(repeating: "x", count: 256)), ENAMETOOLONG),
            (String(repeating: "x/", count: 3_000), ENAMETOOLONG), (".", EISDIR), ("/proc/x", ENOENT),
        ] {
            #expect(throws: FileWriteError.system(errno: number), "\(path)") { try writeFile(path, bytes) }
        }
        #expect(try names() == before)
        #expect(try contents("f") == Array("old".utf8))
        #expect(FileWriteError.system(errno: ENOENT).reason == "No such file or directory")
        try writeFile(folder(String(repeating: "x", count: 255)), bytes)
    }

    @Test func asksForLeave() throws {
        _ = try folder.write("old", to: "mine")
        _ = try folder.write("old", to: "protected")
        chmod(folder("mine"), 0o666)
        chmod(folder("protected"), 0o444)
        chmod(folder.path, 0o777)
        _ = asNobody {
            #expect(throws: FileWriteError.system(errno: EACCES)) { try writeFile(folder("protected"), bytes) }
        }
        // The file may be written, but no other can be put in its place.
        chmod(folder.path, 0o555)
        asNobody {
            #expect(throws: FileWriteError.notReplaced(errno: EACCES)) { try writeFile(folder("mine"), bytes) }
            #expect(throws: FileWriteError.system(errno: EACCES)) { try writeFile(folder("new"), bytes) }
        }
        chmod(folder.path, 0o700)
        #expect(try names() == ["mine", "protected"])
        #expect(try contents("mine") == Array("old".utf8))
        #expect(try contents("protected") == Array("old".utf8))
    }
}
