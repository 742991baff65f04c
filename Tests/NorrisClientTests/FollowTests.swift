import Foundation
import NorrisClient
import NorrisProtocol
import Testing

/// A connection on which lines come until one says stop.
struct FollowTests {
    private let shuttingDown = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32006,"message":"The daemon stops."}}"#

    /// The lines that came, and the error that ended it.
    private func follow(
        _ server: ScriptedServer,
        _ lines: [String] = ["one", "two"],
        timeout: Duration = .seconds(300),
        step: ([String]) -> FollowStep
    ) -> (lines: [String], error: ClientError?) {
        var received: [String] = []
        do throws(ClientError) {
            try Client(candidates: [server.path], timeout: timeout).follow(lines.map { Array($0.utf8) }) { line in
                received.append(String(decoding: line, as: UTF8.self))
                return step(received)
            }
            return (received, nil)
        } catch {
            return (received, error)
        }
    }

    @Test func sendsItsLinesOnOneConnectionAndStopsWhenTold() throws {
        let server = try ScriptedServer([{ peer in
            let sent = [peer.readLine(), peer.readLine()]
            peer.write("\(sent.joined(separator: "+"))\nsecond\nthird\nfourth\n")
            peer.waitForTheEnd()
        }])
        let end = follow(server) { $0.count == 3 ? .stop : .goOn(within: nil) }
        #expect(end.lines == ["one+two", "second", "third"])
        #expect(end.error == nil)
        server.waitUntilDone()
    }

    @Test func endsWithTheConnection() throws {
        let server = try ScriptedServer([{ peer in
            peer.readLine()
            peer.readLine()
            peer.write("first\nsecond\n")
        }])
        let end = follow(server) { _ in .goOn(within: nil) }
        #expect(end.lines == ["first", "second"])
        #expect(end.error == .closed(path: server.path))
    }

    @Test func waitsForAsLongAsEachStepSays() throws {
        let server = try ScriptedServer([{ peer in
            peer.write("first\n")
            peer.waitForTheEnd()
        }])
        let end = follow(server) { _ in .goOn(within: .milliseconds(20)) }
        #expect(end.lines == ["first"])
        #expect(end.error == .timedOut(path: server.path))
    }

    @Test("The client's time-out is for the beginning, not for what comes later")
    func waitsLongerOnceItHasBegun() throws {
        // On a busy machine the first line may need more than the first of these.
        for timeout in [Duration.milliseconds(300), .seconds(3), .seconds(30)] {
            let server = try ScriptedServer([{ peer in
                peer.write("first\n")
                // The client says nothing after its lines, so that they have come says that it has begun.
                peer.readLine()
                peer.readLine()
                peer.write("second\n")
            }])
            let deadline = Deadline(after: timeout + .milliseconds(50))
            let end = follow(server, timeout: timeout) { lines in
                // Over before the next line is waited for.
                while !deadline.hasPassed { poll(nil, 0, 10) }
                return lines.count == 2 ? .stop : .goOn(within: nil)
            }
            if end.lines.isEmpty && timeout < .seconds(30) { continue }
            #expect(end.lines == ["first", "second"])
            break
        }
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
            },
            { $0.readLine() },
            { $0.readLine() },
        ])
        for _ in 0..<2 {
            let end = follow(server) { _ in .stop }
            #expect(end.lines == ["two"])
            #expect(end.error == nil)
        }
        #expect(follow(server) { _ in .stop }.error == .closed(path: server.path))
    }
}
