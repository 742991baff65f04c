package import Logging
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

/// Which posts each user has read: on the disk when a call returns, and in memory for the users who asked lately.
package final class ReadMarks: Sendable {
    private let databases: Databases
    private let logger: Logger
    /// Changed only on the queue of the state's one connection, right after the disk, so it is never behind.
    private let recent = Mutex(RecentReaders())

    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
    }

    /// Marks posts as read for a user. The caller checks that they exist, or any user could fill the disk.
    ///
    /// - Returns: how many were unread before.
    /// - Throws: `-32005` where the disk takes no writes; then none is marked.
    package func mark(uid: UInt32, ids: [String]) async throws(ResponseError) -> Int {
        try await databases.changeState(logger) { [self] database in
            let new = try ids.map(PostKey.init(id:)).filter { key in
                try database.execute(
                    "INSERT OR IGNORE INTO read_marks (uid, post) VALUES (?, ?)", [Int64(uid), key.digest]
                )
                return database.changesCount > 0
            }
            database.afterCommit { [self] in recent.withLock { $0.add(new, of: uid) } }
            return new.count
        }
    }

    /// What a user has read; nothing where the disk cannot be read, so that posts are shown all the same.
    package func read(uid: UInt32) async -> ReadPosts {
        if let known = recent.withLock({ $0.posts(of: uid) }) { return known }
        let read = try? await databases.read(.state, logger: logger) { [self] database in
            var posts = ReadPosts()
            let rows = try database.rows("SELECT post FROM read_marks WHERE uid = ?", [Int64(uid)])
            while try rows.next() { posts.keys.insert(PostKey(digest: rows[0])) }
            recent.withLock { [posts] in $0.set(posts, of: uid) }
            return posts
        }
        return read ?? ReadPosts()
    }

    /// Removes the marks of deleted posts, of all users. What cannot be removed stays, and costs some bytes.
    package func forget(ids: [String]) async {
        guard !ids.isEmpty else { return }
        _ = try? await databases.changeState(logger) { [self] database in
            let keys = ids.map(PostKey.init(id:))
            for key in keys { try database.execute("DELETE FROM read_marks WHERE post = ?", [key.digest]) }
            database.afterCommit { [self] in recent.withLock { $0.remove(keys) } }
        }
    }
}

/// What the last users who asked have read.
struct RecentReaders {
    /// Some 50,000 marks take a megabyte.
    static let maximum = 8

    /// Least recently used first.
    private var users: [(uid: UInt32, posts: ReadPosts)] = []

    mutating func posts(of uid: UInt32) -> ReadPosts? {
        guard let index = users.firstIndex(where: { $0.uid == uid }) else { return nil }
        users.append(users.remove(at: index))
        return users.last?.posts
    }

    mutating func set(_ posts: ReadPosts, of uid: UInt32) {
        users.removeAll { $0.uid == uid }
        users.append((uid, posts))
        if users.count > RecentReaders.maximum { users.removeFirst() }
    }

    /// Adds to what a user has read, unless only the disk knows it.
    mutating func add(_ keys: [PostKey], of uid: UInt32) {
        guard let index = users.firstIndex(where: { $0.uid == uid }) else { return }
        users[index].posts.keys.formUnion(keys)
    }

    mutating func remove(_ keys: [PostKey]) {
        for index in users.indices { users[index].posts.keys.subtract(keys) }
    }
}
