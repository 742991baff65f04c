import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisServer

@Suite(.timeLimit(.minutes(20))) struct ServingTests {
    private static func get(_ id: Int) -> String { request(id, "fact.get", #"{"id":"\#(id)"}"#) + "\n" }

    @Test func answersManyPipelinedRequestsInOrder() async throws {
        try await withServer { live in
            let client = try live.connect()
            try client.send((0..<500).map(ServingTests.get).joined())
            for id in 0..<500 { try client.expect(#"\#(id) "\#(id)""#) }
        }
    }

    @Test func anAnswerThatIsAwaitedHoldsBackThoseAfterIt() async throws {
        let later = Counter()
        try await withServer(["fact.get": TestMethods.counted(later, TestMethods.echo)]) { live in
            let client = try live.connect()
            let lines = [
                request(1, "server.status"), request(2, "fact.today"), request(3, "fact.get", #"{"id":"a"}"#),
                "[\(request(4, "fact.get", #"{"id":"b"}"#)),\(request(5, "fact.today")),7]",
                request(6, "server.status"),
            ]
            try client.send(lines.joined(separator: "\n") + "\n")
            // Lines before the deferred request are answered at once.
            try client.expect("1 {}")
            // The server also answers other connections.
            try live.roundTrip()
            #expect(later.value == 0)
            live.gate.open()
            try client.expect("2 {}", #"3 "a""#, #"[4 "b", 5 {}, null -32600 invalid_request]"#, "6 {}")
        }
    }

    @Test func aThreadOfTasksThatHangsStopsTheHeartbeat() async throws {
        let (beats, blockade) = (Counter(), Blockade())
        let hanging: Handler.Body = { _, _ throws(ResponseError) in
            .disk { () async throws(ResponseError) -> [UInt8] in
                blockade.block()
                return Array("{}".utf8)
            }
        }
        let heartbeat: Server.Heartbeat = (.microseconds(100), { beats.increment() })
        try await withServer(["author.list": hanging], heartbeat: heartbeat) { live in
            while beats.value == 0 { try live.roundTrip() }
            let client = try live.connect()
            try client.send(lines: request(1, "author.list"))
            blockade.waitUntilEntered()
            let count = beats.value
            // Takes many times as long as an interval.
            for _ in 0..<200 { try live.roundTrip() }
            #expect(beats.value == count)
            blockade.lift()
            try client.expect("1 {}")
            while beats.value == count { try live.roundTrip() }
        }
    }

    @Test(
        "The connection stays usable after every error",
        arguments: ["nonsense", "1", "[]", request(1, "nope"), request(1, "fact.get", "[]"), "\u{FEFF}{}"])
    func errorsEndNothing(_ line: String) async throws {
        try await withServer { live in
            let client = try live.connect()
            try client.send(lines: line, request("\"after\"", "server.info"))
            #expect(try client.receiveOutline()?.contains(" -32") == true)
            try client.expect(#""after" {}"#)
        }
    }

    @Test("A line may have 65,536 bytes without its end", arguments: ["\n", "\r\n"])
    func longestLine(_ end: String) async throws {
        try await withServer { live in
            let client = try live.connect()
            let line = request(1, "server.info")
            let spaces = LineSplitter.maximumRequest - line.utf8.count
            for surplus in [0, 1, 0] { try client.send(line + String(repeating: " ", count: spaces + surplus) + end) }
            try client.expect("1 {}", "null -32600 line_too_long", "1 {}")
        }
    }

    // MARK: End of input

    @Test("All that was sent before the end of input is answered, then the server closes", arguments: ["\n", "", "\r"])
    func halfClose(_ end: String) async throws {
        try await withServer(["fact.get": TestMethods.deferredEcho]) { live in
            let client = try live.connect()
            try client.send(request(1, "server.info") + "\n" + request(2, "fact.get", #"{"id":"a"}"#) + end)
            client.endInput()
            try client.expect("1 {}", #"2 "a""#, nil)
        }
    }

    @Test("A peer may disconnect at any moment without an effect on other peers") func peersThatGo() async throws {
        try await withServer { live in
            let faithful = try live.connect()
            for _ in 0..<10 {
                for text in [
                    "", "{", request(1, "fact.random", #"{"count":50}"#) + "\n", request(1, "fact.today") + "\n",
                ] {
                    let client = try live.connect()
                    try client.send(text)
                    client.close()
                    let half = try live.connect()
                    try half.send(text)
                    half.endInput()
                    half.close()
                }
                let reader = try live.connect()
                try reader.send(lines: request(1, "fact.random", #"{"count":50}"#))
                try reader.waitForBytes()
                reader.close()
            }
            live.gate.open()
            try faithful.send(lines: request(1, "server.info"))
            try faithful.expect("1 {}")
            try live.waitFor(connections: 1)
        }
    }

    // MARK: Credentials

    @Test func bodiesSeeThePeerOfTheSocket() async throws {
        let whoAmI: Handler.Body = { call, json throws(ResponseError) in
            json.string("\(call.peer.uid) \(call.peer.gid) \(call.peer.groups.sorted())")
            return nil
        }
        try await withServer(["server.info": whoAmI]) { live in
            let client = try live.connect()
            try client.send(lines: request(1, "server.info"))
            try client.expect(#"1 "\#(getuid()) \#(getgid()) \#(ownGroups().sorted())""#)
        }
    }

    @Test("However many groups the peer is in, all are told", arguments: [0, 1, 32, 33, 1000])
    func manyGroups(_ count: Int) async {
        await #expect(processExitsWith: .success) { [count] in
            // Only root may set its groups.
            guard geteuid() == 0 else { return }
            let groups = (0..<count).map { gid_t(1000 + $0) }
            #expect(setgroups(groups.count, groups) == 0)
            var pair: [CInt] = [-1, -1]
            #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
            #expect(Peer(socket: pair[1])?.groups.sorted() == groups)
        }
    }
}

private func ownGroups() -> [gid_t] {
    var groups = [gid_t](repeating: 0, count: Int(getgroups(0, nil)))
    getgroups(CInt(groups.count), &groups)
    return groups
}

struct RepliesTests {
    @Test func eachByteBelongsToTheConnectionThatItWasWrittenTo() {
        var replies = Replies()
        func parts() -> [String] {
            let ends = replies.parts.dropFirst().map(\.start) + [replies.json.count]
            return zip(replies.parts, ends).map { part, end in
                let text = replies.json.withBytes(in: part.start..<end) { String(decoding: $0, as: UTF8.self) }
                return "\(part.slot)\(part.isLast ? " closes" : ""): \(text)"
            }
        }
        for (slot, text) in [(7, "a"), (7, "b"), (9, "c"), (7, "d"), (8, "")] {
            replies.write(to: slot) { json in Array(text.utf8).withUnsafeBytes { json.raw(lines: $0) } }
        }
        replies.end(7)
        #expect(parts() == ["7: ab", "9: c", "7: d", "8: ", "7 closes: "])
        replies.removeAll()
        #expect(parts() == [] && replies.json.count == 0)
        replies.write(to: 7) { $0.literal("e") }
        #expect(parts() == ["7: e"])
    }
}
