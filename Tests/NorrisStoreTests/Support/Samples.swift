import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport

@testable import NorrisStore

extension Post {
    static func sample(
        _ id: String, _ text: String? = nil, by author: String = "ann", at seconds: Int64? = nil, source: String = "a"
    ) -> Post {
        Post(
            id: id, source: source, author: .sample(author, source: source),
            publishedAt: seconds.map(Timestamp.init(seconds:)), text: text ?? "The text of \(id).")
    }
}

extension Post.Author {
    static func sample(_ id: String, named name: String? = nil, source: String = "a") -> Post.Author {
        Post.Author(id: "\(source):\(id)", name: name ?? id)
    }
}

extension StoredPost {
    /// The part of a stored post that read marks need.
    static func sample(_ id: String, seen: Int64 = 1, source: String = "a") -> StoredPost {
        StoredPost(key: StoredPost.key(id), source: source, firstSeen: Timestamp(seconds: seen))
    }
}

extension UnreadPosts {
    static func sample(_ sources: [String], until seconds: Int64) -> UnreadPosts {
        UnreadPosts(
            counts: [sources[0]: 1],
            latest: Dictionary(uniqueKeysWithValues: sources.map { ($0, Timestamp(seconds: seconds)) }))
    }
}

extension FetchRecord {
    static func sample(at seconds: Int64) -> FetchRecord {
        FetchRecord(settings: "test", fetchedAt: Timestamp(seconds: seconds))
    }
}

extension PostStore {
    /// A store in new folders.
    static func new() async throws -> PostStore { await PostStore(databases: try StoreFixture().databases()) }

    /// Fetches posts at a time, in seconds.
    @discardableResult func fetch(
        _ posts: [Post], authors: [Post.Author] = [], source: String = "a", isComplete: Bool = true,
        keep: Duration? = .seconds(100), unread: Int? = nil, at now: Int64, in run: SourceImport? = nil
    ) async throws -> PostChanges {
        let items = posts.map { FetchedPost($0) }
        return try await fetch(
            items: items, authors: authors, source: source, isComplete: isComplete, keep: keep, unread: unread,
            at: now, in: run)
    }

    @discardableResult func fetch(
        items: [FetchedPost], authors: [Post.Author] = [], source: String = "a", isComplete: Bool = true,
        keep: Duration? = .seconds(100), unread: Int? = nil, at now: Int64, in run: SourceImport? = nil
    ) async throws -> PostChanges {
        try await replace(
            run ?? beginImport(of: source), posts: items, authors: authors, isComplete: isComplete, keep: keep,
            fetch: .sample(at: now), unread: unread, at: Timestamp(seconds: now))
    }

    func beginImport(of source: String = "a") -> SourceImport {
        SourceRecords(databases: databases).beginImport(of: source)
    }

    func page(
        _ query: PostQuery = PostQuery(sources: ["a"]), read: ReadPosts = ReadPosts(), cursor: String? = nil,
        limit: Int = 100
    ) async throws -> Page<Post> {
        var query = query
        query.request.page = PageRequest(limit: limit, cursor: cursor)
        return try await list(query, read: read)
    }

    func listed(
        _ query: PostQuery = PostQuery(sources: ["a"]), read: ReadPosts = ReadPosts()
    ) async throws -> [String] {
        try await page(query, read: read).items.map(\.id)
    }

    /// The sources of the tests that have posts, with their numbers of posts.
    var counts: [String: Int] {
        Dictionary(uniqueKeysWithValues: ["a", "b", "c"].map { ($0, count(source: $0)) }).filter { $0.value > 0 }
    }
}

extension PostQuery {
    static let unread = PostQuery(sources: ["a"], PostList.Parameters(unread: true))
}

extension ReadPosts {
    init(_ ids: [String]) {
        self.init()
        for id in ids { marks[StoredPost.key(id)] = true }
    }
}

extension ResponseError {
    static let foreignCursor = ResponseError.invalidParams(
        "The cursor belongs to another list.", parameter: "cursor", hint: "Start again without a cursor.")
}

extension GifStore {
    /// A store in new folders.
    static func new() async throws -> GifStore { await GifStore(databases: try StoreFixture().databases()) }

    func rows(of table: String) async throws -> Int { try await databases.cache.count(table) }

    /// The ids of a list, without requests to Giphy.
    func ids(of list: GifList) async throws -> [String] {
        try await page(of: list, PageRequest(limit: 50), notBefore: .start)?.items.map(\.id) ?? []
    }
}

extension Gif {
    static func some(_ id: String, _ title: String? = nil, rating: String = "g") -> Gif {
        Gif(
            id: id, title: title ?? "The title of \(id)", rating: rating, pageURL: "https://giphy.com/gifs/\(id)",
            renditions: ["original": Rendition(url: "https://media0.giphy.com/media/\(id)/giphy.gif?cid=1&ct=g")])
    }
}

func gifs(_ numbers: Range<Int>) -> [Gif] {
    numbers.map { .some("gif-" + String(String($0 + 100_000).dropFirst())) }
}

extension Timestamp {
    /// The time at which tests begin. It is before the real time, so content stored now has not expired.
    static let start = Timestamp(seconds: 1_700_000_000)

    static func + (time: Timestamp, seconds: Int64) -> Timestamp { Timestamp(seconds: time.seconds + seconds) }
}
