import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `post.*` and `author.list`: from the cache alone, for posts are fetched by schedule.
struct PostHandlers: Sendable {
    let fetching: Fetching
    let facts: FactStore

    private var stores: Stores { fetching.stores }

    var all: [Handler] {
        [
            Handler(PostList.self, onDisk: list), Handler(PostGet.self, onDisk: get),
            Handler(PostMarkRead.self, onDisk: markRead), Handler(AuthorList.self, onDisk: authors),
        ]
    }

    @Sendable
    private func list(_ parameters: PostList.Parameters, _ call: Call) async throws(ResponseError) -> PostList.Result {
        let sources = try sources(parameters.source)
        let query = PostQuery(
            sources: sources.map(\.name), source: parameters.source, author: parameters.author,
            isUnreadOnly: parameters.unread)
        var page = try await stores.posts.list(
            query, read: await stores.readMarks.read(uid: call.peer.uid), cursor: parameters.page.cursor,
            limit: parameters.page.limit)
        page.freshness = fetching.freshness(of: sources, isEmpty: page.items.isEmpty)
        facts.noteServed(page.items.last?.id, .post, uid: call.peer.uid)
        return page
    }

    @Sendable private func get(_ parameters: IDParameters, _ call: Call) async throws(ResponseError) -> PostGet.Result {
        let post = try await fetching.post(id: parameters.id, uid: call.peer.uid)
        facts.noteServed(post.id, .post, uid: call.peer.uid)
        return PostGet.Result(post: post)
    }

    @Sendable private func markRead(
        _ parameters: PostMarkRead.Parameters, _ call: Call
    ) async throws(ResponseError) -> PostMarkRead.Result {
        guard (parameters.ids != nil) != parameters.all else {
            throw .invalidParams(
                "Name posts by their ids, or mark all of them.", parameter: "\(PostMarkRead.idsParameter)")
        }
        let (sources, uid) = (fetching.sources.postNames, call.peer.uid)
        if let ids = parameters.ids {
            let posts = try await stores.posts.stored(ids, sources: sources)
            return PostMarkRead.Result(marked: try await stores.readMarks.mark(uid: uid, posts))
        }
        let unread = try await stores.posts.unread(sources: sources, read: await stores.readMarks.read(uid: uid))
        if unread.count > 0 { try await stores.readMarks.markAll(uid: uid, unread) }
        return PostMarkRead.Result(marked: unread.count)
    }

    @Sendable private func authors(
        _ parameters: AuthorList.Parameters, _ call: Call
    ) async throws(ResponseError) -> AuthorList.Result {
        let sources = try sources(parameters.source)
        var page = try await stores.posts.authors(
            source: parameters.source, sources: sources.map(\.name), cursor: parameters.page.cursor,
            limit: parameters.page.limit)
        page.freshness = fetching.freshness(of: sources, isEmpty: page.items.isEmpty)
        return page
    }

    /// The source with a name; all without one.
    private func sources(_ name: String?) throws(ResponseError) -> [PostSource] {
        let all = fetching.sources.posts
        guard let name else { return all }
        let named = all.filter { $0.name.hasSameBytes(as: name) }
        if named.isEmpty {
            throw .notFound(
                "There is no source of posts \(name.quotedForMessage).", hint: "List the sources: norrisctl status")
        }
        return named
    }
}

extension Fetching {
    /// A post by its id, as a user sees it.
    func post(id: String, uid: UInt32) async throws(ResponseError) -> Post {
        let read = await stores.readMarks.read(uid: uid)
        guard let post = try await stores.posts.post(id: id, sources: sources.postNames, read: read) else {
            throw .notFound(
                "There is no post with the id \(id.quotedForMessage).", hint: "List the posts: norrisctl feed")
        }
        return post
    }
}
