package import NorrisProtocol
import Synchronization

/// A post as the state knows it: a hash of 64 bits of its id. Of two posts with the same hash, one in some 10^19 pairs,
/// one counts as read with the other.
struct PostKey: Hashable, Sendable {
    let digest: Int64

    init(digest: Int64) { self.digest = digest }
    init(id: String) { digest = SipHash.digest(id) }
}

/// The posts that one user has read.
package struct ReadPosts: Sendable {
    var keys: Set<PostKey> = []

    package func contains(_ id: String) -> Bool { keys.contains(PostKey(id: id)) }
    func contains(_ post: PostKey) -> Bool { keys.contains(post) }
}

/// Which posts each user has read; on the disk when a call returns.
package final class ReadMarks: Sendable {
    private static let cachedUsers = 4
    private let databases: Databases
    /// What was read of some users. Changed by work on the only connection to the state
    /// alone, which runs one after the other: so it never holds what a write has made old.
    private let cached = Mutex<[UInt32: ReadPosts]>([:])

    package init(databases: Databases) { self.databases = databases }

    /// Marks posts as read for a user. The caller checks that they exist, or any user could fill the disk.
    ///
    /// - Returns: how many were unread before.
    /// - Throws: `-32005` where the disk takes no writes; then none is marked.
    package func mark(uid: UInt32, ids: [String]) async throws(ResponseError) -> Int {
        try await databases.changeState { [self] database in
            cached.withLock { $0[uid] = nil }
            return try ids.count { id in
                let key = PostKey(id: id)
                try database.execute(
                    "INSERT OR IGNORE INTO read_marks (uid, post) VALUES (?, ?)", [Int64(uid), key.digest]
                )
                return database.changesCount > 0
            }
        }
    }

    /// What a user has read; nothing where the disk cannot be read, so that posts are shown all the same.
    package func read(uid: UInt32) async -> ReadPosts {
        if let posts = cached.withLock({ $0[uid] }) { return posts }
        let read = try? await databases.read(.state) { [self] database in
            var posts = ReadPosts()
            let rows = try database.rows("SELECT post FROM read_marks WHERE uid = ?", [Int64(uid)])
            while try rows.next() { posts.keys.insert(PostKey(digest: rows[0])) }
            cached.withLock { cached in
                if cached.count >= ReadMarks.cachedUsers { cached = [:] }
                cached[uid] = posts
            }
            return posts
        }
        return read ?? ReadPosts()
    }

    /// Removes the marks of deleted posts, of all users. What cannot be removed stays, and costs some bytes.
    package func forget(ids: [String]) async {
        guard !ids.isEmpty else { return }
        _ = try? await databases.changeState { [self] database in
            cached.withLock { $0 = [:] }
            for id in ids { try database.execute("DELETE FROM read_marks WHERE post = ?", [PostKey(id: id).digest]) }
        }
    }
}
