import Dispatch
import Synchronization

/// A thread for a test that blocks: those of Swift's pool are few, and for work that does not.
package final class TestThread: TaskExecutor {
    private struct Places {
        /// A few at a time, so that tests that mostly wait run beside each other, and do not slow each other down.
        var free = 4
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let places = Mutex(Places())

    private let queue = DispatchQueue(label: "test")

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs a body on a thread of its own, where it may block.
    package static func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        await takePlace()
        defer { givePlaceBack() }
        return try await withTaskExecutorPreference(TestThread()) {
            // A body that never waits would go on where it is called from.
            await Task.yield()
            return try await body()
        }
    }

    private static func takePlace() async {
        await withCheckedContinuation { continuation in
            let isFree = places.withLock { places in
                if places.free == 0 {
                    places.waiting.append(continuation)
                    return false
                }
                places.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private static func givePlaceBack() {
        let next = places.withLock { places in
            if places.waiting.isEmpty {
                places.free += 1
                return CheckedContinuation<Void, Never>?.none
            }
            return places.waiting.removeFirst()
        }
        next?.resume()
    }
}
