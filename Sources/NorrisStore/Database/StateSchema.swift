
extension DatabaseKind {
    /// `state.db`: what a user would miss. Never deleted, never thrown away.
    static let state = DatabaseKind(
        fileName: "state.db",
        applicationID: 0x4E52_5253,  // "NRRS"
        isDurable: true,
        keepsCopies: true,
        migrations: [
            Migration(name: "walks and facts of the day", apply: createWalks),
            Migration(name: "schedules", apply: createSchedules),
            Migration(name: "recent searches", apply: createRecentSearches),
            Migration(name: "quota", apply: createQuota),
            Migration(name: "favorites", apply: createFavorites),
            Migration(name: "read marks", apply: createReadMarks),
            Migration(name: "shuffles", apply: createShuffles),
            Migration(name: "favorite totals", apply: createFavoriteTotals),
            Migration(name: "no table of GRDB", apply: dropMigrationsOfGRDB),
        ]
    )

    private static func createShuffles(_ database: Database) throws {
        try database.execute(
            sql: """
                -- Shuffles begin anew once: their positions were those of other lists.
                DROP TABLE seats;
                DROP TABLE walks;

                CREATE TABLE shuffles (
                    uid INTEGER NOT NULL,
                    filter TEXT NOT NULL,
                    shuffle BLOB NOT NULL,
                    used_at INTEGER NOT NULL,
                    PRIMARY KEY (uid, filter)
                ) STRICT, WITHOUT ROWID;

                -- The last item of each kind that a user was served; rowids rise with every write, so that the users
                -- who were served longest ago can be forgotten.
                CREATE TABLE served (
                    number INTEGER PRIMARY KEY,
                    uid INTEGER NOT NULL,
                    kind TEXT NOT NULL,
                    id TEXT NOT NULL,
                    name TEXT,
                    UNIQUE (uid, kind)
                ) STRICT;
                """
        )
    }

    private static func createRecentSearches(_ database: Database) throws {
        try database.execute(
            sql: """
                -- The user's newest has the largest number: two searches may fall into one second.
                CREATE TABLE recent_searches (
                    number INTEGER PRIMARY KEY,
                    uid INTEGER NOT NULL,
                    kind TEXT NOT NULL,
                    query TEXT NOT NULL,
                    at INTEGER NOT NULL,
                    UNIQUE (uid, kind, query)
                ) STRICT;
                """
        )
    }

    private static func createWalks(_ database: Database) throws {
        try database.execute(
            sql: """
                -- The place of each fact in each roster, for good: a fact that goes leaves its seat empty, and one
                -- that comes back finds it. fact is NULL where the seat's fact will never come back.
                CREATE TABLE seats (
                    roster TEXT NOT NULL,
                    seat INTEGER NOT NULL,
                    fact TEXT,
                    length INTEGER NOT NULL,
                    PRIMARY KEY (roster, seat)
                ) STRICT, WITHOUT ROWID;
                CREATE UNIQUE INDEX seats_by_fact ON seats (fact, roster) WHERE fact IS NOT NULL;

                CREATE TABLE walks (
                    uid INTEGER NOT NULL,
                    filter TEXT NOT NULL,
                    position BLOB NOT NULL,
                    used_at INTEGER NOT NULL,
                    PRIMARY KEY (uid, filter)
                ) STRICT, WITHOUT ROWID;

                -- The fact itself, not its id: the day keeps it whatever becomes of the cache.
                CREATE TABLE facts_of_the_day (
                    number INTEGER PRIMARY KEY,
                    day TEXT NOT NULL UNIQUE,
                    fact TEXT NOT NULL
                ) STRICT;
                """
        )
    }

    private static func createSchedules(_ database: Database) throws {
        try database.execute(
            sql: """
                -- When each source is fetched next, and how it has failed since its last success.
                CREATE TABLE schedules (
                    source TEXT NOT NULL PRIMARY KEY,
                    next_run_at INTEGER,
                    backoff_until INTEGER,
                    retry_at INTEGER,
                    failures INTEGER NOT NULL,
                    failure_kind TEXT,
                    failure_message TEXT,
                    failure_since INTEGER,
                    failed_at INTEGER,
                    settings TEXT,
                    had_content INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """
        )
    }
}
