import NorrisProtocol

@testable import NorrisStore

extension GifStore {
    /// How many GIFs a read may show.
    func count(notBefore: Timestamp) async -> Int {
        let sql = "SELECT count(*) FROM gifs WHERE fetched_at >= ?"
        return await readOr(-1) { try Int.fetchOne($0, sql: sql, arguments: [notBefore.seconds]) ?? -1 }
    }
}
