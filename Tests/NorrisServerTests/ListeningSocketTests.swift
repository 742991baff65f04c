import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisServer

struct ListeningSocketTests {
    private let folder = TemporaryFolder()

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    private func failure(binding path: String) -> ListenError.Reason? {
        do throws(ListenError) {
            close(try ListeningSocket(binding: path, mode: 0o600).descriptor)
            return nil
        } catch {
            #expect(error.path == path)
            #expect(error.description.contains(path))
            return error.reason
        }
    }

    @Test(arguments: [0o600, 0o666] as [mode_t])
    func theFileHasTheModeAskedFor(mode: mode_t) throws {
        let socket = try ListeningSocket(binding: folder("s"), mode: mode)
        defer { close(socket.descriptor) }
        #expect(try self.mode(folder("s")) == mode)
        #expect(socket.boundPath == folder("s"))
    }

    @Test func aSocketNobodyServesIsReplaced() throws {
        close(try ListeningSocket(binding: folder("s"), mode: 0o600).descriptor)
        let again = try ListeningSocket(binding: folder("s"), mode: 0o600)
        defer { close(again.descriptor) }
        _ = try RawClient(folder("s"))
    }

    @Test func aServedSocketIsLeftAlone() throws {
        let live = try ListeningSocket(binding: folder("s"), mode: 0o600)
        defer { close(live.descriptor) }
        #expect(failure(binding: folder("s")) == .inUse)
        _ = try RawClient(folder("s"))
    }

    @Test func anotherFileIsLeftAlone() throws {
        let path = try folder.write("precious", to: "s")
        #expect(failure(binding: path) == .notASocket)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func unusablePathsAreTold() throws {
        #expect(failure(binding: folder("none/s")) == .noFolder(folder("none")))
        let file = try folder.write("", to: "file")
        #expect(failure(binding: file + "/s") == .noFolder(file))
        #expect(failure(binding: folder(String(repeating: "x", count: 108))) == .unusablePath)
        #expect(failure(binding: folder("a\0b")) == .unusablePath)
    }

    @Test func onlyOurOwnFileIsRemoved() throws {
        let socket = try ListeningSocket(binding: folder("s"), mode: 0o600)
        close(socket.descriptor)
        // A successor has bound the path meanwhile. It exists before the old file goes, so its inode is another.
        let successor = try ListeningSocket(binding: folder("t"), mode: 0o600)
        defer { close(successor.descriptor) }
        try #require(rename(folder("t"), folder("s")) == 0)
        socket.removeFile()
        _ = try RawClient(folder("s"))
    }

    @Test func anInheritedSocketOutlivesUs() throws {
        let original = try ListeningSocket(binding: folder("s"), mode: 0o600)
        let inherited = ListeningSocket(inherited: original.descriptor)
        defer { close(original.descriptor) }
        inherited.removeFile()
        #expect(inherited.boundPath == nil)
        _ = try RawClient(folder("s"))
    }

    @Test func aPeersCredentialsAreRead() throws {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { pair.forEach { close($0) } }
        let peer = try #require(Peer(socket: pair[0]))
        #expect(peer.uid == geteuid())
        #expect(peer.gid == getegid())
        var groups = [gid_t](repeating: 0, count: Int(getgroups(0, nil)))
        try #require(getgroups(Int32(groups.count), &groups) == groups.count)
        #expect(Set(peer.groups) == Set(groups))
        #expect(Peer(socket: -1) == nil)
    }
}
