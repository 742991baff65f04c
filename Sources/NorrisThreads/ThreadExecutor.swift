import Glibc
import Synchronization

/// A single thread that runs tasks and ends their sleeps, until the process ends.
///
/// It replaces Swift's own pool in an idle daemon: the pool uses libdispatch, which wakes up once a second from the
/// pool's first job until the process ends (`_dispatch_workq_monitor_pools`). `Task {}`, `Task.sleep` and
/// `cancelOnGracefulShutdown()` use the pool whatever executor the task prefers, and so does
/// `cancelWhenGracefulShutdown` when it ends.
package final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
    /// Runs the services and deferred requests.
    package static let services = ThreadExecutor()

    private struct Sleeper {
        /// A time of ``now``.
        let until: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    // @unchecked Sendable: the variables are accessed only while `mutex` is locked. The mutex and the condition are
    // allocated once and never moved or freed.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [UnownedJob] = []
    private var sleepers: [Int: Sleeper] = [:]
    private var tickets = 0

    private init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Unlike the wall clock, the monotonic clock never jumps.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        precondition(startThread { self.run() } == 0, "No thread can be created")
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        locked { jobs.append(job) }
        pthread_cond_signal(changed)
    }

    /// Returns when the time has passed. Time during which the machine is suspended does not count.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    package func sleep(for duration: Duration) async throws {
        let ticket = locked {
            tickets += 1
            return tickets
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = locked {
                    if Task.isCancelled { return true }
                    sleepers[ticket] = Sleeper(until: ThreadExecutor.now + duration, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                pthread_cond_signal(changed)
            }
        } onCancel: {
            let sleeper = locked { sleepers.removeValue(forKey: ticket) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func run() -> Never {
        pthread_mutex_lock(mutex)
        while true {
            let next = sleepers.min { $0.value.until < $1.value.until }
            if let (ticket, sleeper) = next, sleeper.until <= ThreadExecutor.now {
                sleepers[ticket] = nil
                unlocked { sleeper.continuation.resume() }
            } else if !jobs.isEmpty {
                let job = jobs.removeFirst()
                unlocked { job.runSynchronously(on: asUnownedTaskExecutor()) }
            } else if let (seconds, attoseconds) = next?.value.until.components {
                var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
                pthread_cond_timedwait(changed, mutex, &time)
            } else {
                pthread_cond_wait(changed, mutex)
            }
        }
    }

    private static var now: Duration {
        var time = timespec()
        // The call fails only for an unknown clock or a bad pointer.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private func unlocked(_ body: () -> Void) {
        pthread_mutex_unlock(mutex)
        body()
        pthread_mutex_lock(mutex)
    }
}

/// Whether this many threads can run at the same time now. Some libraries wait for ever for a thread that cannot be
/// started, such as libdispatch.
package func canStartThreads(_ count: Int) -> Bool {
    final class Gate: Sendable {
        private let lock = Mutex(())

        func wait() { lock.withLock { _ in } }

        func hold<Result>(_ body: () -> Result) -> Result { lock.withLock { _ in body() } }
    }
    let gate = Gate()
    return gate.hold { (0..<count).allSatisfy { _ in startThread { gate.wait() } == 0 } }
}

/// Runs a body on a new, detached thread (pthread_create(3)). Only this thread owns the values that the body captures.
///
/// - Returns: 0, or a number of errno(3) if no thread can be created.
package func startThread(_ body: @escaping () -> Void) -> CInt {
    final class Start {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    // The new thread releases this reference.
    let start = Unmanaged.passRetained(Start(body))
    let code = pthread_create(
        &thread, nil,
        { argument in
            // Not nil: the argument is the reference that was retained above.
            Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
            return nil
        }, start.toOpaque())
    if code == 0 { pthread_detach(thread) } else { start.release() }
    return code
}
