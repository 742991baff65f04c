import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisServer

@Suite(.timeLimit(.minutes(20))) struct EventTests {
    private let hub = EventHub()

    private static func subscribe(_ id: Int, _ topics: String = "") -> String {
        request(id, "event.subscribe", topics.isEmpty ? nil : #"{"topics":\#(topics)}"#) + "\n"
    }

    private func subscriber(of live: LiveServer) throws -> LineClient {
        let client = try live.connect()
        try client.send(Self.subscribe(0))
        try client.expect("0 {}")
        return client
    }

    private func withHub(
        _ bodies: [String: Handler.Body] = [:], tuning: Server.Tuning = .patient,
        _ body: (LiveServer) async throws -> Void
    ) async throws {
        let all = bodies.merging(["event.subscribe": TestMethods.subscribe]) { first, _ in first }
        try await withServer(all, tuning: tuning, events: hub, body)
    }

    @Test func subscribersGetWhatHappensAndOthersDoNot() async throws {
        try await withHub { live in
            let other = try live.connect()
            let first = try subscriber(of: live)
            let second = try subscriber(of: live)
            let ok = Event.server(.ok, at: noon)
            for event in [finished("facts", 1), ok, finished("facts", 2)] { hub.publish(event) }
            for client in [first, second] { try client.expect(events: finished("facts", 1), ok, finished("facts", 2)) }
            try other.expectService()
        }
    }

    @Test("Events right after a subscription follow its reply")
    func replyComesFirst() async throws {
        let body: Handler.Body = { [hub] call, json throws(ResponseError) in
            call.subscription.set([.server])
            hub.publish(.server(.ok, at: noon))
            return try TestMethods.subscribe(call, &json)
        }
        try await withHub(["event.subscribe": body]) { live in
            let client = try live.connect()
            try client.send(Self.subscribe(1) + request(2, "server.info") + "\n")
            try client.expect("1 {}")
            let rest = [try client.receiveLine(), try client.receiveLine()]
            #expect(rest.contains { $0?.contains(#""phase":"ok""#) == true })
        }
    }

    @Test("A second call replaces the first, and an empty one ends it") func replaces() async throws {
        try await withHub { live in
            let client = try subscriber(of: live)
            try client.send(Self.subscribe(1, #"["item"]"#))
            try client.expect("1 {}")
            hub.publish(finished("facts", 1))
            hub.publish(.item(source: "facts", added: 3, at: noon))
            try client.expect(events: .item(source: "facts", added: 3, at: noon))
            try client.send(Self.subscribe(2, "[]"))
            try client.expect("2 {}")
            #expect(hub.subscribers == 0)
            hub.publish(.item(source: "facts", added: 4))
            try client.send(lines: request(3, "server.info"))
            try client.expect("3 {}")
        }
    }

    @Test("While a reply is awaited events wait, and the last of each kind comes after it")
    func awaitedReply() async throws {
        try await withHub { live in
            let client = try subscriber(of: live)
            try client.send(lines: request(1, "fact.today"))
            try live.roundTrip()
            for number in 0..<40 { hub.publish(finished("facts", number)) }
            hub.publish(.server(.degraded, at: noon))
            try live.roundTrip()
            hub.publish(finished("planet", 1))
            live.gate.open()
            try client.expect("1 {}")
            try client.expect(events: finished("facts", 39), .server(.degraded, at: noon), finished("planet", 1))
        }
    }

    @Test("A stop is told before the connection is closed, after the replies that were awaited")
    func stop() async throws {
        try await withHub(tuning: Server.Tuning(drainTime: .seconds(3600))) { live in
            let silent = try subscriber(of: live)
            let waiting = try subscriber(of: live)
            try waiting.send(lines: request(1, "fact.today"), request(2, "server.info"))
            try live.roundTrip()
            live.server.stop()
            let line = try #require(try silent.receiveLine())
            let event = try Event(json: #require(JSON.parse(line).objectValue()["params"]))
            #expect(event.topic == .server && event.phase == .stopping)
            try silent.expect(nil)
            live.gate.open()
            try waiting.expect("1 {}")
            let rest = [try waiting.receiveLine(), try waiting.receiveLine()]
            #expect(rest.contains { $0?.contains(#""phase":"stopping""#) == true })
            #expect(rest.contains { $0?.contains(#""id":2"#) == true })
            try waiting.expect(nil)
        }
    }
}

/// Tests of the events that wait for a connection, without a connection.
struct SubscriptionTests {
    private let hub = EventHub()
    private let announcements = Counter()

    private func subscription(_ topics: Set<Event.Topic> = Set(Event.Topic.all)) -> Subscription {
        let subscription = Subscription(hub: hub, uid: 1) { [announcements] in announcements.increment() }
        subscription.set(topics)
        return subscription
    }

    @Test("Past a number of events the last of each kind is kept, in the order in which they came") func merges() {
        let subscription = subscription()
        for number in 0..<1_000 {
            hub.publish(finished("facts", number))
            hub.publish(.server(number.isMultiple(of: 2) ? .degraded : .ok, at: noon))
            hub.publish(finished("planet", number))
            hub.publish(.item(source: "facts", added: number, at: noon))
        }
        #expect(
            subscription.removeAll() == [
                finished("facts", 999).line, Event.server(.ok, at: noon).line, finished("planet", 999).line,
                Event.item(source: "facts", added: 999, at: noon).line,
            ])
    }

    @Test func ofManyKindsTheLastOfEachWaits() {
        let subscription = subscription([.source])
        subscription.holdBack()
        for number in 0..<2 { for source in 0..<300 { hub.publish(finished("s\(source)", number)) } }
        let held = subscription.heldBytes
        hub.publish(finished("s0", 2))
        #expect(subscription.heldBytes == held)
        #expect(subscription.removeAll() == (1..<300).map { finished("s\($0)", 1).line } + [finished("s0", 2).line])
        #expect(subscription.heldBytes == 0)
    }

    /// A client that waits for a run identifies the end of the run by the start before it.
    @Test func theStartOfARunStaysBeforeItsEnd() {
        let subscription = subscription([.source])
        subscription.holdBack()
        for number in 0..<3 {
            hub.publish(.source("facts", .started, at: noon))
            hub.publish(finished("facts", number))
        }
        #expect(
            subscription.removeAll() == [Event.source("facts", .started, at: noon).line, finished("facts", 2).line])
    }

    @Test func onlyTheTopicsAskedForCome() {
        let subscription = subscription([.item])
        hub.publish(.server(.ok, at: noon))
        #expect(announcements.value == 0)
        hub.publish(.item(source: "facts", added: 1, at: noon))
        // New topics discard the waiting events of other topics.
        subscription.set([.server])
        hub.publish(.item(source: "facts", added: 2, at: noon))
        hub.publish(.server(.ok, at: noon))
        #expect(subscription.removeAll() == [Event.server(.ok, at: noon).line])
    }
}

private let noon = Timestamp(seconds: 1_795_262_400)

private func finished(_ source: String, _ items: Int) -> Event { .source(source, .finished, items: items, at: noon) }
