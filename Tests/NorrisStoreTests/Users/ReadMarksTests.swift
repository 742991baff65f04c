import NorrisProtocol
import Testing

@testable import NorrisStore

/// What each user has read.
struct ReadMarksTests {
    private let fixture = StoreFixture()

    private func withMarks(_ body: (ReadMarks, Databases) async throws -> Void) async throws {
        let databases = try fixture.databases()
        try await body(ReadMarks(databases: databases), databases)
        databases.close()
    }

    @Test func marksAreCountedOnce() async throws {
        try await withMarks { marks, _ async throws in
            #expect(try await marks.mark(uid: 1, ids: []) == 0)
            #expect(try await marks.mark(uid: 1, ids: ["a:1", "a:2", "a:1"]) == 2)
            #expect(try await marks.mark(uid: 1, ids: ["a:2", "a:3"]) == 1)
            let read = await marks.read(uid: 1)
            #expect(["a:1", "a:2", "a:3", "a:4"].map(read.contains) == [true, true, true, false])
            #expect(try await marks.mark(uid: 1, ids: ["a:3", "a:4"]) == 1)
            #expect(await marks.read(uid: 1).contains("a:4"))
        }
    }

    @Test("Ids are told apart by their bytes")
    func ids() async throws {
        try await withMarks { marks, _ async throws in
            #expect(try await marks.mark(uid: 1, ids: ["é"]) == 1)
            #expect(await !marks.read(uid: 1).contains("e\u{301}"))
            #expect(try await marks.mark(uid: 1, ids: ["e\u{301}"]) == 1)
        }
    }

    @Test func usersHaveTheirOwn() async throws {
        try await withMarks { marks, _ async throws in
            _ = await marks.read(uid: 2)
            #expect(try await marks.mark(uid: 1, ids: ["a:1"]) == 1)
            #expect(await !marks.read(uid: 2).contains("a:1"))
            #expect(await !marks.read(uid: .max).contains("a:1"))
            #expect(try await marks.mark(uid: .max, ids: ["a:1"]) == 1)
            #expect(await marks.read(uid: .max).contains("a:1"))
            #expect(await !marks.read(uid: 2).contains("a:1"))
        }
    }

    @Test func marksOfPostsThatAreGoneAreForgottenOfAll() async throws {
        try await withMarks { marks, databases in
            for uid: UInt32 in 1...3 { #expect(try await marks.mark(uid: uid, ids: ["a:1", "a:2"]) == 2) }
            _ = await marks.read(uid: 1)
            await marks.forget(ids: [])
            await marks.forget(ids: ["a:1", "a:9"])
            for uid: UInt32 in 1...3 {
                let read = await marks.read(uid: uid)
                #expect(!read.contains("a:1") && read.contains("a:2"))
            }
            let rows = try await databases.state.writer.read { database in
                try Int.fetchOne(database, "SELECT count(*) FROM read_marks")
            }
            #expect(rows == 3)
        }
    }

    @Test func postThatComesBackAfterClearingIsStillRead() async throws {
        try await withMarks { marks, databases in
            let posts = PostStore(databases: databases)
            try posts.fetch([.sample("a:1")], at: 10)
            #expect(try await marks.mark(uid: 1, ids: ["a:1"]) == 1)
            try posts.clear(source: "a")
            try posts.fetch([.sample("a:1"), .sample("a:2")], at: 20)
            let read = await marks.read(uid: 1)
            #expect(try await posts.page(read: read).items.map(\.isRead) == [true, false])
        }
    }

    @Test func marksThatCannotBeWrittenAreNone() async throws {
        try await withMarks { marks, databases in
            #expect(try await marks.mark(uid: 1, ids: ["a:1"]) == 1)
            _ = await marks.read(uid: 1)
            try await databases.state.refuseWrites(to: "read_marks")
            let refusal = ResponseError.storage(
                "Favorites and other state cannot be written now.", hint: "See why: norrisctl status"
            )
            await #expect(throws: refusal) { try await marks.mark(uid: 1, ids: ["a:2"]) }
            #expect(await !marks.read(uid: 1).contains("a:2"))
            #expect(databases.faults.map { $0.hasPrefix("The state takes no writes: ") } == [true])
            try await databases.state.takeWritesAgain()
            // What changes nothing has not shown that the disk takes writes.
            #expect(try await marks.mark(uid: 1, ids: []) == 0)
            #expect(databases.isReadOnly)
            #expect(try await marks.mark(uid: 1, ids: ["a:2"]) == 1)
            #expect(databases.faults == [])

            try await databases.state.refuse("DELETE", on: "read_marks")
            await marks.forget(ids: ["a:1"])
            #expect(await marks.read(uid: 1).contains("a:1"))
            #expect(databases.isReadOnly)
        }
    }

    @Test func whereMarksCannotBeReadNothingIsRead() async throws {
        try await withMarks { marks, databases in
            #expect(try await marks.mark(uid: 1, ids: ["a:1"]) == 1)
            try await databases.state.writer.write { try $0.execute("ALTER TABLE read_marks RENAME TO x") }
            #expect(await !marks.read(uid: 1).contains("a:1"))
            // And that is not remembered.
            try await databases.state.writer.write { try $0.execute("ALTER TABLE x RENAME TO read_marks") }
            #expect(await marks.read(uid: 1).contains("a:1"))
        }
    }
}
