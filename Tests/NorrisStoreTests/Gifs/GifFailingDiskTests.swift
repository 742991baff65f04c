import NorrisProtocol
import Testing

@testable import NorrisStore

/// What cannot be written changes nothing and is told; what cannot be read is as absent, or an error.
struct GifFailingDiskTests {
    private let fixture = StoreFixture()
    private let cats = GifList.search("cats", rating: "g")

    @Test(arguments: ["gifs", "gif_lists", "gif_list_items"])
    func pageThatCannotBeWrittenChangesNothing(table: String) async throws {
        try await fixture.withGifs { store in
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: 3, totalCount: nil, at: .start)
            let before = try await store.page(of: cats, cursor: nil, limit: 9, notBefore: .start)
            try await store.databases.cache.opened.refuseWrites(to: table)
            let error = await #expect(throws: StoreError.self) {
                try await store.put(gifs(2..<9), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 5)
            }
            #expect(error?.path == fixture.folder["cache/cache.db"])
            #expect(error?.description.contains("refused by the test") == true)
            #expect(store.databases.faults.map { $0.hasPrefix("The cache takes no writes: ") } == [true])
            #expect(store.databases.isReadOnly)
            #expect(try await store.page(of: cats, cursor: nil, limit: 9, notBefore: .start) == before)
            #expect(await store.count(notBefore: .start) == 3)
            // What changes nothing proves nothing.
            #expect(await store.purge(before: .start, now: .start) == 0)
            #expect(store.databases.isReadOnly)
            try await store.databases.cache.opened.takeWritesAgain()
            #expect(
                try await store.put(gifs(2..<9), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start) == 6
            )
            #expect(store.databases.faults == [])
        }
    }

    @Test func pageThatCannotBeAddedChangesNothing() async throws {
        try await fixture.withGifs { store in
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: 3, totalCount: nil, at: .start)
            try await store.databases.cache.opened.refuse("UPDATE", on: "gif_lists")
            await #expect(throws: StoreError.self) {
                try await store.put(gifs(3..<9), in: cats, offset: 3, nextOffset: nil, totalCount: nil, at: .start)
            }
            #expect(try await store.ids(of: cats) == gifs(0..<3).map(\.id))
            #expect(await store.count(notBefore: .start) == 3)
        }
    }

    @Test func removingThatFailsRemovesNothing() async throws {
        try await fixture.withGifs { store in
            let fetch = FetchRecord(settings: "s", fetchedAt: .start)
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start)
            #expect(try await store.finishRun(fetch, of: [cats]))
            try await store.databases.cache.opened.refuse("DELETE", on: "gifs")
            await #expect(throws: StoreError.self) { try await store.clear() }
            #expect(store.databases.isReadOnly)
            #expect(await store.purge(before: .start + 1, now: .start + 1) == 0)
            #expect(try await store.ids(of: cats).count == 3)
            #expect(FetchRecords(databases: store.databases, logger: .silent).record(of: "gifs") == fetch)
            try await store.databases.cache.opened.takeWritesAgain()
            #expect(await store.purge(before: .start + 1, now: .start + 1) == 3)
            #expect(store.databases.faults == [])
        }
    }

    @Test func recordThatCannotBeWrittenIsAnErrorAndOneThatCanForgetsIt() async throws {
        try await fixture.withGifs { store in
            let fetch = FetchRecord(settings: "s", fetchedAt: .start)
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil)
            try await store.databases.cache.opened.refuseWrites(to: "fetches")
            await #expect(throws: StoreError.self) { try await store.finishRun(fetch, of: [cats]) }
            let records = FetchRecords(databases: store.databases, logger: .silent)
            #expect(records.record(of: "gifs") == nil)
            try await store.databases.cache.opened.takeWritesAgain()
            #expect(try await store.finishRun(fetch, of: [cats]))
            #expect(store.databases.faults == [])
        }
    }

    @Test func cacheThatCannotBeReadIsAsEmptyOrAnError() async throws {
        try await fixture.withGifs { store in
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil)
            try await store.databases.cache.writer.write { database in
                try database.execute("DROP TABLE gif_list_items; DROP TABLE gifs")
            }
            let refusal = ResponseError.storage(
                "The cache cannot be read now.", hint: "The daemon's log says why."
            )
            await #expect(throws: refusal) {
                try await store.page(of: cats, cursor: nil, limit: 3, notBefore: .start)
            }
            await #expect(throws: refusal) {
                try await store.search(text: "a", rating: "g", cursor: nil, limit: 3, notBefore: .start)
            }
            #expect(await store.gif(id: "gif-00001", notBefore: .start) == nil)
            #expect(await store.random(text: nil, rating: "g", notBefore: .start) == nil)
            #expect(await store.count(notBefore: .start) == -1)
            #expect(await store.missing(ids: ["gif-00001"], notBefore: .start) == [])
        }
    }

    @Test func whatIsCalledOffIsNoFaultOfTheDisk() async throws {
        try await fixture.withGifs { store in
            let error = await withTaskGroup(of: StoreError?.self) { group in
                group.addTask {
                    withUnsafeCurrentTask { $0?.cancel() }
                    do throws(StoreError) {
                        try await store.put(gifs(0..<3))
                        return nil
                    } catch {
                        return error
                    }
                }
                return await group.next() ?? nil
            }
            #expect(error?.reason == .cancelled)
            #expect(store.databases.faults == [])
            #expect(await store.count(notBefore: .start) == 0)
        }
    }
}
