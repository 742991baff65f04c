import Glibc
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisThreads

@Suite(.timeLimit(.minutes(20))) struct BackgroundThreadsTests {
    private final class Gate: Sendable {
        private let count = Atomic<Int>(0)
        private let most = Mutex(0)

        var largest: Int { most.withLock { $0 } }

        func note(_ number: Int) { most.withLock { $0 = max($0, number) } }

        var passed: Int { count.load(ordering: .acquiring) }

        func pass() { count.add(1, ordering: .releasing) }
    }

    /// The nice value of the calling thread, because Linux has a nice value per thread (getpriority(2)).
    private static var niceness: CInt { getpriority(CInt(PRIO_PROCESS.rawValue), 0) }

    @Test("Background work yields to others", arguments: [BackgroundThreads.background, BackgroundThreads.facts])
    func niceness(_ threads: BackgroundThreads) async {
        let niceness = await threads.run { _ in Self.niceness }
        #expect(niceness == 10)
        #expect(Self.niceness < 10)
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
        // New work starts a new thread.
        await withTaskExecutorPreference(threads) { gate.pass() }
        #expect(gate.passed == 51)
    }
}
