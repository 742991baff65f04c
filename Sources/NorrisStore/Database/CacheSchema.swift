import NorrisProtocol

extension DatabaseKind {
    /// `cache.db`: facts, which can be fetched or read again.
    static let facts = DatabaseKind(
        fileName: "cache.db", applicationID: 0x4E52_5243,  // "NRRC"
        isDurable: false,
        migrations: [
            Migration(name: "0.1.0") { try $0.execute(fetchTables + factTables) }, staleReplies,
            Migration(name: "0.1.0, facts in memory") { database in
                try database.execute("DELETE FROM fetches")
                for table in ["facts", "fact_lists", "fact_entries", "fact_texts"] {
                    try database.execute("DROP TABLE IF EXISTS \(table)")
                }
                try database.execute(factTables)
            },
        ])

    /// `cache.db-gifs`: GIFs, in a separate file, because each file has one writer, and a user who waits for a GIF must
    /// not wait for an import of facts or posts.
    static let gifs = DatabaseKind(
        fileName: "cache.db-gifs", applicationID: 0x4E52_5247,  // "NRRG"
        isDurable: false,
        migrations: [Migration(name: "0.1.0") { try $0.execute(fetchTables + gifTables) }, staleReplies])

    /// `cache.db-posts`: posts, in a separate file for the same reason.
    static let posts = DatabaseKind(
        fileName: "cache.db-posts", applicationID: 0x4E52_5250,  // "NRRP"
        isDurable: false,
        migrations: [Migration(name: "0.1.0") { try $0.execute(fetchTables + postTables) }, staleReplies])

    private static let staleReplies = Migration(name: "0.1.0, stale replies") {
        try $0.execute("ALTER TABLE fetches ADD COLUMN is_stale INTEGER NOT NULL DEFAULT 0")
    }

    /// The tables of all three files.
    private static let fetchTables = """
        CREATE TABLE meta (
            key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE fetches (
            source TEXT NOT NULL PRIMARY KEY, settings TEXT NOT NULL, fetched_at INTEGER NOT NULL,
            categories TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE validators (
            source TEXT NOT NULL REFERENCES fetches (source) ON DELETE CASCADE, part TEXT NOT NULL, etag TEXT,
            last_modified TEXT, checked_at INTEGER NOT NULL, PRIMARY KEY (source, part)
        ) STRICT, WITHOUT ROWID;

        """

    private static let factTables = """
        -- The upstream's facts, read into memory at the start. categories are names separated by spaces.
        CREATE TABLE facts (
            id TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL, categories TEXT NOT NULL, url TEXT, created_at INTEGER,
            updated_at INTEGER
        ) STRICT, WITHOUT ROWID;
        """

    private static let gifTables = """
        -- The number is the order of storing, as the ordinal of facts is, and never used again (AUTOINCREMENT),
        -- so that cursors stay true.
        CREATE TABLE gifs (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, gif TEXT NOT NULL,
            rating INTEGER NOT NULL, title TEXT NOT NULL, alt_text TEXT, username TEXT,
            fetched_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX gifs_by_age ON gifs (fetched_at);

        -- The lists in which Giphy returned them. The number is that of one generation: a list that begins anew
        -- gets another.
        CREATE TABLE gif_lists (
            number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, query TEXT NOT NULL,
            rating TEXT NOT NULL, lang TEXT NOT NULL, next_offset INTEGER, total_count INTEGER,
            fetched_at INTEGER NOT NULL, UNIQUE (kind, query, rating, lang)
        ) STRICT;
        CREATE TABLE gif_list_items (
            list INTEGER NOT NULL REFERENCES gif_lists (number) ON DELETE CASCADE, position INTEGER NOT NULL,
            gif INTEGER NOT NULL REFERENCES gifs (number) ON DELETE CASCADE, PRIMARY KEY (list, position),
            UNIQUE (gif, list)
        ) STRICT, WITHOUT ROWID;
        """

    private static let postTables = """
        -- held is 1 for an author whom the last fetch of the source had, with posts or without. digest is a checksum of
        -- id, name, handle, avatar_url and email. searched contains name and handle as searches read them.
        CREATE TABLE authors (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL, name TEXT NOT NULL,
            folded TEXT NOT NULL, searched TEXT NOT NULL, handle TEXT, avatar_url TEXT, email TEXT,
            digest INTEGER NOT NULL, held INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX authors_by_name ON authors (folded, id);

        -- content is the wire form with a checksum (CheckedText), but of the author only the id. digest is a hash of the
        -- id, by which posts are known in the state. held_at is NULL for a post that the last fetch of the source held,
        -- else the time of the last fetch that did: so a fetch without news writes to no post. A number is never used
        -- again (AUTOINCREMENT): a later post is above every watermark of the state.
        CREATE TABLE posts (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, digest INTEGER NOT NULL,
            source TEXT NOT NULL, author INTEGER NOT NULL REFERENCES authors (number), content TEXT NOT NULL,
            first_seen INTEGER NOT NULL, sort_at INTEGER NOT NULL, held_at INTEGER
        ) STRICT;
        -- With all that lists filter by, so that a list reads no post but those it shows.
        CREATE INDEX posts_by_time ON posts (sort_at DESC, id, source, author, digest);
        CREATE INDEX posts_by_source ON posts (source, held_at);
        CREATE INDEX posts_by_author ON posts (author);

        -- Title, text and tags of a post as searches read them (SearchWords), apart from the posts, so that nothing else
        -- reads them.
        CREATE TABLE post_texts (
            number INTEGER PRIMARY KEY REFERENCES posts (number) ON DELETE CASCADE, text TEXT NOT NULL
        ) STRICT;

        -- Another key in each file, so that watermarks of the state do not hold for the posts of another one.
        CREATE TABLE posts_key (key INTEGER NOT NULL) STRICT;
        INSERT INTO posts_key VALUES (random());
        """
}
