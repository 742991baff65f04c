import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `post.*` and `author.list`. Replies are from the cache only, because posts are fetched by schedule.
struct PostHandlers: Sendable {
    let sources: ConfiguredSources
    let reports: SourceReports
    let stores: Stores

    var all: [Handler] {
        [
            Handler(PostList.self, onDisk: list), Handler(PostGet.self, onDisk: get),
            Handler(PostMarkRead.self, onDisk: markRead), Handler(AuthorList.self, onDisk: authors),
            Handler(PostSearch.self, onDisk: { _, _ in PostSearch.Result() }),
            Handler(PostMarkUnread.self, onDisk: { _, _ in PostMarkUnread.Result(marked: 0) }),
            Handler(PostSources.self, onDisk: { _, _ in PostSources.Result(items: []) }),
        ]
    }

    @Sendable
    private func list(_ parameters: PostList.Parameters, _ call: Call) async throws(ResponseError) -> PostList.Result {
        let chosen = try sources(named: parameters.source)
        let query = PostQuery(
            sources: chosen.map(\.name), source: parameters.source, author: parameters.author,
            isUnreadOnly: parameters.unread)
        var page = try await stores.posts.list(
            query, read: await stores.readMarks.read(uid: call.peer.uid), cursor: parameters.page.cursor,
            limit: parameters.page.limit)
        page.freshness = reports.freshness(of: chosen, isEmpty: page.items.isEmpty)
        stores.facts.noteServed(page.items.last?.id, .post, uid: call.peer.uid)
        return page
    }

    @Sendable private func get(_ parameters: IDParameters, _ call: Call) async throws(ResponseError) -> PostGet.Result {
        let post = try await stores.post(id: parameters.id, uid: call.peer.uid, sources.current)
        stores.facts.noteServed(post.id, .post, uid: call.peer.uid)
        return PostGet.Result(post: post)
    }

    @Sendable private func markRead(
        _ parameters: PostMarkRead.Parameters, _ call: Call
    ) async throws(ResponseError) -> PostMarkRead.Result {
        guard (parameters.ids != nil) != parameters.all else {
            throw .invalidParams(
                "Name posts by their ids, or mark all of them.", parameter: "\(PostMarkRead.idsParameter)")
        }
        let (names, uid) = (sources.current.postNames, call.peer.uid)
        if let ids = parameters.ids {
            let posts = try await stores.posts.stored(ids, sources: names)
            return PostMarkRead.Result(marked: try await stores.readMarks.mark(uid: uid, posts))
        }
        let unread = try await stores.posts.unread(sources: names, read: await stores.readMarks.read(uid: uid))
        if unread.count > 0 { try await stores.readMarks.markAll(uid: uid, unread) }
        return PostMarkRead.Result(marked: unread.count)
    }

    @Sendable private func authors(
        _ parameters: AuthorList.Parameters, _ call: Call
    ) async throws(ResponseError) -> AuthorList.Result {
        let chosen = try sources(named: parameters.source)
        var page = try await stores.posts.authors(
            source: parameters.source, sources: chosen.map(\.name), cursor: parameters.page.cursor,
            limit: parameters.page.limit)
        page.freshness = reports.freshness(of: chosen, isEmpty: page.items.isEmpty)
        return page
    }

    /// The source with a name, or all sources if the name is nil.
    private func sources(named name: String?) throws(ResponseError) -> [PostSource] {
        let all = self.sources.current.posts
        guard let name else { return all }
        let named = all.filter { $0.name.hasSameBytes(as: name) }
        if named.isEmpty {
            throw .notFound(
                "There is no source of posts \(name.quotedForMessage).", hint: "List the sources: norrisctl status")
        }
        return named
    }
}

extension Stores {
    /// A post of a configured source by its id, as a user sees the post.
    func post(id: String, uid: UInt32, _ sources: Sources) async throws(ResponseError) -> Post {
        let read = await readMarks.read(uid: uid)
        guard let post = try await posts.post(id: id, sources: sources.postNames, read: read) else {
            throw .notFound(
                "There is no post with the id \(id.quotedForMessage).", hint: "List the posts: norrisctl feed")
        }
        return post
    }
}
