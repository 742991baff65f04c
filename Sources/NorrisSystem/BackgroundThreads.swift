import Glibc
import Synchronization

/// Runs the jobs of tasks on a few threads of low priority, each of which starts with a job and ends when none is left.
package final class BackgroundThreads: TaskExecutor, Sendable {
    /// Stores what was fetched, clears and imports: one thread, so one after the other.
    package static let background = BackgroundThreads(maximumThreads: 1)

    /// Decodes documents, which may take seconds each: in parallel, and apart from the daemon's own upkeep. A source
    /// has one fetch or search at a time, so a slow one takes one thread.
    package static let decoding = BackgroundThreads(maximumThreads: 4)

    /// Opens the databases at the start: nothing is served yet, so at the priority of the process.
    package static let starting = BackgroundThreads(maximumThreads: 1, niceness: 0)

    /// A tenth of the weight of others (sched(7)). Not less: while such a thread holds a lock that requests need, they
    /// wait for it on a machine whose cores are all busy.
    package static let lowPriority: Int32 = 10

    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
    }

    /// Of decoding ones, each may hold a document with what is decoded of it.
    private let maximumThreads: Int
    private let niceness: CInt
    private let state = Mutex(State())

    package init(maximumThreads: Int, niceness: Int32 = BackgroundThreads.lowPriority) {
        self.maximumThreads = maximumThreads
        self.niceness = niceness
    }

    /// How many there are now.
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
        // No thread can be created now (pthread_create(3): EAGAIN). Those that run do it; without any, the services'.
        let left = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [] as [UnownedJob] }
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in left { ThreadExecutor.services.enqueue(ExecutorJob(job)) }
    }

    private func run() {
        // Where it is refused the thread is as good as others. On Linux each thread has its own (setpriority(2)).
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
/// Only ``BackgroundThreads/run(_:)`` makes a value, and only for a body without a suspension point. A function that
/// takes one as a parameter therefore cannot be called on the event loop or the services thread.
package struct BlockingAccess {
    // Not `package`: a caller of another module could block any thread with it.
    init() {}
}

@available(*, unavailable) extension BlockingAccess: Sendable {}

extension BackgroundThreads {
    /// Runs a body that may block, on one of the threads.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable (BlockingAccess) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(self) { () async throws(Failure) -> Value in
            // A body without a suspension point would otherwise begin on the caller's thread.
            try body(BlockingAccess())
        }
    }
}
