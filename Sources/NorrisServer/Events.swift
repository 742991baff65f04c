package import NorrisProtocol
import Synchronization

/// Passes events, published on any thread, to the connections that subscribed to them.
package final class EventHub: Sendable {
    private let subscriptions = Mutex<[ObjectIdentifier: Subscription]>([:])

    package init() {}

    /// Returns at once; without subscribers it only finds that out.
    package func publish(_ event: Event) {
        let subscriptions = subscriptions.withLock { Array($0.values) }
        guard !subscriptions.isEmpty else { return }
        let encoded = EncodedEvent(event)
        for subscription in subscriptions { subscription.offer(encoded) }
    }

    /// How many connections have subscribed.
    package var subscribers: Int { subscriptions.withLock { $0.count } }

    fileprivate func set(_ subscription: Subscription, isActive: Bool) {
        subscriptions.withLock { $0[ObjectIdentifier(subscription)] = isActive ? subscription : nil }
    }
}

/// An event as it is sent.
private struct EncodedEvent {
    /// Of events of one kind, the last says all one needs to know. The beginning of a run is a kind of its own: who
    /// waits for a run must see where it begins.
    struct Kind: Hashable {
        let topic: Event.Topic
        let source: String?
        let isStart: Bool
    }

    let kind: Kind
    /// With its end.
    let line: [UInt8]

    init(_ event: Event) {
        kind = Kind(topic: event.topic, source: event.source, isStart: event.phase == .started)
        line = event.line
    }
}

/// What one connection has subscribed to, and the events that wait to be written to it.
///
/// Bodies and publishers come from any thread; the connection takes the events on its event loop. For a peer that is
/// slow, or waits for a reply, the last event of each kind is kept, so that what waits does not grow with time.
package final class Subscription: Sendable {
    private struct State {
        var topics: Set<Event.Topic> = []
        var waiting: [EncodedEvent] = []
        /// Whether the connection knows that something waits.
        var isAnnounced = false
        /// Whether the connection could not take what waits.
        var isHeldBack = false
        /// Whether the connection has gone.
        var isClosed = false

        mutating func keepLastOfEachKind() {
            var seen: Set<EncodedEvent.Kind> = []
            waiting = Array(waiting.reversed().filter { seen.insert($0.kind).inserted }.reversed())
        }
    }

    /// So many events wait for a connection that will take them at once before any is merged.
    static let maximumInTransit = 64

    private let hub: EventHub
    private let announce: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter announce: called from any thread when something waits, once for each time that it is taken.
    init(hub: EventHub, announce: @escaping @Sendable () -> Void) {
        self.hub = hub
        self.announce = announce
    }

    /// Subscribes to these topics from now on and to no others; to none if empty.
    package func set(_ topics: Set<Event.Topic>) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.topics = topics
            state.waiting.removeAll { !topics.contains($0.kind.topic) }
            // In the lock, so that the hub never holds a connection that has gone.
            hub.set(self, isActive: !topics.isEmpty)
        }
    }

    var isActive: Bool { state.withLock { !$0.topics.isEmpty } }

    /// The connection has gone.
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
            if state.isHeldBack || state.waiting.count > Subscription.maximumInTransit { state.keepLastOfEachKind() }
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
        if isFirst { announce() }
    }

    /// The connection cannot take what waits: from now on until it does, the last of each kind is kept.
    func holdBack() {
        state.withLock { state in
            guard !state.isHeldBack else { return }
            state.isHeldBack = true
            state.keepLastOfEachKind()
        }
    }

    /// How much memory the events that wait take, at most: subscribers share the lines.
    var heldBytes: Int {
        state.withLock { $0.waiting.reduce(0) { $0 + $1.line.count + MemoryLayout<EncodedEvent>.stride } }
    }

    /// The lines that wait, in the order of their events.
    func take() -> [[UInt8]] {
        state.withLock { state in
            defer { (state.waiting, state.isAnnounced, state.isHeldBack) = ([], false, false) }
            return state.waiting.map(\.line)
        }
    }
}
