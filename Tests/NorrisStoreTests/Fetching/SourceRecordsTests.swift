import NorrisProtocol
import Testing

@testable import NorrisStore

struct FetchRecordTests {
    private let fixture = StoreFixture()

    private let record = FetchRecord(
        settings: "chuck\nnorris", fetchedAt: Timestamp(seconds: 1_700_000_000), isStale: true,
        parts: [
            "chuck": PartRecord(etag: "W/\"é \\ \"", lastModified: nil, checkedAt: Timestamp(seconds: 5)),
            "norris": PartRecord(
                etag: nil, lastModified: "Sat, 21 Nov 2026 11:05:04 GMT", checkedAt: Timestamp(seconds: 6)),
        ])

    private func run(_ body: (SourceRecords, Databases) async throws -> Void) async throws {
        let databases = try await fixture.databases()
        try await body(SourceRecords(databases: databases), databases)
        await databases.close()
    }

    @Test func recordIsThereAfterARestart() async throws {
        try await run { records, databases async throws in
            #expect(await records.fetch(of: "facts") == nil)
            try await databases.write(record, for: "facts")
        }
        try await run { records, _ async throws in
            #expect(await records.fetch(of: "facts") == record)
            #expect(await records.fetch(of: "gifs") == nil)
        }
    }

    @Test func onlyARecordThatIsThereIsRenewed() async throws {
        try await run { records, databases async throws in
            #expect(await !records.renew(record, for: "facts"))
            #expect(await records.fetch(of: "facts") == nil)
            for source in ["facts", "gifs"] { try await databases.write(record, for: source) }
            var later = record
            later.fetchedAt = Timestamp(seconds: 1_700_000_100)
            later.categories = ["animal", "dev"]
            #expect(await records.renew(later, for: "facts"))
            #expect(await records.fetch(of: "facts") == later)
            try await databases.write(databases.cache) { try FetchRecord.remove("facts", $0) }
            #expect(await !records.renew(later, for: "facts"))
            let sources = try await databases.read(databases.cache) { database in
                try database.map("SELECT DISTINCT source FROM validators") { try $0[0] as String }
            }
            #expect(sources == ["gifs"])
            #expect(databases.faults == [])
        }
    }
}

extension Databases {
    /// Stores the record of a fetch without its content.
    func write(_ record: FetchRecord, for source: String) async throws {
        try await write(cache) { try record.write(for: source, $0) }
    }
}

struct ScheduleRecordTests {
    private let fixture = StoreFixture()

    private let full = ScheduleRecord(
        lastRunAt: Timestamp(seconds: 1), wait: .seconds(2), retryAt: Timestamp(seconds: 3),
        failures: 4, failure: SourceFailure(kind: .http, message: "503 — busy", since: Timestamp(seconds: 5)),
        settings: "seven", upstream: "eight", hadContent: true)

    private func run(
        _ fixture: StoreFixture, _ body: (SourceRecords, Databases) async throws -> Void
    ) async throws {
        let databases = try await fixture.databases()
        try await body(SourceRecords(databases: databases), databases)
        await databases.close()
    }

    @Test func schedulesAreThereAfterAKill() async throws {
        try await run(fixture) { records, _ async throws in
            #expect(await records.schedule(of: "facts") == ScheduleRecord())
            await records.write(full, for: "facts")
            await records.write(ScheduleRecord(failures: 1), for: "gifs")
            try await run(fixture.killed()) { records, _ async throws in
                #expect(await records.schedule(of: "facts") == full)
                #expect(await records.schedule(of: "gifs") == ScheduleRecord(failures: 1))
            }
        }
    }
}
