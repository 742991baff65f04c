import Synchronization

/// Work that several want at one time is done once: by whoever comes first, while the others wait for its result.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Those who wait for work under way.
    let waiters = Mutex<[Key: [CheckedContinuation<Value?, Never>]]>([:])

    func value(for key: Key, _ work: () async -> Value) async -> Value {
        let shared: Value? = await withCheckedContinuation { continuation in
            let isFirst = waiters.withLock { waiters in
                let isFirst = waiters[key] == nil
                // Whoever is first does not wait.
                if isFirst { waiters[key] = [] } else { waiters[key]?.append(continuation) }
                return isFirst
            }
            if isFirst { continuation.resume(returning: nil) }
        }
        if let shared { return shared }
        let value = await work()
        for waiter in waiters.withLock({ $0.removeValue(forKey: key) ?? [] }) {
            waiter.resume(returning: value)
        }
        return value
    }
}
