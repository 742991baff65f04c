import Glibc
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct InstanceLockTests {
    private let folder = TemporaryFolder()

    @Test func secondHolderIsRefusedAndToldWhoHasIt() throws {
        do {
            let lock = try lock()
            let error = try #require(throws: StoreError.self) { _ = try self.lock() }
            #expect(error.reason == .locked)
            let other = "the norrisd with process id \(getpid())"
            #expect("\(error)" == "\(folder.path): \(other) uses this folder; stop it, or give another --cache-dir")
            #expect(error.description.contains("process id \(getpid())"))
            #expect(error.description.contains("--cache-dir"))
            #expect(lock.isIn(folder.path + "/.") && !lock.isIn(folder("other")))
        }
        _ = try lock()
    }

    private func lock() throws -> InstanceLock { try InstanceLock(folder: folder.path, option: "--cache-dir") }

    /// A file system without locks does not mean that another daemon has the lock.
    @Test func aFailedCallIsNoOtherHolder() {
        let error = #expect(throws: StoreError.self) {
            try InstanceLock(folder: folder.path, option: "--state-dir") { _, _ in
                errno = ENOLCK
                return -1
            }
        }
        #expect(error == .notWritable(folder("lock"), "No locks available"))
    }

    /// The contents of a lock file from a process that has ended do not matter.
    @Test func leftLockFileDoesNotHold() throws {
        try folder.write("lock", String(repeating: "9", count: 100))
        _ = try lock()
        #expect(try folder.bytes("lock") == Array("\(getpid())\n".utf8))
    }

    /// Otherwise a link in a user's folder could make a daemon that root runs truncate any file.
    @Test func lockThatIsALinkIsRefused() throws {
        let file = try folder.write("precious", "text")
        #expect(symlink(file, folder("lock")) == 0)
        #expect(throws: StoreError.self) { _ = try lock() }
        #expect(try folder.bytes("precious") == Array("text".utf8))
    }
}
