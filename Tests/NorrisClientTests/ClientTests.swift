import Foundation
import NorrisClient
import NorrisProtocol
import Synchronization
import Testing

struct ClientTests {
    private let request = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
    private let shuttingDown = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32006,"message":"The daemon stops."}}"#

    private func call(_ server: ScriptedServer, timeout: Duration = .seconds(300)) throws -> String {
        let client = Client(candidates: [server.path], timeout: timeout)
        return String(decoding: try client.call(Array(request.utf8)), as: UTF8.self)
    }

    @Test func sendsOneLineAndReturnsTheReply() throws {
        let server = try ScriptedServer([{ $0.write("{\"echo\":\($0.readLine())}\n") }])
        #expect(try call(server) == "{\"echo\":\(request)}")
    }

    @Test func putsAReplyInPiecesTogether() throws {
        let server = try ScriptedServer([{ peer in
            peer.readLine()
            for character in "\r\n  \n{\"a\":\"é😀\"}\r\n{\"second\":1}\n" {
                peer.write(String(character))
            }
        }])
        #expect(try call(server) == "{\"a\":\"é😀\"}")
    }

    @Test func takesRepliesOfFiveMiBAndNoMore() throws {
        let longest = String(repeating: "x", count: 5 << 20)
        let server = try ScriptedServer([
            { peer in
                peer.readLine()
                peer.write(longest + "\n")
            },
            { peer in
                peer.readLine()
                peer.write(longest + "x\n")
            },
        ])
        #expect(try call(server) == longest)
        #expect(throws: ClientError.malformedReply(path: server.path, detail: "a line of more than 5120 KiB")) {
            try call(server)
        }
    }

    /// Reads one request, and answers it with this text.
    private func answer(_ text: String) -> ScriptedServer.Script {
        return { peer in
            peer.readLine()
            peer.write(text)
        }
    }

    @Test func takesErrorsOf64KiBAndNoMore() throws {
        let (start, end) = (#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":""#, #""}}"#)
        let longest = start + String(repeating: "x", count: 65_536 - start.utf8.count - end.utf8.count) + end
        let result = longest.replacingOccurrences(of: "\"error\"", with: "\"result\"")
        let server = try ScriptedServer([answer(longest + "\r\n"), answer(" \(longest)\n"), answer(" \(result)\n")])
        #expect(try call(server) == longest)
        #expect(throws: ClientError.malformedReply(path: server.path, detail: "an error of more than 64 KiB")) {
            try call(server)
        }
        #expect(try call(server) == " \(result)")
    }

    @Test func refusesAReplyLongerThanTheCallerAllowsBeforeItsEnd() throws {
        let longest = String(repeating: "x", count: 65_536)
        let server = try ScriptedServer([
            answer("\n\(longest)\r\n"), answer("\(longest)x\n"),
            { peer in
                peer.readLine()
                peer.write(longest + "xx")
                peer.waitForTheEnd()
            },
        ])
        let client = Client(candidates: [server.path], timeout: .seconds(300))
        #expect(try client.call(Array(request.utf8), maximumReply: 65_536) == Array(longest.utf8))
        for _ in 0..<2 {
            #expect(throws: ClientError.malformedReply(path: server.path, detail: "a line of more than 64 KiB")) {
                try client.call(Array(request.utf8), maximumReply: 65_536)
            }
        }
    }

    // MARK: The second attempt

    @Test func sendsAgainWhenTheConnectionEndsBeforeTheReply() throws {
        let lines = Mutex<[String]>([])
        let server = try ScriptedServer([
            { peer in lines.withLock { $0.append(peer.readLine()) } },
            { peer in
                lines.withLock { $0.append(peer.readLine()) }
                peer.write("{}\n")
            },
        ])
        #expect(try call(server) == "{}")
        #expect(lines.withLock(\.self) == [request, request])
    }

    @Test func sendsAgainWhenTheConnectionIsReset() throws {
        // Closed with the request unread: the client gets ECONNRESET.
        let server = try ScriptedServer([
            { peer in
                var byte: UInt8 = 0
                recv(peer.descriptor, &byte, 1, Int32(MSG_PEEK))
            },
            { $0.write("{\"line\":\($0.readLine())}\n") },
        ])
        #expect(try call(server) == "{\"line\":\(request)}")
    }

    @Test func sendsAgainWhenTheDaemonIsShuttingDown() throws {
        let server = try ScriptedServer([
            { [shuttingDown] peer in
                peer.readLine()
                peer.write(shuttingDown + "\n")
            },
            { peer in
                peer.readLine()
                peer.write("{}\n")
            },
        ])
        #expect(try call(server) == "{}")
    }

    @Test func sendsTwiceAtMost() throws {
        let closing = try ScriptedServer([{ $0.readLine() }, { $0.readLine() }, { $0.write("{}\n") }])
        #expect(throws: ClientError.closed(path: closing.path)) { try call(closing) }

        let stopping: ScriptedServer.Script = { [shuttingDown] peer in
            peer.readLine()
            peer.write(shuttingDown + "\n")
        }
        #expect(try call(ScriptedServer([stopping, stopping, { $0.write("{}\n") }])) == shuttingDown)
    }

    @Test(arguments: [
        #"{"id":1,"result":{"text":"-32006","code":-32006}}"#, #"{"id":1,"error":{"code":-32001,"message":"-32006"}}"#,
        #"[{"id":1,"error":{"code":-32006,"message":"m"}}]"#, #"not JSON -32006"#,
    ])
    func sendsOnceWhenTheReplyOnlyLooksLikeShuttingDown(reply: String) throws {
        let server = try ScriptedServer([
            { peer in
                peer.readLine()
                peer.write(reply + "\n")
            }
        ])
        #expect(try call(server) == reply)
    }

    @Test func doesNotSendAgainOnceAReplyHasBegun() throws {
        let server = try ScriptedServer([
            { peer in
                peer.readLine()
                peer.write("{\"half")
            },
            { $0.write("{}\n") },
        ])
        #expect(throws: ClientError.malformedReply(path: server.path, detail: "the connection ended inside a line")) {
            try call(server)
        }
    }

    // MARK: Time

    @Test func givesUpAtTheDeadline() throws {
        let server = try ScriptedServer([{ $0.waitForTheEnd() }])
        #expect(throws: ClientError.timedOut(path: server.path)) { try call(server, timeout: .milliseconds(100)) }
    }

    @Test func givesUpOnAnEndlessTrickle() throws {
        let server = try ScriptedServer([{ peer in
            var byte: UInt8 = 0
            while recv(peer.descriptor, &byte, 1, Int32(MSG_DONTWAIT)) != 0 {
                peer.write("\n")
            }
        }])
        #expect(throws: ClientError.timedOut(path: server.path)) { try call(server, timeout: .milliseconds(100)) }
    }

    @Test func hasOneDeadlineForBothAttempts() throws {
        let server = try ScriptedServer([{ $0.readLine() }, { $0.waitForTheEnd() }])
        #expect(throws: ClientError.timedOut(path: server.path)) { try call(server, timeout: .milliseconds(150)) }
    }

    @Test func givesUpWhenThePeerDoesNotRead() throws {
        let server = try ScriptedServer([{ peer in
            var entry = pollfd(fd: peer.descriptor, events: 0, revents: 0)
            poll(&entry, 1, -1)  // until the client hangs up
        }])
        let client = Client(candidates: [server.path], timeout: .milliseconds(100))
        #expect(throws: ClientError.timedOut(path: server.path)) {
            try client.call([UInt8](repeating: UInt8(ascii: " "), count: 8 << 20))
        }
    }
}
