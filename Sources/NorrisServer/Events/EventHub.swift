package import NorrisProtocol
import Synchronization

/// Where events come in, from any thread, and go out to the connections that asked for them.
package final class EventHub: Sendable {
    private let subscriptions = Mutex<[ObjectIdentifier: Subscription]>([:])

    package init() {}

    /// Returns at once; where nobody listens it only finds that out.
    package func publish(_ event: Event) {
        let listeners = subscriptions.withLock { Array($0.values) }
        guard !listeners.isEmpty else { return }
        let notice = Subscription.Notice(event)
        for listener in listeners {
            listener.offer(notice)
        }
    }

    /// How many connections have asked for events.
    package var subscribers: Int {
        subscriptions.withLock { $0.count }
    }

    func add(_ subscription: Subscription) {
        subscriptions.withLock { $0[ObjectIdentifier(subscription)] = subscription }
    }

    func remove(_ subscription: Subscription) {
        subscriptions.withLock { $0[ObjectIdentifier(subscription)] = nil }
    }
}
