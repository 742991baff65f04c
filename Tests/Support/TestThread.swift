import Dispatch
package import Logging
import Synchronization

/// A thread for a test that blocks, because Swift's pool has few threads and they must not block.
package final class TestThread: TaskExecutor {
    private struct Slots {
        /// A few at a time, so that tests that mostly wait run in parallel without slowing each other down.
        var free = 4
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let slots = Mutex(Slots())

    private let queue = DispatchQueue(label: "test")

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs a body on a separate thread, on which it may block.
    package static func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        await takeSlot()
        defer { returnSlot() }
        return try await withTaskExecutorPreference(TestThread()) {
            // Yields first, so that a body without a suspension point does not run on the caller's thread.
            await Task.yield()
            return try await body()
        }
    }

    private static func takeSlot() async {
        await withCheckedContinuation { continuation in
            let isFree = slots.withLock { slots in
                if slots.free == 0 {
                    slots.waiting.append(continuation)
                    return false
                }
                slots.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private static func returnSlot() {
        let next = slots.withLock { slots in
            if slots.waiting.isEmpty {
                slots.free += 1
                return CheckedContinuation<Void, Never>?.none
            }
            return slots.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// Waits until a condition is true, or until the test is cancelled, for example by its time limit.
package func eventually(_ condition: () -> Bool) async {
    while !condition(), (try? await Task.sleep(for: .milliseconds(1))) != nil {}
}

/// A logger whose lines a test can read, from level trace.
package final class LogRecorder: Sendable {
    private let written = Mutex<[(line: String, details: String)]>([])

    package init() {}

    /// Level and message of each line.
    package var lines: [String] { written.withLock { $0.map(\.line) } }

    /// The lines with metadata.
    package var records: [String] { written.withLock { $0.map { "\($0.line) \($0.details)" } } }

    package var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = "\(metadata) \(event.metadata ?? [:]) \(event.error.map { "\($0)" } ?? "")"
            recorder.written.withLock { $0.append(("\(event.level) \(event.message)", details)) }
        }
    }
}
