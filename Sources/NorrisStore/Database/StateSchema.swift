import NorrisProtocol

extension DatabaseKind {
    /// `state.db`: what cannot be fetched again. Never deleted.
    static let state = DatabaseKind(
        fileName: "state.db", applicationID: 0x4E52_5253,  // "NRRS"
        isDurable: true,
        migrations: [
            Migration(name: "walks and facts of the day") { try $0.execute(walks) },
            Migration(name: "schedules") { try $0.execute(schedules) },
            Migration(name: "recent searches") { try $0.execute(recentSearches) },
            Migration(name: "quota") { try $0.execute(quota) },
            Migration(name: "favorites") { try $0.execute(favorites) },
            Migration(name: "read marks") { try $0.execute(readMarks) },
            Migration(name: "shuffles") { try $0.execute(shuffles) },
            Migration(name: "favorite totals") { try $0.execute(favoriteTotals) },
            dropTableOfGRDB,
            Migration(name: "bounded state of users") { try $0.execute(userState) },
            Migration(name: "checked texts", apply: checkTexts),
        ]
    )

    /// The tables of shuffles come from an earlier version; "shuffles" replaces them.
    private static let walks = """
        -- The place of each fact in each roster, for good: a fact that goes leaves its seat empty, and one
        -- that comes back finds it. fact is NULL where the seat's fact will never come back.
        CREATE TABLE seats (
            roster TEXT NOT NULL, seat INTEGER NOT NULL, fact TEXT, length INTEGER NOT NULL,
            PRIMARY KEY (roster, seat)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX seats_by_fact ON seats (fact, roster) WHERE fact IS NOT NULL;

        CREATE TABLE walks (
            uid INTEGER NOT NULL, filter TEXT NOT NULL, position BLOB NOT NULL, used_at INTEGER NOT NULL,
            PRIMARY KEY (uid, filter)
        ) STRICT, WITHOUT ROWID;

        -- The fact itself, not its id: the day keeps it whatever becomes of the cache.
        CREATE TABLE facts_of_the_day (
            number INTEGER PRIMARY KEY, day TEXT NOT NULL UNIQUE, fact TEXT NOT NULL
        ) STRICT;
        """

    private static let schedules = """
        -- When each source is fetched next, and how it has failed since its last success.
        CREATE TABLE schedules (
            source TEXT NOT NULL PRIMARY KEY, next_run_at INTEGER, backoff_until INTEGER, retry_at INTEGER,
            failures INTEGER NOT NULL, failure_kind TEXT, failure_message TEXT, failure_since INTEGER,
            failed_at INTEGER, settings TEXT, had_content INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private static let recentSearches = """
        -- The user's newest has the largest number: two searches may fall into one second.
        CREATE TABLE recent_searches (
            number INTEGER PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, query TEXT NOT NULL,
            at INTEGER NOT NULL, UNIQUE (uid, kind, query)
        ) STRICT;
        """

    private static let quota = """
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
            title TEXT NOT NULL, added_at INTEGER NOT NULL, content TEXT, UNIQUE (uid, kind, id)
        ) STRICT;
        CREATE INDEX favorites_by_time ON favorites (uid, added_at DESC, number DESC);
        CREATE INDEX favorite_gifs ON favorites (id, added_at) WHERE kind = 'gif';

        CREATE TABLE cursor_keys (
            list TEXT NOT NULL PRIMARY KEY, key INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO cursor_keys VALUES ('favorites', random());
        """

    private static let readMarks = """
        -- post is a hash of the post's id, as digest of posts in the cache is.
        CREATE TABLE read_marks (
            uid INTEGER NOT NULL, post INTEGER NOT NULL, PRIMARY KEY (uid, post)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX read_marks_by_post ON read_marks (post);
        """

    private static let shuffles = """
        -- Shuffles begin anew once: their positions were those of other lists.
        DROP TABLE seats;
        DROP TABLE walks;

        CREATE TABLE shuffles (
            uid INTEGER NOT NULL, filter TEXT NOT NULL, shuffle BLOB NOT NULL, used_at INTEGER NOT NULL,
            PRIMARY KEY (uid, filter)
        ) STRICT, WITHOUT ROWID;

        -- The last item of each kind that a user was served; rowids rise with every write, so that the users
        -- who were served longest ago can be forgotten.
        CREATE TABLE served (
            number INTEGER PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, name TEXT,
            UNIQUE (uid, kind)
        ) STRICT;
        """

    /// So that adding a favorite reads no other one. Everything stored counts, also above the limits.
    private static let favoriteTotals = """
        -- bytes are those of ids, titles and contents. A row for each user with favorites, and that of uid -1
        -- for all of them together.
        CREATE TABLE favorite_totals (
            uid INTEGER NOT NULL PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) STRICT;
        INSERT INTO favorite_totals
            SELECT uid, count(*), sum(\(bytes(of: "favorites"))) FROM favorites GROUP BY uid;
        INSERT INTO favorite_totals
            SELECT \(FavoriteTotals.all), ifnull(sum(items), 0), ifnull(sum(bytes), 0) FROM favorite_totals;

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

    private static func bytes(of row: String) -> String {
        ["id", "title", "content"].map { length(of: $0, row) }.joined(separator: " + ")
    }

    private static func length(of column: String, _ row: String) -> String {
        "ifnull(length(CAST(\(row).\(column) AS BLOB)), 0)"
    }

    // MARK: The ledger of users (UserState)

    /// What a row of each table takes in the file, indices and the space between rows included, besides its texts; and
    /// its texts, as often as they are stored.
    private static let userTables: [(name: String, rowBytes: Int, texts: [String])] = [
        ("recent_searches", 80, ["query", "query"]),
        ("read_marks", 32, []),
        ("read_watermarks", 56, ["source"]),
        ("shuffles", 64, ["filter", "shuffle"]),
        ("served", 64, ["id", "name"]),
    ]

    private static let userState = """
        -- post is a hash of the post's id, as digest of posts in the cache is. Of two marks of a user the newer one has
        -- the larger number.
        CREATE TABLE marks (
            uid INTEGER NOT NULL, post INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (uid, post)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO marks SELECT uid, post, number FROM (
            SELECT uid, post, row_number() OVER (PARTITION BY uid ORDER BY post) AS number FROM read_marks
        ) WHERE number <= \(ReadMarks.maximumPosts);
        DROP TABLE read_marks;
        ALTER TABLE marks RENAME TO read_marks;

        -- All posts of a source up to a number are read. posts is the key of the table that has the number (posts_key).
        CREATE TABLE read_watermarks (
            uid INTEGER NOT NULL, source TEXT NOT NULL, posts INTEGER NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (uid, source)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE served RENAME TO old_served;
        CREATE TABLE served (
            uid INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, name TEXT, PRIMARY KEY (uid, kind)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO served SELECT uid, kind, id, name FROM old_served;
        DROP TABLE old_served;
        UPDATE recent_searches SET query = substr(query, 1, \(FactQuery.maximumLength));

        -- A row for each user with searches, marks, shuffles or served items, and that of uid -1 for all of them
        -- together. The daemon's own shuffle does not count.
        CREATE TABLE user_state (
            uid INTEGER NOT NULL PRIMARY KEY, bytes INTEGER NOT NULL
        ) STRICT;
        \(countUserState)
        \(userTables.map(countingTriggers).joined())
        """

    /// Counts everything again.
    static let countUserState = """
        DELETE FROM user_state;
        INSERT INTO user_state SELECT uid, sum(bytes) FROM (
            \(userTables.map { "SELECT uid, \(bytes($0, of: $0.name)) AS bytes FROM \($0.name)" }.joined(separator: " UNION ALL "))
        ) WHERE uid >= 0 GROUP BY uid;
        INSERT INTO user_state SELECT \(UserState.all), ifnull(sum(bytes), 0) FROM user_state;
        """

    /// Counts everything again.
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

    // MARK: Checked texts

    /// Adds checksums to the favorites and to the facts of the day (CheckedText).
    private static func checkTexts(_ database: Database) throws {
        // A checksum of kind, id, title and content.
        try database.execute("ALTER TABLE favorites ADD COLUMN digest INTEGER NOT NULL DEFAULT 0")
        for favorite in try database.map("SELECT number FROM favorites", [], { $0[0] as OpaqueInteger }) {
            let sql = "SELECT kind, id, title, content FROM favorites WHERE number = ?"
            let digest = try database.first(sql, [favorite]) {
                Favorite.digest(kind: $0[0], id: $0[1], title: $0[2], content: $0[3])
            }
            try database.execute("UPDATE favorites SET digest = ? WHERE number = ?", [digest, favorite])
        }
        for day in try database.map("SELECT number FROM facts_of_the_day", [], { $0[0] as OpaqueInteger }) {
            let fact = try String.fetchOne(database, "SELECT fact FROM facts_of_the_day WHERE number = ?", [day])
            try database.execute(
                "UPDATE facts_of_the_day SET fact = ? WHERE number = ?", [fact.map { CheckedText($0) }, day]
            )
        }
    }
}
