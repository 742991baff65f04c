
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

    /// The totals of the favourites, so that adding one looks at no other. All that is stored counts, also above the
    /// limits.
    static func createFavoriteTotals(_ database: Database) throws {
        func bytes(of row: String) -> String {
            ["id", "title", "content"].map { "ifnull(length(CAST(\(row).\($0) AS BLOB)), 0)" }.joined(separator: " + ")
        }
        try database.execute(
            sql: """
                -- bytes are those of ids, titles and contents. A row for each user with favourites, and that of uid -1
                -- for all of them together.
                CREATE TABLE favorite_totals (
                    uid INTEGER NOT NULL PRIMARY KEY,
                    items INTEGER NOT NULL,
                    bytes INTEGER NOT NULL
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
        )
    }
}

/// What the favourites of a user take, or those of all users.
struct FavoriteTotals {
    /// In place of a user: the sum of all.
    static let all: Int64 = -1

    var items = 0
    var bytes = 0

    init(of uid: Int64, _ database: Database) throws {
        let totals = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT items, bytes FROM favorite_totals WHERE uid = ?"), arguments: [uid]
        )
        if let totals { (items, bytes) = (totals[0], totals[1]) }
    }
}
