import Glibc
import Testing

@testable import NorrisStore

struct FolderTests {
    private let scratch = ScratchFolder()

    /// The mask is the whole process's, so that it needs one of its own.
    @Test func foldersAreMadeWithTheirParentsForThisUserOnly() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let scratch = ScratchFolder()
            try Folder.make(scratch["a/b/c"])
            for name in ["a", "a/b", "a/b/c"] { #expect(try scratch.mode(name) == 0o700) }
            try Folder.make(scratch["a/b/c"])
            try Folder.make(scratch["d/e/"])
            #expect(try scratch.mode("d/e") == 0o700)
        }
    }

    @Test func folderThatIsThereKeepsItsMode() throws {
        try Folder.make(scratch["a"])
        chmod(scratch["a"], 0o750)
        try Folder.make(scratch["a"])
        #expect(try scratch.mode("a") == 0o750)
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
        // proc(5) has no room at all.
        #expect(Folder.freeBytes(besides: "/proc/self/stat") == 0)
        #expect(Folder.freeBytes(besides: scratch["none"]) == nil)
    }
}

struct InstanceLockTests {
    private let folder = ScratchFolder()

    private func isFree() throws -> Bool {
        do throws(StoreError) {
            _ = try InstanceLock(folder: folder.path)
            return true
        } catch {
            guard case .locked = error.reason else { throw error }
            return false
        }
    }

    /// Whether it gets free: a program that another test has just started holds it until it is another program.
    private func getsFree() throws -> Bool {
        for _ in 0..<3000 {
            if try isFree() { return true }
            poll(nil, 0, 10)
        }
        return false
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
        #expect(try getsFree())
    }

    /// What was written by a holder that is gone says nothing.
    @Test(arguments: ["", "123\n", "garbage", String(repeating: "9", count: 100)])
    func leftLockFileDoesNotHold(text: String) throws {
        try folder.write("lock", text)
        #expect(try isFree())
        #expect(try folder.bytes("lock") == Array("\(getpid())\n".utf8))
    }

    /// The mask is the whole process's, so that it needs one of its own.
    @Test func lockFileIsTheUsersOwn() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let folder = ScratchFolder()
            _ = try InstanceLock(folder: folder.path)
            #expect(try folder.mode("lock") == 0o600)
        }
    }

    @Test func lockFileThatIsALinkIsRefused() throws {
        try folder.write("elsewhere", "precious")
        #expect(symlink(folder["elsewhere"], folder["lock"]) == 0)
        #expect(throws: StoreError.self) { _ = try InstanceLock(folder: folder.path) }
        #expect(try folder.bytes("elsewhere") == Array("precious".utf8))
    }

    @Test func missingFolderIsSaid() throws {
        let error = #expect(throws: StoreError.self) { _ = try InstanceLock(folder: folder["none"]) }
        #expect(error?.path == folder["none/lock"])
        guard case .notWritable = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// A program that the daemon starts does not keep the folder when the daemon has ended.
    @Test func lockDoesNotSurviveInAProgramThatIsStarted() throws {
        var (input, output): ([CInt], [CInt]) = ([0, 0], [0, 0])
        #expect(pipe(&input) == 0 && pipe(&output) == 0)
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var child: pid_t = 0
        do {
            let lock = try InstanceLock(folder: folder.path)
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            posix_spawn_file_actions_adddup2(&actions, input[0], 0)
            posix_spawn_file_actions_adddup2(&actions, output[1], 1)
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("cat"), nil]
            // Gives back its input, and ends with it when the pipe is closed below.
            #expect(posix_spawnp(&child, "cat", &actions, nil, &arguments, environ) == 0)
            posix_spawn_file_actions_destroy(&actions)
            free(arguments[0])
            // What comes back comes from the other program: by then nothing of this one is left in the child.
            var byte: UInt8 = 7
            #expect(write(input[1], &byte, 1) == 1 && read(output[0], &byte, 1) == 1)
            #expect(try !isFree())
            withExtendedLifetime(lock) {}
        }
        #expect(try getsFree())
        for descriptor in [input[1], input[0], output[0], output[1]] { close(descriptor) }
        var status: CInt = 0
        #expect(waitpid(child, &status, 0) == child)
    }
}
