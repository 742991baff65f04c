import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `recent.*`.
struct RecentHandlers: Sendable {
    let recents: RecentSearches
    let facts: FactStore

    var bodies: [String: MethodBody] {
        [
            RecentClear.description.name: clear,
            RecentList.description.name: list,
            RecentServed.description.name: lastServed,
        ]
    }

    @Sendable
    private func list(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            RecentList.Result(items: try await recents.list(uid: call.peer.uid)).jsonBytes
        }
    }

    @Sendable
    private func clear(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            RecentClear.Result(removed: try await recents.clear(uid: call.peer.uid)).jsonBytes
        }
    }

    @Sendable
    private func lastServed(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            let kind = Favorite.Kind(rawValue: call.arguments.string("kind") ?? "")
            guard let item = try await facts.lastServed(kind, uid: call.peer.uid) else {
                throw .notFound("This user was served no \(kind.rawValue) yet.")
            }
            return RecentServed.Result(id: item.id, name: item.name).jsonBytes
        }
    }
}
