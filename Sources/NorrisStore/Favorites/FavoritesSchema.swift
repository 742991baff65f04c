import GRDB

extension DatabaseKind {
    /// The table of favourites in `state.db`, and the key of their cursors.
    static func createFavorites(_ database: Database) throws {
        try database.execute(
            sql: """
                -- Of two that were added in one second the newer has the larger number. content is the wire form of
                -- the fact or post as it was; NULL where there was none, and for GIFs, of which no more than id and
                -- title may be kept.
                CREATE TABLE favorites (
                    number INTEGER PRIMARY KEY,
                    uid INTEGER NOT NULL,
                    kind TEXT NOT NULL,
                    id TEXT NOT NULL,
                    title TEXT NOT NULL,
                    added_at INTEGER NOT NULL,
                    content TEXT,
                    UNIQUE (uid, kind, id)
                ) STRICT;
                CREATE INDEX favorites_by_time ON favorites (uid, added_at DESC, number DESC);
                CREATE INDEX favorite_gifs ON favorites (id, added_at) WHERE kind = 'gif';

                CREATE TABLE cursor_keys (
                    list TEXT NOT NULL PRIMARY KEY,
                    key INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                INSERT INTO cursor_keys VALUES ('favorites', random());
                """
        )
    }
}
