import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `favorite.*` and `recent.*`: data of the requesting user.
struct UserHandlers: Sendable {
    let sources: ConfiguredSources

    private var stores: Stores { sources.stores }

    var all: [Handler] {
        [
            Handler(FavoriteAdd.self, deferred: add), Handler(FavoriteRemove.self, onDisk: remove),
            Handler(FavoriteList.self, onDisk: list),
            Handler(
                FavoriteImport.self,
                onDisk: { parameters, call throws(ResponseError) in
                    try await stores.favorites.import(parameters.items, uid: call.peer.uid)
                }),
            Handler(
                RecentList.self,
                onDisk: { _, call throws(ResponseError) in
                    RecentList.Result(items: try await stores.recents.list(uid: call.peer.uid))
                }),
            Handler(
                RecentClear.self,
                onDisk: { _, call throws(ResponseError) in
                    Removed(removed: try await stores.recents.clear(uid: call.peer.uid))
                }), Handler(RecentServed.self, onDisk: lastServed),
        ]
    }

    @Sendable private func add(_ item: ItemParameters, _ call: Call) -> Deferred {
        let mayFetch = item.kind == .gif && sources.mayAskGiphy
        return .deferred(mayFetch: mayFetch) { () async throws(ResponseError) -> [UInt8] in
            let uid = call.peer.uid
            // An existing favorite is not fetched again.
            if try await stores.favorites.contains(item.kind, id: item.id, uid: uid) {
                return FavoriteAdd.Result(added: false).jsonBytes
            }
            let content = try await content(item, uid: uid, mayFetch: mayFetch)
            return FavoriteAdd.Result(added: try await stores.favorites.add(content, uid: uid)).jsonBytes
        }
    }

    /// The stored item with an id, as a favorite.
    private func content(
        _ item: ItemParameters, uid: UInt32, mayFetch: Bool
    ) async throws(ResponseError) -> Favorite {
        switch item.kind {
        case .fact:
            let catalogue = stores.facts.catalogue
            return Favorite(fact: catalogue.fact(try catalogue.presentable(id: item.id)))
        case .gif: return Favorite(gif: try await sources.gif(id: item.id, for: uid, mayFetch: mayFetch))
        default: return Favorite(post: try await stores.post(id: item.id, uid: uid, sources.current))
        }
    }

    @Sendable
    private func remove(_ item: ItemParameters, _ call: Call) async throws(ResponseError) -> FavoriteRemove.Result {
        let title = try await stores.favorites.remove(item.kind, id: item.id, uid: call.peer.uid)
        return FavoriteRemove.Result(removed: title != nil, title: title)
    }

    @Sendable private func list(
        _ parameters: FavoriteList.Parameters, _ call: Call
    ) async throws(ResponseError) -> FavoriteList.Result {
        let uid = call.peer.uid
        let search = try parameters.query.map { query throws(ResponseError) in try SearchWords(query) }
        var page = try await stores.favorites.list(
            parameters.kind, matching: search, uid: uid, cursor: parameters.page.cursor, limit: parameters.page.limit)
        let notBefore = sources.current.gifs.notBefore
        let isRead = await stores.posts.isRead(page.items.map(\.id), await stores.readMarks.read(uid: uid))
        for (index, item) in page.items.enumerated() {
            if item.kind == .gif { page.items[index].gif = await stores.gifs.gif(id: item.id, notBefore: notBefore) }
            page.items[index].post?.isRead = isRead[index]
        }
        if parameters.page.isNumbered {
            let items = page.items.map { NumberedLists.Item($0.kind, $0.id) }
            stores.numbered.note(
                items, of: parameters.kind, cursor: parameters.page.cursor, next: page.next, uid: uid)
        }
        return page
    }

    @Sendable private func lastServed(
        _ parameters: RecentServed.Parameters, _ call: Call
    ) async throws(ResponseError) -> RecentServed.Result {
        let kind = parameters.kind
        if let index = parameters.index {
            let item = try stores.numbered.item(index, of: kind, uid: call.uid)
            return RecentServed.Result(id: item.id, kind: item.kind)
        }
        guard let item = try await stores.facts.lastServed(kind, uid: call.uid) else {
            let name = kind == RecentServed.anyKind ? "anything" : "a \(kind.rawValue)"
            throw .notFound("You have not been shown \(name) yet.")
        }
        return RecentServed.Result(id: item.id, kind: item.kind, name: item.name)
    }
}
