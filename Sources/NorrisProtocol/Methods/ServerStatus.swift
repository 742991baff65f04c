/// `server.status`: how the daemon and its sources are.
package enum ServerStatus {
    package static let description = MethodDescription(
        "server.status",
        summary: "Says how the daemon, its sources and its databases are.",
        result: .object([
            .required("state", .word(["ok", "degraded"])),
            .required("message", .string),
            .required("uptime_seconds", .count),
            .required("connections", .count),
            .required("requests_total", .count),
            .optional("requests_per_minute", .list(.count)),
            .required("sources", .list(.reference("SourceStatus"))),
            .required(
                "database",
                .object([
                    .required("cache_bytes", .count), .required("state_bytes", .count),
                    .required("read_only", .boolean), .optional("free_bytes", .count),
                ])
            ),
            .required("version", .string),
        ])
    )

    package struct State: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let ok = State(rawValue: "ok")
        /// A database is read-only or was set aside, or a configuration was refused.
        package static let degraded = State(rawValue: "degraded")
    }

    package struct Result: Equatable, Sendable {
        package var state: State
        /// One line for a person.
        package var message: String
        package var uptimeSeconds: Int
        package var connections: Int
        package var requestsTotal: Int
        /// Requests of each of the last minutes, 60 at most, oldest first; the last one is under way. Nil from an older
        /// daemon.
        package var requestsPerMinute: [Int]?
        package var sources: [SourceStatus]
        package var database: Database
        package var version: String

        package init(
            state: State,
            message: String,
            uptimeSeconds: Int,
            connections: Int,
            requestsTotal: Int,
            requestsPerMinute: [Int]? = nil,
            sources: [SourceStatus],
            database: Database,
            version: String
        ) {
            self.state = state
            self.message = message
            self.uptimeSeconds = uptimeSeconds
            self.connections = connections
            self.requestsTotal = requestsTotal
            self.requestsPerMinute = requestsPerMinute
            self.sources = sources
            self.database = database
            self.version = version
        }
    }

    /// Sizes on disk, in bytes, with the write-ahead logs.
    package struct Database: Equatable, Sendable {
        package var cacheBytes: Int
        package var stateBytes: Int
        package var isReadOnly: Bool
        /// What its user may still write, on whichever of the two file systems has less; nil where that is not known.
        package var freeBytes: Int?

        package init(cacheBytes: Int, stateBytes: Int, isReadOnly: Bool, freeBytes: Int? = nil) {
            self.cacheBytes = cacheBytes
            self.stateBytes = stateBytes
            self.isReadOnly = isReadOnly
            self.freeBytes = freeBytes
        }
    }
}

extension ServerStatus.Result: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("state", state)
        json.member("message", message)
        json.member("uptime_seconds", uptimeSeconds)
        json.member("connections", connections)
        json.member("requests_total", requestsTotal)
        json.member("requests_per_minute", requestsPerMinute)
        json.member("sources", sources)
        json.member("database", database)
        json.member("version", version)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        state = try object.required("state")
        message = try object.required("message")
        uptimeSeconds = try object.required("uptime_seconds")
        connections = try object.required("connections")
        requestsTotal = try object.required("requests_total")
        requestsPerMinute = try object.optional("requests_per_minute")
        sources = try object.required("sources")
        database = try object.required("database")
        version = try object.required("version")
    }
}

extension ServerStatus.Database: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("cache_bytes", cacheBytes)
        json.member("state_bytes", stateBytes)
        json.member("read_only", isReadOnly)
        json.member("free_bytes", freeBytes)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        cacheBytes = try object.required("cache_bytes")
        stateBytes = try object.required("state_bytes")
        isReadOnly = try object.required("read_only")
        freeBytes = try object.optional("free_bytes")
    }
}
