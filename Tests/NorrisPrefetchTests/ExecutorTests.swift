import NorrisThreads
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

@Suite(.timeLimit(.minutes(20))) struct ExecutorTests {
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
