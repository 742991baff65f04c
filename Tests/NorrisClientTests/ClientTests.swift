import Foundation
import NorrisClient
import NorrisProtocol
import NorrisSystem
import Synchronization
import Testing

struct ClientTests {
    private let request = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
    private let shuttingDown = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32006,"message":"The daemon stops."}}"#

    private func call(_ server: ScriptedServer, timeout: Duration = .seconds(300)) throws -> String {
        String(decoding: try Client.call(Array(request.utf8), at: [server.path], within: timeout), as: UTF8.self)
    }

    /// Returns a script that reads a request and answers with a text.
    private func answer(_ text: String) -> ScriptedServer.Script {
        return { peer in
            peer.readLine()
            peer.write(text)
        }
    }

    @Test func putsAReplyInPiecesTogether() throws {
        let server = try ScriptedServer([
            { peer in
                peer.readLine()
                for character in "\r\n  \n{\"a\":\"é😀\"}\r\n{\"second\":1}\n" { peer.write(String(character)) }
            }
        ])
        #expect(try call(server) == "{\"a\":\"é😀\"}")
    }

    @Test func takesRepliesOfFiveMiBAndNoMore() throws {
        let longest = String(repeating: "x", count: 5 << 20)
        let server = try ScriptedServer([answer(longest + "\n"), answer(longest + "x\n")])
        #expect(try call(server) == longest)
        #expect(throws: ClientError.malformedReply(path: server.path, detail: "a line of more than 5 MiB")) {
            try call(server)
        }
    }

    @Test func refusesALongerReplyBeforeItsEnd() throws {
        let longest = String(repeating: "x", count: 5 << 20)
        let server = try ScriptedServer([
            answer("\n\(longest)\r\n"), answer("\(longest)x\n"),
            { peer in
                peer.readLine()
                peer.write(longest + "xx")
                peer.waitForTheEnd()
            },
        ])
        #expect(try call(server) == longest)
        for _ in 0..<2 {
            #expect(throws: ClientError.malformedReply(path: server.path, detail: "a line of more than 5 MiB")) {
                try call(server)
            }
        }
    }

    // MARK: Second attempt

    @Test func sendsAgainWhenTheConnectionEndsBeforeTheReply() throws {
        let server = try ScriptedServer([{ $0.readLine() }, { $0.write("{\"line\":\($0.readLine())}\n") }])
        #expect(try call(server) == "{\"line\":\(request)}")
    }

    @Test func sendsAgainWhenTheConnectionIsReset() throws {
        // Closing a socket with an unread request causes ECONNRESET at the client.
        let server = try ScriptedServer([
            { peer in
                var byte: UInt8 = 0
                recv(peer.descriptor, &byte, 1, Int32(MSG_PEEK))
            }, { $0.write("{\"line\":\($0.readLine())}\n") },
        ])
        #expect(try call(server) == "{\"line\":\(request)}")
    }

    @Test func sendsAgainWhenTheDaemonIsShuttingDown() throws {
        let server = try ScriptedServer([answer(shuttingDown + "\n"), answer("{}\n")])
        #expect(try call(server) == "{}")
    }

    @Test func sendsTwiceAtMost() throws {
        let closing = try ScriptedServer([{ $0.readLine() }, { $0.readLine() }, { $0.write("{}\n") }])
        #expect(throws: ClientError.closed(path: closing.path)) { try call(closing) }

        let stopping = answer(shuttingDown + "\n")
        #expect(try call(ScriptedServer([stopping, stopping, { $0.write("{}\n") }])) == shuttingDown)
    }

    @Test(arguments: [
        #"{"id":1,"result":{"text":"-32006","code":-32006}}"#, #"{"id":1,"error":{"code":-32001,"message":"-32006"}}"#,
        #"not JSON -32006"#,
    ]) func sendsOnceWhenTheReplyOnlyLooksLikeShuttingDown(reply: String) throws {
        #expect(try call(ScriptedServer([answer(reply + "\n")])) == reply)
    }

    @Test func doesNotSendAgainOnceAReplyHasBegun() throws {
        let server = try ScriptedServer([answer("{\"half"), { $0.write("{}\n") }])
        #expect(throws: ClientError.malformedReply(path: server.path, detail: "the connection ended inside a line")) {
            try call(server)
        }
    }

    @Test("A second attempt and later calls ask the daemon that was asked first, never another one")
    func asksOneDaemon() throws {
        let other = try ScriptedServer([])
        let server = try ScriptedServer([answer("first\n")])
        var client = Client(candidates: [server.path, other.path])
        let deadline = Deadline(after: .seconds(300))
        #expect(try client.call(Array(request.utf8), by: deadline) == Array("first".utf8))
        // The daemon has ended, and its socket with it.
        server.waitUntilDone()
        unlink(server.path)
        let gone = ClientError.noSocket(paths: [server.path])
        #expect(throws: gone) { try client.call(Array(request.utf8), by: deadline) }
        #expect(throws: gone) { try client.spread([[0x31]], by: deadline) { _, _ in true } }
        #expect(throws: gone) { try client.follow([[0x31]], by: deadline) { _ in .stop } }
    }

    @Test func ignoresEventsBeforeTheReply() throws {
        let event = #"{"jsonrpc":"2.0","method":"event","params":{"topic":"later"}}"#
        #expect(try call(ScriptedServer([answer("\(event)\n\(event)\n{\"id\":1}\n")])) == "{\"id\":1}")
        // Not an event.
        let reply = #"{"id":1,"result":{"method":"event"}}"#
        #expect(try call(ScriptedServer([answer(reply + "\n")])) == reply)
    }

    // MARK: Time

    @Test func sendsNothingAfterTheDeadline() throws {
        let received = Mutex("")
        let server = try ScriptedServer([{ peer in received.withLock { $0 = peer.readLine() } }])
        #expect(throws: ClientError.timedOut(path: server.path)) { try call(server, timeout: .zero) }
        server.waitUntilDone()
        #expect(received.withLock(\.self).isEmpty)
    }

    @Test func givesUpAtTheDeadline() throws {
        let server = try ScriptedServer([{ $0.waitForTheEnd() }])
        #expect(throws: ClientError.timedOut(path: server.path)) { try call(server, timeout: .milliseconds(100)) }
    }

    @Test func givesUpOnAnEndlessTrickle() throws {
        let server = try ScriptedServer([
            { peer in
                var byte: UInt8 = 0
                while recv(peer.descriptor, &byte, 1, Int32(MSG_DONTWAIT)) != 0 { peer.write("\n") }
            }
        ])
        #expect(throws: ClientError.timedOut(path: server.path)) { try call(server, timeout: .milliseconds(100)) }
    }

    @Test func hasOneDeadlineForBothAttempts() throws {
        let server = try ScriptedServer([{ $0.readLine() }, { $0.waitForTheEnd() }])
        #expect(throws: ClientError.timedOut(path: server.path)) { try call(server, timeout: .milliseconds(150)) }
    }

    @Test func givesUpWhenThePeerDoesNotRead() throws {
        let server = try ScriptedServer([
            { peer in
                var entry = pollfd(fd: peer.descriptor, events: 0, revents: 0)
                poll(&entry, 1, -1)  // until the client hangs up
            }
        ])
        #expect(throws: ClientError.timedOut(path: server.path)) {
            try Client.call(
                [UInt8](repeating: UInt8(ascii: " "), count: 8 << 20), at: [server.path], within: .milliseconds(100))
        }
    }
}

/// Tests of a connection that receives lines until the caller stops.
struct FollowTests {
    private let shuttingDown = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32006,"message":"The daemon stops."}}"#

    /// Returns the received lines and the final error.
    private func follow(
        _ server: ScriptedServer, _ lines: [String] = ["one", "two"], timeout: Duration = .seconds(300),
        output: CInt = -1, step: ([String]) -> FollowStep
    ) -> (lines: [String], error: ClientError?) {
        var received: [String] = []
        var client = Client(candidates: [server.path])
        do throws(ClientError) {
            try client.follow(
                lines.map { Array($0.utf8) }, by: Deadline(after: timeout), output: output
            ) { line in
                received.append(String(decoding: line, as: UTF8.self))
                return step(received)
            }
            return (received, nil)
        } catch {
            return (received, error)
        }
    }

    @Test func sendsItsLinesOnOneConnectionAndStopsWhenTold() throws {
        let server = try ScriptedServer([
            { peer in
                let sent = [peer.readLine(), peer.readLine()]
                peer.write("\(sent.joined(separator: "+"))\nsecond\nthird\nfourth\n")
                peer.waitForTheEnd()
            }
        ])
        let end = follow(server) { $0.count == 3 ? .stop : .goOn(within: nil) }
        #expect(end.lines == ["one+two", "second", "third"])
        #expect(end.error == nil)
        server.waitUntilDone()
    }

    @Test func endsWithTheConnection() throws {
        let server = try ScriptedServer([
            { peer in
                peer.readLine()
                peer.readLine()
                peer.write("first\nsecond\n")
            }
        ])
        let end = follow(server) { _ in .goOn(within: nil) }
        #expect(end.lines == ["first", "second"])
        #expect(end.error == .closed(path: server.path))
    }

    @Test("A pipe that loses its reader ends the waiting") func endsWithTheReader() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[1]) }
        let server = try ScriptedServer([
            { peer in
                peer.write("first\n")
                peer.waitForTheEnd()
            }
        ])
        let end = follow(server, output: ends[1]) { _ in
            close(ends[0])
            return .goOn(within: .seconds(20))
        }
        #expect(end.lines == ["first"])
        #expect(end.error == nil)
    }

    @Test func waitsForAsLongAsEachStepSays() throws {
        let server = try ScriptedServer([
            { peer in
                peer.write("first\n")
                peer.waitForTheEnd()
            }
        ])
        let end = follow(server) { _ in .goOn(within: .milliseconds(20)) }
        #expect(end.lines == ["first"])
        #expect(end.error == .timedOut(path: server.path))
    }

    @Test("The client's time-out is for the beginning, not for what comes later")
    func waitsLongerOnceItHasBegun() throws {
        let late = DispatchSemaphore(value: 0)
        let server = try ScriptedServer([
            { peer in
                peer.write("first\n")
                late.wait()
                poll(nil, 0, 50)
                peer.write("second\n")
            }
        ])
        let deadline = Deadline(after: .seconds(2))
        let end = follow(server, timeout: .seconds(2)) { lines in
            // The client waits for the second line after the time-out.
            while !deadline.hasPassed { poll(nil, 0, 10) }
            late.signal()
            return lines.count == 2 ? .stop : .goOn(within: nil)
        }
        #expect(end.lines == ["first", "second"])
        let silent = try ScriptedServer([{ $0.waitForTheEnd() }])
        #expect(follow(silent, timeout: .milliseconds(20)) { _ in .stop }.error == .timedOut(path: silent.path))
    }

    @Test func triesOnceMoreWhileADaemonIsRestarted() throws {
        let reply = shuttingDown
        let server = try ScriptedServer([
            { $0.readLine() },
            { peer in
                peer.readLine()
                peer.write("\(peer.readLine())\n")
            },
            { peer in
                peer.readLine()
                peer.readLine()
                peer.write(reply + "\n")
            },
            { peer in
                peer.readLine()
                peer.write("\(peer.readLine())\n")
            }, { $0.readLine() }, { $0.readLine() },
        ])
        for _ in 0..<2 {
            let end = follow(server) { _ in .stop }
            #expect(end.lines == ["two"])
            #expect(end.error == nil)
        }
        #expect(follow(server) { _ in .stop }.error == .closed(path: server.path))
    }
}

struct SeveralCallsTests {
    @Test func callsShareAConnection() throws {
        let server = try ScriptedServer([
            { peer in
                for _ in 0..<2 { peer.write("{\"echo\":\(peer.readLine())}\n") }
            },
            { $0.write("{\"again\":\($0.readLine())}\n") },
        ])
        var client = Client(candidates: [server.path])
        for reply in [#"{"echo":1}"#, #"{"echo":2}"#, #"{"again":3}"#] {
            let line = Array(reply.utf8.filter { 0x30...0x39 ~= $0 })
            let received = try client.call(line, by: Deadline(after: .seconds(300)))
            #expect(String(decoding: received, as: UTF8.self) == reply)
        }
    }

    @Test(arguments: [0, 1]) func linesSpreadOverConnections(count: Int) throws {
        let answering: @Sendable (Peer) -> Void = { peer in
            while true {
                let line = peer.readLine()
                if line.isEmpty { return }
                peer.write("{\"echo\":\(line)}\n")
            }
        }
        let server = try ScriptedServer(Array(repeating: answering, count: 4))
        let replies = try spread(count, server)
        #expect(replies == (0..<count).map { "{\"echo\":\($0)}" })
    }

    private func spread(_ count: Int, _ server: ScriptedServer) throws -> [String] {
        var client = Client(candidates: [server.path])
        var replies: [String] = []
        let lines = (0..<count).map { Array("\($0)".utf8) }
        try client.spread(lines, by: Deadline(after: .seconds(300))) { index, reply in
            #expect(index == replies.count)
            replies.append(String(decoding: reply, as: UTF8.self))
            return true
        }
        return replies
    }

    @Test("Lines without a reply are sent again to a daemon that restarts, but not for ever")
    func spreadGoesOnAfterARestart() throws {
        let echo: ScriptedServer.Script = { $0.write("\($0.readLine())\n") }
        for last in ["", #"{"jsonrpc":"2.0","id":1,"error":{"code":-32006,"message":"It stops."}}"# + "\n"] {
            let stop: ScriptedServer.Script = { peer in
                peer.readLine()
                peer.write(last)
            }
            #expect(try spread(2, ScriptedServer([echo, stop, echo])) == ["0", "1"])
            let server = try ScriptedServer([stop, stop, echo])
            #expect(throws: ClientError.closed(path: server.path)) { try spread(1, server) }
        }
    }
}
