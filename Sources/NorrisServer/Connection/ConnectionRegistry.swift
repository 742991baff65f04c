import NIOCore

/// The open connections, how many each user has, and what all of them hold unsent. Lives on one event loop.
final class ConnectionRegistry {
    private var handlers: [ObjectIdentifier: ConnectionHandler] = [:]
    private var perUser: [UInt32: Int] = [:]
    private var unsent: [ObjectIdentifier: Int] = [:]
    private var unsentTotal = 0
    private let maximumUnsent: Int
    private let count: ConnectionCount
    /// Runs when the last connection has gone after ``drain(whenEmpty:)``.
    private var whenEmpty: (() -> Void)?

    /// - Parameters:
    ///   - maximumUnsent: how many bytes are held for slow readers altogether.
    ///   - count: kept up to date with the number of open connections.
    init(maximumUnsent: Int, count: ConnectionCount) {
        self.maximumUnsent = maximumUnsent
        self.count = count
    }

    var all: [ConnectionHandler] { Array(handlers.values) }

    func connections(of uid: UInt32) -> Int {
        perUser[uid, default: 0]
    }

    func add(_ handler: ConnectionHandler, uid: UInt32) {
        handlers[ObjectIdentifier(handler)] = handler
        perUser[uid, default: 0] += 1
        count.opened(handlers.count)
    }

    func remove(_ handler: ConnectionHandler, uid: UInt32) {
        let id = ObjectIdentifier(handler)
        guard handlers.removeValue(forKey: id) != nil else { return }
        perUser[uid, default: 1] -= 1
        if perUser[uid] == 0 { perUser[uid] = nil }
        setUnsent(0, id)
        count.set(handlers.count)
        if handlers.isEmpty, let whenEmpty {
            self.whenEmpty = nil
            whenEmpty()
        }
    }

    /// A connection could not send all it has; past the common limit the slowest readers are closed.
    func noteUnsent(of handler: ConnectionHandler, _ bytes: Int, now: ContinuousClock.Instant) {
        setUnsent(bytes, ObjectIdentifier(handler))
        guard unsentTotal > maximumUnsent else { return }
        refreshUnsent()
        // Those who stand still longest go first, and among equals those who hold most.
        let slowestFirst = unsent
            .compactMap { id, bytes in handlers[id].map { (handler: $0, since: $0.stalledSince ?? now, bytes: bytes) } }
            .sorted { ($0.since, $1.bytes) < ($1.since, $0.bytes) }
        for slow in slowestFirst where unsentTotal > maximumUnsent {
            setUnsent(0, ObjectIdentifier(slow.handler))
            slow.handler.abort()
        }
    }

    /// Once a second: time-outs, and what slow readers have taken meanwhile.
    func tick(now: ContinuousClock.Instant) {
        refreshUnsent()
        for handler in all {
            handler.tick(now: now)
        }
    }

    /// Lets every connection answer what it has received and close.
    func drain(whenEmpty: @escaping () -> Void) {
        guard !handlers.isEmpty else { return whenEmpty() }
        self.whenEmpty = whenEmpty
        for handler in all {
            handler.drain()
        }
    }

    private func refreshUnsent() {
        for id in Array(unsent.keys) {
            setUnsent(handlers[id]?.unsentBytes ?? 0, id)
        }
    }

    private func setUnsent(_ bytes: Int, _ id: ObjectIdentifier) {
        unsentTotal += bytes - (unsent[id] ?? 0)
        unsent[id] = bytes > 0 ? bytes : nil
    }
}
