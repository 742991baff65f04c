import NorrisProtocol

extension DatabaseKind {
    /// `state.db`: data that cannot be fetched again. Never deleted.
    static let state = DatabaseKind(
        fileName: "state.db", applicationID: 0x4E52_5253,  // "NRRS"
        isDurable: true,
        migrations: [
            Migration(name: "0.1.0") { database in
                for tables in [daemonTables, favorites, userTables, counting] { try database.execute(tables) }
            }
        ])

    private static let daemonTables = """
        -- fact is the fact itself with a checksum (CheckedText), not its id: the day keeps it whatever becomes of the
        -- cache.
        CREATE TABLE facts_of_the_day (
            number INTEGER PRIMARY KEY, day TEXT NOT NULL UNIQUE, fact TEXT NOT NULL
        ) STRICT;

        -- When each source is fetched next, and how it has failed since its last success.
        CREATE TABLE schedules (
            source TEXT NOT NULL PRIMARY KEY, next_run_at INTEGER, backoff_until INTEGER, retry_at INTEGER,
            failures INTEGER NOT NULL, failure_kind TEXT, failure_message TEXT, failure_since INTEGER,
            failed_at INTEGER, settings TEXT, had_content INTEGER NOT NULL, upstream TEXT
        ) STRICT, WITHOUT ROWID;

        -- A row for each call of the last hour.
        CREATE TABLE quota_calls (
            source TEXT NOT NULL, at INTEGER NOT NULL
        ) STRICT;
        """

    private static let favorites = """
        -- Of two that were added in one second the newer has the larger number. content is the wire form of
        -- the fact or post as it was; NULL where there was none, and for GIFs, of which no more than id and
        -- title may be kept.
        CREATE TABLE favorites (
            number INTEGER PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
            title TEXT NOT NULL, added_at INTEGER NOT NULL, content TEXT,
            -- A checksum of kind, id, title and content.
            digest INTEGER NOT NULL, UNIQUE (uid, kind, id)
        ) STRICT;
        CREATE INDEX favorites_by_time ON favorites (uid, added_at DESC, number DESC);
        CREATE INDEX favorite_gifs ON favorites (id, added_at) WHERE kind = 'gif';

        CREATE TABLE cursor_keys (
            list TEXT NOT NULL PRIMARY KEY, key INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO cursor_keys VALUES ('favorites', random());

        -- bytes are those of ids, titles and contents. A row for each user with favorites, and that of uid -1
        -- for all of them together.
        CREATE TABLE favorite_totals (
            uid INTEGER NOT NULL PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) STRICT;
        \(countFavorites)

        CREATE TRIGGER favorites_added AFTER INSERT ON favorites BEGIN
            INSERT OR IGNORE INTO favorite_totals VALUES (new.uid, 0, 0);
            UPDATE favorite_totals SET items = items + 1, bytes = bytes + \(bytes(of: "new"))
                WHERE uid IN (new.uid, \(FavoriteTotals.all));
        END;
        CREATE TRIGGER favorites_removed AFTER DELETE ON favorites BEGIN
            UPDATE favorite_totals SET items = items - 1, bytes = bytes - (\(bytes(of: "old")))
                WHERE uid IN (old.uid, \(FavoriteTotals.all));
            DELETE FROM favorite_totals WHERE items = 0 AND uid = old.uid;
        END;
        """

    private static let userTables = """
        -- The user's newest has the largest number: two searches may fall into one second.
        CREATE TABLE recent_searches (
            number INTEGER PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, query TEXT NOT NULL,
            at INTEGER NOT NULL, UNIQUE (uid, kind, query)
        ) STRICT;

        -- post is a hash of the post's id, as digest of posts in the cache is. Of two marks of a user the newer one has
        -- the larger number. is_exception is 1 for an unread post below a watermark, else 0 for a read post.
        CREATE TABLE read_marks (
            uid INTEGER NOT NULL, post INTEGER NOT NULL, number INTEGER NOT NULL, is_exception INTEGER NOT NULL,
            PRIMARY KEY (uid, post)
        ) STRICT, WITHOUT ROWID;

        -- All posts of a source up to a number are read. posts is the key of the table that has the number (posts_key).
        CREATE TABLE read_watermarks (
            uid INTEGER NOT NULL, source TEXT NOT NULL, posts INTEGER NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (uid, source)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE shuffles (
            uid INTEGER NOT NULL, filter TEXT NOT NULL, shuffle BLOB NOT NULL, used_at INTEGER NOT NULL,
            PRIMARY KEY (uid, filter)
        ) STRICT, WITHOUT ROWID;

        -- The last item of each kind that a user was served. The user's newest has the largest number.
        CREATE TABLE served (
            uid INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, name TEXT, number INTEGER NOT NULL,
            PRIMARY KEY (uid, kind)
        ) STRICT, WITHOUT ROWID;
        """

    private static func bytes(of row: String) -> String {
        ["id", "title", "content"].map { length(of: $0, row) }.joined(separator: " + ")
    }

    private static func length(of column: String, _ row: String) -> String {
        "ifnull(length(CAST(\(row).\(column) AS BLOB)), 0)"
    }

    // MARK: The ledger of users (UserState)

    /// The bytes of a row of each table in the file, including indexes and free space, without its texts; and its text
    /// columns, as often as they are stored.
    private static let countedTables: [(name: String, rowBytes: Int, texts: [String])] = [
        ("recent_searches", 80, ["query", "query"]), ("read_marks", 32, []), ("read_watermarks", 56, ["source"]),
        ("shuffles", 64, ["filter", "shuffle"]), ("served", 72, ["id", "name"]),
    ]

    private static let counting = """
        -- A row for each user with searches, marks, shuffles or served items, and that of uid -1 for all of them
        -- together. The daemon's own shuffle does not count.
        CREATE TABLE user_state (
            uid INTEGER NOT NULL PRIMARY KEY, bytes INTEGER NOT NULL
        ) STRICT;
        \(countUserState)
        \(countedTables.map(countingTriggers).joined())
        """

    /// Counts all rows.
    static let countUserState = """
        DELETE FROM user_state;
        INSERT INTO user_state SELECT uid, sum(bytes) FROM (
            \(countedTables.map { "SELECT uid, \(bytes($0, of: $0.name)) AS bytes FROM \($0.name)" }.joined(separator: " UNION ALL "))
        ) WHERE uid >= 0 GROUP BY uid;
        INSERT INTO user_state SELECT \(UserState.all), ifnull(sum(bytes), 0) FROM user_state;
        """

    /// Counts all rows.
    static let countFavorites = """
        DELETE FROM favorite_totals;
        INSERT INTO favorite_totals
            SELECT uid, count(*), sum(\(bytes(of: "favorites"))) FROM favorites GROUP BY uid;
        INSERT INTO favorite_totals
            SELECT \(FavoriteTotals.all), ifnull(sum(items), 0), ifnull(sum(bytes), 0) FROM favorite_totals;
        """

    private static func bytes(_ table: (name: String, rowBytes: Int, texts: [String]), of row: String) -> String {
        (["\(table.rowBytes)"] + table.texts.map { length(of: $0, row) }).joined(separator: " + ")
    }

    private static func countingTriggers(_ table: (name: String, rowBytes: Int, texts: [String])) -> String {
        let (new, old) = (bytes(table, of: "new"), bytes(table, of: "old"))
        return """

            CREATE TRIGGER \(table.name)_added AFTER INSERT ON \(table.name) WHEN new.uid >= 0 BEGIN
                INSERT INTO user_state SELECT new.uid, 0
                    WHERE NOT EXISTS (SELECT 1 FROM user_state WHERE uid = new.uid);
                UPDATE user_state SET bytes = bytes + \(new) WHERE uid IN (new.uid, \(UserState.all));
            END;
            CREATE TRIGGER \(table.name)_changed AFTER UPDATE ON \(table.name) WHEN new.uid >= 0 BEGIN
                UPDATE user_state SET bytes = bytes + \(new) - (\(old)) WHERE uid IN (new.uid, \(UserState.all));
            END;
            CREATE TRIGGER \(table.name)_removed AFTER DELETE ON \(table.name) WHEN old.uid >= 0 BEGIN
                UPDATE user_state SET bytes = bytes - (\(old)) WHERE uid IN (old.uid, \(UserState.all));
                DELETE FROM user_state WHERE bytes = 0 AND uid = old.uid;
            END;
            """
    }
}
