import Foundation
import Glibc
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// The file with encoded facts beside `cache.db`. Damage to the file never changes the served facts.
struct FactFileTests {
    private let fixture = StoreFixture()
    private static let name = "cache/cache.db-facts"

    /// Fewer and more facts than memory keeps.
    enum Size: CaseIterable {
        case few, many

        /// The facts of `many` have 9,000 code points each, and most of their records span several pages.
        var facts: [Fact] {
            switch self {
            case .few: upstreamFacts(0..<300, categories: ["x"])
            case .many:
                (0..<1_000).map { number in
                    let text = "\(number) " + String(repeating: "abcdefghi ", count: 890 + number % 10)
                    return .upstream(String(10_000 + number), text, categories: ["x"])
                }
            }
        }
    }

    enum Damage: CaseIterable { case deleted, emptied, truncated, random, zeroed, another, readOnly, swapped }

    private func damage(_ damage: Damage, _ size: Size) async throws {
        let file = Self.name
        var bytes = try fixture.folder.bytes(file)
        var generator = SeededRandom(seed: 5)
        switch damage {
        case .deleted: return try fixture.folder.remove(file)
        case .emptied: bytes = []
        case .truncated: bytes.removeLast(bytes.count / 2 + 7)
        case .random: bytes = bytes.map { _ in .random(in: 0...255, using: &generator) }
        case .zeroed:
            let third = bytes.count / 3
            bytes.replaceSubrange(third..<2 * third, with: repeatElement(0, count: third))
        case .another:
            // Other facts with the same ordinals and lengths.
            let other = StoreFixture()
            let store = try other.open()
            try await store.replaceUpstream(
                size.facts.map { .upstream($0.id, String($0.text.reversed()), categories: ["x"]) })
            store.databases.close()
            bytes = try other.folder.bytes(file)
        case .readOnly:
            bytes = [1, 2, 3]
            try fixture.folder.write(file, bytes)
            return #expect(chmod(fixture.folder(file), 0o400) == 0)
        case .swapped:
            // Swaps the halves of the file at a record boundary.
            let half = bytes.count / 2 / FactRecord.unit * FactRecord.unit
            bytes = Array(bytes[half...] + bytes[..<half])
        }
        try fixture.folder.write(file, bytes)
    }

    @Test("A read that must not wait reads from memory alone, whatever the file system", arguments: [true, false])
    func readsWithoutWaiting(isNetwork: Bool) throws {
        // tmpfs(5) does not support the flag, but its reads never wait.
        let path =
            isNetwork ? fixture.folder("facts") : "/dev/shm/norris-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        defer { unlink(path) }
        let file = FactFile(path: path, key: 1, nonblocking: isNetwork ? .never : nil)
        var (bytes, next): ([UInt8], UInt32) = ([], 0)
        var json = JSONWriter()
        let fact = Fact.upstream("a")
        let ordinal = try #require(FactRecord.append(fact, next: &next, to: &bytes, first: 0, key: 1, &json))
        file.write(bytes, at: 0)
        for waits in [true, false] {
            let read = file.withRecord(ordinal, waits: waits) { Array($0.json) }
            switch read {
            case .record(let json): #expect(json == fact.jsonBytes && (waits || !isNetwork))
            case .wouldBlock: #expect(!waits && isNetwork)
            case .damaged: Issue.record("The record is whole")
            }
        }
    }

    /// All facts in serving order of one user, sorted by id.
    private func served(_ store: FactStore, uid: UInt32) async -> [Fact] {
        var facts: [Fact] = []
        for _ in 0..<10 { facts += await store.nextFacts(store.count / 10, uid: uid) }
        return facts.sorted { $0.id < $1.id }
    }

    @Test(
        arguments: Damage.allCases.map { (Size.few, $0) } + [(.many, .truncated), (.many, .zeroed), (.many, .swapped)])
    func everyFactIsServedAsItWasStored(size: Size, damage: Damage) async throws {
        let facts = size.facts
        try await fixture.run { store in
            try await store.replaceUpstream(facts)
            #expect(store.withState { $0.chunks != nil } == (size == .few))
        }
        let whole = try fixture.folder.bytes(Self.name)
        try await self.damage(damage, size)
        try await fixture.run { store in
            #expect(await served(store, uid: 1) == facts)
            #expect(await served(store, uid: 2) == facts)
            #expect(store.databases.faults == [])
        }
        if damage == .readOnly, geteuid() != 0 { return }
        // Zeros between two records are not part of a record. A file that was shorter may contain holes.
        let records = records(whole)
        #expect(records.count == facts.count)
        #expect(self.records(try fixture.folder.bytes(Self.name)) == records)
    }

    /// The intact records by their byte offsets.
    private func records(_ bytes: [UInt8]) -> [UInt32: [UInt8]] {
        var records: [UInt32: [UInt8]] = [:]
        // Ordinal 0 is never used.
        for start in stride(from: FactRecord.unit, to: bytes.count - FactRecord.unit, by: FactRecord.unit) {
            bytes[start...].withUnsafeBytes { rest in
                if let fact = FactRecord.read(UInt32(start / FactRecord.unit), rest) {
                    records[UInt32(start)] = Array(fact.record)
                }
            }
        }
        return records
    }

    /// Damage while the daemon runs: facts in memory are not read again, and other records are rebuilt.
    @Test(arguments: Size.allCases) func fileThatIsDamagedUnderTheDaemon(size: Size) async throws {
        let facts = size.facts
        try await fixture.run { store in
            try await store.replaceUpstream(facts)
            for (uid, length) in [off_t(0), 100_000, 31].enumerated() {
                truncate(fixture.folder(Self.name), length)
                #expect(await served(store, uid: UInt32(uid)) == facts)
            }
            try fixture.folder.remove(Self.name)
            #expect(await served(store, uid: 9) == facts)
        }
        try await fixture.run { #expect(await served($0, uid: 10) == facts) }
    }

    /// Records that cross the end of a read, and the longest records.
    @Test(arguments: [900, 1_000, 1_008, 1_009, 1_010, 1_020, 1_100, 5_000, 10_000])
    func lengthsOfRecordsDoNotMatter(length: Int) async throws {
        let facts = [
            Fact.upstream("a", String(repeating: "x", count: length)),
            .upstream("b", String(repeating: "😀", count: length)),
            .upstream("c", String(repeating: "\u{85}", count: length)),
        ]
        try await fixture.run { store in
            try await store.replaceUpstream(facts)
            store.withState { $0.chunks = nil }
            #expect(await store.nextFacts(3).sorted { $0.id < $1.id } == facts)
        }
        try await fixture.run { store in #expect(await store.nextFacts(3).sorted { $0.id < $1.id } == facts) }
    }

    /// A search adds a few facts: their records are appended, and no other record is written.
    @Test(arguments: Size.allCases) func foundFactsAreAppended(size: Size) async throws {
        try await fixture.run { store in
            try await store.replaceUpstream(size.facts)
            let before = try fixture.folder.bytes(Self.name)
            try await store.addFound([.upstream("found", "New."), .upstream("further", "Newer.")])
            let after = try fixture.folder.bytes(Self.name)
            #expect(after.count > before.count && after.count < before.count + 1_000)
            #expect(after.starts(with: before))
            let found = try await store.fact(id: "found")
            #expect(found?.text == "New.")
            #expect(
                await store.nextFacts(2, filter: ShuffleFilter(maxLength: 6)).map(\.text).sorted() == [
                    "New.", "Newer.",
                ])
        }
    }

    @Test func ordinalsAreNeverUsedAgain() async throws {
        var seen: Set<UInt32> = []
        for round in 0..<4 {
            try await fixture.run { store in
                let changes = try store.replaceBuiltin([
                    Fact(id: "\(round)", text: "T\(round)", categories: [], source: "builtin")
                ])
                #expect(changes.added.allSatisfy { seen.insert($0.ordinal).inserted })
                try await store.replaceUpstream(upstreamFacts(round..<round + 5))
                try await store.clearUpstream()
                let ordinals = try await store.databases.cache(.facts).writer.read {
                    try Int.fetchAll($0, "SELECT ordinal FROM facts")
                }
                seen.formUnion(ordinals.map { UInt32($0) })
                _ = try store.replaceBuiltin([])
            }
        }
        #expect(seen.count == 4)
    }

    /// The ordinals of a failed fetch are reused. Its records are never served as later facts.
    @Test(arguments: [false, true]) func factsOfAFetchThatFailedAreNeverServed(isInMemory: Bool) async throws {
        let text = String(repeating: "never ", count: 400)
        try await fixture.run { store in
            try await store.replaceUpstream([.upstream("a")])
            try await store.databases.cache(.facts).opened.refuseWrites(to: "fetches")
            let facts = (0..<600).map { Fact.upstream("never-\($0)", "\($0) \(text)") }
            await #expect(throws: StoreError.self) { try await store.replaceUpstream(facts) }
            try await store.databases.cache(.facts).opened.takeWritesAgain()
            try await store.replaceUpstream(
                [.upstream("a")] + (0..<600).map { .upstream("b-\($0)", "\($0) \(text)".uppercased()) })
        }
        try await fixture.run { store in
            if !isInMemory { store.withState { $0.chunks = nil } }
            let served = await store.nextFacts(700)
            #expect(served.count == 601)
            #expect(served.allSatisfy { !$0.id.hasPrefix("never") })
        }
    }

    /// Long runs of removed facts return their space to the file system. The other records remain intact.
    @Test func removedFactsGiveTheirSpaceBack() async throws {
        let facts = Size.many.facts
        try await fixture.run { store in
            try await store.replaceUpstream(facts)
            var status = stat()
            stat(fixture.folder(Self.name), &status)
            let before = status.st_blocks
            let left = Array(facts[100..<110] + facts[500..<503] + facts.suffix(1))
            try await store.replaceUpstream(left)
            stat(fixture.folder(Self.name), &status)
            if before > 10_000 { #expect(status.st_blocks < before / 4) }
            #expect(store.withState { $0.chunks != nil }, "few are in memory again")
            #expect(await store.nextFacts(50).sorted { $0.id < $1.id } == left)
        }
        try await fixture.run { #expect(await $0.nextFacts(50).count == 14) }
    }

    /// After most facts of a list are removed, a draw does not skip over removed entries.
    @Test func compactedListsAreDrawnFromInFewSteps() async throws {
        let facts = upstreamFacts(0..<5_000, categories: ["x"])
        let filters = [ShuffleFilter(), ShuffleFilter(categories: ["x"]), ShuffleFilter(maxLength: 100)]
        try await fixture.run { store in
            try await store.replaceUpstream(facts)
            for filter in filters { #expect(await store.nextIDs(100, filter).count == 100) }
            try await store.replaceUpstream(Array(facts.suffix(10)))
            for filter in filters {
                for _ in 0..<3 { #expect(await Set(store.nextIDs(10, filter)).count == 10) }
                let most = store.withState { state in
                    state.entry(1, filter).lists.map { state.index.lists[$0].count }.max()
                }
                #expect(most == 10)
            }
            let entries = try await store.databases.cache(.facts).writer.read { database in
                try database.expectWholeFacts()
                return try Int.fetchOne(database, "SELECT count(*) FROM fact_entries")
            }
            #expect(entries == 20)
        }
        try await fixture.run { store in
            for filter in filters { #expect(await Set(store.nextIDs(10, filter)).count == 10) }
        }
    }

    /// The lists in memory equal the lists after a restart, for random sequences of imports.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func memoryFollowsTheDisk(seed: UInt64) async throws {
        var generator = SeededRandom(seed: seed)
        let store = try fixture.open()
        defer { store.databases.close() }
        let filters = [
            ShuffleFilter(), ShuffleFilter(categories: ["p"]),
            ShuffleFilter(categories: ["p", "q"], allowsExplicit: true),
            ShuffleFilter(source: .fortune), ShuffleFilter(maxLength: 30),
        ]
        for step in 0..<60 {
            let facts = (0..<Int.random(in: 0...150, using: &generator)).map { _ in
                Fact.upstream(
                    String(1_000 + Int.random(in: 0..<400, using: &generator)),
                    "Text \(Int.random(in: 0..<300, using: &generator))"
                        + (Bool.random(using: &generator) ? "" : String(repeating: "x", count: 40)),
                    categories: ["p", "q", "explicit"].filter { _ in Int.random(in: 0..<4, using: &generator) == 0 },
                    source: Int.random(in: 0..<4, using: &generator) == 0 ? "fortune:f" : "chucknorris")
            }
            if Bool.random(using: &generator) {
                try await store.replaceUpstream(facts, isComplete: Bool.random(using: &generator))
            } else {
                try await store.addFound(Array(facts.prefix(5)))
            }
            for filter in filters where Bool.random(using: &generator) {
                _ = await store.nextIDs(.random(in: 1...40, using: &generator), filter)
            }
            guard step % 10 == 9 else { continue }
            try await store.databases.cache(.facts).writer.read {
                try $0.expectWholeFacts("seed \(seed), step \(step)")
            }
            let other = FactStore(databases: store.databases)
            let uid = UInt32.random(in: 100 ... .max, using: &generator)
            for filter in filters {
                let expected = await Set(other.nextIDs(1_000, uid: uid, filter))
                #expect(
                    await Set(store.nextIDs(1_000, uid: uid, filter)) == expected,
                    "seed \(seed), step \(step), \(filter.key)")
            }
            #expect(store.count == other.count && store.isLocal == other.isLocal)
            #expect(store.categories(of: .all) == other.categories(of: .all))
        }
    }

    // MARK: Last served fact

    @Test func lastServedIsKnownAcrossRestarts() async throws {
        let last = try await fixture.run { store -> String in
            try await store.replaceUpstream(upstreamFacts(0..<50))
            store.noteServed("gif", .gif, uid: 1)
            var last = ""
            _ = store.next(3, uid: 1, filter: ShuffleFilter(), name: "Ada") { fact in
                last = (try? Fact(json: JSON.parse(Array(fact.json))).id) ?? ""
            }
            let item = try await store.lastServed(.fact, uid: 1)
            #expect(item?.id == last && item?.name == "Ada")
            return last
        }
        try await fixture.run { store in
            let item = try await store.lastServed(.fact, uid: 1)
            #expect(item?.id == last && item?.name == "Ada")
            let gif = try await store.lastServed(.gif, uid: 1)
            #expect(gif?.id == "gif" && gif?.name == nil)
            let (post, other) = (try await store.lastServed(.post, uid: 1), try await store.lastServed(.fact, uid: 2))
            #expect(post == nil && other == nil)
            _ = store.serveFactInMemory(id: "fact-000007", uid: 1) { _ in }
            let got = try await store.lastServed(.fact, uid: 1)
            #expect(got?.id == "fact-000007" && got?.name == nil)
            _ = store.serveFactInMemory(id: "fact-000008", uid: 1, name: "Grace") { _ in }
        }
        try await fixture.run { store in
            let got = try await store.lastServed(.fact, uid: 1)
            #expect(got?.id == "fact-000008" && got?.name == "Grace")
        }
    }

    @Test func theLastOfAnyKindIsKnownAcrossRestarts() async throws {
        let any = RecentServed.anyKind
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<10))
            #expect(try await store.lastServed(any, uid: 1) == nil)
            _ = store.serveFactInMemory(id: "fact-000007", uid: 1, name: "Ada") { _ in }
            store.noteServed("p", .post, uid: 1)
            store.noteServed("g", .gif, uid: 1)
            let gif = try await store.lastServed(any, uid: 1)
            #expect(gif?.kind == .gif && gif?.id == "g")
            await store.writeShuffles()
            store.noteServed("p2", .post, uid: 1)
            let post = try await store.lastServed(any, uid: 1)
            #expect(post?.kind == .post && post?.id == "p2")
            await store.writeShuffles()
            _ = store.serveFactInMemory(id: "fact-000008", uid: 1, name: "Ada") { _ in }
        }
        try await fixture.run { store in
            let fact = try await store.lastServed(any, uid: 1)
            #expect(fact?.kind == .fact && fact?.id == "fact-000008" && fact?.name == "Ada")
            #expect(try await store.lastServed(.post, uid: 1)?.id == "p2")
            #expect(try await store.lastServed(any, uid: 2) == nil)
        }
    }

    @Test func everyChangeWakesTheWriter() async throws {
        let store = try fixture.open()
        defer { store.databases.close() }
        try await store.replaceUpstream(upstreamFacts(0..<5))
        nonisolated(unsafe) var wakes = 0  // SAFETY: Only this task draws.
        store.onMove { wakes += 1 }
        for number in 1...64 { _ = await store.nextIDs(1, ShuffleFilter(maxLength: 100 + number)) }
        #expect(wakes == 1)
        #expect(await store.writeShuffles())
        #expect(await store.nextIDs(1).count == 1)
        #expect(wakes == 2)
    }
}
