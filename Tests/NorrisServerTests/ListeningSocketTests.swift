import Dispatch
import Foundation
import Glibc
import NorrisSystem
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisServer

struct ListeningSocketTests {
    private let folder = TemporaryFolder()

    private var path: String { folder("sock") }

    /// The exit status of a daemon whose socket's path is another daemon's.
    private static let inUse = EX_TEMPFAIL

    /// Binds a path and removes the socket again. Returns the exit status for a failure.
    private func failure(_ path: String) -> CInt? {
        do throws(ExplainedError) {
            let socket = try ListeningSocket(binding: path, mode: 0o600)
            socket.removeFile()
            close(socket.descriptor)
            return nil
        } catch {
            #expect("\(error)".hasPrefix(path + ": "))
            #expect("\(error)".contains("another daemon answers") == (error.exitStatus == Self.inUse))
            return error.exitStatus
        }
    }

    private func status(_ path: String) -> stat {
        var status = stat()
        lstat(path, &status)
        return status
    }

    @Test("The file has the mode that is asked for, whatever the mask", arguments: [0o600, 0o660, 0o666] as [mode_t])
    func mode(_ mode: mode_t) throws {
        let socket = try ListeningSocket(binding: path, mode: mode)
        defer { close(socket.descriptor) }
        #expect(status(path).st_mode == S_IFSOCK | mode)
        #expect(socket.boundPath == path)
        #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(throws: Never.self) { try LineClient(path: path) }
    }

    // MARK: Existing files

    /// Leaves a socket file without a listener.
    private func bindAndDie() throws {
        let socket = try ListeningSocket(binding: path, mode: 0o600)
        // A child of another test may share the descriptor until its execve(2), so close(2) is not sufficient.
        shutdown(socket.descriptor, CInt(SHUT_RDWR))
        close(socket.descriptor)
    }

    @Test func aStaleSocketIsReplaced() throws {
        try bindAndDie()
        #expect(status(path).st_mode & S_IFMT == S_IFSOCK)
        let socket = try ListeningSocket(binding: path, mode: 0o600)
        defer { close(socket.descriptor) }
        #expect(throws: Never.self) { try LineClient(path: path) }
    }

    @Test("A live socket is not taken over, even if its queue is full", arguments: [false, true])
    func liveSocket(isFull: Bool) throws {
        let live = try ListeningSocket(binding: path, mode: 0o600)
        defer { close(live.descriptor) }
        if isFull { #expect(listen(live.descriptor, 0) == 0) }
        let inode = status(path).st_ino
        let client = try LineClient(path: path)
        #expect(failure(path) == Self.inUse)
        #expect(status(path).st_ino == inode)
        client.close()
    }

    @Test func whatIsNoStreamSocketIsLeftAlone() throws {
        let file = try folder.write("precious", to: "file")
        #expect(failure(file) == EX_CANTCREAT)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        #expect(mkdir(folder("inner"), 0o700) == 0)
        #expect(failure(folder("inner")) == EX_CANTCREAT)
        #expect(symlink(path, folder("link")) == 0)
        #expect(failure(folder("link")) == EX_CANTCREAT)
        #expect(status(folder("link")).st_mode & S_IFMT == S_IFLNK)
        let notify = NotifySocket(path: path)
        #expect(failure(notify.path) == Self.inUse)
        #expect(status(path).st_mode & S_IFMT == S_IFSOCK)
    }

    @Test("Of several daemons that start at once on a stale socket one gets it") func race() throws {
        for _ in 0..<20 {
            try bindAndDie()
            let outcomes = Mutex<[CInt]>([])
            let winners = Mutex<[ListeningSocket]>([])
            let path = path
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do throws(ExplainedError) {
                    let socket = try ListeningSocket(binding: path, mode: 0o600)
                    winners.withLock { $0.append(socket) }
                } catch {
                    outcomes.withLock { $0.append(error.exitStatus) }
                }
            }
            #expect(outcomes.withLock { $0 } == [Self.inUse, Self.inUse, Self.inUse])
            winners.withLock { $0 }.forEach { winner in
                winner.removeFile()
                close(winner.descriptor)
            }
        }
    }

    @Test("A lock on the folder by another process does not prevent a start") func lockedFolder() throws {
        let holder = open(folder.path, O_RDONLY | O_DIRECTORY)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        #expect(failure(path) == nil)
    }

    @Test("A socket that refuses the daemon's user is not replaced") func socketOfAnotherUser() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let socket = try ListeningSocket(binding: folder("sock"), mode: 0o600)
            // Root may connect to every socket, so the process changes its user.
            #expect(chmod(folder.path, 0o777) == 0)
            guard geteuid() == 0 else { return }
            #expect(seteuid(65_534) == 0)
            defer { seteuid(0) }
            let error = #expect(throws: ExplainedError.self) {
                try ListeningSocket(binding: folder("sock"), mode: 0o600)
            }
            #expect(error?.description.contains("this user cannot create a socket there") == true)
            #expect(access(folder("sock"), F_OK) == 0)
            close(socket.descriptor)
        }
    }

    // MARK: Removal

    @Test func leavesTheFileOfAnother() throws {
        let first = try ListeningSocket(binding: path, mode: 0o600)
        unlink(path)
        let second = try ListeningSocket(binding: path, mode: 0o600)
        defer { [first, second].forEach { close($0.descriptor) } }
        first.removeFile()
        #expect(throws: Never.self) { try LineClient(path: path) }
    }
}
