import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisDaemon

@Suite(.timeLimit(.minutes(20)))
struct SharedWorkTests {
    /// Work that lasts until it is told to end, and gives the number of its run.
    private final class Work: Sendable {
        private let count = Mutex(0)
        private let gate = AsyncStream.makeStream(of: Void.self)

        func run() async -> Int {
            for await _ in gate.stream {}
            return count.withLock { count in
                count += 1
                return count
            }
        }

        func end() { gate.continuation.finish() }
    }

    @Test func equalWorkAtOneTimeIsDoneOnce() async {
        let shared = Coalescer<String, Int>()
        let work = Work()
        let values = await withTaskGroup(of: Int.self) { tasks in
            for _ in 0..<4 {
                tasks.addTask { await shared.value(for: "a", work.run) }
            }
            await eventually { shared.waiters.withLock { $0["a"]?.count } == 3 }
            let other = await shared.value(for: "b") { 7 }
            #expect(other == 7, "Other work does not wait")
            work.end()
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(values == [1, 1, 1, 1])
        let again = await shared.value(for: "a", work.run)
        #expect(again == 2, "What is over is done again")
    }
}
