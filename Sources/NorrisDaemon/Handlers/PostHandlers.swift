import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `post.*` and `author.list`: from the cache alone, for posts are fetched by schedule.
struct PostHandlers: Sendable {
    let fetching: Fetching
    let facts: FactStore

    private var stores: Stores { fetching.stores }

    var bodies: [String: MethodBody] {
        [
            PostList.description.name: list,
            PostGet.description.name: get,
            PostMarkRead.description.name: markRead,
            AuthorList.description.name: authors,
        ]
    }

    @Sendable
    private func list(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let sources = try sources(call)
        let arguments = call.arguments
        return .disk { () async throws(ResponseError) -> [UInt8] in
            let query = PostQuery(
                sources: sources.map(\.name), source: arguments.string("source"),
                author: arguments.string("author"), isUnreadOnly: arguments.flag("unread")
            )
            var page = try await stores.posts.list(
                query, read: await stores.readMarks.read(uid: call.peer.uid), cursor: arguments.string("cursor"),
                limit: arguments.integer("limit") ?? 20
            )
            page.freshness = fetching.freshness(of: sources, isEmpty: page.items.isEmpty)
            facts.noteServed(page.items.last?.id, .post, uid: call.peer.uid)
            return page.jsonBytes
        }
    }

    @Sendable
    private func get(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            let post = try await fetching.post(id: call.arguments.string("id") ?? "", uid: call.peer.uid)
            facts.noteServed(post.id, .post, uid: call.peer.uid)
            return PostGet.Result(post: post).jsonBytes
        }
    }

    @Sendable
    private func markRead(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let arguments = call.arguments
        guard arguments.isGiven("ids") != arguments.flag("all") else {
            throw .invalidParams("post.mark_read needs either ids or all: true.", parameter: "ids")
        }
        return .disk { () async throws(ResponseError) -> [UInt8] in
            let sources = fetching.sources.postNames
            var ids = arguments.strings("ids")
            if arguments.flag("all") {
                ids = try await stores.posts.ids(sources: sources)
            } else {
                let stored = try await stores.posts.stored(ids, sources: sources)
                if let unknown = ids.first(where: { !stored.contains($0) }) {
                    throw .notFound("There is no post with the id \(unknown.quotedForMessage).")
                }
            }
            let marked = try await stores.readMarks.mark(uid: call.peer.uid, ids: ids)
            return PostMarkRead.Result(marked: marked).jsonBytes
        }
    }

    @Sendable
    private func authors(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let sources = try sources(call)
        let arguments = call.arguments
        return .disk { () async throws(ResponseError) -> [UInt8] in
            var page = try await stores.posts.authors(
                source: arguments.string("source"), sources: sources.map(\.name),
                cursor: arguments.string("cursor"), limit: arguments.integer("limit") ?? 100
            )
            page.freshness = fetching.freshness(of: sources, isEmpty: page.items.isEmpty)
            return page.jsonBytes
        }
    }

    /// The source that a call names, or all.
    private func sources(_ call: Call) throws(ResponseError) -> [PostSource] {
        let all = fetching.sources.posts
        guard let name = call.arguments.string("source") else { return all }
        let named = all.filter { $0.name.hasSameBytes(as: name) }
        if named.isEmpty {
            throw .notFound(
                "There is no source of posts \(name.quotedForMessage).", hint: "server.status lists those there are."
            )
        }
        return named
    }
}

extension Fetching {
    /// A post by its id, as a user sees it.
    func post(id: String, uid: UInt32) async throws(ResponseError) -> Post {
        let read = await stores.readMarks.read(uid: uid)
        guard let post = try await stores.posts.post(id: id, sources: sources.postNames, read: read) else {
            throw .notFound("There is no post with the id \(id.quotedForMessage).", hint: "post.list lists them.")
        }
        return post
    }
}
