/// The values that several results share, under `components.schemas` of `rpc.discover`.
package enum SharedSchemas {
    /// Name and shape, in the order of the document.
    package static let all: [(name: String, schema: Schema)] = [
        ("Fact", fact),
        ("Freshness", freshness),
        ("SourceStatus", sourceStatus),
    ]

    static var document: JSONObject {
        var schemas = JSONObject()
        for (name, schema) in all {
            schemas[name] = schema.document
        }
        // What rpc.discover itself answers is described by another specification.
        schemas["OpenRPC"] = ["$ref": "https://meta.open-rpc.org/"]
        return schemas
    }

    private static let fact: Schema = .object([
        .required("id", .string),
        .required("text", .string),
        .required("categories", .list(.string)),
        .required("source", .string),
        .optional("url", .string),
        .optional("created_at", .timestamp),
        .optional("updated_at", .timestamp),
    ])

    private static let freshness: Schema = .object([
        .required("origin", .word(["upstream", "cache", "builtin", "none"])),
        .required("state", .word(["fresh", "stale", "empty"])),
        .optional("fetched_at", .timestamp),
        .optional("age_seconds", .count),
        .required("error", .nullable(failure)),
    ])

    private static let failure: Schema = .object([
        .required("kind", .word(["offline", "timeout", "http", "quota", "decode", "credentials"])),
        .required("message", .string),
        .required("since", .timestamp),
        .optional("retry_at", .timestamp),
    ])

    private static let sourceStatus: Schema = .object([
        .required("name", .string),
        .required("kind", .string),
        .required("enabled", .boolean),
        .required("items", .count),
        .required("freshness", .reference("Freshness")),
        .optional("next_run_at", .timestamp),
        .required("consecutive_failures", .count),
        .optional(
            "quota",
            .object([.required("limit", .count), .required("used", .count), .required("resets_at", .timestamp)])
        ),
    ])
}
