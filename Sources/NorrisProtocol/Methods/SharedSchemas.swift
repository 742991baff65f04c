/// The values that several results share, under `components.schemas` of `rpc.discover`.
package enum SharedSchemas {
    /// Name and shape, in the order of the document.
    package static let all: [(name: String, schema: Schema)] = [
        ("Fact", fact),
        ("Favorite", favorite),
        ("Freshness", freshness),
        ("Gif", gif),
        ("Post", post),
        ("Rendition", rendition),
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

    private static let favorite: Schema = .object([
        .required("kind", .word(Favorite.Kind.all.map(\.rawValue))),
        .required("id", .string),
        .required("title", .string),
        .required("added_at", .timestamp),
        .optional("fact", .reference("Fact")),
        .optional("gif", .reference("Gif")),
        .optional("post", .reference("Post")),
    ])

    private static let gif: Schema = .object([
        .required("id", .string),
        .required("title", .string),
        .required("rating", .string),
        .required("page_url", .string),
        .optional("username", .string),
        .optional("alt_text", .string),
        .required("sticker", .boolean),
        .required("renditions", .dictionary(.reference("Rendition"))),
        .optional("imported_at", .timestamp),
        .optional("trending_at", .timestamp),
        .required("attribution", .word([Gif.attribution])),
    ])

    private static let rendition: Schema = .object([
        .optional("url", .string),
        .optional("mp4", .string),
        .optional("webp", .string),
        .optional("width", .count),
        .optional("height", .count),
        .optional("bytes", .count),
        .optional("frames", .count),
    ])

    private static let post: Schema = .object([
        .required("id", .string),
        .required("source", .string),
        .required(
            "author",
            .object([
                .required("id", .string), .required("name", .string), .optional("handle", .string),
                .optional("avatar_url", .string), .optional("email", .string),
            ])
        ),
        .optional("published_at", .timestamp),
        .optional("title", .string),
        .optional("text", .string),
        .optional("sensitive", .boolean),
        .required("tags", .list(.string)),
        .required(
            "images",
            .list(
                .object([
                    .required("url", .string), .optional("width", .count), .optional("height", .count),
                    .optional("alt", .string),
                ])
            )
        ),
        .required(
            "stats",
            .object([.optional("likes", .count), .optional("comments", .count), .optional("shares", .count)])
        ),
        .optional("url", .string),
        .required("read", .boolean),
    ])

    private static let freshness: Schema = .object([
        .required("origin", .word(["upstream", "cache", "builtin", "none"])),
        .required("state", .word(["fresh", "stale", "empty"])),
        .optional("fetched_at", .timestamp),
        .optional("age_seconds", .count),
        .required("error", .nullable(failure)),
    ])

    private static let failure: Schema = .object([
        .required("kind", .word(SourceFailure.Kind.all.map(\.rawValue))),
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
