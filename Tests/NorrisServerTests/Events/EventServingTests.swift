import NorrisProtocol
import Testing

@testable import NorrisServer

/// Events between the replies of a real connection.
@Suite(.timeLimit(.minutes(20)))
struct EventServingTests {
    private static let noon = Timestamp(seconds: 1_795_262_400)
    private let hub = EventHub()

    private static func finished(_ source: String, _ items: Int) -> Event {
        .source(source, .finished, items: items, at: noon)
    }

    private static func text(_ event: Event) -> String {
        String(decoding: event.line.dropLast(), as: UTF8.self)
    }

    private static func subscribe(_ id: Int, _ topics: String = "") -> String {
        request(id, "event.subscribe", topics.isEmpty ? nil : #"{"topics":\#(topics)}"#) + "\n"
    }

    private func subscriber(of live: LiveServer) throws -> TestClient {
        let client = try live.connect()
        try client.send(Self.subscribe(0))
        #expect(try client.receiveOutline() == "0 {}")
        return client
    }

    private func withHub(
        _ bodies: [String: MethodBody] = [:],
        pace: Server.Pace = .patient,
        _ body: (LiveServer) async throws -> Void
    ) async throws {
        let all = bodies.merging(["event.subscribe": TestMethods.subscribe]) { first, _ in first }
        try await withServer(all, pace: pace, events: hub, body)
    }

    // MARK: Order

    @Test func subscribersGetWhatHappensAndOthersDoNot() async throws {
        try await withHub { live in
            let other = try live.connect()
            let first = try subscriber(of: live)
            let second = try subscriber(of: live)
            let events = [Self.finished("facts", 1), .server(.ok), Self.finished("facts", 2)]
            events.forEach(hub.publish)
            for client in [first, second] {
                for event in events {
                    #expect(try client.receiveLine() == Self.text(event))
                }
            }
            try other.send(request(1, "server.info") + "\n")
            #expect(try other.receiveOutline() == "1 {}")
        }
    }

    @Test("What happens right after a subscription was made comes after its reply")
    func replyComesFirst() async throws {
        let body: MethodBody = { [hub] call, json throws(ResponseError) in
            call.subscription.set([.server])
            hub.publish(.server(.ok, at: Self.noon))
            return try TestMethods.subscribe(call, &json)
        }
        try await withHub(["event.subscribe": body]) { live in
            let client = try live.connect()
            try client.send(Self.subscribe(1) + request(2, "server.info") + "\n")
            #expect(try client.receiveOutline() == "1 {}")
            let rest = [try client.receiveLine(), try client.receiveLine()]
            #expect(rest.contains(Self.text(.server(.ok, at: Self.noon))))
        }
    }

    @Test("A second call replaces the first, and an empty one ends it")
    func replaces() async throws {
        try await withHub { live in
            let client = try subscriber(of: live)
            try client.send(Self.subscribe(1, #"["item"]"#))
            #expect(try client.receiveOutline() == "1 {}")
            hub.publish(Self.finished("facts", 1))
            hub.publish(.item(source: "facts", added: 3, at: Self.noon))
            #expect(try client.receiveLine() == Self.text(.item(source: "facts", added: 3, at: Self.noon)))
            try client.send(Self.subscribe(2, "[]"))
            #expect(try client.receiveOutline() == "2 {}")
            #expect(hub.subscribers == 0)
            hub.publish(.item(source: "facts", added: 4))
            try client.send(request(3, "server.info") + "\n")
            #expect(try client.receiveOutline() == "3 {}")
        }
    }

    @Test("While a reply is awaited events wait, and the last of each kind comes after it")
    func awaitedReply() async throws {
        let gate = Gate()
        try await withHub(["fact.today": TestMethods.waiting(for: gate)]) { live in
            let client = try subscriber(of: live)
            try client.send(request(1, "fact.today") + "\n")
            try live.roundTrip()
            for number in 0..<40 { hub.publish(Self.finished("facts", number)) }
            hub.publish(.server(.degraded, at: Self.noon))
            try live.roundTrip()
            hub.publish(Self.finished("planet", 1))
            gate.open()
            #expect(try client.receiveOutline() == "1 {}")
            for event in [Self.finished("facts", 39), .server(.degraded, at: Self.noon), Self.finished("planet", 1)] {
                #expect(try client.receiveLine() == Self.text(event))
            }
        }
    }

    @Test("A subscription in a batch begins at once, and its events come after the line of the batch", arguments: [
        ["event.subscribe", "fact.today"], ["fact.today", "event.subscribe"],
    ])
    func batch(methods: [String]) async throws {
        let gate = Gate()
        try await withHub(["fact.today": TestMethods.waiting(for: gate)]) { live in
            let client = try live.connect()
            try client.send("[\(methods.enumerated().map { request($0, $1) }.joined(separator: ","))]\n")
            try live.roundTrip()
            let isFirst = methods[0] == "event.subscribe"
            #expect(hub.subscribers == (isFirst ? 1 : 0))
            if isFirst { hub.publish(.server(.ok, at: Self.noon)) }
            gate.open()
            #expect(try client.receiveOutline() == "[0 {}, 1 {}]")
            if !isFirst { hub.publish(.server(.ok, at: Self.noon)) }
            #expect(try client.receiveLine() == Self.text(.server(.ok, at: Self.noon)))
        }
    }

    // MARK: Slow readers

    @Test("For a peer that does not read nothing grows: it finds the last of each kind")
    func slowReader() async throws {
        try await withHub(["fact.random": TestMethods.large]) { live in
            let client = try subscriber(of: live)
            try client.send(request(1, "fact.random", #"{"count":40}"#) + "\n")
            try live.roundTrip()
            for number in 0..<10_000 {
                hub.publish(Self.finished("facts", number))
                hub.publish(.item(source: "facts", added: number, at: Self.noon))
            }
            try live.roundTrip()
            #expect(try client.receiveLine()?.hasPrefix(#"{"jsonrpc":"2.0","id":1,"result":"xxx"#) == true)
            #expect(try client.receiveLine() == Self.text(Self.finished("facts", 9_999)))
            #expect(try client.receiveLine() == Self.text(.item(source: "facts", added: 9_999, at: Self.noon)))
            try client.send(request(2, "server.info") + "\n")
            #expect(try client.receiveOutline() == "2 {}")
        }
    }

    @Test func aSubscriberThatTakesNothingIsClosed() async throws {
        let pace = Server.Pace(
            patience: .init(idle: .seconds(3600), stalled: .milliseconds(1)), tick: .milliseconds(1)
        )
        try await withHub(pace: pace) { live in
            let client = try subscriber(of: live)
            let failure = SourceFailure(kind: .http, message: String(repeating: "x", count: 10_000), since: Self.noon)
            while hub.subscribers > 0 {
                hub.publish(.source("facts", .failed, error: failure))
                try live.roundTrip()
            }
            try client.waitForClose()
        }
    }

    // MARK: The end

    @Test func aSilentSubscriberIsNotIdle() async throws {
        let pace = Server.Pace(
            patience: .init(idle: .seconds(1), stalled: .seconds(3600)), tick: .milliseconds(1)
        )
        try await withHub(pace: pace) { live in
            let client = try subscriber(of: live)
            // These come later and go: the subscriber has rested longer than the patience for others.
            for _ in 0..<2 { try live.connect().waitForClose() }
            hub.publish(.server(.ok, at: Self.noon))
            #expect(try client.receiveLine() == Self.text(.server(.ok, at: Self.noon)))
            try client.send(Self.subscribe(1, "[]"))
            #expect(try client.receiveOutline() == "1 {}")
            #expect(try client.receiveLine() == nil)
        }
    }

    @Test func aSubscriberThatEndsItsInputIsClosed() async throws {
        try await withHub { live in
            let client = try live.connect()
            try client.send(Self.subscribe(1) + request(2, "server.info"))
            client.endInput()
            #expect(try client.receiveOutline() == "1 {}")
            #expect(try client.receiveOutline() == "2 {}")
            #expect(try client.receiveLine() == nil)
            try live.waitFor(connections: 0)
            #expect(hub.subscribers == 0)
        }
    }

    @Test("A stop is told before the connection is closed, after the replies that were awaited")
    func stop() async throws {
        let gate = Gate()
        let bodies = ["fact.today": TestMethods.waiting(for: gate)]
        try await withHub(bodies, pace: Server.Pace(drainTime: .seconds(3600))) { live in
            let silent = try subscriber(of: live)
            let waiting = try subscriber(of: live)
            try waiting.send(request(1, "fact.today") + "\n" + request(2, "server.info") + "\n")
            try live.roundTrip()
            live.server.stop()
            let line = try #require(try silent.receiveLine())
            let event = try Event(json: #require(Event.params(of: JSON.parse(line))))
            #expect(event.topic == .server && event.phase == .stopping)
            #expect(try silent.receiveLine() == nil)
            gate.open()
            #expect(try waiting.receiveOutline() == "1 {}")
            let rest = [try waiting.receiveLine(), try waiting.receiveLine()]
            #expect(rest.contains { $0?.contains(#""phase":"stopping""#) == true })
            #expect(rest.contains { $0?.contains(#""id":2"#) == true })
            #expect(try waiting.receiveLine() == nil)
        }
    }
}
