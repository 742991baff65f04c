import NorrisProtocol
import Testing

@testable import NorrisStore

struct UserStateTests {
    private let fixture = StoreFixture()

    private func withStores(_ body: (FactStore, ReadMarks, RecentSearches) async throws -> Void) async throws {
        let store = try fixture.open()
        let databases = store.databases
        try await body(store, ReadMarks(databases: databases), RecentSearches(databases: databases))
        databases.close()
    }

    /// Sets the size of all users' state to the limit.
    private func fill(_ store: FactStore) async throws {
        try await store.databases.state.writer.write { database in
            try database.execute(
                "UPDATE user_state SET bytes = ? WHERE uid = ?", [UserState.maximumBytes, UserState.all])
        }
    }

    private func bytes(_ uid: Int64, _ store: FactStore) async throws -> Int {
        try await store.databases.state.writer.read { try UserState.bytes(of: uid, $0) }
    }

    /// Expects that the recorded sizes equal recomputed sizes.
    private func expectExact(_ store: FactStore, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        func all() async throws -> [String] {
            try await store.databases.state.writer.read { database in
                try String.fetchAll(database, "SELECT uid || ' ' || bytes FROM user_state ORDER BY uid")
            }
        }
        let before = try await all()
        try await store.databases.state.writer.write { try $0.execute(DatabaseKind.countUserState) }
        #expect(try await all() == before, sourceLocation: sourceLocation)
    }

    @Test func everythingIsCounted() async throws {
        try await withStores { store, marks, recents async throws in
            try await store.replaceUpstream(upstreamFacts(0..<20))
            for uid: UInt32 in 1...3 {
                for number in 1...8 { recents.record(uid: uid, kind: .fact, query: "query \(number)") }
                recents.record(uid: uid, kind: .fact, query: "query 7")
                #expect(await recents.write())
                #expect(try await marks.mark(uid: uid, [.sample("a:1"), .sample("a:2")]) == 2)
                try await marks.markAll(uid: uid, .sample(["a", "b"], upTo: 1))
                try await marks.markAll(uid: uid, .sample(["b"], upTo: 9))
                for length in 1...70 {
                    _ = store.nextIDs(1, uid: uid, FactFilter(maxLength: 100 + length))
                    await store.writeShuffles()
                }
                store.noteServed("g", .gif, uid: uid, name: "Grace")
                await store.writeShuffles()
                store.noteServed("longer", .gif, uid: uid)
                await store.writeShuffles()
                try await expectExact(store)
            }
            #expect(try await recents.clear(uid: 2) == 6)
            try await expectExact(store)
            let sum = try await bytes(1, store) + bytes(2, store) + bytes(3, store)
            #expect(try await bytes(UserState.all, store) == sum)
        }
    }

    @Test func aUserWithoutStateHasNoRow() async throws {
        try await withStores { store, _, recents async throws in
            recents.record(uid: 1, kind: .fact, query: "kick")
            #expect(await recents.write())
            #expect(try await bytes(1, store) > 0)
            #expect(try await recents.clear(uid: 1) == 1)
            #expect(try await store.databases.state.count("user_state") == 1)
            #expect(try await bytes(UserState.all, store) == 0)
        }
    }

    @Test func pastTheLimitNothingGrows() async throws {
        try await withStores { store, marks, recents async throws in
            try await store.replaceUpstream(upstreamFacts(0..<5))
            #expect(try await marks.mark(uid: 1, [.sample("a:1"), .sample("a:2")]) == 2)
            recents.record(uid: 1, kind: .fact, query: "kick")
            #expect(await recents.write())
            try await fill(store)

            await #expect(throws: UserState.isFull) { try await marks.mark(uid: 2, [.sample("a:1")]) }
            await #expect(throws: UserState.isFull) { try await marks.markAll(uid: 2, .sample(["a"], upTo: 5)) }
            #expect(await !marks.read(uid: 2).contains(.sample("a:1")))
            recents.record(uid: 2, kind: .fact, query: "kick")
            #expect(await recents.write())
            #expect(try await recents.list(uid: 2) == [])
            #expect(Set(store.nextIDs(5, uid: 2)).count == 5)
            store.noteServed("g", .gif, uid: 2)
            #expect(await store.writeShuffles())
            #expect(try await bytes(2, store) == 0)

            // A user with state may replace it within its current size.
            #expect(try await marks.mark(uid: 1, [.sample("a:3")]) == 1)
            let read = await marks.read(uid: 1)
            #expect(["a:1", "a:2", "a:3"].map { read.contains(.sample($0)) } == [false, true, true])
            recents.record(uid: 1, kind: .fact, query: "KICK")
            #expect(await recents.write())
            #expect(try await recents.list(uid: 1).count == 1)
            recents.record(uid: 1, kind: .fact, query: "another")
            #expect(await recents.write())
            #expect(try await recents.list(uid: 1).count == 1)
            // A watermark replaces marks.
            _ = try await marks.mark(uid: 1, (10..<12).map { .sample("a:\($0)") })
            try await marks.markAll(uid: 1, .sample(["a"], upTo: 5))
            #expect(await marks.read(uid: 1).contains(.sample("a:1")))
            #expect(store.databases.faults == [])
        }
    }

    @Test func aLongSearchIsCut() async throws {
        try await withStores { _, _, recents async throws in
            recents.record(uid: 1, kind: .gif, query: String(repeating: "é", count: 2_000))
            #expect(try await recents.list(uid: 1).first?.query.unicodeScalars.count == SearchWords.maximumLength)
        }
    }
}

extension OpenedDatabase {
    func count(_ table: String) async throws -> Int {
        try await writer.read { try Int.fetchOne($0, "SELECT count(*) FROM \(table)") ?? -1 }
    }
}
