import NorrisProtocol
import Testing

@testable import NorrisStore

/// The schedules of the sources, over starts, kills and on a failing disk.
struct ScheduleRecordsTests {
    private let fixture = StoreFixture()

    private let full = ScheduleRecord(
        nextRunAt: Timestamp(seconds: 1), backoffUntil: Timestamp(seconds: 2), retryAt: Timestamp(seconds: 3),
        failures: 4, failureKind: "http", failureMessage: "503 — busy", failureSince: Timestamp(seconds: 5),
        failedAt: Timestamp(seconds: 6), settings: "seven"
    )

    private func records(_ databases: Databases) -> ScheduleRecords {
        ScheduleRecords(databases: databases, logger: .silent)
    }

    @Test func schedulesAreThereAfterAKill() throws {
        let databases = try fixture.databases()
        #expect(records(databases).all() == [:])
        records(databases).write(full, for: "facts")
        records(databases).write(ScheduleRecord(), for: "gifs")
        let killed = try fixture.killed()
        databases.close()
        let later = try killed.databases()
        #expect(records(later).all() == ["facts": full, "gifs": ScheduleRecord()])
        later.close()
    }

    @Test func laterScheduleTakesThePlaceOfTheWholeOldOne() throws {
        let databases = try fixture.databases()
        defer { databases.close() }
        records(databases).write(full, for: "facts")
        records(databases).write(full, for: "gifs")
        records(databases).write(ScheduleRecord(nextRunAt: Timestamp(seconds: 9)), for: "facts")
        #expect(records(databases).all() == ["facts": ScheduleRecord(nextRunAt: Timestamp(seconds: 9)), "gifs": full])
    }

    @Test func schedulesSurviveTheLossOfTheCache() async throws {
        try await fixture.run { records($0.databases).write(full, for: "facts") }
        try fixture.folder.remove("cache")
        try await fixture.run { #expect(records($0.databases).all() == ["facts": full]) }
    }

    @Test func scheduleThatCannotBeWrittenIsAFaultOfTheState() async throws {
        let databases = try fixture.databases()
        defer { databases.close() }
        records(databases).write(full, for: "facts")
        try await databases.state.refuseWrites(to: "schedules")
        records(databases).write(ScheduleRecord(), for: "facts")
        #expect(records(databases).all() == ["facts": full])
        #expect(databases.faults.map { $0.hasPrefix("The state takes no writes: ") } == [true])
        try await databases.state.takeWritesAgain()
        records(databases).write(ScheduleRecord(), for: "facts")
        #expect(databases.faults == [])
        #expect(records(databases).all() == ["facts": ScheduleRecord()])
    }

    @Test func schedulesThatCannotBeReadAreAsNone() async throws {
        let databases = try fixture.databases()
        defer { databases.close() }
        records(databases).write(full, for: "facts")
        try await databases.state.writer.write { try $0.execute("DROP TABLE schedules") }
        #expect(records(databases).all() == [:])
    }
}
