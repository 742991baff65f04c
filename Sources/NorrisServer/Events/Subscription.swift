package import NorrisProtocol
import Synchronization

/// What one connection has asked for, and the events that wait to be written to it.
///
/// Bodies and publishers come from any thread; the connection takes the events on its event loop. For a peer that is
/// slow, or waits for a reply, the last event of each kind is kept, so that what waits does not grow with time.
package final class Subscription: Sendable {
    /// An event as it is sent.
    struct Notice: Equatable, Sendable {
        /// Events of one kind tell the same story: the last of them is all one needs to know.
        struct Kind: Hashable, Sendable {
            let topic: Event.Topic
            let source: String?
        }

        let kind: Kind
        /// With its end.
        let line: [UInt8]

        init(_ event: Event) {
            kind = Kind(topic: event.topic, source: event.source)
            line = event.line
        }
    }

    private struct State {
        var topics: Set<Event.Topic> = []
        var waiting: [Notice] = []
        /// Whether the connection knows that something waits.
        var isAnnounced = false
        /// Whether the connection could not take what waits.
        var isHeldBack = false
        /// Tells the connection that something waits; nil before it is there and after it has gone.
        var announce: (@Sendable () -> Void)?
    }

    private let hub: EventHub
    private let state = Mutex(State())

    /// So many events wait for a connection that will take them at once before any is merged.
    static let maximumInTransit = 64

    init(hub: EventHub) {
        self.hub = hub
    }

    /// Asks for these topics from now on and for no others; for none if empty.
    package func set(_ topics: Set<Event.Topic>) {
        state.withLock { state in
            guard state.announce != nil else { return }
            state.topics = topics
            state.waiting.removeAll { !topics.contains($0.kind.topic) }
            // In the lock, so that the hub never keeps a connection that has gone.
            if topics.isEmpty { hub.remove(self) } else { hub.add(self) }
        }
    }

    var isActive: Bool {
        state.withLock { !$0.topics.isEmpty }
    }

    /// The connection is there.
    ///
    /// - Parameter announce: called from any thread when something waits, once for each time that it is taken.
    func open(announce: @escaping @Sendable () -> Void) {
        state.withLock { $0.announce = announce }
    }

    /// The connection has gone.
    func close() {
        state.withLock { state in
            state = State()
            hub.remove(self)
        }
    }

    func offer(_ notice: Notice) {
        let announce = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.topics.contains(notice.kind.topic) else { return nil }
            state.waiting.append(notice)
            if state.isHeldBack || state.waiting.count > Subscription.maximumInTransit {
                state.waiting.keepLastOfEachKind()
            }
            guard !state.isAnnounced else { return nil }
            state.isAnnounced = true
            return state.announce
        }
        announce?()
    }

    /// The connection cannot take what waits: from now on until it does, the last of each kind is kept.
    func holdBack() {
        state.withLock { state in
            guard !state.isHeldBack else { return }
            state.isHeldBack = true
            state.waiting.keepLastOfEachKind()
        }
    }

    /// The lines that wait, in the order of their events.
    func take() -> [[UInt8]] {
        state.withLock { state in
            defer {
                state.waiting = []
                state.isAnnounced = false
                state.isHeldBack = false
            }
            return state.waiting.map(\.line)
        }
    }
}

extension [Subscription.Notice] {
    fileprivate mutating func keepLastOfEachKind() {
        var seen: Set<Subscription.Notice.Kind> = []
        self = Array(reversed().filter { seen.insert($0.kind).inserted }.reversed())
    }
}
