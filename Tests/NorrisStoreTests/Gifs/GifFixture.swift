import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

extension GifStore {
    /// A store in new folders.
    static func new() async throws -> GifStore { await GifStore(databases: try StoreFixture().databases()) }

    func rows(of table: String) async throws -> Int { try await databases.cache.count(table) }

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
        return (try? await databases.read(databases.cache) { try $0.value(sql, [notBefore]) }) ?? -1
    }
}
