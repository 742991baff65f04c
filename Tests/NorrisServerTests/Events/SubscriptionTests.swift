import NorrisProtocol
import Testing

@testable import NorrisServer

/// What waits for a connection, without one.
struct SubscriptionTests {
    private static let noon = Timestamp(seconds: 1_795_262_400)
    private let hub = EventHub()
    private let announcements = Counter()

    private func subscription(_ topics: Set<Event.Topic> = Set(Event.Topic.all)) -> Subscription {
        let subscription = Subscription(hub: hub)
        subscription.open { [announcements] in announcements.increment() }
        subscription.set(topics)
        return subscription
    }

    private static func finished(_ source: String, _ items: Int) -> Event {
        .source(source, .finished, items: items, at: noon)
    }

    @Test func whatIsTakenAtOnceIsTakenWhole() {
        let subscription = subscription()
        let events = (0..<Subscription.maximumInTransit).map { Self.finished("facts", $0) }
        events.forEach(hub.publish)
        #expect(announcements.value == 1)
        #expect(subscription.take() == events.map(\.line))
        #expect(subscription.take() == [])
        hub.publish(events[0])
        #expect(announcements.value == 2)
    }

    @Test("Past a number of events the last of each kind is kept, in the order in which they came")
    func merges() {
        let subscription = subscription()
        for number in 0..<1_000 {
            hub.publish(Self.finished("facts", number))
            hub.publish(.server(number.isMultiple(of: 2) ? .degraded : .ok, at: Self.noon))
            hub.publish(Self.finished("planet", number))
            hub.publish(.item(source: "facts", added: number, at: Self.noon))
        }
        let last = subscription.take().suffix(4)
        #expect(last == [
            Self.finished("facts", 999).line, Event.server(.ok, at: Self.noon).line, Self.finished("planet", 999).line,
            Event.item(source: "facts", added: 999, at: Self.noon).line,
        ])
    }

    @Test func whatIsHeldBackIsMergedAtOnce() {
        let subscription = subscription()
        hub.publish(Self.finished("facts", 1))
        hub.publish(Self.finished("facts", 2))
        subscription.holdBack()
        hub.publish(.item(source: "facts", added: 1, at: Self.noon))
        hub.publish(Self.finished("facts", 3))
        // The connection knows already, and comes by itself when it can.
        #expect(announcements.value == 1)
        #expect(subscription.take() == [
            Event.item(source: "facts", added: 1, at: Self.noon).line, Self.finished("facts", 3).line,
        ])
        hub.publish(Self.finished("facts", 4))
        hub.publish(Self.finished("facts", 5))
        #expect(subscription.take().count == 2)
    }

    @Test func onlyTheTopicsAskedForCome() {
        let subscription = subscription([.item])
        hub.publish(.server(.ok, at: Self.noon))
        #expect(announcements.value == 0)
        hub.publish(.item(source: "facts", added: 1, at: Self.noon))
        // What waits is of no use to who asks for something else.
        subscription.set([.server])
        hub.publish(.item(source: "facts", added: 2, at: Self.noon))
        hub.publish(.server(.ok, at: Self.noon))
        #expect(subscription.take() == [Event.server(.ok, at: Self.noon).line])
    }

    @Test func endsWithTheTopicsAndWithTheConnection() {
        let first = subscription()
        let second = subscription()
        #expect(hub.subscribers == 2 && first.isActive)
        first.set([])
        #expect(hub.subscribers == 1 && !first.isActive)
        second.close()
        #expect(hub.subscribers == 0)
        // A body that ran in a task may come too late.
        second.set([.server])
        hub.publish(.server(.ok))
        #expect(hub.subscribers == 0 && !second.isActive && second.take() == [] && announcements.value == 0)
    }
}
