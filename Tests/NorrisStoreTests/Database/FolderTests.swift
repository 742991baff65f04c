import Glibc
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FolderTests {
    private let scratch = TemporaryFolder()

    /// umask(2) affects the whole process, so this test needs a separate process.
    @Test func foldersAreMadeWithTheirParentsForThisUserOnly() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let scratch = TemporaryFolder()
            try Folder.make(scratch("a/b/c"))
            for name in ["a", "a/b", "a/b/c"] { #expect(try scratch.mode(name) == 0o700) }
            try Folder.make(scratch("a/b/c"))
            try Folder.make(scratch("d/e/"))
            #expect(try scratch.mode("d/e") == 0o700)
        }
    }

    @Test func fileInTheWayIsSaid() throws {
        let file = try scratch.write("file", "")
        for path in [file, file + "/a", file + "/a/b"] {
            let error = #expect(throws: StoreError.self) { try Folder.make(path) }
            #expect(error?.description.hasPrefix(file) == true)
            #expect(error?.description.contains("cannot be written") == true)
        }
    }

    @Test func freeBytesAreThoseOfTheFileSystem() throws {
        let path = try scratch.write("file", "a")
        let free = try #require(Folder.freeBytes(besides: path))
        #expect(free > 0)
        // The file system of proc(5) has no free space.
        #expect(Folder.freeBytes(besides: "/proc/self/stat") == 0)
        #expect(Folder.freeBytes(besides: scratch("none")) == nil)
    }
}

struct InstanceLockTests {
    private let folder = TemporaryFolder()

    private func isFree() throws -> Bool {
        do throws(StoreError) {
            _ = try InstanceLock(folder: folder.path)
            return true
        } catch {
            guard case .locked = error.reason else { throw error }
            return false
        }
    }

    @Test func secondHolderIsRefusedAndToldWhoHasIt() throws {
        let lock = try InstanceLock(folder: folder.path)
        let error = try #require(throws: StoreError.self) { _ = try InstanceLock(folder: folder.path) }
        #expect(error == StoreError(path: folder.path, .locked(pid: Int(getpid()))))
        #expect(error.description.contains("process id \(getpid())"))
        #expect(error.description.contains("--state-dir"))
        withExtendedLifetime(lock) {}
    }

    @Test func lockIsGivenBackAtTheEnd() throws {
        do {
            let lock = try InstanceLock(folder: folder.path)
            #expect(try !isFree())
            withExtendedLifetime(lock) {}
        }
        #expect(try isFree())
    }

    /// The contents of a lock file from a process that has ended do not matter.
    @Test(arguments: ["", "123\n", "garbage", String(repeating: "9", count: 100)])
    func leftLockFileDoesNotHold(text: String) throws {
        try folder.write("lock", text)
        #expect(try isFree())
        #expect(try folder.bytes("lock") == Array("\(getpid())\n".utf8))
    }

    /// Otherwise a link in a user's folder could make a daemon that root runs truncate any file.
    @Test func lockThatIsALinkIsRefused() throws {
        let file = try folder.write("precious", "text")
        #expect(symlink(file, folder("lock")) == 0)
        #expect(throws: StoreError.self) { _ = try InstanceLock(folder: folder.path) }
        #expect(try folder.bytes("precious") == Array("text".utf8))
    }

    @Test func missingFolderIsSaid() throws {
        let error = #expect(throws: StoreError.self) { _ = try InstanceLock(folder: folder("none")) }
        #expect(error?.path == folder("none/lock"))
        guard case .notWritable = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
