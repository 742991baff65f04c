import Foundation
import NorrisClient
import NorrisSystem
import NorrisTestSupport
import Testing

struct ConnectionTests {
    private let deadline = Deadline(after: .seconds(300))

    @Test func readsTheRefusalAfterTheServerHasClosed() throws {
        let refusal = #"{"jsonrpc":"2.0","id":null,"error":{"code":-32004,"message":"busy"}}"#
        let server = try ScriptedServer([{ $0.write(refusal + "\n") }])
        let connection = try Connection.open(candidates: [server.path], deadline: deadline)
        server.waitUntilDone()
        // The peer has disconnected. Without MSG_NOSIGNAL the SIGPIPE would end the process.
        try connection.send(line: Array("{}".utf8))
        #expect(try connection.receiveLine() == Array(refusal.utf8))
    }

    @Test func sendsALongLineWhileThePeerReadsSlowly() throws {
        let line = String(repeating: "0123456789", count: 30_000)
        let server = try ScriptedServer([{ $0.write("\($0.readLine().utf8.count)\n") }])
        let connection = try Connection.open(candidates: [server.path], deadline: deadline)
        try connection.send(line: Array((line + "\n").utf8))
        #expect(try connection.receiveLine() == Array("300000".utf8))
    }

    @Test func ticksWhileItWaits() throws {
        let enough = DispatchSemaphore(value: 0)
        let server = try ScriptedServer([
            { peer in
                peer.readLine()
                _ = enough.wait(timeout: .now() + 30)
                peer.write("{}\n")
            }
        ])
        var ticks = 0
        let reply = try Client.call(
            Array("{}".utf8), at: [server.path],
            ticker: {
                ticks += 1
                // The server replies after the third tick, so the ticks must come without a reply.
                if ticks == 3 { enough.signal() }
                return .milliseconds(1)
            })
        #expect(reply == Array("{}".utf8))
        #expect(ticks >= 3)
    }

    @Test func takesTheFirstCandidateThatAccepts() throws {
        let directory = TemporaryFolder()
        let first = try ScriptedServer([])
        let second = try ScriptedServer([])
        let candidates = [directory("none.sock"), first.path, second.path]
        let connection = try Connection.open(candidates: candidates, deadline: deadline)
        #expect(connection.path == first.path)
    }

    // MARK: Errors

    private func failure(_ candidates: [String], deadline: Deadline? = nil) -> ClientError? {
        do throws(ClientError) {
            _ = try Connection.open(candidates: candidates, deadline: deadline ?? self.deadline)
            return nil
        } catch {
            return error
        }
    }

    @Test func namesEveryPathWithoutASocket() throws {
        let directory = TemporaryFolder()
        let paths = [directory("a.sock"), directory("b.sock")]
        #expect(failure(paths) == .noSocket(paths: paths))
    }

    @Test func tellsAPlainFileAndAFolderFromASocket() throws {
        let directory = TemporaryFolder()
        let file = directory("file")
        try Data().write(to: URL(fileURLWithPath: file))
        #expect(failure([file]) == .notASocket(path: file))
        #expect(failure([directory("")]) == .notASocket(path: directory("")))
        #expect(failure([file + "/x.sock"]) == .noSocket(paths: [file + "/x.sock"]))
    }

    @Test func tellsASocketThatNobodyListensOn() throws {
        let directory = TemporaryFolder()
        let path = directory("stale.sock")
        let listener = try listeningSocket(at: path, backlog: 1)
        // A child of another test may share the descriptor until its execve(2), so close(2) is not sufficient.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        #expect(failure([path]) == .refused(path: path))
        #expect(failure([directory("none.sock"), path]) == .refused(path: path))
    }

    @Test func refusesPathsThatAreNoAddress() throws {
        let long = "/tmp/" + String(repeating: "x", count: 103)
        #expect(failure([long]) == .pathTooLong(path: long))
        #expect(failure([""]) == .pathTooLong(path: ""))
        #expect(failure(["/tmp/a\0b"]) == .pathTooLong(path: "/tmp/a\0b"))
    }

    @Test func waitsForRoomInTheBacklogUntilTheDeadline() throws {
        let directory = TemporaryFolder()
        let path = directory("full.sock")
        let listener = try listeningSocket(at: path, backlog: 0)
        let fillers = fillBacklog(of: path)
        defer { fillers.forEach { close($0) } }
        #expect(failure([path], deadline: Deadline(after: .milliseconds(100))) == .timedOut(path: path))

        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Empties the backlog.
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 { close(descriptor) }
            finished.signal()
        }
        #expect(failure([path]) == nil)
        shutdown(listener, Int32(SHUT_RDWR))
        finished.wait()
        close(listener)
    }

    private func fillBacklog(of path: String) -> [Int32] {
        var fillers: [Int32] = []
        while true {
            let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
            let descriptor = socket(AF_UNIX, Int32(type), 0)
            guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
                close(descriptor)
                return fillers
            }
            fillers.append(descriptor)
        }
    }
}

struct DeadlineTests {
    @Test func hasPassedOrNotAtTheEndsOfTime() throws {
        for duration in [Duration.zero, .seconds(Int64.min)] { #expect(Deadline(after: duration).hasPassed) }
        #expect(!Deadline(after: .seconds(Int64.max)).hasPassed)
        let server = try ScriptedServer([{ $0.waitForTheEnd() }])
        #expect(throws: ClientError.timedOut(path: server.path)) {
            try Client.call(Array("{}".utf8), at: [server.path], within: .zero)
        }
    }
}

struct ClientErrorTests {
    @Test(arguments: [
        (ECONNREFUSED, ClientError.refused(path: "/s")), (EACCES, .notPermitted(path: "/s")),
        (EMFILE, .system(path: "/s", errno: EMFILE)),
    ]) func readsTheErrorNumbersOfConnect(number: Int32, error: ClientError) {
        #expect(ClientError.connecting(to: "/s", errno: number, isSocket: true) == error)
    }

    @Test func reportsTheMostTellingFailure() {
        let missing = ClientError.noSocket(paths: ["/a"])
        let refused = ClientError.refused(path: "/b")
        let forbidden = ClientError.notPermitted(path: "/c")
        #expect(ClientError.mostTelling(of: [missing, refused, forbidden]) == forbidden)
        #expect(ClientError.mostTelling(of: [forbidden, refused, missing]) == forbidden)
        #expect(ClientError.mostTelling(of: [refused, .refused(path: "/d")]) == refused)
        #expect(ClientError.mostTelling(of: [.pathTooLong(path: "/e"), missing]) == .pathTooLong(path: "/e"))
    }
}
