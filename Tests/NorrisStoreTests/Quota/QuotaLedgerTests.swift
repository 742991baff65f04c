import NorrisProtocol
import Testing

@testable import NorrisStore

struct QuotaLedgerTests {
    private let fixture = StoreFixture()

    /// A start, something, and a stop.
    private func run<Result>(
        _ fixture: StoreFixture? = nil, source: String = "gifs", _ body: (QuotaLedger, Databases) async throws -> Result
    ) async throws -> Result {
        let databases = try (fixture ?? self.fixture).databases()
        defer { databases.close() }
        return try await body(QuotaLedger(source: source, databases: databases, logger: .silent), databases)
    }

    /// Looks at the times of the calls that are on the disk.
    private func check(
        _ databases: Databases, _ calls: [Int64], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let rows = try await databases.state.writer.read {
            try Int64.fetchAll($0, "SELECT at FROM quota_calls ORDER BY at")
        }
        #expect(rows == calls, sourceLocation: sourceLocation)
    }

    @Test func callsCountOverRestarts() async throws {
        try await run { ledger, _ in
            #expect(ledger.status(limit: 5, now: .start) == .init(limit: 5, used: 0, resetsAt: .start))
            // Several in one second are several.
            for _ in 0..<3 { #expect(await ledger.take(.background, limit: 5, now: .start) == .granted) }
        }
        try await run { ledger, _ in
            #expect(ledger.status(limit: 5, now: .start + 9) == .init(limit: 5, used: 3, resetsAt: .start + 3_600))
            #expect(await ledger.take(.background, limit: 5, now: .start + 9) == .granted)
            let refusal = QuotaWindow.Answer.exhausted(until: .start + 3_600)
            #expect(await ledger.take(.background, limit: 5, now: .start + 9) == refusal)
            #expect(ledger.nextFree(.background, limit: 5, now: .start + 9) == .start + 3_600)
            #expect(ledger.nextFree(.user, limit: 5, now: .start + 9) == .start + 9)
            #expect(await ledger.take(.user, limit: 5, now: .start + 9) == .granted)
            #expect(await ledger.take(.user, limit: 5, now: .start + 9) == refusal)
        }
        try await run { ledger, _ in
            #expect(ledger.status(limit: 5, now: .start + 10).used == 5)
            #expect(ledger.status(limit: 2, now: .start + 3_600) == .init(limit: 2, used: 2, resetsAt: .start + 3_609))
        }
    }

    @Test func callIsOnTheDiskWhenItIsGranted() async throws {
        try await run { ledger, _ in
            #expect(await ledger.take(.user, limit: 1, now: .start) == .granted)
            try await run(fixture.killed()) { again, _ in
                #expect(await again.take(.user, limit: 1, now: .start) == .exhausted(until: .start + 3_600))
            }
        }
    }

    @Test func oldRowsAreRemovedAndThoseOfOtherSourcesStay() async throws {
        try await run(source: "other") { ledger, _ in
            #expect(await ledger.take(.user, limit: 1, now: .start) == .granted)
        }
        try await run { ledger, databases in
            #expect(ledger.status(limit: 5, now: .start).used == 0)
            for second: Int64 in [0, 1, 3_600, 3_601] {
                #expect(await ledger.take(.user, limit: 5, now: .start + second) == .granted)
            }
            let start = Timestamp.start.seconds
            try await check(databases, [start, start + 3_600, start + 3_601])
        }
    }

    @Test func refusedCallIsNotWritten() async throws {
        try await run { ledger, databases in
            #expect(await ledger.take(.background, limit: 1, now: .start) == .exhausted(until: nil))
            try await check(databases, [])
        }
    }

    @Test func clockThatIsSetBackCostsAnHourAndNotMore() async throws {
        try await run { ledger, _ in
            #expect(await ledger.take(.user, limit: 2, now: .start + 1_000_000) == .granted)
        }
        try await run { ledger, databases in
            #expect(ledger.status(limit: 2, now: .start) == .init(limit: 2, used: 1, resetsAt: .start + 3_600))
            #expect(await ledger.take(.user, limit: 2, now: .start) == .granted)
            try await check(databases, [Timestamp.start.seconds, Timestamp.start.seconds])
        }
        try await run { ledger, _ in #expect(ledger.status(limit: 2, now: .start + 3_600).used == 0) }
    }

    @Test func diskThatTakesNoWritesIsNotedAndTheCallsCount() async throws {
        try await run { ledger, databases in
            try await databases.state.refuseWrites(to: "quota_calls")
            for _ in 0..<2 { #expect(await ledger.take(.user, limit: 3, now: .start) == .granted) }
            #expect(databases.faults.map { $0.hasPrefix("The state takes no writes: ") } == [true])
            #expect(ledger.status(limit: 3, now: .start).used == 2)
            try await check(databases, [])
            try await databases.state.takeWritesAgain()
            // The next that is written brings them along.
            #expect(await ledger.take(.user, limit: 3, now: .start + 1) == .granted)
            #expect(databases.faults == [])
            #expect(await ledger.take(.user, limit: 3, now: .start + 1) == .exhausted(until: .start + 3_600))
        }
        try await run { ledger, _ in #expect(ledger.status(limit: 3, now: .start + 1).used == 3) }
    }

    @Test func callsThatCannotBeReadCountAsNone() async throws {
        let databases = try fixture.databases()
        try await databases.state.writer.write { try $0.execute("DROP TABLE quota_calls") }
        let ledger = QuotaLedger(source: "gifs", databases: databases, logger: .silent)
        #expect(await ledger.take(.user, limit: 1, now: .start) == .granted)
        #expect(databases.isReadOnly)
        #expect(await ledger.take(.user, limit: 1, now: .start) == .exhausted(until: .start + 3_600))
        databases.close()
    }

    @Test func callsAtOneTimeDoNotGoBeyondTheLimit() async throws {
        try await run { ledger, databases in
            let granted = await withTaskGroup(of: QuotaWindow.Answer.self) { group in
                for _ in 0..<40 { group.addTask { await ledger.take(.user, limit: 25, now: .start) } }
                return await group.reduce(0) { $0 + ($1 == .granted ? 1 : 0) }
            }
            #expect(granted == 25)
            try await check(databases, Array(repeating: Timestamp.start.seconds, count: 25))
        }
    }

    @Test func takingThatIsCalledOffCountsAndIsNoFaultOfTheDisk() async throws {
        try await run { ledger, databases in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = await ledger.take(.user, limit: 5, now: .start)
                }
            }
            #expect(databases.faults == [])
            #expect(ledger.status(limit: 5, now: .start).used == 1)
            #expect(await ledger.take(.user, limit: 5, now: .start) == .granted)
            try await check(databases, [Timestamp.start.seconds, Timestamp.start.seconds])
        }
    }

    @Test func stateOfBeforeIsKept() async throws {
        let old = try OpenedDatabase.open(.state.before("quota"), folder: fixture.stateFolder, logger: .silent)
        try await old.writer.write { database in
            try database.execute(
                """
                    INSERT INTO facts_of_the_day VALUES (5, '2026-01-02', '{}');
                    INSERT INTO recent_searches VALUES (1, 7, 'fact', 'kick', 5)
                    """
            )
        }
        try old.close()
        try await run { ledger, databases in
            #expect(databases.state.condition == .good)
            #expect(await ledger.take(.user, limit: 1, now: .start) == .granted)
            let recents = RecentSearches(databases: databases, logger: .silent)
            #expect(try await recents.list(uid: 7).map(\.query) == ["kick"])
            let usedAt = try await databases.state.writer.read {
                try Int.fetchOne($0, "SELECT number FROM facts_of_the_day")
            }
            #expect(usedAt == 5)
        }
    }
}
