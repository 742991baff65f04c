import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

extension GifStore {
    static func inMemory() throws -> GifStore {
        GifStore(databases: try Databases(cacheFolder: nil, stateFolder: nil, logger: .silent))
    }

    func rows(of table: String) async throws -> Int {
        try await databases.cache(.gifs).writer.read { try Int.fetchOne($0, "SELECT count(*) FROM \(table)") ?? 0 }
    }

    /// All ids of a list in pages, without requests to Giphy.
    func ids(of list: GifList, limit: Int = 50, notBefore: Timestamp = .start) async throws -> [String] {
        var ids: [String] = []
        var cursor: String?
        repeat {
            guard let page = try await page(of: list, PageRequest(limit: limit, cursor: cursor), notBefore: notBefore)
            else { break }
            ids += page.items.map(\.id)
            cursor = page.items.isEmpty ? nil : page.next
        } while cursor != nil
        return ids
    }
}

extension StoreFixture {
    func withGifs<Result>(_ body: (GifStore) async throws -> Result) async throws -> Result {
        let databases = try databases()
        defer { databases.close() }
        return try await body(GifStore(databases: databases))
    }
}

extension Gif {
    static func some(_ id: String, _ title: String? = nil, rating: String = "g") -> Gif {
        Gif(
            id: id, title: title ?? "The title of \(id)", rating: rating, pageURL: "https://giphy.com/gifs/\(id)",
            renditions: ["original": Rendition(url: "https://media0.giphy.com/media/\(id)/giphy.gif?cid=1&ct=g")])
    }
}

func gifs(_ numbers: Range<Int>) -> [Gif] {
    numbers.map { .some("gif-" + String(String($0 + 100_000).dropFirst())) }
}

extension Timestamp {
    /// The time at which tests begin. It is before the real time, so content stored now has not expired.
    static let start = Timestamp(seconds: 1_700_000_000)

    static func + (time: Timestamp, seconds: Int64) -> Timestamp { Timestamp(seconds: time.seconds + seconds) }
}

extension GifStore {
    func count(notBefore: Timestamp) async -> Int {
        let sql = "SELECT count(*) FROM gifs WHERE fetched_at >= ?"
        return (try? await databases.read(.gifs) { try Int.fetchOne($0, sql, [notBefore.seconds]) }) ?? -1
    }
}
