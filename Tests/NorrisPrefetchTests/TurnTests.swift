import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

@Suite struct TurnTests {
    @Test func oneIsLetInAtATimeAndInOrder() async {
        let turn = Turn()
        #expect(await turn.take())
        let clock = ManualClock()
        async let second = turn.take(within: .seconds(60), on: clock)
        await clock.untilAsleep(1)
        turn.giveBack()
        #expect(await second)
        // It is taken again.
        async let third = turn.take(within: .seconds(5), on: clock)
        await clock.untilAsleep(1)
        clock.advance(by: .seconds(5))
        #expect(await third == false)
        turn.giveBack()
        #expect(await turn.take())
    }

    @Test func whoeverIsCancelledLeavesTheQueue() async {
        let turn = Turn()
        #expect(await turn.take())
        let waits = await withTaskGroup(of: Bool.self) { tasks in
            tasks.addTask { await turn.take() }
            tasks.cancelAll()
            return await tasks.next()
        }
        #expect(waits == false)
        turn.giveBack()
        #expect(await turn.take())
    }
}
