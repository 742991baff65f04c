import Dispatch
import Synchronization
import Testing

@testable import NorrisStore

struct SearchTurnsTests {
    @Test func asManySearchesRunAsThereAreSlots() {
        var queue = SearchQueue<String>(slots: 2)
        #expect(queue.begin(1, "a") == true)
        #expect(queue.begin(1, "b") == true)
        #expect(queue.begin(1, "c") == false)
        #expect(queue.begin(1, "d") == false)
        #expect(queue.end(1, spent: 1) == "c")
        #expect(queue.end(1, spent: 1) == "d")
        #expect(queue.end(1, spent: 1) == nil)
        #expect(queue.begin(1, "e") == true)
        #expect(queue.begin(1, "f") == false)
    }

    @Test func theSearchOfAUserWhoHasHadLessGoesOnAtTheNextPause() {
        var queue = SearchQueue<String>(slots: 1)
        #expect(queue.begin(1, "a") == true)
        #expect(queue.begin(1, "b") == false)
        #expect(queue.begin(2, "c") == false)
        #expect(queue.pause(1, "a", spent: 4) == "c")
        // The search continues until its user has spent more than the other user.
        #expect(queue.pause(2, "c", spent: 3) == nil)
        #expect(queue.pause(2, "c", spent: 1) == nil)
        #expect(queue.pause(2, "c", spent: 1) == "b")
        #expect(queue.pause(1, "b", spent: 4) == "c")
        #expect(queue.end(2, spent: 1) == "a")
    }

    @Test func manySearchesOfOneUserDoNotHoldUpAnothers() {
        var queue = SearchQueue<Int>(slots: 2)
        for number in 0..<100 { #expect(queue.begin(1, number) == (number < 2)) }
        for _ in 0..<1000 { _ = queue.pause(1, 0, spent: 4) }
        // A new user begins with neither debt nor credit.
        #expect(queue.begin(2, 200) == false)
        #expect(queue.pause(1, 0, spent: 4) == 200)
        // The first user spends as much in the other slot, so neither search yields.
        for _ in 0..<50 {
            #expect(queue.pause(1, 1, spent: 4) == nil)
            #expect(queue.pause(2, 200, spent: 4) == nil)
        }
    }

    @Test("All searches on threads end, and at most one search for each slot runs at a time")
    func threads() async {
        let turns = SearchTurns(slots: 2)
        final class Counts: Sendable { let state = Mutex((running: 0, most: 0, ended: 0)) }
        let counts = Counts()
        await withTaskGroup { group in
            for number in 0..<6 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        DispatchQueue(label: "search").async {
                            turns.run(for: UInt32(number % 3)) { step in
                                for _ in 0..<100 {
                                    counts.state.withLock {
                                        $0 = ($0.running + 1, max($0.most, $0.running + 1), $0.ended)
                                    }
                                    counts.state.withLock { $0.running -= 1 }
                                    step()
                                }
                            }
                            counts.state.withLock { $0.ended += 1 }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(counts.state.withLock { $0.ended } == 6)
        #expect(counts.state.withLock { $0.most } <= 2)
    }
}
