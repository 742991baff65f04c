import NorrisProtocol
import Testing

@testable import NorrisStore

/// The limit of all users' searches, marks, shuffles and served items.
struct UserStateTests {
    @Test("A table with rows of users counts towards the limit: add it to UserState.tables")
    func everyTableOfUsersCounts() async throws {
        let store = try await FactStore.new()
        let names = try await store.databases.read(store.databases.state) { database in
            try database.map(
                """
                SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
                WHERE t.type = 'table' AND c.name = 'uid'
                """
            ) { try $0[0] as String }
        }
        // Favorites have a separate limit.
        #expect(Set(names) == Set(UserState.tables.map(\.name) + ["favorites"]))
        await store.databases.close()
    }

    @Test func pastTheLimitOnlyUsersWithDataGoOn() async throws {
        let store = try await FactStore.new()
        let databases = store.databases
        let marks = ReadMarks(databases: databases)
        #expect(try await marks.mark(uid: 1, [.sample("a:1")], isRead: true) == 1)
        try await databases.write(databases.state) { database in
            let sql = "INSERT INTO shuffles (uid, filter, shuffle, used_at) VALUES (9, ?, zeroblob(?), 0)"
            for number in 0..<8 { try database.execute(sql, ["\(number)", UserState.maximumBytes / 8]) }
        }
        await #expect(throws: UserState.full) { try await marks.mark(uid: 2, [.sample("a:1")], isRead: true) }
        await #expect(throws: UserState.full) { try await marks.markAll(uid: 2, .sample(["a"], until: 5)) }
        #expect(await !marks.read(uid: 2).contains(.sample("a:1")))
        #expect(try await marks.mark(uid: 1, [.sample("a:2")], isRead: true) == 1)

        // Shuffles, served items and searches of a new user are not stored, which is no error.
        let recents = RecentSearches(databases: databases)
        for uid: UInt32 in [1, 2] {
            recents.record(uid: uid, kind: .fact, query: "kick")
            #expect(store.nextIDs(5, uid: uid).count == 5)
            store.noteServed("g", .gif, uid: uid)
        }
        #expect(await recents.write())
        #expect(try await recents.list(uid: 2) == [])
        #expect(await store.writeShuffles())
        for table in ["recent_searches", "shuffles", "served"] {
            let users = try await databases.read(databases.state) { database in
                try database.map("SELECT DISTINCT uid FROM \(table) WHERE uid <> 9") { try $0[0] as Int64 }
            }
            #expect(users == [1], "\(table)")
        }
        #expect(databases.faults == [])

        try await databases.write(databases.state) { try $0.execute("DELETE FROM shuffles WHERE uid = 9") }
        #expect(try await marks.mark(uid: 2, [.sample("a:1")], isRead: true) == 1)
        await databases.close()
    }
}
