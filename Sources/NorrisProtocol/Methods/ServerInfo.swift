/// `server.info`: who answers.
package enum ServerInfo {
    package static let description = MethodDescription(
        "server.info",
        summary: "Says which daemon this is and what it can do.",
        result: .object([
            .required("name", .string),
            .required("version", .string),
            .required("protocol", .integer(1...1)),
            .required("capabilities", .list(.string)),
            .required("pid", .count),
            .required("started_at", .timestamp),
        ])
    )

    /// The version of the protocol, which rises only on a break; not the version of the daemon.
    package static let protocolVersion = 1

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var name: String
        package var version: String
        package var protocolVersion: Int
        package var capabilities: [String]
        package var pid: Int
        package var startedAt: Timestamp

        package init(
            name: String,
            version: String,
            protocolVersion: Int,
            capabilities: [String],
            pid: Int,
            startedAt: Timestamp
        ) {
            self.name = name
            self.version = version
            self.protocolVersion = protocolVersion
            self.capabilities = capabilities
            self.pid = pid
            self.startedAt = startedAt
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("name", name)
            json.member("version", version)
            json.member("protocol", protocolVersion)
            json.member("capabilities", capabilities)
            json.member("pid", pid)
            json.member("started_at", startedAt)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            name = try object.required("name")
            version = try object.required("version")
            protocolVersion = try object.required("protocol")
            capabilities = try object.required("capabilities")
            pid = try object.required("pid")
            startedAt = try object.required("started_at")
        }
    }
}
