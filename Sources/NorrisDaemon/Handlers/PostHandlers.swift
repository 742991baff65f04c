import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisText

/// The methods `post.*`, `mute.*` and `author.list`. Replies are from the cache only, because posts are fetched by
/// schedule.
struct PostHandlers: Sendable {
    let sources: ConfiguredSources

    private var stores: Stores { sources.stores }

    var all: [Handler] {
        [
            Handler(PostList.self, onDisk: list), Handler(PostGet.self, onDisk: get),
            Handler(PostArticle.self, deferred: article), Handler(PostMarkRead.self, onDisk: markRead),
            Handler(AuthorList.self, onDisk: authors),
            Handler(PostSearch.self, onDisk: search), Handler(PostMarkUnread.self, onDisk: markUnread),
            Handler(PostSources.self, onDisk: sources), Handler(MuteAdd.self, onDisk: mute),
            Handler(
                MuteList.self,
                onDisk: { _, call throws(ResponseError) in
                    let names = sources.current.postNames
                    return MuteList.Result(items: try await stores.posts.mutes.list(uid: call.uid, sources: names))
                }),
            Handler(
                MuteRemove.self,
                onDisk: { parameters, call throws(ResponseError) in
                    let number = Int64(parameters.number)
                    let query = try await stores.posts.mutes.remove(number, uid: call.uid)
                    if query != nil { stores.unreadChanges.note(call.uid) }
                    return MuteRemove.Result(removed: query != nil, title: query)
                }),
        ]
    }

    @Sendable
    private func list(_ parameters: PostList.Parameters, _ call: Call) async throws(ResponseError) -> PostList.Result {
        try await page(parameters, call)
    }

    @Sendable private func search(
        _ parameters: PostSearch.Parameters, _ call: Call
    ) async throws(ResponseError) -> PostSearch.Result {
        let words = try SearchWords(parameters.query)
        let request = PostList.Parameters(
            source: parameters.source, tag: parameters.tag, unread: parameters.unread, muted: parameters.muted,
            page: parameters.page)
        return try await page(request, matching: words, call)
    }

    private func page(
        _ request: PostList.Parameters, matching words: SearchWords? = nil, _ call: Call
    ) async throws(ResponseError) -> Page<Post> {
        let end = request.order == .arrived ? try await stores.posts.lastArrival() : nil
        // Before the sources, so that a source that is added now is in one of the two.
        let pending = end == nil ? [] : sources.pendingNames
        let current = sources.current
        let chosen = try current.posts(named: request.source, tagged: request.tag)
        let query = PostQuery(sources: chosen.map(\.name), request, search: words, end: end, pending: pending)
        let read = await stores.readMarks.read(uid: call.uid)
        var page = try await stores.posts.list(query, read: read)
        for index in page.items.indices {
            page.items[index].sourceTitle = stores.title(of: page.items[index].source, current)
        }
        page.freshness = sources.freshness(of: chosen, isEmpty: page.items.isEmpty)
        stores.noteServed(page.items.map(\.id), .post, request.page, next: page.next, uid: call.uid)
        return page
    }

    @Sendable private func get(_ parameters: IDParameters, _ call: Call) async throws(ResponseError) -> PostGet.Result {
        let post = try await stores.post(id: parameters.id, uid: call.peer.uid, sources.current)
        stores.facts.noteServed(post.id, .post, uid: call.peer.uid)
        return PostGet.Result(post: post)
    }

    @Sendable private func article(_ parameters: IDParameters, _ call: Call) -> Deferred {
        .deferred(mayFetch: true) { () async throws(ResponseError) -> [UInt8] in
            let (id, uid) = (parameters.id, call.peer.uid)
            let post = try await stores.post(id: id, uid: uid, sources.current)
            guard let source = sources.current.posts.first(where: { $0.name == post.source }),
                post.url.map(isWebAddress) ?? false
            else { throw .notFound("The post \(id.quotedForMessage) has no address.") }
            let run = stores.records.beginImport(of: source.name)
            let article: Post
            do throws(FetchFailure) { article = try await source.article(of: post, isAwaited: true) } catch {
                let failure = SourceFailure(kind: error.kind, message: error.message, since: source.now)
                throw .nothingCached(error.message, source: source.name, lastError: failure)
            }
            do throws(StoreError) { _ = try await stores.posts.replaceText(of: post, by: article, run) } catch {
                throw .cacheNotWritable
            }
            stores.facts.noteServed(id, .post, uid: uid)
            return PostArticle.Result(post: try await stores.post(id: id, uid: uid, sources.current)).jsonBytes
        }
    }

    @Sendable private func markRead(
        _ parameters: PostMarkRead.Parameters, _ call: Call
    ) async throws(ResponseError) -> PostMarkRead.Result {
        guard (parameters.ids != nil) != parameters.all else {
            throw .invalidParams(
                "Name posts by their ids, or mark all of them.", parameter: "\(PostMarkRead.idsParameter)")
        }
        if !parameters.all, let name = parameters.filter {
            throw .invalidParams(
                "\(name) is allowed only with all.", parameter: name,
                hint: "Name posts by their ids, or mark all of a source.")
        }
        let uid = call.uid
        if let ids = parameters.ids {
            let posts = try await stores.posts.stored(ids, sources: sources.current.postNames)
            defer { stores.unreadChanges.note(uid) }
            return PostMarkRead.Result(marked: try await stores.readMarks.mark(uid: uid, posts, isRead: true))
        }
        let names = try sources.current.posts(named: parameters.source, tagged: parameters.tag).map(\.name)
        let unread = try await stores.posts.unread(
            sources: names, read: await stores.readMarks.read(uid: uid), before: parameters.before)
        if unread.count > 0 || unread.hasHidden {
            try await stores.readMarks.markAll(uid: uid, unread)
            stores.unreadChanges.note(uid)
        }
        return PostMarkRead.Result(marked: unread.count)
    }

    @Sendable private func markUnread(
        _ parameters: PostMarkUnread.Parameters, _ call: Call
    ) async throws(ResponseError) -> PostMarkUnread.Result {
        guard (parameters.ids != nil) != parameters.last else {
            throw .invalidParams(
                "Name posts by their ids, or undo the last mark.", parameter: "\(PostMarkRead.idsParameter)")
        }
        defer { stores.unreadChanges.note(call.uid) }
        guard let ids = parameters.ids else {
            let names = sources.current.postNames
            let before = try await stores.posts.unread(sources: names, read: stores.readMarks.read(uid: call.uid))
            try await stores.readMarks.undo(uid: call.uid)
            let after = try await stores.posts.unread(sources: names, read: stores.readMarks.read(uid: call.uid))
            return PostMarkUnread.Result(marked: max(0, after.count - before.count))
        }
        let posts = try await stores.posts.stored(ids, sources: sources.current.postNames)
        return PostMarkUnread.Result(marked: try await stores.readMarks.mark(uid: call.uid, posts, isRead: false))
    }

    @Sendable private func mute(
        _ parameters: MuteAdd.Parameters, _ call: Call
    ) async throws(ResponseError) -> MuteAdd.Result {
        let rule = try MuteRule(parameters, uid: call.uid)
        _ = try sources.current.posts(named: parameters.source, tagged: parameters.tag)
        let (mutes, names) = (stores.posts.mutes, sources.current.postNames)
        if parameters.test { return MuteAdd.Result(matching: try await mutes.count(rule, sources: names)) }
        defer { stores.unreadChanges.note(call.uid) }
        return try await mutes.add(rule, sources: names)
    }

    @Sendable private func sources(
        _ parameters: PostSources.Parameters, _ call: Call
    ) async throws(ResponseError) -> PostSources.Result {
        let current = sources.current
        let all = try current.posts(named: nil, tagged: parameters.tag)
        let unread = try await stores.posts.unread(
            sources: all.map(\.name), read: await stores.readMarks.read(uid: call.uid))
        let activity = try await stores.posts.activity(sources.clock.now)
        let newAddresses = await stores.records.newAddresses(sources.clock.now)
        return PostSources.Result(
            items: all.map { source in
                let (name, configuration) = (source.name, source.configuration)
                let items = stores.posts.count(source: name)
                return PostSources.Source(
                    name: name, title: stores.title(of: name, current), kind: source.kind,
                    url: call.isAdministrator ? source.url : shownURL(configuration.url),
                    origin: configuration.added == nil ? .config : .added, tags: configuration.tags, items: items,
                    unread: unread.counts[name] ?? 0,
                    newestAt: activity[name]?.newestAt, postsPerWeek: activity[name]?.postsPerWeek,
                    consecutiveFailures: sources.prefetcher.schedule(of: name)?.record.failures ?? 0,
                    movedTo: newAddresses[source.policy.settings].map { call.isAdministrator ? $0 : shownURL($0) },
                    article: configuration.article ?? false,
                    freshness: sources.freshness(of: name, isEmpty: items == 0))
            })
    }

    @Sendable private func authors(
        _ parameters: AuthorList.Parameters, _ call: Call
    ) async throws(ResponseError) -> AuthorList.Result {
        let chosen = try sources.current.posts(named: parameters.source)
        var page = try await stores.posts.authors(
            source: parameters.source, sources: chosen.map(\.name), cursor: parameters.page.cursor,
            limit: parameters.page.limit)
        page.freshness = sources.freshness(of: chosen, isEmpty: page.items.isEmpty)
        return page
    }
}

extension Stores {
    /// Records the items of a page as served to a user, and as the user's last list if the list is numbered.
    ///
    /// - Parameter ids: of a list that is not numbered only the last one is needed.
    func noteServed(_ ids: [String], _ kind: Favorite.Kind, _ request: PageRequest, next: String?, uid: UInt32) {
        facts.noteServed(ids.last, kind, uid: uid)
        guard request.isNumbered else { return }
        let items = ids.map { NumberedLists.Item(kind, $0) }
        numbered.note(items, of: kind, cursor: request.cursor, next: next, uid: uid)
    }

    /// A post of a configured source by its id, as a user sees the post.
    func post(id: String, uid: UInt32, _ sources: Sources) async throws(ResponseError) -> Post {
        let read = await readMarks.read(uid: uid)
        guard var post = try await posts.post(id: id, sources: sources.postNames, read: read) else {
            throw .notFound(
                "There is no post with the id \(id.quotedForMessage).", hint: "List the posts: norrisctl feed")
        }
        post.sourceTitle = title(of: post.source, sources)
        return post
    }

    /// The title of a source: the one that a user has set, else the one of its document.
    func title(of source: String, _ sources: Sources) -> String? { sources.titles[source] ?? posts.title(of: source) }
}
