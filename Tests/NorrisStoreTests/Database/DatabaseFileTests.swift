import Foundation
import Glibc
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Opening, damage, healing and copies of the two files.
struct DatabaseFileTests {
    private let fixture = StoreFixture()
    private let favorite = Favorite(fact: .upstream("f"))

    private func path(_ name: String) -> String { fixture.folder("\(name)/\(name).db") }

    /// Runs SQL on a file that no daemon uses.
    private func execute(_ sql: String, on name: String) throws {
        if !fixture.folder.exists(name) { try fixture.folder.write("\(name)/unused", "") }
        let database = try Database(path: path(name), .write)
        try database.execute(sql)
        database.close()
    }

    private func favorites(_ databases: Databases) async throws -> [String] {
        try await Favorites(databases: databases).list(uid: 1, cursor: nil, limit: 9).items.map(\.id)
    }

    /// Opens, runs the body and closes cleanly, as a daemon does.
    @discardableResult private func run<Value>(_ body: (Databases) async throws -> Value) async throws -> Value {
        let databases = try await fixture.databases()
        let value = try await body(databases)
        await databases.backUp()
        await databases.close()
        return value
    }

    private func addFavorite() async throws {
        try await run { databases async throws in
            #expect(try await Favorites(databases: databases).add(favorite, uid: 1))
        }
    }

    // MARK: Opening

    /// umask(2) affects the whole process, so this test needs a separate process.
    @Test func filesAreTheirUsersOwn() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let fixture = StoreFixture()
            let databases = try await fixture.databases()
            _ = try await Favorites(databases: databases).add(Favorite(fact: .upstream("f")), uid: 1)
            await databases.backUp()
            for name in ["cache", "state"] {
                #expect(try fixture.folder.mode(name) == 0o700)
                for file in try fixture.folder.names(name) {
                    #expect(try fixture.folder.mode("\(name)/\(file)") == 0o600, "\(file)")
                }
            }
            await databases.close()
        }
    }

    @Test(arguments: ["cache", "state"]) func aNewerSchemaIsLeftUntouched(name: String) async throws {
        try await run { _ in }
        try execute("PRAGMA user_version = 700", on: name)
        let before = try fixture.folder.bytes("\(name)/\(name).db")
        let error = await #expect(throws: StoreError.self) { try await fixture.databases() }
        let known = (name == "state" ? DatabaseKind.state : .cache).version
        let alternative = name == "state" ? "give another folder" : "delete it, because its content is fetched again"
        #expect(error?.reason == .refused)
        let reason = "written by a newer norrisd (schema 700, this one knows \(known)); it was left untouched"
        let sentence = "\(path(name)): \(reason): install that version again, or \(alternative)"
        #expect(error.map { "\($0)" } == sentence)
        #expect(try fixture.folder.bytes("\(name)/\(name).db") == before)
        #expect(try fixture.folder.names(name) == ["\(name).db"])
    }

    @Test func aCacheOfAnOlderSchemaIsReplaced() async throws {
        try await run { try await FactStore(databases: $0).replaceUpstream([.upstream("f")]) }
        try execute("PRAGMA user_version = 1", on: "cache")
        try await run { databases async throws in
            #expect(databases.faults == [])
            #expect(try await databases.cache.count("facts") == 0)
        }
        let names = try fixture.folder.names("cache")
        #expect(names == ["cache.db"])
    }

    @Test(arguments: ["cache", "state"]) func aDatabaseOfAnotherProgramIsLeftUntouched(name: String) async throws {
        try execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1); PRAGMA application_id = 42", on: name)
        let before = try fixture.folder.bytes("\(name)/\(name).db")
        let error = await #expect(throws: StoreError.self) { try await fixture.databases() }
        #expect(error?.reason == .refused)
        #expect(error.map { "\($0)".contains("is a database of another program") } == true)
        #expect(try fixture.folder.bytes("\(name)/\(name).db") == before)
    }

    /// Only root can give a file away.
    @Test(.enabled(if: geteuid() == 0), arguments: ["cache", "state"], ["file", "link", "dangling link"])
    func aFileOfAnotherUserIsNotUsed(name: String, kind: String) async throws {
        let target = fixture.folder("target")
        try fixture.folder.write("\(name)/unused", "")
        if kind == "link" { try fixture.folder.write("target", "") }
        if kind == "file" { try fixture.folder.write("\(name)/\(name).db", "") } else { symlink(target, path(name)) }
        #expect(lchown(path(name), 60_001, 60_001) == 0)
        let databases = try await fixture.databases()
        #expect(databases.faults.count == 1 && databases.faults[0].contains("belongs to user 60001"))
        #expect(Folder.size(of: path(name)) == 0)
        #expect((Folder.identity(of: target) != nil) == (kind == "link"))
    }

    @Test func theStateOfTheFirstSchemaKeepsItsFavorites() async throws {
        try execute(
            """
            CREATE TABLE facts_of_the_day (number INTEGER PRIMARY KEY, day TEXT, fact TEXT);
            CREATE TABLE schedules (source TEXT PRIMARY KEY); CREATE TABLE quota_calls (source TEXT, at INTEGER);
            CREATE TABLE cursor_keys (list TEXT PRIMARY KEY, key INTEGER);
            CREATE TABLE favorite_totals (uid INTEGER PRIMARY KEY, items INTEGER, bytes INTEGER);
            CREATE TABLE recent_searches (number INTEGER PRIMARY KEY); CREATE TABLE read_watermarks (uid INTEGER);
            CREATE TABLE read_marks (uid INTEGER); CREATE TABLE user_state (uid INTEGER PRIMARY KEY, bytes INTEGER);
            CREATE TABLE favorites (
                number INTEGER PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
                title TEXT NOT NULL, added_at INTEGER NOT NULL, content TEXT, digest INTEGER NOT NULL,
                UNIQUE (uid, kind, id)
            ) STRICT;
            CREATE INDEX favorites_by_time ON favorites (uid, added_at DESC, number DESC);
            CREATE INDEX favorite_gifs ON favorites (id, added_at) WHERE kind = 'gif';
            INSERT INTO favorites VALUES (1, 1, 'gif', 'g', 'ß', 5, NULL, 0);
            """, on: "state")
        for table in ["shuffles", "served"] {
            let statement = try #require(DatabaseKind.state.schema.first { $0.hasPrefix("CREATE TABLE \(table)") })
            try execute(statement, on: "state")
            for event in ["added AFTER INSERT", "changed AFTER UPDATE", "removed AFTER DELETE"] {
                try execute("CREATE TRIGGER \(table)_\(event) ON \(table) BEGIN SELECT 1; END", on: "state")
            }
        }
        for event in ["added AFTER INSERT", "removed AFTER DELETE"] {
            let change = "UPDATE favorite_totals SET items = 0"
            try execute("CREATE TRIGGER favorites_\(event) ON favorites BEGIN \(change); END", on: "state")
        }
        try execute(
            "PRAGMA user_version = 1; PRAGMA application_id = \(DatabaseKind.state.applicationID)", on: "state")
        try await run { databases async throws in
            #expect(databases.faults == [])
            #expect(try await favorites(databases) == ["g"])
            #expect(try await databases.read(databases.state) { try $0.value("SELECT bytes FROM favorites") } == 3)
        }
        #expect(try fixture.folder.names("state").contains("state.db.v1"))
        try await run { databases async throws in #expect(try await favorites(databases) == ["g"]) }
    }

    @Test func theSourcesOfTheThirdSchemaKeepTheirSettings() async throws {
        for statement in DatabaseKind.state.schema where !statement.hasPrefix("CREATE TABLE sources") {
            try execute(statement, on: "state")
        }
        try execute(
            """
            CREATE TABLE sources (
                number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, url TEXT NOT NULL,
                refresh INTEGER, keep INTEGER
            ) STRICT;
            INSERT INTO sources VALUES (1, 'b', 'mastodon', 'https://ü.example/"\\', NULL, NULL);
            INSERT INTO sources VALUES (2, 'a', 'feed', 'https://a.example/', 7200, 86400);
            PRAGMA user_version = 3; PRAGMA application_id = \(DatabaseKind.state.applicationID)
            """, on: "state")
        var settings = SourceSettings(url: "https://a.example/", kind: "feed", refresh: "7200s")
        settings.keep = "86400s"
        let sources = [
            AddedSource(name: "b", settings: .init(url: #"https://ü.example/"\"#, kind: "mastodon")),
            AddedSource(name: "a", settings: settings),
        ]
        for _ in 0..<2 {
            try await run { databases async throws in
                #expect(databases.faults == [])
                #expect(await AddedSources(databases: databases).all() == sources)
            }
        }
        #expect(try fixture.folder.names("state").contains("state.db.v3"))
    }

    // MARK: Damage

    @Test func aDamagedStateIsReplacedByItsCopy() async throws {
        try await addFavorite()
        let copy = try fixture.folder.bytes("state/state.db.bak")
        for page in 0..<copy.count / 4_096 {
            var bytes = try fixture.folder.bytes("state/state.db")
            bytes.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: repeatElement(0x5A, count: 4_096))
            try fixture.folder.write("state/state.db", bytes)
            let databases = try await fixture.databases()
            #expect(try await favorites(databases) == ["f"], "page \(page)")
            #expect(try await Favorites(databases: databases).add(Favorite(fact: .upstream("g")), uid: 1))
            #expect(databases.faults.count == 1, "page \(page)")
            #expect(databases.faults.first?.contains("the copy of 20") == true)
            #expect(!databases.isReadOnly)
            await databases.close()
            #expect(try fixture.folder.bytes("state/state.db.damaged") == bytes)
        }
    }

    @Test func aMissingStateBesideItsCopyIsDamaged() async throws {
        try await addFavorite()
        try fixture.folder.remove("state/state.db")
        try await run { databases async throws in
            #expect(try await favorites(databases) == ["f"])
            #expect(databases.faults.first?.contains("state.db was missing") == true)
        }
        // Degraded until the next start.
        try await run { databases async throws in #expect(databases.faults == []) }
    }

    /// A directory with the name of the new file prevents the restore, as a full disk does.
    private func block(_ name: String) throws { try fixture.folder.write("\(name)/file", "") }

    @Test(arguments: ["damaged", "missing", "without tables"])
    func aCopyThatCannotBeRestoredNowIsRestoredLater(state: String) async throws {
        try await addFavorite()
        let copy = try fixture.folder.bytes("state/state.db.bak")
        try fixture.folder.write("state/state.db.damaged", "earlier")
        if state == "damaged" {
            try fixture.folder.write("state/state.db", "garbage, not SQLite")
        } else {
            try fixture.folder.remove("state/state.db")
            if state == "without tables" { try execute("PRAGMA journal_mode = WAL", on: "state") }
        }
        try block("state/state.db.new")
        let databases = try await fixture.databases()
        for _ in 0..<2 {
            #expect(databases.faults.first?.hasPrefix("state.db is in memory: ") == true)
            await #expect(throws: ResponseError.self) {
                try await Favorites(databases: databases).add(favorite, uid: 1)
            }
            await databases.backUp()
            await databases.heal()
            #expect(try fixture.folder.bytes("state/state.db.bak") == copy)
            #expect(try fixture.folder.bytes("state/state.db.damaged") == Array("earlier".utf8))
        }
        try fixture.folder.remove("state/state.db.new")
        await databases.heal()
        #expect(try await favorites(databases) == ["f"])
        #expect(databases.faults.first?.contains("the copy of 20") == true)
        let kept = state == "damaged" ? "garbage, not SQLite" : "earlier"
        #expect(try fixture.folder.bytes("state/state.db.damaged") == Array(kept.utf8))
        await databases.close()
    }

    /// Whether or not an administrator restores a backup until the disk can be written.
    @Test(arguments: [true, false]) func damageThatIsFoundOnAFullDiskIsKnownLater(isRestored: Bool) async throws {
        let databases = try await fixture.databases()
        let store = Favorites(databases: databases)
        #expect(try await store.add(favorite, uid: 1))
        await databases.backUp()
        // SQLite's check accepts it.
        try await databases.write(databases.state) { try $0.execute("UPDATE favorites SET added_at = 1 << 60") }
        try block("state/state.db.new")
        #expect(try await favorites(databases) == [])
        await databases.heal()
        #expect(databases.faults.first?.hasPrefix("state.db is in memory: ") == true)
        // A write that meets the damage is not acknowledged.
        await #expect(throws: ResponseError.self) { try await store.add(favorite, uid: 1) }
        if isRestored {
            for suffix in ["-wal", "-shm"] { unlink(path("state") + suffix) }
            // As mv(1) does.
            let restored = try fixture.folder.write("state/restored", fixture.folder.bytes("state/state.db.bak"))
            #expect(rename(restored, path("state")) == 0)
        } else {
            try fixture.folder.remove("state/state.db.new")
        }
        await databases.heal()
        #expect(try await favorites(databases) == ["f"])
        #expect(databases.faults.isEmpty == isRestored)
        #expect(fixture.folder.exists("state/state.db.damaged") != isRestored)
        await databases.close()
    }

    @Test(arguments: ["missing", "damaged", "good"], ["newer", "foreign"])
    func aCopyOfAnotherVersionOrProgramIsLeftUntouched(state: String, copy: String) async throws {
        try await addFavorite()
        let path = fixture.folder("state/state.db.bak")
        if copy == "foreign" { try fixture.folder.remove("state/state.db.bak") }
        let other = try Database(path: path, .write)
        try other.execute(copy == "foreign" ? "CREATE TABLE theirs (x)" : "PRAGMA user_version = 700")
        other.close()
        let before = try fixture.folder.bytes("state/state.db.bak")
        if state == "good" {
            try await run { databases async throws in
                #expect(try await Favorites(databases: databases).add(Favorite(fact: .upstream("g")), uid: 1))
            }
        } else {
            try fixture.folder.remove("state/state.db")
            if state == "damaged" { try fixture.folder.write("state/state.db", "garbage, not SQLite") }
            let error = await #expect(throws: StoreError.self) { try await fixture.databases() }
            #expect(error?.path == path)
            #expect(error?.reason == .refused && error.map { "\($0)".contains("move it away") } == true)
            #expect(error.map { "\($0)".contains("of another program") } == (copy == "foreign"))
        }
        #expect(try fixture.folder.bytes("state/state.db.bak") == before)
        #expect(!fixture.folder.exists("state/state.db.damaged"))
    }

    @Test func withoutAUsableCopyTheStateStartsEmpty() async throws {
        try await addFavorite()
        for name in ["state/state.db", "state/state.db.bak"] { try fixture.folder.write(name, "garbage, not SQLite") }
        try await run { databases async throws in
            #expect(try await favorites(databases) == [])
            #expect(databases.faults.first?.contains("it starts empty") == true)
        }
        for name in ["state.db", "state.db.bak"] {
            #expect(try fixture.folder.bytes("state/\(name).damaged") == Array("garbage, not SQLite".utf8))
        }
    }

    @Test(arguments: [1, 2, 3]) func aDamagedCacheIsReplacedByAnEmptyOne(seed: UInt64) async throws {
        try await run { databases async throws in
            try await FactStore(databases: databases).replaceUpstream(upstreamFacts(0..<500))
            try await PostStore(databases: databases).fetch((0..<50).map { .sample("a:\($0)") }, at: 10)
        }
        var bytes = try fixture.folder.bytes("cache/cache.db")
        var generator = SeededRandom(seed: seed)
        for index in bytes.indices.dropFirst(4_096) { bytes[index] = .random(in: 0...255, using: &generator) }
        try fixture.folder.write("cache/cache.db", bytes)
        let databases = try await fixture.databases()
        let facts = await FactStore(databases: databases)
        #expect(facts.catalogue.upstreamCount == 0 && facts.nextIDs(1).count == 1)
        #expect(try await PostStore(databases: databases).listed() == [])
        #expect(
            databases.faults == [
                "cache.db was damaged and renamed to cache.db.damaged; everything is fetched again"
            ])
        try await facts.replaceUpstream([.upstream("f")])
        await databases.close()
    }

    /// All readers and a writer meet the damage at the same time.
    @Test func damageWhileRunningIsAnswered() async throws {
        let databases = try await fixture.databases()
        let store = await PostStore(databases: databases)
        try await store.fetch((0..<200).map { .sample("a:\($0)", String(repeating: "x", count: 5_000)) }, at: 10)
        try await databases.write(databases.cache) { try $0.execute("UPDATE posts SET post = '{}'") }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<20 {
                tasks.addTask {
                    let listed = try await store.listed()
                    #expect(listed == [])
                }
            }
            // Beside them, imports of before or after the replacement, which are whole or not there.
            for number in 0..<5 {
                tasks.addTask {
                    let source = "b\(number)"
                    let authors: [Post.Author] = [.sample("idle", source: source)]
                    do {
                        try await store.fetch([.sample("\(source):1")], authors: authors, source: source, at: 20)
                    } catch let error as StoreError {
                        #expect(error == Databases.contentGone)
                    }
                }
            }
            try await tasks.waitForAll()
        }
        let sources = try await databases.read(databases.cache) { database in
            try ["fetches", "posts", "authors"].map { table in
                try database.map("SELECT DISTINCT source FROM \(table) ORDER BY source") { try $0[0] as String }
            }
        }
        #expect(sources[0] == sources[1] && sources[0] == sources[2])
        #expect(databases.faults.count == 1)
        // The first of them replaces the file, the others use the new one.
        #expect(databases.condition.cacheGeneration == 1)
        await databases.close()
    }

    @Test("A file that is deleted or replaced while it is open", arguments: [true, false])
    func aDeletedFileIsReplaced(isReplaced: Bool) async throws {
        let databases = try await fixture.databases()
        #expect(try await Favorites(databases: databases).add(favorite, uid: 1))
        await databases.backUp()
        for name in ["cache", "state"] {
            try fixture.folder.remove("\(name)/\(name).db")
            if isReplaced { try fixture.folder.write("\(name)/\(name).db", "") }
        }
        // A write detects the deletion itself.
        #expect(try await Favorites(databases: databases).add(Favorite(fact: .upstream("g")), uid: 1))
        #expect(try await favorites(databases) == ["g", "f"])
        await databases.heal()
        #expect(databases.faults.count == 2)
        await databases.close()
        for name in ["cache", "state"] { #expect(fixture.folder.exists("\(name)/\(name).db")) }
    }

    /// The log of the old file must not be applied to the new one.
    @Test func aStateThatIsRestoredUnderARunningDaemonIsRefused() async throws {
        let databases = try await fixture.databases()
        let store = Favorites(databases: databases)
        #expect(try await store.add(favorite, uid: 1))
        await databases.backUp()
        let copy = try fixture.folder.bytes("state/state.db.bak")
        #expect(try await store.add(Favorite(fact: .upstream("g")), uid: 1))
        // As mv(1) does.
        let restored = try fixture.folder.write("state/restored", copy)
        #expect(rename(restored, path("state")) == 0)
        await databases.heal()
        let fault = "state.db takes no writes: another file took its place while norrisd was running"
        #expect(databases.faults.map { $0.hasPrefix(fault) } == [true])
        await #expect(throws: ResponseError.self) { try await store.add(Favorite(fact: .upstream("h")), uid: 1) }
        for _ in 0..<3 { await databases.heal() }
        #expect(databases.isReadOnly)
        #expect(try await favorites(databases) == ["g", "f"])
        await databases.backUp()
        await databases.close()
        #expect(try fixture.folder.bytes("state/state.db.bak") == copy)
        #expect(try fixture.folder.bytes("state/state.db") == copy)
        #expect(try fixture.folder.names("state") == ["state.db", "state.db.bak"])
        try await run { databases async throws in
            #expect(try await favorites(databases) == ["f"])
            #expect(databases.faults == [])
        }
    }

    @Test func aFolderThatCannotBeReadIsNoDeletion() async throws {
        let databases = try await fixture.databases()
        #expect(rename(fixture.stateFolder, fixture.folder("away")) == 0)
        // Another error than ENOENT.
        try fixture.folder.write("state", "")
        await databases.heal()
        #expect(databases.faults == [])
        try fixture.folder.remove("state")
        #expect(rename(fixture.folder("away"), fixture.stateFolder) == 0)
        #expect(try await Favorites(databases: databases).add(favorite, uid: 1))
        await databases.close()
    }

    // MARK: Disks that cannot be written

    /// The content of the folder is served when it appears, and not overwritten.
    @Test func aFolderThatComesLaterIsRead() async throws {
        let day = CivilDate(year: 2026, month: 2, day: 28)!  // SAFETY: A valid date.
        let tomorrow = CivilDate(dayNumber: day.dayNumber + 1)!  // SAFETY: The next day.
        let now = Timestamp.now()
        func uses(_ databases: Databases) async throws -> Int64? {
            try await databases.read(databases.state) { try $0.value("SELECT max(used_at) FROM shuffles") }
        }
        let first = try await fixture.open()
        let dev = FactFilter(categories: ["dev"])
        let all = Set(first.nextIDs(100, uid: 2, dev))
        let drawn = first.nextIDs(5, dev)
        let fact = first.factOfTheDay(day, today: day, source: .all)
        let quota = QuotaLedger(source: "gifs", databases: first.databases)
        for _ in 0..<3 { #expect(await quota.take(.user, limit: 5, now: now) == .granted) }
        #expect(await first.writeShuffles())
        let used = try #require(try await uses(first.databases))
        await first.databases.close()

        try FileManager.default.moveItem(atPath: fixture.folder("state"), toPath: fixture.folder("kept"))
        try fixture.folder.write("state", "no folder")
        let store = try await fixture.open()
        let later = QuotaLedger(source: "gifs", databases: store.databases)
        await later.read()
        _ = (store.nextIDs(3, dev), store.nextIDs(3, uid: 3, dev))
        let other = store.factOfTheDay(tomorrow, today: day, source: .all)
        _ = store.factOfTheDay(day, today: day, source: .all)
        #expect(await later.take(.user, limit: 5, now: now.advanced(by: .seconds(1))) == .granted)
        _ = await store.writeShuffles()
        try fixture.folder.remove("state")
        try FileManager.default.moveItem(atPath: fixture.folder("kept"), toPath: fixture.folder("state"))
        await store.databases.heal()
        // Nothing is written before it was read.
        _ = store.nextIDs(1, dev)
        #expect(await !store.writeShuffles())
        await store.readShuffles()
        await later.read()
        #expect(store.factOfTheDay(day, today: day, source: .all) == fact)
        #expect(store.factOfTheDay(tomorrow, today: day, source: .all) == other)
        #expect(later.status(limit: 5, now: now.advanced(by: .seconds(1))).used == 4)
        #expect(Set(drawn + store.nextIDs(all.count - 5, dev)) == all)
        #expect(await store.writeShuffles())
        #expect(try await uses(store.databases) ?? 0 > used)
        await store.databases.close()
    }

    @Test func aFolderThatCannotBeUsedHealsByItself() async throws {
        let file = try fixture.folder.write("file", "plain")
        let databases = try await Databases(cacheFolder: file + "/cache", stateFolder: file + "/state", logger: .silent)
        #expect(databases.isReadOnly && databases.faults.count == 2)
        await #expect(throws: ResponseError.self) { try await Favorites(databases: databases).add(favorite, uid: 1) }
        #expect(try await favorites(databases) == [])
        try fixture.folder.remove("file")
        await databases.heal()
        #expect(databases.faults == [] && !databases.isReadOnly)
        #expect(databases.condition.cacheGeneration == 1 && databases.condition.stateGeneration == 1)
        #expect(try await Favorites(databases: databases).add(favorite, uid: 1))
        await databases.close()
    }

    @Test func aFailedWriteIsAFaultUntilAWriteSucceeds() async throws {
        try await run { databases async throws in
            try await databases.state.refuseWrites(to: "favorites")
            let error = await #expect(throws: ResponseError.self) {
                try await Favorites(databases: databases).add(favorite, uid: 1)
            }
            #expect(error?.code == .storage)
            #expect(databases.faults.map { $0.hasPrefix("state.db takes no writes: ") } == [true])
            #expect(databases.isReadOnly)
            // Not at once, so that the fault is seen, and later after each further failure.
            for calls in [1, 2] {
                for _ in 0..<calls {
                    await databases.heal()
                    #expect(databases.isReadOnly)
                }
                await databases.heal()
                #expect(databases.faults == [])
                await #expect(throws: ResponseError.self) {
                    try await Favorites(databases: databases).add(favorite, uid: 1)
                }
            }
        }
    }

    @Test func aFileThatTakesLongToReadIsTriedLessOften() async throws {
        try await run { databases async throws in
            try await databases.write(databases.state) { database in
                try database.execute("INSERT INTO recent_searches VALUES (1, hex(zeroblob(20000000)))")
            }
        }
        try block("state/state.db-wal")
        let databases = try await fixture.databases()
        await databases.heal()
        try fixture.folder.remove("state/state.db-wal")
        await databases.heal()
        #expect(databases.isReadOnly)
        await databases.heal()
        #expect(databases.faults == [])
        await databases.close()
    }

    @Test func aFailedMigrationIsNotRepeatedUntilTheNextStart() async throws {
        try execute(
            "CREATE TABLE x (y); PRAGMA user_version = 1; PRAGMA application_id = \(DatabaseKind.state.applicationID)",
            on: "state")
        let failure = "the update from schema 1 to \(DatabaseKind.state.version) failed"
        try await run { databases async throws in
            #expect(databases.faults.first?.contains(failure) == true)
            try fixture.folder.remove("state/state.db.v1")
            await databases.heal()
            #expect(!fixture.folder.exists("state/state.db.v1"))
        }
    }

    // MARK: Copies

    @Test func aCopyThatFailsLeavesTheLastOneAndIsMadeLater() async throws {
        try await addFavorite()
        let copy = try fixture.folder.bytes("state/state.db.bak")
        let databases = try await fixture.databases()
        #expect(try await Favorites(databases: databases).add(Favorite(fact: .upstream("g")), uid: 1))
        try block("state/state.db.bak.new")
        await databases.backUp()
        #expect(try fixture.folder.bytes("state/state.db.bak") == copy)
        #expect(databases.faults == [])
        try fixture.folder.remove("state/state.db.bak.new")
        await databases.backUp()
        await databases.close()
        try fixture.folder.remove("state/state.db")
        try await run { databases async throws in #expect(try await favorites(databases) == ["g", "f"]) }
    }

    @Test func theCopyContainsAllChangesAndIsMadeOnlyAfterAChange() async throws {
        let databases = try await fixture.databases()
        await databases.backUp()
        #expect(!fixture.folder.exists("state/state.db.bak"))
        #expect(try await Favorites(databases: databases).add(favorite, uid: 1))
        await databases.backUp()
        let copy = fixture.folder("state/state.db.bak")
        #expect(try fixture.folder.mode("state/state.db.bak") == 0o600)
        let count = try Database(path: copy, .read).read { try $0.value("SELECT count(*) FROM favorites") as Int? }
        #expect(count == 1)
        let identity = Folder.identity(of: copy)
        await databases.backUp()
        #expect(Folder.identity(of: copy) == identity)
        #expect(!fixture.folder.exists("state/state.db.bak.new"))
        await databases.close()
    }
}
