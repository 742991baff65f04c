import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// After random fetches, marks and clearings, the lists equal a simple model.
struct PostModelTests {
    @Test(arguments: 1...10) func listsAreWhatTheModelSays(seed: Int) async throws {
        var world = try World(seed: UInt64(seed))
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
        /// The time of the last fetch with the post, and whether that fetch is the latest of the source.
        var heldAt: Int64
        var isHeld = true
        /// Updated by a fetch that adds, changes or restores the post.
        var sortAt: Int64 = 0

        mutating func sort(at now: Int64) {
            sortAt = post.publishedAt.flatMap { $0.seconds <= now ? $0.seconds : nil } ?? firstSeen
        }
    }

    struct KnownAuthor {
        var author: Post.Author
        let source: String
        var isHeld = true
    }

    private let fixture = StoreFixture()
    private let databases: Databases
    private var store: PostStore
    private var marks: ReadMarks
    private var generator: SeededRandom
    private var now: Int64 = 1_000
    private var posts: [Known] = []
    private var authors: [KnownAuthor] = []
    private var fetched: Set<String> = []
    /// The posts marked by id. These marks are permanent.
    private var read: [UInt32: Set<String>] = [:]
    /// The posts marked with all posts of their source. These marks end with the removal of the post.
    private var readByAll: [UInt32: Set<String>] = [:]

    private static let keep: Int64 = 30
    private static let sources = ["a", "b"]

    init(seed: UInt64) throws {
        databases = try fixture.databases()
        store = PostStore(databases: databases)
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
            let before = posts
            let expected = take(new, others, source, isComplete: isComplete)
            let changes = try await store.fetch(
                new, authors: others, source: source, isComplete: isComplete, keep: .seconds(World.keep), at: now)
            #expect(changes.added == posts.count { post in !before.contains { $0.post.id == post.post.id } })
            #expect(changes.changed == expected.changed)
            #expect(changes.total == posts.count { $0.post.source == source })
            #expect(changes.removed == expected.removed)
        case 6:
            let removed = confirm(source)
            let changes = await store.confirm(
                source: source, keep: .seconds(World.keep), fetch: .sample(at: now), at: Timestamp(seconds: now))
            #expect((changes == nil) == !fetched.contains(source))
            #expect((changes?.removed ?? 0) == removed)
        case 7...9:
            let uid = UInt32(number(1...2))
            if number(0...9) == 0 { return try await markAll(uid, [[source], World.sources][number(0...1)]) }
            let ids = posts.map(\.post.id).filter { _ in number(0...3) == 0 }
            let new = ids.filter { !isRead($0, uid) }
            let stored = try await store.stored(ids + ids, sources: World.sources)
            #expect(try await marks.mark(uid: uid, stored) == new.count)
            read[uid, default: []].formUnion(new)
        case 10:
            #expect(try await store.clear(source: source) == posts.count { $0.post.source == source })
            forget(posts.filter { $0.post.source == source })
            posts.removeAll { $0.post.source == source }
            authors.removeAll { $0.source == source }
            fetched.remove(source)
        default:
            store = PostStore(databases: databases)
            marks = ReadMarks(databases: databases)
        }
    }

    private mutating func markAll(_ uid: UInt32, _ sources: [String]) async throws {
        let all = posts.filter { sources.contains($0.post.source) }.map(\.post.id)
        let unread = try await store.unread(sources: sources, read: await marks.read(uid: uid))
        #expect(unread.count == all.count { !isRead($0, uid) })
        try await marks.markAll(uid: uid, unread)
        readByAll[uid, default: []].formUnion(all)
    }

    private func isRead(_ id: String, _ uid: UInt32) -> Bool {
        read[uid, default: []].contains(id) || readByAll[uid, default: []].contains(id)
    }

    private mutating func take(
        _ new: [Post], _ others: [Post.Author], _ source: String, isComplete: Bool
    ) -> (changed: Int, removed: Int) {
        var changed = 0
        var held: Set<String> = []
        var former: Set<String> = []
        for post in new where held.insert(post.id).inserted {
            guard let index = posts.firstIndex(where: { $0.post.id == post.id }) else {
                posts.append(Known(post: post, firstSeen: now, heldAt: now))
                posts[posts.count - 1].sort(at: now)
                continue
            }
            var same = post
            same.author.name = posts[index].post.author.name
            let isSame = posts[index].post == same
            let wasHeld = posts[index].isHeld
            if posts[index].post.author.id != post.author.id { former.insert(posts[index].post.author.id) }
            if !isSame { changed += 1 }
            (posts[index].post, posts[index].heldAt, posts[index].isHeld) = (post, now, true)
            if !isSame || !wasHeld { posts[index].sort(at: now) }
        }
        for index in posts.indices where posts[index].post.source == source && !held.contains(posts[index].post.id) {
            guard posts[index].isHeld else { continue }
            posts[index].isHeld = false
            if !isComplete { posts[index].heldAt = now }
        }
        var named: Set<String> = []
        for author in others + new.map(\.author) where named.insert(author.id).inserted {
            if let index = authors.firstIndex(where: { $0.author.id == author.id }) {
                authors[index] = KnownAuthor(author: author, source: source)
            } else {
                authors.append(KnownAuthor(author: author, source: source))
            }
        }
        for index in authors.indices where authors[index].source == source {
            let id = authors[index].author.id
            let isKnown = former.contains(id) || posts.contains { $0.post.author.id == id }
            guard isComplete || isKnown else { continue }
            authors[index].isHeld = named.contains(id)
        }
        fetched.insert(source)
        return (changed, expire(source))
    }

    private mutating func confirm(_ source: String) -> Int {
        guard fetched.contains(source) else { return 0 }
        for index in posts.indices where posts[index].post.source == source && posts[index].isHeld {
            posts[index].heldAt = now
        }
        return expire(source)
    }

    private mutating func expire(_ source: String) -> Int {
        let gone = posts.filter { !$0.isHeld && $0.post.source == source && $0.heldAt + World.keep <= now }
        posts.removeAll { post in gone.contains { $0.post.id == post.post.id } }
        authors.removeAll { author in
            author.source == source && !author.isHeld && !posts.contains { $0.post.author.id == author.author.id }
        }
        forget(gone)
        return gone.count
    }

    private mutating func forget(_ gone: [Known]) {
        for uid in readByAll.keys { readByAll[uid]?.subtract(gone.map(\.post.id)) }
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
        let shown = posts.sorted { ($1.sortAt, $0.post.id) < ($0.sortAt, $1.post.id) }.map { known in
            var post = known.post
            post.author = authors.first { $0.author.id == post.author.id }?.author ?? post.author
            post.isRead = isRead(post.id, uid)
            return post
        }
        return shown.filter { post in
            query.sources.contains(post.source) && (query.source ?? post.source) == post.source
                && (query.author.map { post.author.id == $0 || post.author.name.lowercased().contains($0) } ?? true)
                && !(query.isUnreadOnly && post.isRead)
        }
    }
}
