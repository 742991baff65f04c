
extension DatabaseKind {
    /// A migration of the cache: GIFs, and the lists in which Giphy gave them.
    static func createGifs(_ database: Database) throws {
        try database.execute(
            sql: """
                -- The number is the order of storing, as that of facts: newest highest, and within one answer the
                -- first id highest. It is never used again (AUTOINCREMENT), so that cursors stay true.
                CREATE TABLE gifs (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    gif TEXT NOT NULL,
                    rating INTEGER NOT NULL,
                    title TEXT NOT NULL,
                    alt_text TEXT,
                    username TEXT,
                    fetched_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX gifs_by_age ON gifs (fetched_at);

                -- The number is that of one generation: a list that begins anew gets another.
                CREATE TABLE gif_lists (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    kind TEXT NOT NULL,
                    query TEXT NOT NULL,
                    rating TEXT NOT NULL,
                    lang TEXT NOT NULL,
                    next_offset INTEGER,
                    total_count INTEGER,
                    fetched_at INTEGER NOT NULL,
                    UNIQUE (kind, query, rating, lang)
                ) STRICT;

                CREATE TABLE gif_list_items (
                    list INTEGER NOT NULL REFERENCES gif_lists (number) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    gif INTEGER NOT NULL REFERENCES gifs (number) ON DELETE CASCADE,
                    PRIMARY KEY (list, position),
                    UNIQUE (gif, list)
                ) STRICT, WITHOUT ROWID;
                """
        )
    }
}
