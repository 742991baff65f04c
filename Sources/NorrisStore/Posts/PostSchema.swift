
extension DatabaseKind {
    /// The tables of posts in `cache.db`.
    static func createPosts(_ database: Database) throws {
        try database.execute(
            sql: """
                -- held is 1 for an author whom the last fetch of the source had, with posts or without.
                CREATE TABLE authors (
                    number INTEGER PRIMARY KEY,
                    id TEXT NOT NULL UNIQUE,
                    source TEXT NOT NULL,
                    name TEXT NOT NULL,
                    folded TEXT NOT NULL,
                    handle TEXT,
                    avatar_url TEXT,
                    email TEXT,
                    held INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX authors_by_name ON authors (folded, id);

                -- content is the wire form, but of the author only the id. digest is a hash of the id, by which
                -- posts are known in the state. held_at is NULL for a post that the last fetch of the source held,
                -- else the time of the last fetch that did: so a fetch without news writes to no post.
                CREATE TABLE posts (
                    number INTEGER PRIMARY KEY,
                    id TEXT NOT NULL UNIQUE,
                    digest INTEGER NOT NULL,
                    source TEXT NOT NULL,
                    author INTEGER NOT NULL REFERENCES authors (number),
                    content TEXT NOT NULL,
                    first_seen INTEGER NOT NULL,
                    sort_at INTEGER NOT NULL,
                    held_at INTEGER
                ) STRICT;
                -- With all that lists filter by, so that a list reads no post but those it shows.
                CREATE INDEX posts_by_time ON posts (sort_at DESC, id, source, author, digest);
                CREATE INDEX posts_by_source ON posts (source, held_at);
                CREATE INDEX posts_by_author ON posts (author);
                """
        )
    }
}
