
extension DatabaseKind {
    /// A migration of the state: the calls that count against a source's budget.
    static func createQuota(_ database: Database) throws {
        try database.execute(
            sql: """
                -- A row for each call of the last hour.
                CREATE TABLE quota_calls (
                    source TEXT NOT NULL,
                    at INTEGER NOT NULL
                ) STRICT;
                """
        )
    }
}
