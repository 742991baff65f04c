import NorrisProtocol

@testable import NorrisStore

extension GifStore {
    /// How many GIFs a read may show.
    func count(notBefore: Timestamp) async -> Int {
        let sql = "SELECT count(*) FROM gifs WHERE fetched_at >= ?"
        return (try? await databases.read(.gifs, logger: .silent) { try Int.fetchOne($0, sql, [notBefore.seconds]) }) ?? -1
    }
}
