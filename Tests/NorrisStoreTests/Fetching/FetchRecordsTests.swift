import NorrisProtocol
import Testing

@testable import NorrisStore

struct FetchRecordsTests {
    private let fixture = StoreFixture()

    private let record = FetchRecord(
        settings: "chuck\nnorris", fetchedAt: Timestamp(seconds: 1_700_000_000),
        parts: [
            "chuck": PartRecord(etag: "W/\"é \\ \"", lastModified: nil, checkedAt: Timestamp(seconds: 5)),
            "norris": PartRecord(
                etag: nil, lastModified: "Sat, 21 Nov 2026 11:05:04 GMT", checkedAt: Timestamp(seconds: 6)),
        ])

    private func records(_ databases: Databases) -> FetchRecords { FetchRecords(databases: databases) }

    private func run<Result>(_ body: (FetchRecords, Databases) async throws -> Result) async throws -> Result {
        let databases = try fixture.databases()
        defer { databases.close() }
        return try await body(records(databases), databases)
    }

    @Test func recordIsThereAfterARestart() async throws {
        try await run { records, _ in
            await #expect(records.record(of: "facts") == nil)
            records.write(record, for: "facts")
            await #expect(records.record(of: "facts") == record)
            await #expect(records.record(of: "gifs") == nil)
        }
        try await run { records, _ in
            await #expect(records.record(of: "facts") == record)
            await #expect(
                records.record(of: "facts")?.parts["chuck"]?.etag?.utf8.elementsEqual("W/\"é \\ \"".utf8) == true)
        }
    }

    @Test func onlyARecordThatIsThereIsRenewed() async throws {
        try await run { records, databases in
            await #expect(!records.renew(record, for: "facts"))
            await #expect(records.record(of: "facts") == nil)
            records.write(record, for: "facts")
            records.write(record, for: "gifs")
            var later = record
            later.fetchedAt = Timestamp(seconds: 1_700_000_100)
            later.categories = ["animal", "dev"]
            await #expect(records.renew(later, for: "facts"))
            await #expect(records.record(of: "facts") == later)
            try await databases.cache(.facts).writer.write { try FetchRecord.remove("facts", $0) }
            await #expect(!records.renew(later, for: "facts"))
            let sources = try await databases.cache(.gifs).writer.read { database in
                try Set(String.fetchAll(database, "SELECT source FROM validators"))
            }
            #expect(sources == ["gifs"])
            #expect(databases.faults == [])
        }
    }

    @Test(arguments: ["fetches", "validators"])
    func recordThatCannotBeWrittenLeavesTheOldOne(table: String) async throws {
        try await run { records, databases in
            records.write(FetchRecord(settings: "old", fetchedAt: Timestamp(seconds: 1)), for: "facts")
            try await databases.cache(.facts).opened.refuseWrites(to: table)
            await #expect(records.renew(record, for: "facts"))
            await #expect(records.record(of: "facts")?.settings == "old")
            #expect(databases.isReadOnly)
            #expect(databases.faults.map { $0.hasPrefix("The cache takes no writes: ") } == [true])
            try await databases.cache(.facts).opened.takeWritesAgain()
            await #expect(records.renew(record, for: "facts"))
            await #expect(records.record(of: "facts") == record)
            #expect(databases.faults == [])
        }
    }

    @Test func recordThatCannotBeReadIsAsNone() async throws {
        let databases = try fixture.databases()
        let records = records(databases)
        records.write(record, for: "facts")
        databases.close()
        await #expect(records.record(of: "facts") == nil)
        // Returns true because the content exists. Otherwise each failed write would cause another fetch.
        await #expect(records.renew(record, for: "facts"))
        #expect(databases.isReadOnly)
    }
}

extension FetchRecords {
    func write(_ record: FetchRecord, for source: String) {
        do {
            let content = Databases.Content(ofSource: source)
            try databases.cache(content).writer.write { try record.write(for: source, $0) }
        } catch {
            Issue.record(error)
        }
    }
}

struct ScheduleRecordsTests {
    private let fixture = StoreFixture()

    private let full = ScheduleRecord(
        nextRunAt: Timestamp(seconds: 1), backoffUntil: Timestamp(seconds: 2), retryAt: Timestamp(seconds: 3),
        failures: 4, failure: SourceFailure(kind: .http, message: "503 — busy", since: Timestamp(seconds: 5)),
        failedAt: Timestamp(seconds: 6), settings: "seven", upstream: "eight")

    private func records(_ databases: Databases) -> ScheduleRecords { ScheduleRecords(databases: databases) }

    @Test func schedulesAreThereAfterAKill() async throws {
        let databases = try fixture.databases()
        await #expect(records(databases).all() == [:])
        await records(databases).write(full, for: "facts")
        await records(databases).write(ScheduleRecord(), for: "gifs")
        let killed = try fixture.killed()
        databases.close()
        let later = try killed.databases()
        await #expect(records(later).all() == ["facts": full, "gifs": ScheduleRecord()])
        later.close()
    }

    @Test func laterScheduleTakesThePlaceOfTheWholeOldOne() async throws {
        let databases = try fixture.databases()
        defer { databases.close() }
        await records(databases).write(full, for: "facts")
        await records(databases).write(full, for: "gifs")
        await records(databases).write(ScheduleRecord(nextRunAt: Timestamp(seconds: 9)), for: "facts")
        await #expect(
            records(databases).all() == ["facts": ScheduleRecord(nextRunAt: Timestamp(seconds: 9)), "gifs": full])
    }

    @Test func scheduleThatCannotBeWrittenIsAFaultOfTheState() async throws {
        let databases = try fixture.databases()
        defer { databases.close() }
        await records(databases).write(full, for: "facts")
        try await databases.state.refuseWrites(to: "schedules")
        await records(databases).write(ScheduleRecord(), for: "facts")
        await #expect(records(databases).all() == ["facts": full])
        #expect(databases.faults.map { $0.hasPrefix("The state takes no writes: ") } == [true])
        try await databases.state.takeWritesAgain()
        await records(databases).write(ScheduleRecord(), for: "facts")
        #expect(databases.faults == [])
        await #expect(records(databases).all() == ["facts": ScheduleRecord()])
    }

    @Test func schedulesThatCannotBeReadAreAsNone() async throws {
        let databases = try fixture.databases()
        defer { databases.close() }
        await records(databases).write(full, for: "facts")
        try await databases.state.writer.write { try $0.execute("DROP TABLE schedules") }
        await #expect(records(databases).all() == [:])
    }
}
