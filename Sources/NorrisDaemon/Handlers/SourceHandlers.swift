import NorrisProtocol
import NorrisServer

/// The methods `source.refresh` and `cache.clear`.
struct SourceHandlers: Sendable {
    let fetching: Fetching

    var bodies: [String: MethodBody] {
        [
            SourceRefresh.description.name: refresh,
            CacheClear.description.name: clear,
        ]
    }

    @Sendable
    private func refresh(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let source = call.arguments.string("source")
        let started = try fetching.refresh(source, isAdministrator: call.isAdministrator)
        SourceRefresh.Result(started: started).encode(to: &json)
        return nil
    }

    @Sendable
    private func clear(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let source = call.arguments.string("source")
        return .disk { () async throws(ResponseError) -> [UInt8] in
            CacheClear.Result(removed: try await fetching.clear(source)).jsonBytes
        }
    }
}
