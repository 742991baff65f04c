import Testing

@testable import NorrisPrefetch

@Suite(.timeLimit(.minutes(20))) struct ThreadExecutorTests {
    @Test func backgroundWorkStepsBackForOthers() async {
        let niceness = await withTaskExecutorPreference(Prefetcher.background) { ThreadExecutor.currentNiceness }
        #expect(niceness == 10)
        #expect(ThreadExecutor.currentNiceness < 10)
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
}
