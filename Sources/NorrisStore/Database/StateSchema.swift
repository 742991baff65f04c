import GRDB

extension DatabaseKind {
    /// `state.db`: what a user would miss. Never deleted, never thrown away.
    static let state = DatabaseKind(
        fileName: "state.db",
        applicationID: 0x4E52_5253,  // "NRRS"
        isDurable: true,
        keepsCopies: true,
        migrations: [Migration(name: "walks and facts of the day", apply: createWalks)]
    )

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
}
