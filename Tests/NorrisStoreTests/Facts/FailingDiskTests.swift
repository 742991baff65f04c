import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Files that can be read but not written are served. Each test runs in a separate process, because databases are
/// opened on other threads, and root may write all files.
struct FailingDiskTests {
    /// RLIMIT_FSIZE makes large writes fail, as on a disk that is nearly full.
    @Test func aDiskThatIsFullForLargeWritesIsAFault() async {
        await #expect(processExitsWith: .success) {
            let fixture = StoreFixture()
            let databases = try await fixture.databases()
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            func limitFiles(_ bytes: rlim_t) {
                getrlimit(CInt(RLIMIT_FSIZE.rawValue), &limit)
                limit.rlim_cur = bytes
                #expect(setrlimit(CInt(RLIMIT_FSIZE.rawValue), &limit) == 0)
            }
            @Sendable func write(_ kibibytes: Int) async throws {
                try await databases.write(databases.cache) { database in
                    try database.execute("REPLACE INTO post_texts VALUES (1, hex(zeroblob(\(kibibytes) * 512)))")
                }
            }
            try await databases.write(databases.cache) { database in
                try database.execute("INSERT INTO posts VALUES (1, '', 1, '', '', 1, '', 1, 1, 1, NULL, NULL, NULL)")
            }
            limitFiles(1 << 20)
            await #expect(throws: StoreError.self) { try await write(4_096) }
            for _ in 0..<5 {
                #expect(databases.faults.map { $0.hasPrefix("cache.db takes no writes: ") } == [true])
                #expect(databases.condition.isCacheFailing)
                try await write(4)
                await databases.heal()
            }
            // The other database may use the space.
            #expect(Folder.size(of: fixture.folder("cache/cache.db-wal")) < 100_000)
            limitFiles(limit.rlim_max)
            await databases.heal()
            #expect(databases.faults == [])
            try await write(4_096)
            await databases.close()
        }
    }

    @Test func filesOfAnUncleanStopAreRead() async {
        await #expect(processExitsWith: .success) {
            let only = FactFilter(categories: ["only"])
            let fixture = StoreFixture()
            let before = try await fixture.open()
            try await before.replaceUpstream(upstreamFacts(0..<20, categories: ["only"]))
            let served = before.nextIDs(15, only)
            await before.writeShuffles()
            // The logs are read too.
            let killed = try fixture.killed()
            await before.databases.close()
            try await readOnly([killed.cacheFolder, killed.stateFolder]) {
                let store = try await killed.open()
                #expect(store.databases.isReadOnly)
                #expect(store.databases.faults.count == 2)
                #expect(store.databases.faults.allSatisfy { $0.contains(".db is read-only: ") })
                #expect(store.catalogue.upstreamCount == 20)
                #expect(Set(served + store.nextIDs(5, only)).count == 20)
                #expect(await !store.writeShuffles())
                await #expect(throws: StoreError.self) { try await store.replaceUpstream([]) }
                #expect(store.databases.faults.count == 2, "a failed write is no further fault")
                #expect(try store.search(FactQuery(text: "text of")).total == 20)
                await store.databases.close()
            }
        }
    }

    /// The log and its index do not exist and cannot be created.
    @Test func filesOfACleanStopAreRead() async {
        await #expect(processExitsWith: .success) {
            let temporary = TemporaryFolder()
            // SQLite receives the paths as URIs.
            let (cache, state) = (temporary("a ?#%41é/c"), temporary("a ?#%41é/s"))
            let before = try await FactStore(
                databases: Databases(cacheFolder: cache, stateFolder: state, logger: .silent))
            try await before.replaceUpstream(upstreamFacts(0..<20))
            let kept = Favorite(fact: .upstream("f"), at: Timestamp(seconds: 1))
            #expect(try await Favorites(databases: before.databases).add(kept, uid: 1))
            await before.databases.close()
            chmod(temporary("a ?#%41é"), 0o755)
            try await readOnly([cache, state]) {
                let store = try await FactStore(
                    databases: Databases(cacheFolder: cache, stateFolder: state, logger: .silent))
                let faults = store.databases.faults.map { $0.prefix { $0 != ":" } }
                #expect(faults == ["cache.db is read-only", "state.db is read-only"])
                #expect(store.catalogue.upstreamCount == 20)
                let favorites = Favorites(databases: store.databases)
                #expect(try await favorites.list(uid: 1, cursor: nil, limit: 9).items == [kept])
                let error = ResponseError.storage(
                    "Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
                await #expect(throws: error) { try await favorites.remove(.fact, id: "f", uid: 1) }
                await store.databases.close()
            }
        }
    }
}

/// Runs the body while this process may read some folders and not write them.
private func readOnly(_ folders: [String], _ body: () async throws -> Void) async throws {
    for folder in folders {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) { chmod("\(folder)/\(name)", 0o444) }
        chmod(folder, 0o555)
    }
    let isRoot = geteuid() == 0
    if isRoot { seteuid(65_534) }
    defer {
        if isRoot { seteuid(0) }
        // Otherwise the folders cannot be removed.
        for folder in folders { chmod(folder, 0o755) }
    }
    try await body()
}
