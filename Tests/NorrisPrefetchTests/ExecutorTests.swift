import Glibc
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisPrefetch

/// The threads and locks that fetching and its services run on.
@Suite(.timeLimit(.minutes(20))) struct ExecutorTests {
    /// Counts, and lets threads wait for each other, on no thread of Swift's.
    private final class Gate: Sendable {
        private let count = Atomic<Int>(0)
        private let most = Mutex(0)

        /// The largest number that was noted.
        var largest: Int { most.withLock { $0 } }

        func note(_ number: Int) { most.withLock { $0 = max($0, number) } }

        var passed: Int { count.load(ordering: .acquiring) }

        func pass() { count.add(1, ordering: .releasing) }

        func wait(for number: Int) {
            while passed < number { usleep(1000) }
        }
    }

    /// That of the calling thread (getpriority(2)); on Linux each thread has its own.
    private static var niceness: CInt { getpriority(CInt(PRIO_PROCESS.rawValue), 0) }

    @Test("Background work yields to others", arguments: [Prefetcher.background, Prefetcher.decoding])
    func niceness(_ executor: any TaskExecutor) async {
        let niceness = await withTaskExecutorPreference(executor) { Self.niceness }
        #expect(niceness == 10)
        #expect(Self.niceness < 10)
    }

    @Test func oneDocumentDoesNotDelayTheNextNorTheDaemon() async {
        let (gate, threads) = (Gate(), BackgroundThreads(maximumThreads: 4))
        await withTaskGroup { tasks in
            tasks.addTask(executorPreference: threads) { gate.wait(for: 2) }
            // These are what the first waits for.
            tasks.addTask(executorPreference: threads) { gate.pass() }
            tasks.addTask(executorPreference: BackgroundThreads.background) { gate.pass() }
        }
        #expect(gate.passed == 2)
    }

    @Test func threadsAreFewAndEndWithoutWork() async {
        let (gate, threads) = (Gate(), BackgroundThreads(maximumThreads: 2))
        await withTaskGroup { tasks in
            for _ in 0..<50 {
                tasks.addTask(executorPreference: threads) {
                    gate.note(threads.threads)
                    gate.pass()
                }
            }
        }
        #expect(gate.passed == 50)
        #expect((1...2).contains(gate.largest))
        while threads.threads > 0 { usleep(1000) }
        // Another begins when there is work again.
        await withTaskExecutorPreference(threads) { gate.pass() }
        #expect(gate.passed == 51)
    }

    @Test func aSleepEndsAtItsTimeOrWithItsTask() async {
        @Sendable func sleep(_ duration: Duration) async -> String {
            do {
                try await SystemClock().sleep(for: duration)
                return "\(duration)"
            } catch {
                return "cancelled"
            }
        }
        await withTaskGroup(of: String.self) { tasks in
            tasks.addTask { await sleep(.seconds(3600)) }
            tasks.addTask { await sleep(.milliseconds(1)) }
            #expect(await tasks.next() == "\(Duration.milliseconds(1))")
            tasks.cancelAll()
            #expect(await tasks.next() == "cancelled")
            tasks.addTask { await sleep(.seconds(3600)) }
            #expect(await tasks.next() == "cancelled", "The task was cancelled before it slept")
        }
    }

    // MARK: Locks

    @Test func aLockIsHeldByOneAtATime() async {
        let (lock, clock) = (AsyncLock(), ManualClock())
        #expect(await lock.lock())
        async let second = lock.lock(within: .seconds(60), on: clock)
        await clock.untilAsleep(1)
        lock.unlock()
        #expect(await second)
        async let third = lock.lock(within: .seconds(5), on: clock)
        await clock.untilAsleep(1)
        clock.advance(by: .seconds(5))
        #expect(await third == false)
        lock.unlock()
        #expect(await lock.lock())
    }

    @Test func aCancelledTaskDoesNotGetTheLock() async {
        let lock = AsyncLock()
        #expect(await lock.lock())
        let isLocked = await withTaskGroup(of: Bool.self) { tasks in
            tasks.addTask { await lock.lock() }
            tasks.cancelAll()
            return await tasks.next()
        }
        #expect(isLocked == false)
        lock.unlock()
        #expect(await lock.lock())
    }
}
