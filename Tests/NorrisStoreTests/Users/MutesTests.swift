import Foundation
import NorrisProtocol
import Testing

@testable import NorrisStore

/// The rules that hide posts from users.
struct MutesTests {
    private let sources: [(name: String, tags: [String])] = [("a", ["work"]), ("b", [])]

    private func withStore(
        _ fixture: StoreFixture = StoreFixture(), _ body: (PostStore) async throws -> Void
    ) async throws {
        let databases = try await fixture.databases()
        let store = await PostStore(databases: databases)
        await store.mutes.read(for: sources)
        try await store.mutes.workOut()
        try await body(store)
        await databases.close()
    }

    private func listed(_ store: PostStore, uid: UInt32 = 1, muted: Bool = false) async throws -> [String] {
        let query = PostQuery(sources: ["a", "b"], PostList.Parameters(muted: muted))
        return try await store.listed(query, read: ReadPosts(uid: uid)).sorted()
    }

    @Test func aRuleHoldsForStoredPostsAndForThoseThatArrive() async throws {
        try await withStore { store async throws in
            let posts: [Post] = [.sample("a:1", "Buy gold"), .sample("a:2", "Silver")]
            try await store.fetch(posts, at: 10)
            let rule = try await store.mute("GOLD")
            #expect(rule.matching == 1)
            #expect(store.takeHidden(of: "a") == [:])
            try await store.fetch(posts + [.sample("a:3", "Gold and more"), .sample("a:4", by: "goldie")], at: 20)
            #expect(store.takeHidden(of: "a") == [1: ["a:3", "a:4"]])
            #expect(store.takeHidden(of: "a") == [:])
            #expect(try await listed(store) == ["a:2"])
            #expect(try await listed(store, muted: true) == ["a:1", "a:3", "a:4"])
            #expect(try await listed(store, uid: 2) == ["a:1", "a:2", "a:3", "a:4"])
            #expect(try await listed(store, uid: 2, muted: true) == [])
            // In searches, counts and totals too.
            let search = PostQuery(sources: ["a"], search: try SearchWords("o"))
            #expect(try await store.page(search, read: ReadPosts(uid: 1)).total == 0)
            #expect(try await store.page(search, read: ReadPosts(uid: 2)).total == 3)
            let unread = try await store.unread(sources: ["a"], read: ReadPosts(uid: 1))
            #expect(unread.count == 1 && unread.hasHidden)
            #expect(try await store.unread(sources: ["a"], read: ReadPosts(uid: 2)).count == 4)
            // An edit hides a post, or shows it.
            try await store.fetch([.sample("a:1", "Buy tin"), .sample("a:2", "Gold again")], at: 30)
            #expect(try await listed(store, muted: true) == ["a:2", "a:3", "a:4"])
            #expect(try await store.mutes.list(uid: 1, sources: ["a"]).map(\.matching) == [3])
            #expect(try await store.mutes.list(uid: 2, sources: ["a"]) == [])
            // Another user cannot remove the rule.
            let number = Int64(try #require(rule.number))
            #expect(try await store.mutes.remove(number, uid: 2) == nil)
            #expect(try await store.mutes.remove(number, uid: 1) == "GOLD")
            #expect(try await store.mutes.remove(number, uid: 1) == nil)
            #expect(try await listed(store) == ["a:1", "a:2", "a:3", "a:4"])
        }
    }

    @Test func severalRulesHideThePostsOfEach() async throws {
        try await withStore { store async throws in
            try await store.fetch([.sample("a:1", "One"), .sample("a:2", "Two"), .sample("a:3", "Three")], at: 10)
            try await store.fetch([.sample("b:1", "One", source: "b")], source: "b", at: 10)
            let one = try await store.mute("one")
            // The same rule is one.
            #expect(try await store.mute("one").number == one.number)
            let except = try await store.mute("three", tag: "work", except: true)
            #expect(except.matching == 2)
            #expect(try await listed(store) == ["a:3"])
            #expect(try await store.mute("one", source: "b").matching == 1)
            #expect(try await store.mutes.remove(Int64(one.number ?? 0), uid: 1) != nil)
            #expect(try await listed(store, muted: true) == ["a:1", "a:2", "b:1"])
            // Numbers are not used again.
            let last = try await store.mute("else")
            #expect(try await store.mutes.remove(Int64(last.number ?? 0), uid: 1) != nil)
            #expect(try #require(try await store.mute("else").number) > last.number ?? 0)
        }
    }

    @Test func aPostThatWasHiddenWhenItArrivedIsNotListedAsArrivedLater() async throws {
        try await withStore { store async throws in
            let start = try await store.arrivals(nil, uid: 1).next
            let rule = try await store.mute("gold")
            try await store.fetch([.sample("a:1", "Gold"), .sample("a:2", "Tin")], at: 10)
            #expect(try await store.arrivals(start, uid: 1).items.map(\.id) == ["a:2"])
            _ = try await store.mutes.remove(Int64(rule.number ?? 0), uid: 1)
            #expect(try await store.arrivals(start, uid: 1).items.map(\.id) == ["a:2"])
            #expect(try await store.arrivals(start, uid: 2).items.map(\.id) == ["a:1", "a:2"])
            #expect(try await listed(store) == ["a:1", "a:2"])
        }
    }

    @Test("Rules hold after a crash, and in a new cache")
    func rebuild() async throws {
        let fixture = StoreFixture()
        let posts: [Post] = [.sample("a:1", "Gold"), .sample("a:2", "Tin")]
        try await withStore(fixture) { store async throws in
            try await store.fetch(posts, at: 10)
            _ = try await store.mute("gold")
            _ = try await store.mute("tin", uid: 2)
            // As a crash before the end of mute.add leaves it, and one between the removal of a rule from both files.
            try await store.databases.write(store.databases.cache) { database in
                try database.execute("DELETE FROM muted WHERE uid = 1; DELETE FROM muted_rules WHERE uid = 1")
            }
            try await store.databases.write(store.databases.state) { try $0.execute("DELETE FROM mutes WHERE uid = 2") }
        }
        try await withStore(fixture) { store async throws in
            #expect(try await listed(store) == ["a:2"])
            #expect(try await listed(store, uid: 2) == ["a:1", "a:2"])
        }
        try FileManager.default.removeItem(atPath: fixture.cacheFolder)
        try await withStore(fixture) { store async throws in
            try await store.fetch(posts, at: 20)
            #expect(try await listed(store) == ["a:2"])
            #expect(try await store.mutes.list(uid: 1, sources: ["a"]).map(\.matching) == [1])
        }
    }

    @Test func aRuleWhoseSourceOrTagIsGoneHidesNothing() async throws {
        try await withStore { store async throws in
            try await store.fetch([.sample("a:1", "Gold")], at: 10)
            try await store.fetch([.sample("b:1", "Gold", source: "b")], source: "b", at: 10)
            _ = try await store.mute("gold", tag: "Work")
            _ = try await store.mute("gold", uid: 2, source: "b")
            func change(_ sources: [(name: String, tags: [String])]) async throws -> [[String]] {
                await store.mutes.read(for: sources)
                try await store.mutes.workOut()
                return [try await listed(store), try await listed(store, uid: 2)]
            }
            #expect(try await change(sources) == [["b:1"], ["a:1"]])
            #expect(try await change([("a", []), ("b", ["work"])]) == [["a:1"], ["a:1"]])
            #expect(try await change([("a", [])]) == [["a:1", "b:1"], ["a:1", "b:1"]])
            try await store.fetch([.sample("a:1", "Gold"), .sample("a:2", "Gold")], at: 20)
            #expect(try await change(sources) == [["b:1"], ["a:1", "a:2"]])
        }
    }

    @Test func aRuleThatIsAddedWhilePostsArriveHidesAllOfThem() async throws {
        try await withStore { store async throws in
            let posts = (0..<2_000).map { Post.sample("a:\($0)", $0.isMultiple(of: 2) ? "Gold" : "Tin") }
            async let changes = store.fetch(posts, at: 10)
            _ = try await store.mute("gold")
            #expect(try await changes.added == 2_000)
            #expect(try await store.mutes.list(uid: 1, sources: ["a"]).map(\.matching) == [1_000])
            let page = try await store.page(read: ReadPosts(uid: 1))
            #expect(page.items.allSatisfy { $0.text == "Tin" } && page.total == 1_000)
            #expect(try await store.page(read: ReadPosts(uid: 2)).total == nil)
        }
    }

    @Test func rulesThatAreNoneAreRefused() async throws {
        func refusal(_ parameters: MuteAdd.Parameters) -> String? {
            do throws(ResponseError) { _ = try MuteRule(parameters, uid: 1) } catch {
                #expect(error.code == .invalidParams)
                return error.detail("parameter")
            }
            return nil
        }
        #expect(refusal(MuteAdd.Parameters(query: "gold", except: true)) == "except")
        #expect(refusal(MuteAdd.Parameters(query: " \t")) == "query")
        #expect(refusal(MuteAdd.Parameters(query: (1...17).map(String.init).joined(separator: " "))) == "query")
        #expect(refusal(MuteAdd.Parameters(query: (1...16).map(String.init).joined(separator: " "))) == nil)
        try await withStore { store async throws in
            try await store.fetch([.sample("a:1", "İstanbul'da \"altın"), .sample("a:2", "ISTANBUL")], at: 10)
            // An unpaired quote is literal.
            #expect(try await store.mute("\"altın").matching == 1)
            #expect(try await store.mute("İSTANBUL'DA", uid: 2).matching == 1)
            #expect(try await store.mute("istanbul", uid: 2).matching == 1)
            for number in 2...100 { _ = try await store.mute("word\(number)") }
            await #expect(throws: ResponseError.self) { try await store.mute("word101") }
            #expect(try await store.mutes.list(uid: 1, sources: ["a"]).count == 100)
            try await store.databases.changeState { database in
                let numbers = "WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 9907) "
                try database.execute(
                    numbers + "INSERT INTO mutes (uid, query, is_exception) SELECT i, 'a', 0 FROM n", [])
            }
            await #expect(throws: ResponseError.self) { try await store.mute("word", uid: 3) }
            // A test stores nothing, and counts what other rules hide too.
            let rule = try MuteRule(MuteAdd.Parameters(query: "a"), uid: 1)
            #expect(try await store.mutes.count(rule, sources: ["a"]) == 2)
            #expect(try await listed(store) == ["a:2"])
        }
    }

    @Test("A rule that the cache cannot store is no rule")
    func failedRule() async throws {
        try await withStore { store async throws in
            try await store.fetch([.sample("a:1", "Gold")], at: 10)
            try await store.databases.cache.write { database in
                try database.execute(
                    """
                    CREATE TEMP TRIGGER refused BEFORE INSERT ON main.muted_rules
                    BEGIN SELECT RAISE(ABORT, 'refused by the test'); END
                    """)
            }
            await #expect(throws: ResponseError.self) { try await store.mute("gold") }
            #expect(try await listed(store) == ["a:1"])
            #expect(try await store.mutes.list(uid: 1, sources: ["a"]) == [])
        }
    }
}

extension PostStore {
    @discardableResult fileprivate func mute(
        _ query: String, uid: UInt32 = 1, source: String? = nil, tag: String? = nil, except: Bool = false
    ) async throws -> MuteAdd.Result {
        let parameters = MuteAdd.Parameters(query: query, source: source, tag: tag, except: except)
        return try await mutes.add(try MuteRule(parameters, uid: uid), sources: ["a", "b"])
    }
}
