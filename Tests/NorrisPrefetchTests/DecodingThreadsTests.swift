import Glibc
import Synchronization
import Testing

@testable import NorrisPrefetch

@Suite(.timeLimit(.minutes(20))) struct DecodingThreadsTests {
    /// Lets threads wait for each other, on no thread of Swift's.
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

    @Test func theyStepBackForOthers() async {
        let niceness = await withTaskExecutorPreference(Prefetcher.decoding) { ThreadExecutor.currentNiceness }
        #expect(niceness == 10)
    }

    @Test func oneDocumentDoesNotDelayTheNextNorTheDaemon() async {
        let (gate, threads) = (Gate(), DecodingThreads(maximumThreads: 4))
        await withTaskGroup { tasks in
            tasks.addTask(executorPreference: threads) { gate.wait(for: 2) }
            // These are what the first waits for.
            tasks.addTask(executorPreference: threads) { gate.pass() }
            tasks.addTask(executorPreference: ThreadExecutor.background) { gate.pass() }
        }
        #expect(gate.passed == 2)
    }

    @Test func thereAreFewAndNoneWithoutWork() async {
        let (gate, threads) = (Gate(), DecodingThreads(maximumThreads: 2))
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

    @Test func aTaskIsCancelledWhereItRuns() async {
        let (started, threads) = (Gate(), DecodingThreads(maximumThreads: 1))
        let isCancelled = await withTaskGroup { tasks in
            tasks.addTask(executorPreference: threads) {
                started.pass()
                while !Task.isCancelled { usleep(1000) }
                return Task.isCancelled
            }
            await withTaskExecutorPreference(ThreadExecutor.background) { started.wait(for: 1) }
            tasks.cancelAll()
            return await tasks.next() ?? false
        }
        #expect(isCancelled)
    }
}
