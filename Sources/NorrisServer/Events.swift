package import NorrisProtocol
import Synchronization

/// Passes events from any thread to the connections that have subscribed to them.
package final class EventHub: Sendable {
    private let subscriptions = Mutex<[ObjectIdentifier: Subscription]>([:])

    package init() {}

    /// Returns quickly; without subscribers nothing is encoded.
    ///
    /// - Parameter others: the users who get another event, or none.
    package func publish(_ event: Event, besides others: [UInt32: Event?] = [:]) {
        let subscriptions = subscriptions.withLock { Array($0.values) }
        guard !subscriptions.isEmpty else { return }
        let (encoded, encodedOthers) = (EncodedEvent(event), others.mapValues { $0.map(EncodedEvent.init) })
        for subscription in subscriptions {
            if let event = encodedOthers[subscription.uid] ?? encoded { subscription.offer(event) }
        }
    }

    /// Publishes an event to the connections of one user.
    package func publish(_ event: Event, to uid: UInt32) {
        let encoded = EncodedEvent(event)
        for subscription in subscriptions.withLock({ Array($0.values) }) where subscription.uid == uid {
            subscription.offer(encoded)
        }
    }

    /// The users who have subscribed to a topic.
    package func users(of topic: Event.Topic) -> Set<UInt32> {
        let subscriptions = subscriptions.withLock { Array($0.values) }
        return Set(subscriptions.filter { $0.hasTopic(topic) }.map(\.uid))
    }

    /// The number of subscribed connections.
    package var subscribers: Int { subscriptions.withLock { $0.count } }

    fileprivate func set(_ subscription: Subscription, isActive: Bool) {
        subscriptions.withLock { $0[ObjectIdentifier(subscription)] = isActive ? subscription : nil }
    }
}

/// An encoded event.
private struct EncodedEvent {
    /// Of several waiting events of one kind, only the last is kept. The start of a run is a separate kind, because a
    /// client that waits for a run must see its start.
    struct Kind: Hashable {
        let topic: Event.Topic
        let source: String?
        let isStart: Bool
        /// Among the events of a connection, from 1; 0 in the key of the only event of a kind.
        var number = 0
    }

    var kind: Kind
    /// Includes the final LF.
    let line: [UInt8]

    /// The memory of a waiting event in bytes, at most, because subscribers share lines.
    var heldBytes: Int { line.count + MemoryLayout<EncodedEvent>.stride }

    init(_ event: Event) {
        kind = Kind(topic: event.topic, source: event.source, isStart: event.phase == .started)
        line = event.line
    }
}

/// The topics of one connection, and the events that wait to be written to it.
///
/// Handlers and publishers call the subscription on any thread; the connection removes the events on the event loop.
/// For a slow peer, or a peer that waits for a reply, only the last event of each kind is kept, so that the number of
/// waiting events is limited.
package final class Subscription: Sendable {
    private struct State {
        var topics: Set<Event.Topic> = []
        /// The waiting events. A dictionary, so that replacing one of thousands is fast.
        var waiting: [EncodedEvent.Kind: EncodedEvent] = [:]
        /// The number of the last event since the last ``removeAll()``.
        var last = 0
        var heldBytes = 0
        /// Whether the connection knows that events wait.
        var isAnnounced = false
        /// Whether only the last event of each kind is kept.
        var isHeldBack = false
        /// Whether the connection was closed.
        var isClosed = false

        /// The waiting events in their order.
        var ordered: [EncodedEvent] { waiting.values.sorted { $0.kind.number < $1.kind.number } }

        mutating func add(_ event: EncodedEvent) {
            last += 1
            var event = event
            event.kind.number = last
            put(event)
            if last > Limit.events { holdBack() }
        }

        private mutating func put(_ event: EncodedEvent) {
            var key = event.kind
            if isHeldBack { key.number = 0 }
            let old = waiting.updateValue(event, forKey: key)
            heldBytes += event.heldBytes - (old?.heldBytes ?? 0)
        }

        mutating func holdBack() {
            guard !isHeldBack else { return }
            isHeldBack = true
            keep { _ in true }
        }

        /// Removes the waiting events that do not satisfy a condition.
        mutating func keep(where isKept: (EncodedEvent) -> Bool) {
            let events = ordered
            (waiting, heldBytes) = ([:], 0)
            for event in events where isKept(event) { put(event) }
        }
    }

    private let hub: EventHub
    fileprivate let uid: UInt32
    private let announce: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - uid: the user of the connection.
    ///   - announce: called from any thread when events begin to wait, once after each ``removeAll()``.
    init(hub: EventHub, uid: UInt32, announce: @escaping @Sendable () -> Void) {
        (self.hub, self.uid) = (hub, uid)
        self.announce = announce
    }

    /// Replaces the subscribed topics. An empty set ends the subscription.
    package func set(_ topics: Set<Event.Topic>) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.topics = topics
            state.keep { topics.contains($0.kind.topic) }
            // Inside the lock, so that the hub never contains a closed connection.
            hub.set(self, isActive: !topics.isEmpty)
        }
    }

    fileprivate func hasTopic(_ topic: Event.Topic) -> Bool { state.withLock { $0.topics.contains(topic) } }

    var isActive: Bool { state.withLock { !$0.topics.isEmpty } }

    /// Ends the subscription of a closed connection.
    func close() {
        state.withLock { state in
            state = State(isClosed: true)
            hub.set(self, isActive: false)
        }
    }

    fileprivate func offer(_ event: EncodedEvent) {
        let isFirst = state.withLock { state in
            guard state.topics.contains(event.kind.topic) else { return false }
            state.add(event)
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
        if isFirst { announce() }
    }

    /// Records that the connection cannot write events now: until the next ``removeAll()`` only the last event of each
    /// kind is kept.
    func holdBack() { state.withLock { $0.holdBack() } }

    /// The memory of the waiting events in bytes.
    var heldBytes: Int { state.withLock { $0.heldBytes } }

    /// Returns and removes the waiting lines, in the order of their events.
    func removeAll() -> [[UInt8]] {
        state.withLock { state in
            defer { state = State(topics: state.topics, isClosed: state.isClosed) }
            return state.ordered.map(\.line)
        }
    }
}
