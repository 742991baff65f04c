import Glibc
import Synchronization

/// Runs tasks on a few threads, by default of low priority. Threads start on demand and end when the queue is empty.
package final class BackgroundThreads: TaskExecutor, Sendable {
    /// One thread, so one job at a time: stores fetched content, clears the cache and runs imports.
    package static let background = BackgroundThreads(maximumThreads: 1)

    /// Searches facts, reads fortune files and writes metrics, which can take seconds, without delaying the jobs of
    /// ``background``.
    package static let facts = BackgroundThreads(maximumThreads: 4)

    /// Opens the databases at startup, at the priority of the process, because no request is served yet.
    package static let starting = BackgroundThreads(maximumThreads: 1, niceness: 0)

    /// About a tenth of the weight of nice 0 (sched(7)). A lower weight would delay requests on a busy machine, because
    /// they wait for locks that such a thread holds.
    package static let lowPriority: Int32 = 10

    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
    }

    private let maximumThreads: Int
    private let niceness: CInt
    private let state = Mutex(State())

    package init(maximumThreads: Int, niceness: Int32 = BackgroundThreads.lowPriority) {
        self.maximumThreads = maximumThreads
        self.niceness = niceness
    }

    package var threads: Int { state.withLock { $0.threads } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.threads < maximumThreads else { return false }
            state.threads += 1
            return true
        }
        guard needsThread, startThread({ self.run() }) != 0 else { return }
        // EAGAIN of pthread_create(3). The running threads take the job; without any, the services thread does.
        let left = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [] as [UnownedJob] }
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in left { ThreadExecutor.services.enqueue(ExecutorJob(job)) }
    }

    private func run() {
        // Affects only this thread on Linux (setpriority(2)). After an error, the thread keeps its priority.
        setpriority(CInt(PRIO_PROCESS.rawValue), 0, niceness)
        while true {
            let job: UnownedJob? = state.withLock { state in
                guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
                state.threads -= 1
                return nil
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Permission to block the calling thread, for example on a database.
///
/// Only ``BackgroundThreads/run(_:)`` creates a value, and only for a body without a suspension point. A function with
/// such a parameter therefore cannot be called on the event loop or the services thread.
package struct BlockingAccess {
    // Not `package`, because any other module could then block any thread.
    init() {}
}

@available(*, unavailable) extension BlockingAccess: Sendable {}

extension BackgroundThreads {
    /// Runs a body that may block, on one of the threads.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable (BlockingAccess) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(self) { () async throws(Failure) -> Value in
            // An async closure, because a body without suspension points would run on the caller's thread.
            try body(BlockingAccess())
        }
    }
}

/// Cancels work, from any thread.
package final class Cancellation: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package func cancel() { flag.store(true, ordering: .relaxed) }
    package var isCancelled: Bool { flag.load(ordering: .relaxed) }
}
