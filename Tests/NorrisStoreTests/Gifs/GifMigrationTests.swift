import NorrisProtocol
import Testing

@testable import NorrisStore

struct GifMigrationTests {
    @Test func cacheOfBeforeIsKeptWithItsFacts() async throws {
        let folder = ScratchFolder()
        let old = try OpenedDatabase.open(.cache.before("gifs"), folder: folder.path, logger: .silent)
        try await old.writer.write { database in
            try database.execute(
                """
                    INSERT INTO facts (
                        number, id, source, text, folded, categories, explicit, stored_at, found, text_digest
                    ) VALUES (3, 'a', 'chucknorris', 'A text.', 'a text.', '', 0, 5, 0, 7);
                    INSERT INTO fetches VALUES ('facts', 's', 5, '');
                    INSERT INTO meta VALUES ('cursor_key', '7')
                    """
            )
        }
        try old.close()

        let databases = try Databases(cacheFolder: folder.path, stateFolder: nil, logger: .silent)
        #expect(databases.cache.opened.condition == .good)
        #expect(databases.cache.cursorKey == 7)
        #expect(try await FactStore(databases: databases, logger: .silent).fact(id: "a")?.text == "A text.")
        #expect(FetchRecords(databases: databases, logger: .silent).record(of: "facts")?.settings == "s")
        let store = GifStore(databases: databases, logger: .silent)
        #expect(await store.count(notBefore: Timestamp(seconds: .min)) == 0)
        let list = GifList.trending(rating: "g")
        try await store.put(gifs(0..<3), in: list, offset: 0, nextOffset: nil, totalCount: nil)
        #expect(try await store.ids(of: list).count == 3)
        databases.close()
    }
}
