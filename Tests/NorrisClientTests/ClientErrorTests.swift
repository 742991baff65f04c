import Glibc
import NorrisClient
import Testing

struct ClientErrorTests {
    @Test(arguments: [
        (ENOENT, true, ClientError.noSocket(paths: ["/s"])), (ENOTDIR, false, .noSocket(paths: ["/s"])),
        (ECONNREFUSED, true, .refused(path: "/s")), (ECONNREFUSED, false, .notASocket(path: "/s")),
        (EACCES, true, .notPermitted(path: "/s")), (EPERM, true, .notPermitted(path: "/s")),
        (EPROTOTYPE, true, .notASocket(path: "/s")), (EMFILE, true, .system(path: "/s", errno: EMFILE)),
    ])
    func readsTheErrorNumbersOfConnect(number: Int32, isSocket: Bool, error: ClientError) {
        #expect(ClientError.connecting(to: "/s", errno: number, isSocket: isSocket) == error)
    }

    @Test func reportsTheMostTellingFailure() {
        let missing = ClientError.noSocket(paths: ["/a"])
        let refused = ClientError.refused(path: "/b")
        let forbidden = ClientError.notPermitted(path: "/c")
        #expect(ClientError.mostTelling(of: [missing, refused, forbidden]) == forbidden)
        #expect(ClientError.mostTelling(of: [forbidden, refused, missing]) == forbidden)
        #expect(ClientError.mostTelling(of: [refused, missing]) == refused)
        #expect(ClientError.mostTelling(of: [refused, .refused(path: "/d")]) == refused)
        #expect(ClientError.mostTelling(of: [missing, .noSocket(paths: ["/d"])]) == .noSocket(paths: ["/a", "/d"]))
        #expect(ClientError.mostTelling(of: [.pathTooLong(path: "/e"), missing]) == .pathTooLong(path: "/e"))
    }
}
