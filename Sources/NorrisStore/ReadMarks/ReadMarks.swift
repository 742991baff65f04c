package import Logging
package import NorrisProtocol
import Synchronization

/// Which posts each user has read: on the disk when a call returns, and in memory for those who asked lately.
package final class ReadMarks: Sendable {
    private let databases: Databases
    private let logger: Logger
    /// Filled and changed only on the queue of the state's one connection, right after the disk: it is never behind.
    private let recent = Mutex(RecentReaders())

    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
    }

    /// Marks posts as read for a user. That they are there is the caller's affair, or anybody could fill the disk.
    ///
    /// - Returns: how many were unread before.
    /// - Throws: `-32005` where the disk takes no writes; then none is marked.
    package func mark(uid: UInt32, ids: [String]) async throws(ResponseError) -> Int {
        try await databases.changeState(logger) { [self] database in
            let statement = try database.cachedStatement(
                sql: "INSERT OR IGNORE INTO read_marks (uid, post) VALUES (?, ?)"
            )
            let new = try ids.map(PostKey.init(id:)).filter { key in
                try statement.execute(arguments: [Int64(uid), key.digest])
                return database.changesCount > 0
            }
            database.afterCommit { [self] in recent.withLock { $0.add(new, of: uid) } }
            return new.count
        }
    }

    /// What a user has read. Where the disk cannot be read, that is nothing: posts are shown all the same.
    package func read(uid: UInt32) async -> ReadPosts {
        if let known = recent.withLock({ $0.posts(of: uid) }) { return known }
        let read = try? await databases.read(.state, logger: logger) { [self] database in
            var posts = ReadPosts()
            let rows = try Rows(database.statement("SELECT post FROM read_marks WHERE uid = ?"), [Int64(uid)])
            while try rows.next() { posts.keys.insert(PostKey(digest: rows[0])) }
            recent.withLock { [posts] in $0.set(posts, of: uid) }
            return posts
        }
        return read ?? ReadPosts()
    }

    /// Drops the marks of posts that are gone for good, of all users.
    ///
    /// What cannot be dropped now stays, and costs some bytes.
    package func forget(ids: [String]) async {
        guard !ids.isEmpty else { return }
        _ = try? await databases.changeState(logger) { [self] database in
            let keys = ids.map(PostKey.init(id:))
            for key in keys {
                try database.cachedStatement(sql: "DELETE FROM read_marks WHERE post = ?")
                    .execute(arguments: [key.digest])
            }
            database.afterCommit { [self] in recent.withLock { $0.remove(keys) } }
        }
    }
}

/// What the users who asked last have read.
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

    /// Adds to what a user has read; of a user who is not among these the disk knows more.
    mutating func add(_ keys: [PostKey], of uid: UInt32) {
        guard let index = users.firstIndex(where: { $0.uid == uid }) else { return }
        users[index].posts.keys.formUnion(keys)
    }

    mutating func remove(_ keys: [PostKey]) {
        for index in users.indices { users[index].posts.keys.subtract(keys) }
    }
}
