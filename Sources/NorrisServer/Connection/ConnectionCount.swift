import Synchronization

/// How many connections there are and were, for readers on any thread.
package final class ConnectionCount: Sendable {
    private let open = Atomic<Int>(0)
    private let served = Atomic<Int>(0)
    private let turnedAway = Atomic<Int>(0)

    package init() {}

    /// Those that are open now.
    package var current: Int { open.load(ordering: .relaxed) }

    /// All that were ever served.
    package var accepted: Int { served.load(ordering: .relaxed) }

    /// Those that were past a limit.
    package var refused: Int { turnedAway.load(ordering: .relaxed) }

    /// One more was opened.
    func opened(_ count: Int) {
        served.add(1, ordering: .relaxed)
        set(count)
    }

    func set(_ count: Int) {
        open.store(count, ordering: .relaxed)
    }

    func refuse() {
        turnedAway.add(1, ordering: .relaxed)
    }
}
