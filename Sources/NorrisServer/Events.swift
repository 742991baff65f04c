package import NorrisProtocol
import Synchronization

/// Passes events from any thread to the connections that have subscribed to them.
package final class EventHub: Sendable {
    private let subscriptions = Mutex<[ObjectIdentifier: Subscription]>([:])

    package init() {}

    /// Returns quickly; without subscribers nothing is encoded.
    package func publish(_ event: Event) {
        let subscriptions = subscriptions.withLock { Array($0.values) }
        guard !subscriptions.isEmpty else { return }
        let encoded = EncodedEvent(event)
        for subscription in subscriptions { subscription.offer(encoded) }
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
    }

    let kind: Kind
    /// Includes the final LF.
    let line: [UInt8]

    init(_ event: Event) {
        kind = Kind(topic: event.topic, source: event.source, isStart: event.phase == .started)
        line = event.line
    }
}

/// The topics of one connection, and the events that wait to be written to it.
///
/// Handlers and publishers call the subscription on any thread; the connection takes the events on the event loop. For a slow peer,
/// or a peer that waits for a reply, only the last event of each kind is kept, so that the number of waiting events is
/// limited.
package final class Subscription: Sendable {
    private struct State {
        var topics: Set<Event.Topic> = []
        var waiting: [EncodedEvent] = []
        /// Whether the connection knows that events wait.
        var isAnnounced = false
        /// Whether the connection could not write the waiting events.
        var isHeldBack = false
        /// Whether the connection was closed.
        var isClosed = false

        mutating func keepLastOfEachKind() {
            var seen: Set<EncodedEvent.Kind> = []
            waiting = Array(waiting.reversed().filter { seen.insert($0.kind).inserted }.reversed())
        }
    }

    private let hub: EventHub
    private let announce: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter announce: called from any thread when events begin to wait, once after each ``take()``.
    init(hub: EventHub, announce: @escaping @Sendable () -> Void) {
        self.hub = hub
        self.announce = announce
    }

    /// Replaces the subscribed topics. An empty set ends the subscription.
    package func set(_ topics: Set<Event.Topic>) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.topics = topics
            state.waiting.removeAll { !topics.contains($0.kind.topic) }
            // Inside the lock, so that the hub never contains a closed connection.
            hub.set(self, isActive: !topics.isEmpty)
        }
    }

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
            state.waiting.append(event)
            if state.isHeldBack || state.waiting.count > Limit.events { state.keepLastOfEachKind() }
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
        if isFirst { announce() }
    }

    /// Records that the connection cannot write events now: until the next ``take()`` only the last event of each kind
    /// is kept.
    func holdBack() {
        state.withLock { state in
            guard !state.isHeldBack else { return }
            state.isHeldBack = true
            state.keepLastOfEachKind()
        }
    }

    /// The memory of the waiting events in bytes, at most, because subscribers share lines.
    var heldBytes: Int {
        state.withLock { $0.waiting.reduce(0) { $0 + $1.line.count + MemoryLayout<EncodedEvent>.stride } }
    }

    /// Returns and removes the waiting lines, in the order of their events.
    func take() -> [[UInt8]] {
        state.withLock { state in
            defer { (state.waiting, state.isAnnounced, state.isHeldBack) = ([], false, false) }
            return state.waiting.map(\.line)
        }
    }
}
