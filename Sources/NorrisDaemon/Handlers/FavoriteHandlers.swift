import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `favorite.*`: what a user keeps, with its content where that is known.
struct FavoriteHandlers: Sendable {
    let fetching: Fetching

    private var favorites: Favorites { fetching.stores.favorites }

    var bodies: [String: MethodBody] {
        [
            FavoriteAdd.description.name: add,
            FavoriteImport.description.name: importAll,
            FavoriteList.description.name: list,
            FavoriteRemove.description.name: remove,
        ]
    }

    @Sendable
    private func add(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let (kind, id) = item(call)
        return fetching.deferred(asking: kind == .gif ? GifSource.name : nil) { () async throws(ResponseError) -> [UInt8] in
            let uid = call.peer.uid
            // What is kept already needs no upstream to be found again.
            if try await favorites.contains(kind, id: id, uid: uid) {
                return FavoriteAdd.Result(added: false).jsonBytes
            }
            let content = try await content(kind, id, uid: uid)
            return FavoriteAdd.Result(added: try await favorites.add(content, uid: uid)).jsonBytes
        }
    }

    @Sendable
    private func remove(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            let (kind, id) = item(call)
            let removed = try await favorites.remove(kind, id: id, uid: call.peer.uid)
            return FavoriteRemove.Result(removed: removed).jsonBytes
        }
    }

    @Sendable
    private func list(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            let uid = call.peer.uid
            let arguments = call.arguments
            var page = try await favorites.list(
                arguments.string("kind").map(Favorite.Kind.init), uid: uid,
                cursor: arguments.string("cursor"), limit: arguments.integer("limit") ?? 50
            )
            let stores = fetching.stores
            let notBefore = fetching.sources.gifs.notBefore
            let read = await stores.readMarks.read(uid: uid)
            for (index, item) in page.items.enumerated() {
                if item.kind == .gif {
                    page.items[index].gif = await stores.gifs.gif(id: item.id, notBefore: notBefore)
                }
                page.items[index].post?.isRead = read.contains(item.id)
            }
            return page.jsonBytes
        }
    }

    @Sendable
    private func importAll(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            let items: [Favorite] = try call.arguments.values("items")
            return try await favorites.import(items, uid: call.peer.uid).jsonBytes
        }
    }

    private func item(_ call: Call) -> (kind: Favorite.Kind, id: String) {
        (Favorite.Kind(rawValue: call.arguments.string("kind") ?? ""), call.arguments.string("id") ?? "")
    }

    /// What is stored under an id, as it is kept.
    private func content(_ kind: Favorite.Kind, _ id: String, uid: UInt32) async throws(ResponseError) -> Favorite {
        switch kind {
        case .fact: Favorite(fact: try await fetching.stores.facts.presentable(id: id))
        case .gif: Favorite(gif: try await fetching.gif(id: id))
        default: Favorite(post: try await fetching.post(id: id, uid: uid))
        }
    }
}
