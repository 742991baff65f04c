import Glibc
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct InstanceLockTests {
    private let folder = TemporaryFolder()

    @Test func secondHolderIsRefusedAndToldWhoHasIt() throws {
        do {
            let lock = try InstanceLock(folder: folder.path)
            let error = try #require(throws: StoreError.self) { _ = try InstanceLock(folder: folder.path) }
            #expect(error == StoreError(path: folder.path, .locked(pid: Int(getpid()))))
            #expect(error.description.contains("process id \(getpid())"))
            #expect(error.description.contains("--state-dir"))
            withExtendedLifetime(lock) {}
        }
        _ = try InstanceLock(folder: folder.path)
    }

    /// The contents of a lock file from a process that has ended do not matter.
    @Test func leftLockFileDoesNotHold() throws {
        try folder.write("lock", String(repeating: "9", count: 100))
        _ = try InstanceLock(folder: folder.path)
        #expect(try folder.bytes("lock") == Array("\(getpid())\n".utf8))
    }

    /// Otherwise a link in a user's folder could make a daemon that root runs truncate any file.
    @Test func lockThatIsALinkIsRefused() throws {
        let file = try folder.write("precious", "text")
        #expect(symlink(file, folder("lock")) == 0)
        #expect(throws: StoreError.self) { _ = try InstanceLock(folder: folder.path) }
        #expect(try folder.bytes("precious") == Array("text".utf8))
    }
}
