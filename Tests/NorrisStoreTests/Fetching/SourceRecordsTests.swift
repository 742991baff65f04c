import NorrisFetchProtocol
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
        ], host: "new.example", title: "Chuck \"News\"",
        move: .init(address: "https://new.example/?é", since: Timestamp(seconds: 7), answers: 8))

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

    @Test func recordsOfHostsAreForgottenADayAfterTheirEnd() async throws {
        try await run(fixture) { records, _ async throws in
            func hold(_ seconds: Int64) -> ScheduleRecord {
                let now = Timestamp(seconds: seconds)
                let failure = SourceFailure(kind: .http, message: "", since: now)
                return ScheduleRecord(retryAt: now.advanced(by: .seconds(5)), failure: failure)
            }
            await records.write(schedule, for: "facts")
            await records.write(hold(0), for: "host:a")
            await records.write(hold(10), for: "host:b")
            await records.write(hold(86_406), for: "host:c")
            #expect(await records.schedules(of: "host:").keys.sorted() == ["b", "c"])
            #expect(await records.schedule(of: "facts") == schedule)
        }
    }

    @Test("A source has moved if all answers of a week, at least three, led to one address", arguments: [1, 3, 336])
    func moves(answers: Int) async throws {
        try await run(fixture) { records, databases async throws in
            let week = 7 * 86_400
            func time(_ answer: Int) -> Timestamp { Timestamp(seconds: Int64(week * answer / max(answers, 1))) }
            var move = FetchRecord.Move(to: "https://n.example/", after: nil, at: time(0))
            for answer in 1...answers {
                move = FetchRecord.Move(to: "https://n.example/", after: move, at: time(answer))
            }
            let record = FetchRecord(settings: "s", fetchedAt: time(answers), move: move)
            try await databases.write(databases.cache) { try record.write(for: "a", $0) }
            let end = time(answers)
            #expect(await records.newAddresses(end) == (answers < 2 ? [:] : ["s": "https://n.example/"]))
            #expect(await records.newAddresses(end.advanced(by: .seconds(-1))) == [:])
            #expect(FetchRecord.Move(to: "https://o.example/", after: move, at: end)?.answers == 1)
            #expect(FetchRecord.Move(to: nil, after: move, at: end) == nil)
            // A clock that is set back makes the week longer.
            #expect(FetchRecord.Move(to: "https://n.example/", after: move, at: time(-1))?.since == time(-1))
        }
    }

    /// A source that was removed leaves its marks to the same feed, whatever its name, and nothing else.
    @Test func marksOfARemovedSourceWaitForItsAddress() async throws {
        try await run(fixture) { records, databases async throws in
            let (added, posts) = (AddedSources(databases: databases), await PostStore(databases: databases))
            let marks = ReadMarks(databases: databases)
            func unread(_ source: String, _ ids: [String], at now: Int64) async throws -> Int {
                let all = ids.map { Post.sample("\(source):\($0)", at: $0 == "undated" ? nil : 5, source: source) }
                try await posts.fetch(all, source: source, at: now)
                let unread = try await posts.unread(sources: [source], read: await marks.read(uid: 1))
                try await posts.clear(source: source)
                return unread.counts[source] ?? 0
            }
            try await added.add(AddedSource(name: "a", settings: .init(url: "https://one.example/")))
            try await marks.markAll(uid: 1, .sample(["a"], until: 10))
            #expect(try await marks.mark(uid: 1, [.sample("a:late", seen: 20)], isRead: true) == 1)
            await records.write(schedule, for: "a")
            try await added.remove("a", identity: "one")
            #expect(await added.all() == [])
            #expect(await records.schedule(of: "a") == ScheduleRecord())
            // Another feed with the name, whose posts have the same ids.
            try await added.prepare("a", identity: "two")
            #expect(try await unread("a", ["1", "late"], at: 30) == 2)
            try await marks.markAll(uid: 1, .sample(["a"], until: 40))
            try await added.remove("a", identity: "two")
            // The first feed comes back.
            try await added.prepare("a", identity: "one")
            #expect(try await unread("a", ["1", "undated", "late"], at: 50) == 0)
            try await added.remove("a", identity: "one")
            try await added.prepare("b", identity: "one")
            #expect(try await unread("b", ["1", "undated"], at: 60) == 0)
            #expect(try await databases.state.count("read_until") == 2)
        }
    }

    @Test func anImportEndsWithTheGenerationOfItsSource() async throws {
        try await run(fixture) { records, databases async throws in
            for source in ["facts", "gifs"] { try await records.beginImport(of: source).store(record) }
            var later = record
            later.fetchedAt = Timestamp(seconds: 1_700_000_100)
            later.categories = ["animal", "dev"]
            let (facts, gifs) = (records.beginImport(of: "facts"), records.beginImport(of: "gifs"))
            try await facts.store(later)
            #expect(await records.fetch(of: "facts") == later)
            records.endImports(of: "facts")
            await #expect(throws: Databases.contentGone) { try await facts.store(record) }
            #expect(await records.fetch(of: "facts") == later)
            try await gifs.store(later)
            #expect(await records.fetch(of: "gifs") == later)
            // A write that fails is a fault of the database, and no reason to fetch again.
            try await databases.cache.refuseWrites(to: "fetches")
            try await gifs.confirm(record)
            #expect(databases.faults.count == 1)
            await #expect(throws: StoreError.self) { try await gifs.store(record) }
        }
    }

    @Test func schedulesAreReadByTheBeginOfTheirNames() async throws {
        try await run(StoreFixture()) { records, _ in
            for name in ["facts", "host:a.example", "host:%", "hosts"] { await records.write(schedule, for: name) }
            #expect(await records.schedules(of: "host:") == ["a.example": schedule, "%": schedule])
            #expect(await records.schedules(of: "no:").isEmpty)
        }
    }
}
