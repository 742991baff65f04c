import Glibc
import Synchronization

/// Runs the jobs of tasks on a few threads, each of which begins with a job and ends when none is left.
///
/// A document may take its decoder seconds, whatever the upstream is. So documents are decoded beside each other, and
/// apart from what the daemon does for itself. A source has one fetch or search at a time, so a slow one takes one
/// thread. An idle daemon has none of them.
final class DecodingThreads: TaskExecutor, Sendable {
    static let shared = DecodingThreads(maximumThreads: 4)

    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
    }

    /// Each may hold a document with what is made of it.
    private let maximumThreads: Int
    private let state = Mutex(State())

    init(maximumThreads: Int) {
        self.maximumThreads = maximumThreads
    }

    /// How many there are now.
    var threads: Int { state.withLock { $0.threads } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.threads < maximumThreads else { return false }
            state.threads += 1
            return true
        }
        if needsThread { startThread() }
    }

    private func startThread() {
        var thread = pthread_t()
        let data = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { data in
                // Not nil: it is what is passed below, retained for this thread.
                Unmanaged<DecodingThreads>.fromOpaque(data!).takeRetainedValue().work()
                return nil
            }, data.toOpaque()
        )
        guard result != 0 else {
            pthread_detach(thread)
            return
        }
        data.release()
        // No thread can be made now (pthread_create(3): EAGAIN). Those that run do it; without any, the background.
        let left = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [] as [UnownedJob] }
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in left { ThreadExecutor.background.enqueue(ExecutorJob(job)) }
    }

    private func work() {
        // Where it is refused the thread is as good as others.
        setpriority(CInt(PRIO_PROCESS.rawValue), 0, ThreadExecutor.backgroundNiceness)
        while true {
            let job: UnownedJob? = state.withLock { state in
                if state.jobs.isEmpty {
                    state.threads -= 1
                    return nil
                }
                return state.jobs.removeFirst()
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
