import NorrisProtocol

/// A kind of database: the identification of its file, and its schema.
struct DatabaseKind: Sendable {
    /// The file's name in its folder.
    let fileName: String
    /// `PRAGMA application_id` (SQLite: "file format", offset 68): four letters, for file(1) and for norrisd.
    let applicationID: Int32
    /// Whether a commit is on disk before it returns, a damaged file is replaced by a copy, and a migration begins with
    /// a copy. Otherwise the content can be fetched again.
    let isState: Bool
    /// One statement for each table and index, as `sqlite_schema` stores it.
    let schema: [String]
    /// `PRAGMA user_version`.
    let version: Int64
    /// The statements before and after the missing tables are created, by the version of the file; 0 is a new file. A
    /// released migration is never changed.
    var migrations: [Int64: (before: String, after: String)] = [:]
}

extension DatabaseKind {
    /// `cache.db`: everything that is fetched. A file of an older version is replaced.
    static let cache = DatabaseKind(
        fileName: "cache.db", applicationID: 0x4E52_5243,  // "NRRC"
        isState: false,
        schema: [
            // The last successful fetch of each source, the host that answered, the title of its document, and the
            // address to which permanent redirects lead, with the time and the number of answers since they first did.
            """
            CREATE TABLE fetches (
                source TEXT NOT NULL PRIMARY KEY, settings TEXT NOT NULL, fetched_at INTEGER NOT NULL,
                is_stale INTEGER NOT NULL, categories TEXT NOT NULL, host TEXT, title TEXT,
                moved_to TEXT, moved_since INTEGER, answers INTEGER
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE validators (
                source TEXT NOT NULL REFERENCES fetches (source) ON DELETE CASCADE, part TEXT NOT NULL, etag TEXT,
                last_modified TEXT, checked_at INTEGER NOT NULL, PRIMARY KEY (source, part)
            ) STRICT, WITHOUT ROWID
            """,
            // The upstream's facts, read into memory at the start. categories are names separated by spaces.
            """
            CREATE TABLE facts (
                id TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL, categories TEXT NOT NULL, url TEXT,
                created_at INTEGER, updated_at INTEGER
            ) STRICT, WITHOUT ROWID
            """,
            // gif is the wire form; searched contains title, alternative text and user name as searches read them.
            """
            CREATE TABLE gifs (
                id TEXT NOT NULL PRIMARY KEY, gif TEXT NOT NULL, rating INTEGER NOT NULL, searched TEXT NOT NULL,
                fetched_at INTEGER NOT NULL
            ) STRICT
            """,
            "CREATE INDEX gifs_by_age ON gifs (fetched_at DESC, id)",
            // The results of a query in Giphy's order: ids is an array of JSON. A null next_offset is the end.
            """
            CREATE TABLE gif_lists (
                kind TEXT NOT NULL, query TEXT NOT NULL, rating TEXT NOT NULL, lang TEXT NOT NULL, ids TEXT NOT NULL,
                next_offset INTEGER, total_count INTEGER, fetched_at INTEGER NOT NULL,
                PRIMARY KEY (kind, query, rating, lang)
            ) STRICT, WITHOUT ROWID
            """,
            // held is 1 for an author whom the last fetch of the source contained, with posts or without.
            """
            CREATE TABLE authors (
                id TEXT NOT NULL PRIMARY KEY, source TEXT NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
                handle TEXT, avatar_url TEXT, email TEXT, held INTEGER NOT NULL
            ) STRICT
            """,
            "CREATE INDEX authors_by_name ON authors (folded, id)",
            // post is the wire form. held_at is NULL for a post that the last fetch of the source contained, else the
            // time of the last fetch that did: so a fetch without news writes no post. item and page are hashes of the
            // key, and of link and title, by which the posts of a document are found; NULL if the id names the post.
            // number is the order of arrival, so it is never used again; arrived_at is the time.
            """
            CREATE TABLE posts (
                number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, digest INTEGER NOT NULL,
                source TEXT NOT NULL, author TEXT NOT NULL, arrived_at INTEGER NOT NULL, post TEXT NOT NULL,
                first_seen INTEGER NOT NULL, sort_at INTEGER NOT NULL, position INTEGER NOT NULL, held_at INTEGER,
                item INTEGER, page INTEGER
            ) STRICT
            """,
            // A random number of this file, because a number of another file's posts says nothing here.
            "CREATE TABLE arrivals (cache INTEGER NOT NULL) STRICT",
            "CREATE INDEX posts_by_item ON posts (item) WHERE item IS NOT NULL",
            "CREATE INDEX posts_by_page ON posts (page) WHERE page IS NOT NULL",
            // Contains everything by which lists are filtered, so that a list reads no other posts than it shows.
            """
            CREATE INDEX posts_by_time ON posts
                (sort_at DESC, position, number DESC, source, author, digest, first_seen, arrived_at)
            """,
            "CREATE INDEX posts_by_source ON posts (source, held_at)",
            "CREATE INDEX posts_by_author ON posts (author)",
            // Title, text, tags and author's names of a post as searches read them (SearchWords), apart from the posts,
            // so that nothing else reads them.
            """
            CREATE TABLE post_texts (
                number INTEGER PRIMARY KEY REFERENCES posts (number) ON DELETE CASCADE, text TEXT NOT NULL
            ) STRICT
            """,
            // The posts that each rule of a user hides, a bit for each number of a chunk (MutedPosts); rule 0 is the
            // union, and -1 has the posts that a rule hid when they arrived.
            """
            CREATE TABLE muted (
                uid INTEGER NOT NULL, rule INTEGER NOT NULL, chunk INTEGER NOT NULL, bits BLOB NOT NULL,
                PRIMARY KEY (uid, rule, chunk)
            ) STRICT, WITHOUT ROWID
            """,
            // The rules whose stored posts are all in `muted`, with words and sources in the form for comparisons.
            "CREATE TABLE muted_rules (rule INTEGER PRIMARY KEY, uid INTEGER NOT NULL, form TEXT NOT NULL) STRICT",
            // The texts of posts' pages, as posts in wire form; page is a hash of the address.
            """
            CREATE TABLE articles (
                number INTEGER PRIMARY KEY REFERENCES posts (number) ON DELETE CASCADE, page INTEGER NOT NULL,
                post TEXT NOT NULL
            ) STRICT
            """,
        ], version: 9,
        migrations: [
            0: (
                before: "",
                after: "INSERT INTO arrivals VALUES (random()); INSERT INTO sqlite_sequence VALUES ('posts', 0)"
            )
        ])

    /// `state.db`: data that cannot be fetched again. Never deleted.
    static let state = DatabaseKind(
        fileName: "state.db", applicationID: 0x4E52_5253,  // "NRRS"
        isState: true,
        schema: [
            """
            CREATE TABLE facts_of_the_day (
                number INTEGER PRIMARY KEY, day TEXT NOT NULL UNIQUE, fact TEXT NOT NULL
            ) STRICT
            """,
            // The last fetch of each source, its failures since its last success, and the waits in seconds. A host that
            // asked for a pause has a row too, with a colon in its name.
            """
            CREATE TABLE schedules (
                source TEXT NOT NULL PRIMARY KEY, last_run_at INTEGER, wait INTEGER, retry_at INTEGER,
                failures INTEGER NOT NULL, failure_kind TEXT, failure_message TEXT, failure_since INTEGER,
                settings TEXT, upstream TEXT, had_content INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
            // The requests of the last hour: times in seconds, separated by spaces.
            "CREATE TABLE quotas (source TEXT NOT NULL PRIMARY KEY, calls TEXT NOT NULL) STRICT, WITHOUT ROWID",
            // Of two favorites of one second, the newer has the larger number. content is the wire form of the fact or
            // post; NULL without content, and for GIFs, of which only id and title may be stored. bytes counts id,
            // title and content.
            """
            CREATE TABLE favorites (
                number INTEGER PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
                title TEXT NOT NULL, added_at INTEGER NOT NULL, content TEXT, bytes INTEGER NOT NULL,
                UNIQUE (uid, kind, id)
            ) STRICT
            """,
            "CREATE INDEX favorites_by_time ON favorites (uid, added_at DESC, number DESC)",
            "CREATE INDEX favorites_by_size ON favorites (uid, bytes)",
            "CREATE INDEX favorite_gifs ON favorites (id, uid, added_at) WHERE kind = 'gif'",
            // searches is an array of JSON, newest first.
            "CREATE TABLE recent_searches (uid INTEGER PRIMARY KEY, searches TEXT NOT NULL) STRICT",
            // post is a hash of the post's id. The user's newest mark has the largest number.
            """
            CREATE TABLE read_marks (
                uid INTEGER NOT NULL, post INTEGER NOT NULL, source TEXT NOT NULL, is_read INTEGER NOT NULL,
                number INTEGER NOT NULL, PRIMARY KEY (uid, post)
            ) STRICT, WITHOUT ROWID
            """,
            // Everything of a source that was first seen until a time is read. A negative uid represents all users.
            """
            CREATE TABLE read_until (
                uid INTEGER NOT NULL, source TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (uid, source)
            ) STRICT, WITHOUT ROWID
            """,
            // The watermarks (post is NULL) and marks that the user's last mark as read has replaced; value is NULL if
            // there was none.
            """
            CREATE TABLE read_undo (uid INTEGER NOT NULL, source TEXT NOT NULL, post INTEGER, value INTEGER) STRICT
            """,
            "CREATE INDEX read_undo_by_user ON read_undo (uid)",
            """
            CREATE TABLE shuffles (
                uid INTEGER NOT NULL, filter TEXT NOT NULL, shuffle BLOB NOT NULL, used_at INTEGER NOT NULL,
                PRIMARY KEY (uid, filter)
            ) STRICT, WITHOUT ROWID
            """,
            // The last item of each kind that a user was served. The user's newest has the largest number.
            """
            CREATE TABLE served (
                uid INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, name TEXT, number INTEGER NOT NULL,
                PRIMARY KEY (uid, kind)
            ) STRICT, WITHOUT ROWID
            """,
            // The sources of posts that were added, in this order. settings is the wire form.
            """
            CREATE TABLE sources (
                number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL
            ) STRICT
            """,
            // The rules by which users hide posts. Numbers are not used again.
            """
            CREATE TABLE mutes (
                number INTEGER PRIMARY KEY AUTOINCREMENT, uid INTEGER NOT NULL, query TEXT NOT NULL, source TEXT,
                tag TEXT, is_exception INTEGER NOT NULL
            ) STRICT
            """,
            "CREATE INDEX mutes_by_user ON mutes (uid)",
            // The key of the cursors of all lists.
            "CREATE TABLE cursor_key (key INTEGER NOT NULL) STRICT",
        ], version: 6,
        migrations: [
            0: (before: "", after: "INSERT INTO cursor_key VALUES (random())"),
            1: (
                before: """
                DROP TRIGGER favorites_added; DROP TRIGGER favorites_removed;
                DROP TRIGGER shuffles_added; DROP TRIGGER shuffles_changed; DROP TRIGGER shuffles_removed;
                DROP TRIGGER served_added; DROP TRIGGER served_changed; DROP TRIGGER served_removed;
                DROP TABLE facts_of_the_day; DROP TABLE schedules; DROP TABLE quota_calls; DROP TABLE cursor_keys;
                DROP TABLE favorite_totals; DROP TABLE recent_searches; DROP TABLE read_marks;
                DROP TABLE read_watermarks; DROP TABLE user_state;
                DROP INDEX favorites_by_time; DROP INDEX favorite_gifs;
                ALTER TABLE favorites RENAME TO old_favorites;
                """,
                after: """
                INSERT INTO favorites
                    SELECT number, uid, kind, id, title, added_at, content,
                        length(CAST(id || title || ifnull(content, '') AS BLOB))
                    FROM old_favorites;
                DROP TABLE old_favorites;
                INSERT INTO cursor_key VALUES (random());
                """
            ),
            // refresh and keep were seconds. json_patch() removes members that are null.
            3: (
                before: "ALTER TABLE sources RENAME TO old_sources",
                after: """
                INSERT INTO sources
                    SELECT number, name, json_patch('{}', json_object(
                        'url', url, 'kind', kind, 'refresh', refresh || 's', 'keep', keep || 's'))
                    FROM old_sources;
                DROP TABLE old_sources;
                """
            ),
        ])
}

/// The limit of all users' data in `state.db` except favorites: recent searches, read marks, rules, shuffles and
/// the last items served. User ids are unlimited in user namespaces, so limits of single users do not limit the file.
enum UserState {
    /// The limit in bytes, as estimated for the file.
    static let maximumBytes = 64 << 20

    static let full = ResponseError.busy(
        "The read marks, rules, searches and shuffles of all users take \(maximumBytes >> 20) MiB, the limit.",
        hint: "Ask other users of this machine to replace their marks by one: norrisctl read --all")

    /// The tables with the estimated bytes of a row, including indexes and free space.
    static let tables: [(name: String, bytes: String)] = [
        ("read_marks", "56"), ("read_until", "56"), ("read_undo", "64"), ("shuffles", "96 + length(shuffle)"),
        ("served", "128"), ("recent_searches", "64 + length(searches)"), ("mutes", "96 + 4 * length(query)"),
    ]

    /// Whether a user without any data must not add some.
    static func isFull(for uid: Int64, _ database: Database) throws -> Bool {
        let own = tables.map { "EXISTS (SELECT 1 FROM \($0.name) WHERE uid = ?1)" }.joined(separator: " OR ")
        if try database.value("SELECT \(own)", [uid]) ?? false { return false }
        let all = tables.map { "(SELECT ifnull(sum(\($0.bytes)), 0) FROM \($0.name))" }.joined(separator: " + ")
        let bytes: Int64 = try database.value("SELECT \(all)") ?? 0
        return bytes > maximumBytes
    }
}
