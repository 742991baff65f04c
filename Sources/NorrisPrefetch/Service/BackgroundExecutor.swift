import Glibc
import Synchronization

/// One thread that steps back for others: decoding and storing what was fetched must not delay whoever asks meanwhile.
///
/// It lives as long as the process.
final class BackgroundExecutor: TaskExecutor {
    static let shared = BackgroundExecutor()

    /// A tenth of the weight of others (sched(7)); on Linux it is a property of each thread. Not less, for while it holds
    /// a lock that requests need they wait for it on a machine whose cores are all busy.
    private static let niceness: CInt = 10

    private let jobs = Mutex<[UnownedJob]>([])
    private let count: Semaphore

    private init() {
        count = Semaphore()
        var thread = pthread_t()
        let started = pthread_create(&thread, nil, { _ in BackgroundExecutor.shared.work() }, nil)
        precondition(started == 0, "No thread can be made")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        count.signal()
    }

    /// That of the calling thread (getpriority(2)).
    static var currentNiceness: CInt { getpriority(CInt(PRIO_PROCESS.rawValue), 0) }

    private func work() -> Never {
        // Where it is refused the thread is as good as others.
        setpriority(CInt(PRIO_PROCESS.rawValue), 0, BackgroundExecutor.niceness)
        while true {
            count.wait()
            let job = jobs.withLock { $0.removeFirst() }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// A counting semaphore (sem_overview(7)).
private final class Semaphore: @unchecked Sendable {
    // sem_post(3) and sem_wait(3) may be called from any thread; the memory is never moved nor freed while in use.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() {
        sem_post(semaphore)
    }

    func wait() {
        while sem_wait(semaphore) != 0 {}
    }
}
