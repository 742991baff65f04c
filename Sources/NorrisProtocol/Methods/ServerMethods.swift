package enum ServerInfo: Method {
    package static let name = "server.info"
    package static let summary = "Returns the version, the capabilities and the process id of the daemon."

    /// The version of the protocol, independent of the version of the daemon. Only incompatible changes increase it.
    package static let protocolVersion = 1

    package struct Result: WireObject, Equatable, Sendable {
        package var name = ""
        package var version = ""
        package var protocolVersion = 0
        package var capabilities: [String] = []
        package var pid = 0
        package var startedAt = Timestamp(seconds: 0)
        /// The absolute path of the configuration file, even if the file does not exist; nil if there is no directory
        /// for a configuration file.
        package var configPath: String?
        /// Whether the requesting user is an administrator.
        package var isAdministrator: Bool?

        package init(
            name: String, version: String, protocolVersion: Int, capabilities: [String], pid: Int,
            startedAt: Timestamp, configPath: String? = nil, isAdministrator: Bool? = nil
        ) {
            (self.name, self.version, self.protocolVersion) = (name, version, protocolVersion)
            (self.capabilities, self.pid, self.startedAt) = (capabilities, pid, startedAt)
            (self.configPath, self.isAdministrator) = (configPath, isAdministrator)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("name", &name)
            try members.required("version", &version)
            try members.required("protocol", &protocolVersion, .integer(1...1))
            try members.required("capabilities", &capabilities)
            try members.required("pid", &pid)
            try members.required("started_at", &startedAt)
            try members.optional("config_path", &configPath)
            try members.optional("administrator", &isAdministrator)
        }
    }
}

package enum ServerStatus: Method {
    package static let name = "server.status"
    package static let summary = "Returns the state of the daemon, its sources and its databases."

    package struct State: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let ok = State(rawValue: "ok")
        /// A database was replaced or cannot be written, a configuration was refused, or a source is stale.
        package static let degraded = State(rawValue: "degraded")
        package static let all = [ok, degraded]
    }

    package struct Result: WireObject, Equatable, Sendable {
        package var state: State = .ok
        /// One line for the user.
        package var message = ""
        /// The first fault of the configuration that the last reload refused; nil if no configuration was refused.
        package var configurationError: String?
        package var uptimeSeconds = 0
        package var connections = 0
        package var requestsTotal = 0
        package var sources: [SourceStatus] = []
        /// The hosts that asked norrisd to wait; nil without any.
        package var hosts: [HeldHost]?
        package var database = Database()
        package var version = ""

        package init(
            state: State, message: String, configurationError: String? = nil, uptimeSeconds: Int, connections: Int,
            requestsTotal: Int, sources: [SourceStatus], hosts: [HeldHost]? = nil, database: Database, version: String
        ) {
            (self.state, self.message, self.configurationError) = (state, message, configurationError)
            self.uptimeSeconds = uptimeSeconds
            (self.connections, self.requestsTotal) = (connections, requestsTotal)
            (self.sources, self.hosts, self.database, self.version) = (sources, hosts, database, version)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("state", &state)
            try members.required("message", &message)
            try members.optional("configuration_error", &configurationError)
            try members.required("uptime_seconds", &uptimeSeconds)
            try members.required("connections", &connections)
            try members.required("requests_total", &requestsTotal)
            try members.required("sources", &sources)
            try members.optional("hosts", &hosts)
            try members.required("database", &database)
            try members.required("version", &version)
        }
    }

    /// A host that is not asked for a time, because it asked for a pause.
    package struct HeldHost: WireObject, Equatable, Sendable {
        package var host = ""
        package var until = Timestamp(seconds: 0)
        /// The reply in words: `HTTP 429`, `no requests left`.
        package var reason = ""
        /// The number of sources that wait.
        package var sources = 0

        package init(host: String, until: Timestamp, reason: String, sources: Int) {
            (self.host, self.until, self.reason, self.sources) = (host, until, reason, sources)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("host", &host)
            try members.required("until", &until)
            try members.required("reason", &reason)
            try members.required("sources", &sources)
        }
    }

    /// Sizes on disk, in bytes, including the write-ahead logs.
    package struct Database: WireObject, Equatable, Sendable {
        package var cacheBytes = 0
        package var stateBytes = 0
        package var isReadOnly = false
        /// The free space for the daemon's user, in bytes, on the fuller of the two file systems; nil if unknown.
        package var freeBytes: Int?

        package init(cacheBytes: Int, stateBytes: Int, isReadOnly: Bool, freeBytes: Int? = nil) {
            (self.cacheBytes, self.stateBytes) = (cacheBytes, stateBytes)
            (self.isReadOnly, self.freeBytes) = (isReadOnly, freeBytes)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("cache_bytes", &cacheBytes)
            try members.required("state_bytes", &stateBytes)
            try members.required("read_only", &isReadOnly)
            try members.optional("free_bytes", &freeBytes)
        }
    }
}

package enum ServerMetrics: Method {
    package static let name = "server.metrics"
    package static let summary = "Returns the daemon's metrics in the OpenMetrics text format."

    package struct Result: WireObject, Equatable, Sendable {
        /// In the text format of OpenMetrics 1.0 (`application/openmetrics-text; version=1.0.0`).
        package var text = ""

        package init(text: String) { self.text = text }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("text", &text)
        }
    }
}

package enum ServerReload: Method {
    package static let name = "server.reload"
    package static let summary = "Reads the configuration again. An invalid file changes nothing."
    package static let isAdministrative = true
    package typealias Result = NoMembers
}

package enum EventSubscribe: Method {
    package static let name = "event.subscribe"
    package static let summary =
        "Subscribes this connection to topics. Each call replaces the previous subscription."

    package struct Parameters: WireObject, Equatable, Sendable {
        /// nil for all.
        package var topics: [Event.Topic]?

        package init(topics: [Event.Topic]?) { self.topics = topics }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional(
                "topics", &topics, [Event.Topic].schema,
                "The topics; all if absent. An empty list ends the subscription.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        package var topics: [Event.Topic] = []

        package init(topics: [Event.Topic]) { self.topics = topics }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("topics", &topics)
        }
    }
}

/// `rpc.discover`: the OpenRPC document of this daemon (specification 1.3.2), generated from ``MethodTable``.
package enum Discover: Method {
    package static let name = "rpc.discover"
    package static let summary = "Describes all methods as an OpenRPC document."

    package struct Result: WireValue {
        package let document: JSON

        package static var schema: Schema { .reference("OpenRPC") }

        package init(version: String) {
            document = [
                "openrpc": "1.3.2", "info": ["title": "norrisd", "version": .string(version)],
                "methods": .array(MethodTable.methods.map(Discover.method)),
                "components": ["schemas": .object(SharedSchemas.document)],
            ]
        }

        package init(json: JSONValue) { document = JSON(json: json) }

        package func encode(to json: inout JSONWriter) { document.encode(to: &json) }
    }

    private static func method(_ description: MethodDescription) -> JSON {
        [
            "name": .string(description.name), "summary": .string(description.summary), "paramStructure": "by-name",
            "params": .array(description.parameters.map(parameter)),
            "result": ["name": "result", "schema": description.result.document],
            "x-admin": .bool(description.isAdministrative),
        ]
    }

    private static func parameter(_ parameter: Schema.Member) -> JSON {
        [
            "name": .string(parameter.name), "summary": .string(parameter.summary),
            "required": .bool(parameter.isRequired), "schema": parameter.schema.document,
        ]
    }
}

/// The types that several results share, under `components.schemas` of `rpc.discover`.
package enum SharedSchemas {
    static let types: [any SharedObject.Type] = [
        Fact.self, Favorite.self, Freshness.self, Gif.self, Post.self, Gif.Rendition.self, SourceStatus.self,
    ]

    /// In the order of the document.
    package static let all: [(name: String, schema: Schema)] = types.map { ($0.schemaName, .object($0.members)) }

    static var document: JSONObject {
        var schemas = JSONObject()
        for (name, schema) in all { schemas[name] = schema.document }
        // The OpenRPC specification describes the result of rpc.discover.
        schemas["OpenRPC"] = ["$ref": "https://meta.open-rpc.org/"]
        return schemas
    }
}
