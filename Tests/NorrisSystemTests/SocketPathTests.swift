import Glibc
import NorrisSystem
import NorrisTestSupport
import Testing

struct SocketPathTests {
    private let full = ["NORRISD_SOCKET": "/tmp/n.sock", "XDG_RUNTIME_DIR": "/run/user/1000"]

    @Test func listensOnTheFirstPathThatIsGiven() {
        #expect(SocketPath.listenPath(flag: "./my.sock", environment: Environment(full)) == "./my.sock")
        #expect(SocketPath.listenPath(flag: nil, environment: Environment(full)) == "/tmp/n.sock")
        #expect(
            SocketPath.listenPath(flag: nil, environment: ["XDG_RUNTIME_DIR": "/run/user/1000"])
                == "/run/user/1000/norrisd.sock")
        #expect(SocketPath.listenPath(flag: nil, environment: [:]) == "/run/norrisd.sock")
    }

    @Test func connectsToANamedSocketAlone() {
        #expect(SocketPath.connectCandidates(flag: "my.sock", environment: Environment(full)) == ["my.sock"])
        #expect(SocketPath.connectCandidates(flag: nil, environment: Environment(full)) == ["/tmp/n.sock"])
    }

    @Test func connectsToTheUsersThenTheSystems() {
        let environment = ["XDG_RUNTIME_DIR": "/run/user/1000/"]
        #expect(
            SocketPath.connectCandidates(flag: nil, environment: Environment(environment))
                == ["/run/user/1000/norrisd.sock", "/run/norrisd.sock"]
        )
        #expect(
            SocketPath.connectCandidates(flag: nil, environment: [:], userFolders: "/nowhere") == ["/run/norrisd.sock"])
        let same = ["XDG_RUNTIME_DIR": "/run"]
        #expect(SocketPath.connectCandidates(flag: nil, environment: Environment(same)) == ["/run/norrisd.sock"])
    }

    @Test("Without the variable, as in cron(8), the user's folder replaces it if it exists")
    func findsTheUsersFolder() {
        let folders = TemporaryFolder()
        func candidates(_ environment: Environment = [:]) -> [String] {
            SocketPath.connectCandidates(flag: nil, environment: environment, userFolders: folders.path)
        }
        #expect(candidates() == ["/run/norrisd.sock"])
        let own = folders("\(geteuid())")
        mkdir(own, 0o700)
        #expect(candidates() == ["\(own)/norrisd.sock", "/run/norrisd.sock"])
        #expect(candidates(["XDG_RUNTIME_DIR": "/x"]) == ["/x/norrisd.sock", "/run/norrisd.sock"])
        if geteuid() == 0, chown(own, 54_321, 54_321) == 0 { #expect(candidates() == ["/run/norrisd.sock"]) }
    }

    @Test func ignoresARelativeRuntimeDirectory() {
        let environment = ["XDG_RUNTIME_DIR": "run/user/1000"]
        #expect(SocketPath.listenPath(flag: nil, environment: Environment(environment)) == "/run/norrisd.sock")
        #expect(SocketPath.connectCandidates(flag: nil, environment: Environment(environment)) == ["/run/norrisd.sock"])
    }

    @Test func takesPathsOf107BytesAndNoMore() {
        let longest = "/" + String(repeating: "é", count: 53)
        #expect(longest.utf8.count == 107)
        #expect(SocketAddress(path: longest) != nil)
        for path in [longest + "x", "", "/run/a\0b"] { #expect(SocketAddress(path: path) == nil) }
    }
}

struct ForeignFolderTests {
    @Test("The folder of another user, which root may inherit, is ignored") func otherUser() {
        // Owned by root; the test may be root or not.
        let environment: Environment = ["XDG_RUNTIME_DIR": "/usr"]
        let paths = SocketPath.connectCandidates(flag: nil, environment: environment)
        #expect(paths == (geteuid() == 0 ? ["/usr/norrisd.sock", "/run/norrisd.sock"] : ["/run/norrisd.sock"]))
        let folder = TemporaryFolder()
        guard geteuid() == 0, chown(folder.path, 54_321, 54_321) == 0 else { return }
        let foreign: Environment = ["XDG_RUNTIME_DIR": folder.path]
        #expect(SocketPath.connectCandidates(flag: nil, environment: foreign) == ["/run/norrisd.sock"])
    }
}

struct StableHashTests { @Test func isTheSameForEver() { #expect(stableHash("facts") == 5_785_116_629_745_249_858) } }
