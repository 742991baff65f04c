import Glibc
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisThreads

/// The methods `server.*`, `source.*`, `cache.*`, `event.*` and `rpc.discover`.
struct ServerHandlers: Sendable {
    let health: Health
    let reloader: Reloader
    /// The results of `server.info` for users and for administrators, which are constant while the daemon runs.
    private let info: [Bool: [UInt8]]

    init(health: Health, reloader: Reloader) {
        (self.health, self.reloader) = (health, reloader)
        let path = reloader.file.map { file in
            file.path.hasPrefix("/") ? file.path : Paths.join(reloader.loader.currentDirectory, file.path)
        }
        func info(isAdministrator: Bool) -> [UInt8] {
            ServerInfo.Result(
                name: "norrisd", version: NorrisVersion.current, protocolVersion: ServerInfo.protocolVersion,
                capabilities: MethodTable.capabilities, pid: Int(getpid()), startedAt: health.startedAt,
                configPath: path, isAdministrator: isAdministrator
            ).jsonBytes
        }
        self.info = [false: info(isAdministrator: false), true: info(isAdministrator: true)]
    }

    private var sources: ConfiguredSources { reloader.sources }
    /// The configuration file, for messages.
    private var file: String { reloader.file?.path ?? "the configuration" }

    var all: [Handler] {
        [
            Handler(Discover.self) { _, _, json throws(ResponseError) in
                json.raw(ServerHandlers.document)
                return nil
            },
            Handler(ServerInfo.self) { _, call, json throws(ResponseError) in
                json.raw(info[call.isAdministrator] ?? [])
                return nil
            },
            Handler(
                ServerMetrics.self,
                deferred: { _, _ in
                    ServerHandlers.elsewhere { ServerMetrics.Result(text: health.metrics.text).jsonBytes }
                }), Handler(ServerStatus.self, status),
            Handler(ServerReload.self, onDisk: reload),
            Handler(
                SourceRefresh.self,
                onDisk: { parameters, call throws(ResponseError) in
                    SourceRefresh.Result(
                        started: try sources.refresh(
                            parameters.source, tagged: parameters.tag, isAdministrator: call.isAdministrator))
                }),
            Handler(
                SourceAdd.self,
                deferred: { parameters, _ in
                    .network { () async throws(ResponseError) -> [UInt8] in
                        try await sources.add(parameters, besides: file).jsonBytes
                    }
                }),
            Handler(
                SourceEdit.self,
                deferred: { parameters, _ in
                    .network { () async throws(ResponseError) -> [UInt8] in
                        try await sources.edit(parameters, notOf: file).jsonBytes
                    }
                }),
            Handler(
                SourceRemove.self,
                onDisk: { parameters, _ throws(ResponseError) in
                    SourceRemove.Result(removed: try await sources.remove(parameters.sourceName, notOf: file))
                }),
            Handler(
                CacheClear.self,
                onDisk: { parameters, _ throws(ResponseError) in
                    Removed(removed: try await sources.clear(parameters.source))
                }), Handler(EventSubscribe.self, inMemory: subscribe),
        ]
    }

    /// The most sources whose status is written on the event loop, where many would make other users wait.
    static let fewSources = 100

    @Sendable private func status(
        _ parameters: NoMembers, _ call: Call, _ json: inout JSONWriter
    ) throws(ResponseError) -> Deferred? {
        guard sources.current.all.count <= ServerHandlers.fewSources else {
            return ServerHandlers.elsewhere { health.status.jsonBytes }
        }
        health.status.encode(to: &json)
        return nil
    }

    /// Writes a long result outside of the event loop and the thread of the services.
    private static func elsewhere(_ write: @escaping @Sendable () -> [UInt8]) -> Deferred {
        .disk { () async throws(ResponseError) -> [UInt8] in await BackgroundThreads.facts.run { _ in write() } }
    }

    /// Depends only on the program's version.
    private static let document = Discover.Result(version: NorrisVersion.current).jsonBytes

    @Sendable private func subscribe(_ parameters: EventSubscribe.Parameters, _ call: Call) -> EventSubscribe.Result {
        let topics = Set(parameters.topics ?? Event.Topic.all)
        call.subscription.set(topics)
        return EventSubscribe.Result(topics: Event.Topic.all.filter(topics.contains))
    }

    @Sendable
    private func reload(_ parameters: NoMembers, _ call: Call) async throws(ResponseError) -> NoMembers {
        do throws(ConfigurationError) {
            try await reloader.reload()
        } catch {
            throw ServerHandlers.refusal(of: error)
        }
        return NoMembers()
    }

    /// The error of a refused configuration, with file, line and key of its first fault.
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
            .invalidParams, message + more, hint: "Nothing was changed. List all faults: norrisctl config check",
            details: details)
    }
}
