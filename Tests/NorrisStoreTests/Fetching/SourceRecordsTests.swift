import NorrisProtocol
import Testing

@testable import NorrisStore

struct SourceRecordsTests {
    private let fixture = StoreFixture()

    private let record = FetchRecord(
        settings: "chuck\nnorris", fetchedAt: Timestamp(seconds: 1_700_000_000), isStale: true,
        parts: [
            "chuck": PartRecord(etag: "W/\"é \\ \"", lastModified: nil, checkedAt: Timestamp(seconds: 5)),
            "norris": PartRecord(
                etag: nil, lastModified: "Sat, 21 Nov 2026 11:05:04 GMT", checkedAt: Timestamp(seconds: 6)),
        ])

    private let schedule = ScheduleRecord(
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

    @Test func recordsAreThereAfterAKill() async throws {
        try await run(fixture) { records, databases async throws in
            #expect(await records.fetch(of: "facts") == nil)
            #expect(await records.schedule(of: "facts") == ScheduleRecord())
            try await databases.write(databases.cache) { [record] in try record.write(for: "facts", $0) }
            await records.write(schedule, for: "facts")
            await records.write(ScheduleRecord(failures: 1), for: "gifs")
            try await run(fixture.killed()) { records, _ async throws in
                #expect(await records.fetch(of: "facts") == record)
                #expect(await records.fetch(of: "gifs") == nil)
                #expect(await records.schedule(of: "facts") == schedule)
                #expect(await records.schedule(of: "gifs") == ScheduleRecord(failures: 1))
            }
        }
    }

    @Test func onlyARecordThatIsThereIsRenewed() async throws {
        try await run(fixture) { records, databases async throws in
            #expect(await !records.renew(record, for: "facts"))
            #expect(await records.fetch(of: "facts") == nil)
            for source in ["facts", "gifs"] {
                try await databases.write(databases.cache) { [record] in try record.write(for: source, $0) }
            }
            var later = record
            later.fetchedAt = Timestamp(seconds: 1_700_000_100)
            later.categories = ["animal", "dev"]
            #expect(await records.renew(later, for: "facts"))
            #expect(await records.fetch(of: "facts") == later)
            try await databases.write(databases.cache) { try FetchRecord.remove("facts", $0) }
            #expect(await !records.renew(later, for: "facts"))
            #expect(await records.fetch(of: "gifs") == record)
            #expect(databases.faults == [])
        }
    }
}
