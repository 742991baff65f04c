
extension DatabaseKind {
    /// The table of read marks in `state.db`.
    static func createReadMarks(_ database: Database) throws {
        try database.execute(
            sql: """
                -- post is a hash of the post's id, as digest of posts in the cache is.
                CREATE TABLE read_marks (
                    uid INTEGER NOT NULL,
                    post INTEGER NOT NULL,
                    PRIMARY KEY (uid, post)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX read_marks_by_post ON read_marks (post);
                """
        )
    }
}
