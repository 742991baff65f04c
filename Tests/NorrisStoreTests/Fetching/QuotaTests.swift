import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct QuotaWindowTests {
    private func taken(
        _ count: Int, _ purpose: QuotaWindow.Purpose, limit: Int, now: Timestamp = .start, of window: inout QuotaWindow
    ) -> Int { (0..<count).filter { _ in window.take(purpose, limit: limit, now: now) == .granted }.count }

    /// A fifth of the limit is rounded up.
    @Test("The last tenth is for users who have had less than a tenth") func shares() {
        var window = QuotaWindow()
        func taken(by uid: UInt32, at second: Int64) -> Int {
            var count = 0
            while window.take(.user, by: uid, limit: 100, now: .start + second) == .granted { count += 1 }
            return count
        }
        #expect(taken(by: 1, at: 0) == 90)
        #expect(window.nextFree(.user, by: 1, limit: 100, now: .start + 30) == .start + 3_600)
        #expect(window.nextFree(.user, by: 2, limit: 100, now: .start + 30) == .start + 30)
        #expect(taken(by: 2, at: 30) == 10)
        #expect(window.take(.user, by: 3, limit: 100, now: .start + 30) == .exhausted(until: .start + 3_600))
        #expect(taken(by: 1, at: 3_600) > 0)
    }

    @Test(arguments: [(100, 80), (42, 33), (6, 4), (1, 0), (0, 0), (.max, 200)])
    func aFifthIsKeptForUsers(limit: Int, background: Int) {
        var window = QuotaWindow()
        #expect(taken(200, .background, limit: limit, of: &window) == background)
        #expect(taken(200, .user, limit: limit, of: &window) == min(200, max(0, limit) - background))
        #expect(window.used(now: .start) == (limit == .max ? 400 : max(0, limit)))
    }

    @Test func clockThatIsSetBackCountsTheCallsAsMadeNow() {
        var window = QuotaWindow()
        #expect(taken(2, .user, limit: 3, now: .start + 500_000, of: &window) == 2)
        #expect(window.used(now: .start) == 2)
        #expect(window.resetsAt(now: .start) == .start + 3_600)
        #expect(taken(3, .user, limit: 3, now: .start, of: &window) == 1)
        #expect(window.take(.user, limit: 3, now: .start) == .exhausted(until: .start + 3_600))
        #expect(window.used(now: .start + 3_599) == 3)
        #expect(window.used(now: .start + 3_600) == 0)
    }

    /// No hour contains more calls than the limit, and no call is refused that the limit allows.
    @Test(arguments: 0..<8) func windowSlides(seed: Int) {
        var generator = SeededRandom(seed: UInt64(seed))
        let limit = Int.random(in: 1...30, using: &generator)
        var window = QuotaWindow()
        var made: [Int64] = []
        var now: Int64 = 1_800_000_000
        for _ in 0..<2_000 {
            now += Int64.random(in: 0...400, using: &generator)
            let isUser = Bool.random(using: &generator)
            let used = made.count { $0 > now - 3_600 }
            let allowed = isUser ? limit : limit - (limit + 4) / 5
            let time = Timestamp(seconds: now)
            #expect(window.used(now: time) == used)
            switch window.take(isUser ? .user : .background, limit: limit, now: time) {
            case .granted:
                #expect(used < allowed)
                made.append(now)
            case .exhausted(let until):
                #expect(used >= allowed)
                #expect((until == nil) == (allowed == 0))
                guard let until = until?.seconds else { continue }
                #expect(made.count { $0 > until - 3_600 } < allowed)
                #expect(made.count { $0 > until - 3_601 } >= allowed)
            }
        }
        #expect(made.count > limit)
    }
}

struct QuotaLedgerTests {
    private let fixture = StoreFixture()

    private func run(
        _ fixture: StoreFixture? = nil, _ body: (QuotaLedger, Databases) async throws -> Void
    ) async throws {
        let databases = try await (fixture ?? self.fixture).databases()
        let ledger = QuotaLedger(source: "gifs", databases: databases)
        await ledger.read()
        try await body(ledger, databases)
        await databases.close()
    }

    /// The stored times of requests, in seconds since the start.
    private func calls(_ databases: Databases) async throws -> [Int64] {
        let calls: String? = try await databases.read(databases.state) { try $0.value("SELECT calls FROM quotas") }
        return (calls ?? "").split(separator: " ").compactMap { Int64($0) }.map { $0 - Timestamp.start.seconds }
    }

    @Test func callsCountOverRestarts() async throws {
        try await run { ledger, _ async throws in
            #expect(ledger.status(limit: 5, now: .start) == .init(limit: 5, used: 0, resetsAt: .start))
            for _ in 0..<3 { #expect(await ledger.take(.background, limit: 5, now: .start) == .granted) }
        }
        try await run { ledger, _ async throws in
            #expect(ledger.status(limit: 5, now: .start + 9) == .init(limit: 5, used: 3, resetsAt: .start + 3_600))
            #expect(await ledger.take(.background, limit: 5, now: .start + 9) == .granted)
            let refusal = QuotaWindow.Answer.exhausted(until: .start + 3_600)
            #expect(await ledger.take(.background, limit: 5, now: .start + 9) == refusal)
            #expect(ledger.nextFree(.background, limit: 5, now: .start + 9) == .start + 3_600)
            #expect(ledger.nextFree(.user, limit: 5, now: .start + 9) == .start + 9)
            #expect(await ledger.take(.user, limit: 5, now: .start + 9) == .granted)
            #expect(await ledger.take(.user, limit: 5, now: .start + 9) == refusal)
        }
        try await run { ledger, _ async throws in
            #expect(ledger.status(limit: 5, now: .start + 10).used == 5)
            // The same file counts once.
            await ledger.read()
            #expect(ledger.status(limit: 5, now: .start + 10).used == 5)
            #expect(ledger.status(limit: 2, now: .start + 3_600) == .init(limit: 2, used: 2, resetsAt: .start + 3_609))
        }
    }

    @Test func callIsOnTheDiskWhenItIsGranted() async throws {
        try await run { ledger, _ async throws in
            #expect(await ledger.take(.user, limit: 1, now: .start) == .granted)
            try await run(fixture.killed()) { again, _ async throws in
                #expect(await again.take(.user, limit: 1, now: .start) == .exhausted(until: .start + 3_600))
            }
        }
    }

    @Test func callsCountWhileTheDiskTakesNoWritesAndAreWrittenLater() async throws {
        try await run { ledger, databases async throws in
            try await databases.state.refuseWrites(to: "quotas")
            for _ in 0..<2 { #expect(await ledger.take(.user, limit: 3, now: .start) == .granted) }
            #expect(databases.faults.map { $0.hasPrefix("state.db takes no writes: ") } == [true])
            #expect(ledger.status(limit: 3, now: .start).used == 2)
            #expect(try await calls(databases) == [])
            try await databases.state.takeWritesAgain()
            #expect(await ledger.take(.user, limit: 3, now: .start + 1) == .granted)
            #expect(databases.faults == [])
            #expect(try await calls(databases) == [0, 0, 1])
            #expect(await ledger.take(.user, limit: 3, now: .start + 1) == .exhausted(until: .start + 3_600))
        }
    }

    @Test func callsAtOneTimeDoNotGoBeyondTheLimit() async throws {
        try await run { ledger, databases async throws in
            let granted = await withTaskGroup(of: QuotaWindow.Answer.self) { group in
                for _ in 0..<40 { group.addTask { await ledger.take(.user, limit: 25, now: .start) } }
                return await group.reduce(0) { $0 + ($1 == .granted ? 1 : 0) }
            }
            #expect(granted == 25)
            #expect(try await calls(databases) == Array(repeating: 0, count: 25))
        }
    }
}
