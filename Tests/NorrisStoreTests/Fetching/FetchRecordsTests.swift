import NorrisProtocol
import Testing

@testable import NorrisStore

/// What is known of the last fetches, over starts and on a failing disk.
struct FetchRecordsTests {
    private let fixture = StoreFixture()

    private let record = FetchRecord(
        settings: "chuck\nnorris", fetchedAt: Timestamp(seconds: 1_700_000_000),
        parts: [
            "chuck": PartRecord(etag: "W/\"é \\ \"", lastModified: nil, checkedAt: Timestamp(seconds: 5)),
            "norris": PartRecord(
                etag: nil, lastModified: "Sat, 21 Nov 2026 11:05:04 GMT", checkedAt: Timestamp(seconds: 6)
            ),
        ]
    )

    private func records(_ databases: Databases) -> FetchRecords {
        FetchRecords(databases: databases, logger: .silent)
    }

    private func run<Result>(_ body: (FetchRecords, Databases) async throws -> Result) async throws -> Result {
        let databases = try fixture.databases()
        defer { databases.close() }
        return try await body(records(databases), databases)
    }

    @Test func recordIsThereAfterARestart() async throws {
        try await run { records, _ in
            #expect(records.record(of: "facts") == nil)
            records.write(record, for: "facts")
            #expect(records.record(of: "facts") == record)
            #expect(records.record(of: "gifs") == nil)
        }
        try await run { records, _ in
            #expect(records.record(of: "facts") == record)
            #expect(records.record(of: "facts")?.parts["chuck"]?.etag?.utf8.elementsEqual("W/\"é \\ \"".utf8) == true)
        }
    }

    @Test func newRecordTakesThePlaceOfTheWholeOldOne() async throws {
        try await run { records, _ in
            records.write(record, for: "facts")
            records.write(record, for: "gifs")
            var later = record
            later.fetchedAt = Timestamp(seconds: 1_700_000_100)
            later.parts = ["norris": PartRecord(etag: "\"2\"", checkedAt: Timestamp(seconds: 7))]
            records.write(later, for: "facts")
            #expect(records.record(of: "facts") == later)
            #expect(records.record(of: "gifs") == record)
        }
    }

    @Test func onlyARecordThatIsThereIsRenewed() async throws {
        try await run { records, databases in
            #expect(!records.renew(record, for: "facts"))
            #expect(records.record(of: "facts") == nil)
            records.write(record, for: "facts")
            records.write(record, for: "gifs")
            var later = record
            later.fetchedAt = Timestamp(seconds: 1_700_000_100)
            later.categories = ["animal", "dev"]
            #expect(records.renew(later, for: "facts"))
            #expect(records.record(of: "facts") == later)
            try await databases.cache.writer.write { try FetchRecord.remove("facts", $0) }
            #expect(!records.renew(later, for: "facts"))
            let sources = try await databases.cache.writer.read { database in
                try Set(String.fetchAll(database, "SELECT source FROM validators"))
            }
            #expect(sources == ["gifs"])
            #expect(databases.faults == [])
        }
    }

    @Test func recordGoesWithADeletedCache() async throws {
        try await run { records, databases in
            records.write(record, for: "facts")
            for name in try fixture.folder.names("cache") { try fixture.folder.remove("cache/" + name) }
            #expect(databases.recreateLostCache(.silent))
            #expect(records.record(of: "facts") == nil)
            records.write(record, for: "facts")
            #expect(records.record(of: "facts") == record)
        }
    }

    @Test(arguments: ["fetches", "validators"])
    func recordThatCannotBeWrittenLeavesTheOldOne(table: String) async throws {
        try await run { records, databases in
            records.write(FetchRecord(settings: "old", fetchedAt: Timestamp(seconds: 1)), for: "facts")
            try await databases.cache.opened.refuseWrites(to: table)
            #expect(records.renew(record, for: "facts"))
            #expect(records.record(of: "facts")?.settings == "old")
            #expect(databases.isReadOnly)
            #expect(databases.faults.map { $0.hasPrefix("The cache takes no writes: ") } == [true])
            try await databases.cache.opened.takeWritesAgain()
            #expect(records.renew(record, for: "facts"))
            #expect(records.record(of: "facts") == record)
            #expect(databases.faults == [])
        }
    }

    @Test func recordThatCannotBeReadIsAsNone() throws {
        let databases = try fixture.databases()
        let records = records(databases)
        records.write(record, for: "facts")
        databases.close()
        #expect(records.record(of: "facts") == nil)
        // It says that the content is there, or each failing write would cost a fetch.
        #expect(records.renew(record, for: "facts"))
        #expect(databases.isReadOnly)
    }
}

extension FetchRecords {
    /// What a fetch writes together with its content.
    func write(_ record: FetchRecord, for source: String) {
        do {
            try databases.cache.writer.write { try record.write(for: source, $0) }
        } catch {
            Issue.record(error)
        }
    }
}
