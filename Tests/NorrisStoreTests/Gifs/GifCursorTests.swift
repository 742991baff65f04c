import NorrisProtocol
import Testing

@testable import NorrisStore

struct GifCursorTests {
    private let store: GifStore
    private let cats = GifList.search("cats", rating: "g")

    init() throws {
        store = try GifStore.inMemory()
    }

    private static let foreign = ResponseError.invalidParams(
        "The cursor is not of this list.", parameter: "cursor", hint: "Begin again without a cursor."
    )
    private static let outdated = ResponseError.invalidParams(
        "The cursor is of an older answer to this search.", parameter: "cursor", hint: "Begin again without a cursor."
    )

    private func begin(_ list: GifList, _ store: GifStore, at time: Timestamp = .start) async throws -> String {
        try await store.put(gifs(0..<9), in: list, offset: 0, nextOffset: 9, totalCount: nil, at: time)
        let page = try await store.page(of: list, cursor: nil, limit: 3, notBefore: .start)
        return try #require(page?.next)
    }

    private func expect(_ error: ResponseError, for cursor: String, in list: GifList, _ store: GifStore) async {
        await #expect(throws: error, "\(cursor.prefix(30))") {
            try await store.page(of: list, cursor: cursor, limit: 3, notBefore: .start)
        }
    }

    @Test func cursorOfAnotherListIsRefused() async throws {
        let cursor = try await begin(cats, store)
        let spelling = GifList.search(" CATS ", rating: "g", lang: "")
        #expect(try await store.page(of: spelling, cursor: cursor, limit: 3, notBefore: .start)?.items == gifs(3..<6))
        for list: GifList in [
            .search("cat", rating: "g"), .search("cats", rating: "pg"), .search("cats", rating: "g", lang: "de"),
            .trending(rating: "g"),
        ] {
            await expect(Self.foreign, for: cursor, in: list, store)
            _ = try await begin(list, store)
            await expect(Self.foreign, for: cursor, in: list, store)
        }
        let elsewhere = try GifStore.inMemory()
        _ = try await begin(cats, elsewhere)
        await expect(Self.foreign, for: cursor, in: cats, elsewhere)
    }

    @Test func forgedCursorIsRefused() async throws {
        let cursor = try await begin(cats, store)
        let parts = cursor.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        let forged = [
            "", ".", "..", "...", "0", "zzz", "0.\(parts[1]).\(parts[2])", "\(parts[0]).2.\(parts[2])",
            "+\(cursor)", "0\(cursor)", cursor + "0", cursor + ".", cursor.uppercased() + " ", " " + cursor,
            "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", "\(parts[1]).\(parts[2])", "x y.\(cursor)",
            "\(parts[0]).\(parts[1]).0", "\u{0}", String(repeating: "z", count: 10_000), "💥.💥.💥",
        ]
        for text in forged { await expect(Self.foreign, for: text, in: cats, store) }
        // A cursor of a search in what is stored, for the same bytes.
        let page = try await store.search(text: "title", rating: "g", cursor: nil, limit: 1, notBefore: .start)
        await expect(Self.foreign, for: try #require(page.next), in: cats, store)
    }

    @Test func cursorOfAnOlderAnswerIsRefused() async throws {
        let first = try await begin(cats, store)
        let second = try await begin(cats, store)
        #expect(first != second)
        await expect(Self.outdated, for: first, in: cats, store)
        #expect(try await store.page(of: cats, cursor: second, limit: 3, notBefore: .start)?.items == gifs(3..<6))
        try await store.put(gifs(9..<12), in: cats, offset: 9, nextOffset: nil, totalCount: nil)
        #expect(try await store.page(of: cats, cursor: second, limit: 3, notBefore: .start)?.items == gifs(3..<6))
    }

    /// The generation's number is never given out again.
    @Test func cursorOfAListThatIsGoneIsRefused() async throws {
        let first = try await begin(cats, store)
        try await store.clear()
        await expect(Self.outdated, for: first, in: cats, store)
        let second = try await begin(cats, store)
        await expect(Self.outdated, for: first, in: cats, store)
        await store.purge(before: .start + 1, now: .start + 1)
        await expect(Self.outdated, for: second, in: cats, store)
        let third = try await begin(cats, store, at: .start + 5)
        await expect(Self.outdated, for: second, in: cats, store)
        await #expect(throws: Self.outdated) {
            try await store.page(of: cats, cursor: third, limit: 3, notBefore: .start + 6)
        }
        #expect(try await store.page(of: cats, cursor: third, limit: 3, notBefore: .start + 5) != nil)
    }

    @Test func cursorIsGoodAfterARestart() async throws {
        let fixture = StoreFixture()
        let cursor = try await fixture.withGifs { try await begin(cats, $0) }
        let page = try await fixture.withGifs { store in
            try await store.page(of: cats, cursor: cursor, limit: 3, notBefore: .start)
        }
        #expect(page?.items == gifs(3..<6))
    }
}
