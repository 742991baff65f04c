
extension DatabaseKind {
    /// `cache.db`: content that can be had again. Deleting it costs a refetch.
    static let cache = DatabaseKind(
        fileName: "cache.db",
        applicationID: 0x4E52_5243,  // "NRRC"
        isDurable: false,
        keepsCopies: false,
        migrations: [
            Migration(name: "facts", apply: createFacts),
            Migration(name: "fetches", apply: createFetches),
            Migration(name: "gifs", apply: createGifs),
            Migration(name: "posts", apply: createPosts),
            Migration(name: "category limit", apply: CategoryLimit.limitStored),
            Migration(name: "ordinals", apply: createOrdinals),
            Migration(name: "no table of GRDB", apply: dropMigrationsOfGRDB),
        ]
    )

    private static func createFacts(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE meta (
                    key TEXT NOT NULL PRIMARY KEY,
                    value TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;

                -- The rowid is the order of storing: newest highest, and within one import the first id highest, so
                -- that descending rowids are "newest stored first, then by id". It is never used again
                -- (AUTOINCREMENT), so that cursors stay true.
                CREATE TABLE facts (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    source TEXT NOT NULL,
                    text TEXT NOT NULL,
                    folded TEXT NOT NULL,
                    categories TEXT NOT NULL,
                    explicit INTEGER NOT NULL,
                    url TEXT,
                    created_at INTEGER,
                    updated_at INTEGER,
                    stored_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX facts_by_source ON facts (source);

                CREATE TABLE fact_categories (
                    category TEXT NOT NULL,
                    fact INTEGER NOT NULL REFERENCES facts (number) ON DELETE CASCADE,
                    PRIMARY KEY (category, fact)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX fact_categories_by_fact ON fact_categories (fact);

                -- Trigrams of the folded text: a phrase of them is a substring. Case is folded by us beforehand,
                -- for the tokenizer folds less than all of Unicode.
                CREATE VIRTUAL TABLE facts_text USING fts5 (
                    folded, content = 'facts', content_rowid = 'number',
                    tokenize = 'trigram case_sensitive 1', detail = full
                );
                CREATE TRIGGER facts_inserted AFTER INSERT ON facts BEGIN
                    INSERT INTO facts_text (rowid, folded) VALUES (new.number, new.folded);
                END;
                CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
                    INSERT INTO facts_text (facts_text, rowid, folded) VALUES ('delete', old.number, old.folded);
                END;
                CREATE TRIGGER facts_updated AFTER UPDATE OF folded ON facts BEGIN
                    INSERT INTO facts_text (facts_text, rowid, folded) VALUES ('delete', old.number, old.folded);
                    INSERT INTO facts_text (rowid, folded) VALUES (new.number, new.folded);
                END;
                """
        )
    }

    private static func createFetches(_ database: Database) throws {
        try database.execute(
            sql: """
                -- found is 1 for a fact that only a search at the upstream has brought so far.
                ALTER TABLE facts ADD COLUMN found INTEGER NOT NULL DEFAULT 0;
                -- A hash of the text's bytes, by which facts with the same text are looked for.
                ALTER TABLE facts ADD COLUMN text_digest INTEGER NOT NULL DEFAULT 0;
                CREATE INDEX facts_by_text ON facts (text_digest);

                CREATE TABLE fetches (
                    source TEXT NOT NULL PRIMARY KEY,
                    settings TEXT NOT NULL,
                    fetched_at INTEGER NOT NULL,
                    categories TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE validators (
                    source TEXT NOT NULL REFERENCES fetches (source) ON DELETE CASCADE,
                    part TEXT NOT NULL,
                    etag TEXT,
                    last_modified TEXT,
                    checked_at INTEGER NOT NULL,
                    PRIMARY KEY (source, part)
                ) STRICT, WITHOUT ROWID;
                """
        )
        let rows = try Row.fetchCursor(database, sql: "SELECT number, text FROM facts")
        while let row = try rows.next() {
            try database.cachedStatement(sql: "UPDATE facts SET text_digest = ? WHERE number = ?")
                .execute(arguments: [FactTable.digest(ofText: row[1]), row[0] as Int64])
        }
    }

    private static func createOrdinals(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE facts RENAME TO old_facts;
                DROP TRIGGER facts_inserted;
                DROP TRIGGER facts_deleted;
                DROP TRIGGER facts_updated;
                DROP TABLE facts_text;
                DROP TABLE fact_categories;

                -- The ordinal says where the encoded fact is in the file beside the database, in units of 16 bytes. It
                -- is never used again, and rises in the order of storing: within one import the first id is the
                -- highest, so that descending ordinals are "newest stored first, then by id".
                CREATE TABLE facts (
                    ordinal INTEGER PRIMARY KEY,
                    id TEXT NOT NULL UNIQUE,
                    source TEXT NOT NULL,
                    text TEXT NOT NULL,
                    categories TEXT NOT NULL,
                    url TEXT,
                    created_at INTEGER,
                    updated_at INTEGER,
                    -- 1 for a fact that only a search at the upstream has brought so far.
                    found INTEGER NOT NULL,
                    -- A hash of the text's bytes, by which facts with the same text are looked for.
                    text_digest INTEGER NOT NULL
                ) STRICT;

                -- The facts of a category, or all facts under '', by kind (FactKind). entries counts the removed ones
                -- too; the epoch is another one whenever these were taken out.
                CREATE TABLE fact_lists (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    category TEXT NOT NULL,
                    kind INTEGER NOT NULL,
                    epoch INTEGER NOT NULL,
                    entries INTEGER NOT NULL,
                    live INTEGER NOT NULL,
                    UNIQUE (category, kind)
                ) STRICT;

                -- A list in the order of its facts' ordinals. length is in code points, and negative once the fact is
                -- removed, so that the positions of the others stay what they are.
                CREATE TABLE fact_entries (
                    list INTEGER NOT NULL,
                    fact INTEGER NOT NULL,
                    length INTEGER NOT NULL,
                    PRIMARY KEY (list, fact)
                ) STRICT, WITHOUT ROWID;

                -- The texts to search, in blocks (FactTexts).
                CREATE TABLE fact_texts (
                    last INTEGER PRIMARY KEY,
                    texts BLOB NOT NULL
                ) STRICT;
                """
        )
        // The encoded facts are written when they are first asked for; a migration touches nothing but its database.
        var writer = try FactWriter(database, FactFile(path: nil, key: 0))
        var count = 0
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT id, source, text, categories, url, created_at, updated_at, found FROM old_facts ORDER BY number"
        )
        while let row = try rows.next() {
            try writer.insert(FactTable.fact(row), isFound: row[7])
            count += 1
            guard count.isMultiple(of: 10_000) else { continue }
            // What is collected of a million facts would be hundreds of megabytes.
            _ = try writer.finish()
            writer = try FactWriter(database, FactFile(path: nil, key: 0))
        }
        _ = try writer.finish()
        try database.execute(
            sql: """
                DROP TABLE old_facts;
                CREATE INDEX facts_by_source ON facts (source);
                CREATE INDEX facts_by_text ON facts (text_digest);
                """
        )
    }
}
