import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// After random fetches, marks and clearings, the lists equal a simple model.
struct PostModelTests {
    @Test(arguments: 1...10) func listsAreWhatTheModelSays(seed: Int) async throws {
        var world = try await World(seed: UInt64(seed))
        for step in 0..<100 {
            try await world.step()
            try await world.check("seed \(seed), step \(step)")
        }
    }
}

/// The posts of two sources and the read marks of two users, by simple and slow rules.
private struct World {
    struct Known {
        var post: Post
        let firstSeen: Int64
        /// The position in the document that first contained the post.
        let position: Int
        /// The time of the last fetch with the post, and whether that fetch is the latest of the source.
        var heldAt: Int64
        var isHeld = true
        /// Set by each fetch with the post.
        var sortAt: Int64 = 0

        mutating func sort(at now: Int64) { sortAt = post.date(until: now) ?? firstSeen }
    }

    struct KnownAuthor {
        var author: Post.Author
        let source: String
        var isHeld = true
    }

    private let databases: Databases
    private var store: PostStore
    private var marks: ReadMarks
    private var generator: SeededRandom
    private var now: Int64 = 1_000
    private var posts: [Known] = []
    private var authors: [KnownAuthor] = []
    private var fetched: Set<String> = []
    /// The marks of single posts by user and id. They stay when the post goes.
    private var marked: [UInt32: [String: Bool]] = [:]
    /// The times until which everything of a source is read, by user.
    private var until: [UInt32: [String: Int64]] = [:]

    private static let keep: Int64 = 30
    private static let sources = ["a", "b"]

    init(seed: UInt64) async throws {
        databases = try await StoreFixture().databases()
        store = await PostStore(databases: databases)
        marks = ReadMarks(databases: databases)
        generator = SeededRandom(seed: seed)
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func someAuthor(_ source: String) -> Post.Author {
        Post.Author(id: "\(source):u\(number(0...3))", name: ["ann", "Ann", "bob", "Zoë"][number(0...3)])
    }

    private mutating func somePosts(_ source: String) -> [Post] {
        (0..<number(0...8)).map { _ in
            Post(
                id: "\(source):\(number(0...11))", source: source, author: someAuthor(source),
                publishedAt: [nil, Timestamp(seconds: now - 10 + Int64(number(0...20)))][number(0...1)],
                text: ["one", "two"][number(0...1)])
        }
    }

    mutating func step() async throws {
        now += Int64(number(0...9))
        let source = World.sources[number(0...1)]
        switch number(0...11) {
        case 0...5:
            let isComplete = number(0...3) > 0
            let (new, others) = (somePosts(source), (0..<number(0...2)).map { _ in someAuthor(source) })
            let expected = take(new, others, source, isComplete: isComplete)
            var changes = try await store.fetch(
                new, authors: others, source: source, isComplete: isComplete, keep: .seconds(World.keep), at: now)
            changes.newest = []
            #expect(changes == expected)
        case 6:
            let removed = confirm(source)
            let changes = await store.confirm(
                source: source, keep: .seconds(World.keep), fetch: .sample(at: now), at: Timestamp(seconds: now))
            #expect((changes == nil) == !fetched.contains(source))
            #expect((changes?.removed ?? 0) == removed)
        case 7...9:
            let uid = UInt32(number(1...2))
            if number(0...9) == 0 { return try await markAll(uid, [[source], World.sources][number(0...1)]) }
            let asRead = number(0...2) > 0
            let chosen = posts.filter { _ in number(0...3) == 0 }
            let changed = chosen.filter { isRead($0, uid) != asRead }
            let ids = chosen.map(\.post.id)
            let stored = try await store.stored(ids + ids, sources: World.sources)
            #expect(try await marks.mark(uid: uid, stored, isRead: asRead) == changed.count)
            for known in changed { marked[uid, default: [:]][known.post.id] = asRead }
        case 10:
            #expect(try await store.clear(source: source) == posts.count { $0.post.source == source })
            posts.removeAll { $0.post.source == source }
            authors.removeAll { $0.source == source }
            fetched.remove(source)
        default:
            store = await PostStore(databases: databases)
            marks = ReadMarks(databases: databases)
        }
    }

    private mutating func markAll(_ uid: UInt32, _ sources: [String]) async throws {
        let all = posts.filter { sources.contains($0.post.source) }
        let unread = try await store.unread(sources: sources, read: await marks.read(uid: uid))
        #expect(unread.count == all.count { !isRead($0, uid) })
        try await marks.markAll(uid: uid, unread)
        for source in sources {
            let latest = all.filter { $0.post.source == source }.map(\.firstSeen).max()
            guard let latest else { continue }
            until[uid, default: [:]][source] = max(until[uid]?[source] ?? 0, latest)
            marked[uid] = marked[uid]?.filter { !$0.key.hasPrefix(source + ":") }
        }
    }

    private func isRead(_ known: Known, _ uid: UInt32) -> Bool {
        marked[uid]?[known.post.id] ?? until[uid]?[known.post.source].map { known.firstSeen <= $0 } ?? false
    }

    private mutating func take(
        _ new: [Post], _ others: [Post.Author], _ source: String, isComplete: Bool
    ) -> PostChanges {
        var changes = PostChanges()
        var held: Set<String> = []
        let isEmpty = !posts.contains { $0.post.source == source }
        let times = until.values.compactMap { $0[source] }
        for (position, post) in new.enumerated() where held.insert(post.id).inserted {
            guard let index = posts.firstIndex(where: { $0.post.id == post.id }) else {
                let firstSeen =
                    isEmpty ? post.date(until: now) ?? times.min() ?? now : max(now, (times.max() ?? now - 1) + 1)
                posts.append(Known(post: post, firstSeen: firstSeen, position: position, heldAt: now))
                posts[posts.count - 1].sort(at: now)
                changes.added += 1
                continue
            }
            if posts[index].post != post { changes.changed += 1 }
            (posts[index].post, posts[index].heldAt, posts[index].isHeld) = (post, now, true)
            posts[index].sort(at: now)
        }
        for index in posts.indices where posts[index].post.source == source && !held.contains(posts[index].post.id) {
            guard posts[index].isHeld else { continue }
            posts[index].isHeld = false
            if !isComplete { posts[index].heldAt = now }
        }
        var named: Set<String> = []
        for author in others + new.map(\.author) where named.insert(author.id).inserted {
            authors.removeAll { $0.author.id == author.id }
            authors.append(KnownAuthor(author: author, source: source))
        }
        for index in authors.indices where isComplete && authors[index].source == source {
            authors[index].isHeld = named.contains(authors[index].author.id)
        }
        fetched.insert(source)
        changes.removed = expire(source)
        changes.total = posts.count { $0.post.source == source }
        return changes
    }

    private mutating func confirm(_ source: String) -> Int {
        guard fetched.contains(source) else { return 0 }
        for index in posts.indices where posts[index].post.source == source && posts[index].isHeld {
            posts[index].heldAt = now
        }
        return expire(source)
    }

    private mutating func expire(_ source: String) -> Int {
        let before = posts.count
        posts.removeAll { !$0.isHeld && $0.post.source == source && $0.heldAt + World.keep <= now }
        authors.removeAll { author in
            author.source == source && !author.isHeld && !posts.contains { $0.post.author.id == author.author.id }
        }
        return before - posts.count
    }

    mutating func check(_ comment: Comment) async throws {
        for source in World.sources {
            #expect(store.count(source: source) == posts.count { $0.post.source == source }, comment)
        }
        let uid = UInt32(number(1...2))
        var query = PostQuery(sources: [["a", "b"], ["b"]][number(0...1)], isUnreadOnly: number(0...1) == 0)
        query.source = [nil, "a"][number(0...1)]
        query.author = [nil, "o", "ann", "a:u1"][number(0...3)]
        let expected = listed(query, uid: uid)
        let limit = number(1...5)
        var items: [Post] = []
        var cursor: String?
        repeat {
            let page = try await store.page(query, read: await marks.read(uid: uid), cursor: cursor, limit: limit)
            #expect(page.total == expected.count, comment)
            items += page.items
            cursor = page.next
        } while cursor != nil && items.count <= expected.count
        #expect(items == expected, comment)

        let page = try await store.authors(sources: query.sources, cursor: nil, limit: 100)
        let shown = authors.filter { query.sources.contains($0.source) }
        let counts = Dictionary(uniqueKeysWithValues: page.items.map { ($0.id, $0.postCount) })
        #expect(Set(counts.keys) == Set(shown.map(\.author.id)), comment)
        for author in shown {
            #expect(counts[author.author.id] == posts.count { $0.post.author.id == author.author.id }, comment)
        }
    }

    private func listed(_ query: PostQuery, uid: UInt32) -> [Post] {
        let sorted = posts.sorted {
            ($1.sortAt, $0.position, $0.post.id) < ($0.sortAt, $1.position, $1.post.id)
        }
        let all = sorted.map { known in
            var post = known.post
            post.isRead = isRead(known, uid)
            return post
        }
        return all.filter { post in
            // Posts are found by the latest name of their author.
            let name = authors.first { $0.author.id == post.author.id }?.author.name.lowercased() ?? ""
            return query.sources.contains(post.source) && (query.source ?? post.source) == post.source
                && (query.author.map { post.author.id == $0 || name.contains($0) } ?? true)
                && !(query.isUnreadOnly && post.isRead)
        }
    }
}

extension Post {
    /// The date in seconds, if it is not after a time.
    fileprivate func date(until now: Int64) -> Int64? { publishedAt.flatMap { $0.seconds <= now ? $0.seconds : nil } }
}
