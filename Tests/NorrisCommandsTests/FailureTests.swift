import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct ConnectionFailureTests {
    private let system = "/run/norrisd.sock"
    private let user = "/run/user/1000/norrisd.sock"

    private func check(
        _ error: ClientError, _ arguments: [String] = [], environment: [String: String] = [:],
        status: ExitStatus = .unavailable, says lines: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for extra in [[], ["--json"]] {
            let machine = Machine(failure: error)
            machine.environment = environment
            let outcome = machine.run(["fact"] + arguments + extra)
            #expect(outcome == Outcome(errors: lines + "\n", status: status), sourceLocation: sourceLocation)
        }
    }

    @Test func saysHowToStartADaemonThatIsNotThere() {
        check(.noSocket(paths: [user, system]), says: """
            norrisctl: norrisd is not running: there is no socket at /run/user/1000/norrisd.sock or /run/norrisd.sock.
              Start it: systemctl start norrisd, or systemctl --user start norrisd, or just: norrisd
            """)
        check(.noSocket(paths: ["/tmp/a b"]), ["--socket", "/tmp/a b"], says: """
            norrisctl: norrisd is not running: there is no socket at /tmp/a b.
              Start one there: norrisd --socket '/tmp/a b'; or leave out --socket
            """)
        check(.noSocket(paths: ["/tmp/a"]), environment: ["NORRISD_SOCKET": "/tmp/a"], says: """
            norrisctl: norrisd is not running: there is no socket at /tmp/a.
              Start one there: norrisd --socket /tmp/a; or unset NORRISD_SOCKET
            """)
    }

    @Test func saysHowToRestartADaemonThatDied() {
        check(.refused(path: system), says: """
            norrisctl: norrisd is not running any more: nobody listens on /run/norrisd.sock.
              Start it again: systemctl restart norrisd.socket norrisd
            """)
        check(.refused(path: user), says: """
            norrisctl: norrisd is not running any more: nobody listens on /run/user/1000/norrisd.sock.
              Start it again: systemctl --user restart norrisd, or just: norrisd
            """)
        check(.refused(path: "/tmp/a"), ["--socket", "/tmp/a"], says: """
            norrisctl: norrisd is not running any more: nobody listens on /tmp/a.
              Start it again: norrisd --socket /tmp/a
            """)
    }

    @Test func saysWhoMayConnect() {
        check(.notPermitted(path: system), status: .notPermitted, says: """
            norrisctl: You may not connect to /run/norrisd.sock.
              See who may: ls -l /run/norrisd.sock; or run one of your own: systemctl --user start norrisd
            """)
    }

    @Test func saysWhatToDoAboutSlowness() {
        check(.timedOut(path: system), says: """
            norrisctl: norrisd at /run/norrisd.sock did not answer within 5s.
              Find out why: norrisctl doctor; or allow more time: --timeout 30s
            """)
        check(.timedOut(path: nil), ["--timeout", "50ms"], says: """
            norrisctl: norrisd did not answer within 50ms.
              Find out why: norrisctl doctor; or allow more time: --timeout 30s
            """)
    }

    @Test func saysWhereToReadWhyTheConnectionEnded() {
        check(.closed(path: system), says: """
            norrisctl: norrisd at /run/norrisd.sock closed the connection without an answer.
              Read its log: journalctl -u norrisd -n 20
            """)
        let cut = ClientError.malformedReply(path: user, detail: "the connection ended inside a line")
        check(cut, status: .internalError, says: """
            norrisctl: norrisd at /run/user/1000/norrisd.sock sent a reply that cannot be read: the connection ended \
            inside a line.
              Read its log: journalctl --user -u norrisd -n 20
            """)
        check(.closed(path: "/tmp/a"), ["--socket", "/tmp/a"], says: """
            norrisctl: norrisd at /tmp/a closed the connection without an answer.
              Read what it has written to its standard error.
            """)
        check(.system(path: system, errno: EMFILE), says: """
            norrisctl: The connection to /run/norrisd.sock failed: Too many open files.
              Read its log: journalctl -u norrisd -n 20
            """)
    }

    @Test func saysWhatIsWrongWithThePath() {
        check(.notASocket(path: "/etc/passwd"), ["--socket", "/etc/passwd"], says: """
            norrisctl: /etc/passwd is not a socket that norrisd listens on.
              Name another path, or leave out --socket.
            """)
        check(.notASocket(path: system), says: """
            norrisctl: /run/norrisd.sock is not a socket that norrisd listens on.
              Move it away, then: systemctl restart norrisd.socket norrisd
            """)
        let long = "/" + String(repeating: "x", count: 107)
        check(.pathTooLong(path: long), ["--socket", long], status: .usage, says: """
            norrisctl: The socket path \(long) is longer than 107 bytes.
              Name another path, or leave out --socket.
            """)
        check(.pathTooLong(path: ""), ["--socket", ""], status: .usage, says: """
            norrisctl: The socket path is empty or holds a NUL byte.
              Name another path, or leave out --socket.
            """)
    }

    @Test func triesTheSocketsThatWereChosen() {
        let machine = Machine(failure: .closed(path: ""))
        machine.environment = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        _ = machine.run("fact")
        #expect(machine.sockets == [[user, system]])

        let named = Machine(failure: .closed(path: ""))
        named.environment = ["XDG_RUNTIME_DIR": "/run/user/1000", "NORRISD_SOCKET": "/tmp/env"]
        _ = named.run("fact", "--socket", "/tmp/flag")
        #expect(named.sockets == [["/tmp/flag"]])
    }
}

struct ExitStatusTests {
    private static let statuses: [(code: Int64, status: ExitStatus, number: Int32)] = [
        (-32700, .internalError, 70), (-32600, .usage, 64), (-32602, .usage, 64), (-32603, .internalError, 70),
        (-32001, .nothing, 1), (-32002, .temporary, 75), (-32003, .notPermitted, 77), (-32004, .temporary, 75),
        (-32005, .inputOutput, 74), (-32006, .temporary, 75), (-32099, .internalError, 70), (-1, .internalError, 70),
    ]

    @Test(arguments: statuses)
    func followsTheCodeOfAnError(code: Int64, status: ExitStatus, number: Int32) {
        let error = ResponseError(ErrorCode(rawValue: code), reason: "r", message: "It failed.", hint: "Mend it.")
        #expect(status.rawValue == number)
        #expect(Machine(error: error).run("fact") == Outcome(
            errors: "norrisctl: It failed.\n  Mend it.\n", status: status
        ))
        let object = error.jsonText + "\n"
        #expect(Machine(error: error).run("fact", "--json") == Outcome(errors: object, status: status))
        #expect(Machine(error: error).run("call", "m") == Outcome(errors: object, status: status))
    }

    @Test func tellsAnOlderDaemonFromAMistypedMethod() {
        let error = ResponseError.unknownMethod("fact.today")
        #expect(Machine(error: error).run("fact", "--today") == .failed(
            .unavailable, "This norrisd does not know fact.today; it is older than norrisctl \(NorrisVersion.current).",
            "Update norrisd, then: systemctl restart norrisd"
        ))
        #expect(Machine(error: error).run("call", "fact.today").status == .usage)
        #expect(ExitStatus.unavailable.rawValue == 69)
    }

    @Test(arguments: [("credentials", ExitStatus.configuration), ("offline", .temporary), ("quota", .temporary)])
    func tellsWhyNothingIsCached(kind: String, status: ExitStatus) {
        let error = ResponseError(
            .nothingCached, reason: "nothing_cached", message: "There are no gifs.",
            details: ["source": "gifs", "last_error": ["kind": .string(kind), "message": "m", "since": "s"]]
        )
        #expect(Machine(error: error).run("fact").status == status)
        #expect(Machine(error: error).run("call", "gif.random").status == status)
        #expect(ExitStatus.configuration.rawValue == 78)
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":1,"result":{"items":[{"id":1}]}}"#, #"{"jsonrpc":"2.0","id":1,"result":[]}"#,
        #"{"jsonrpc":"2.0","id":1}"#, "[]", "nonsense", "",
    ])
    func countsAnUnreadableReplyAsAFault(reply: String) {
        let outcome = Machine([.success(Array(reply.utf8))]).run("fact")
        #expect(outcome.status == .internalError)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("norrisctl: norrisd sent a reply that cannot be read: "))
        #expect(outcome.errors.hasSuffix("\n  Compare the versions: norrisctl doctor\n"))
    }

    @Test func readsTheErrorOfAServerThatTakesNoMoreConnections() {
        let line = #"{"jsonrpc":"2.0","id":null,"error":{"code":-32004,"message":"Too many."}}"#
        #expect(Machine([.success(Array(line.utf8))]).run("fact") == Outcome(
            errors: "norrisctl: Too many.\n", status: .temporary
        ))
    }
}
