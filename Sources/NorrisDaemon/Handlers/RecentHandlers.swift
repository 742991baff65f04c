import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `recent.*`.
struct RecentHandlers: Sendable {
    let recents: RecentSearches

    var bodies: [String: MethodBody] {
        [
            RecentClear.description.name: clear,
            RecentList.description.name: list,
        ]
    }

    @Sendable
    private func list(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        { () async throws(ResponseError) -> [UInt8] in
            RecentList.Result(items: try await recents.list(uid: call.peer.uid)).jsonBytes
        }
    }

    @Sendable
    private func clear(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        { () async throws(ResponseError) -> [UInt8] in
            RecentClear.Result(removed: try await recents.clear(uid: call.peer.uid)).jsonBytes
        }
    }
}
