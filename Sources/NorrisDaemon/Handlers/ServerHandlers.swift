import Glibc
import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `server.*` and `rpc.discover`.
struct ServerHandlers: Sendable {
    let health: Health
    let reloader: Reloader

    var bodies: [String: MethodBody] {
        [
            Discover.description.name: discover,
            ServerInfo.description.name: info,
            ServerMetrics.description.name: metrics,
            ServerReload.description.name: reload,
            ServerStatus.description.name: status,
        ]
    }

    /// Follows from the program alone.
    private static let document = Discover.document(version: NorrisVersion.current).jsonBytes

    @Sendable
    private func discover(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        json.raw(ServerHandlers.document)
        return nil
    }

    @Sendable
    private func info(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        ServerInfo.Result(
            name: "norrisd",
            version: NorrisVersion.current,
            protocolVersion: ServerInfo.protocolVersion,
            capabilities: MethodTable.capabilities,
            pid: Int(getpid()),
            startedAt: health.startedAt
        ).encode(to: &json)
        return nil
    }

    @Sendable
    private func metrics(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        json.raw(health.encodedMetrics)
        return nil
    }

    @Sendable
    private func status(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        health.status.encode(to: &json)
        return nil
    }

    @Sendable
    private func reload(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        .disk { () async throws(ResponseError) -> [UInt8] in
            do throws(ConfigurationError) {
                try await reloader.reload()
            } catch {
                throw ServerHandlers.refusal(of: error)
            }
            return Array("{}".utf8)
        }
    }

    /// A refused configuration as an error that names file, line and key of its first fault.
    private static func refusal(of error: ConfigurationError) -> ResponseError {
        var details = JSONObject()
        if let fault = error.faults.first {
            details["file"] = .string(fault.file)
            details["line"] = fault.line.map { .integer(Int64($0)) }
            details["key"] = fault.key.map(JSON.string)
        }
        let message = error.faults.first?.description ?? "The configuration was refused."
        let more = error.faults.count > 1 ? " and \(error.faults.count - 1) more" : ""
        return ResponseError(
            .invalidParams,
            reason: "invalid_params",
            message: message + more,
            hint: "Nothing was changed. norrisd --check-config --config FILE says all that is wrong.",
            details: details
        )
    }
}
