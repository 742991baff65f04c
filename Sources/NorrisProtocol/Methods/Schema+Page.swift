extension Schema {
    /// The result of a list method: see ``Page``.
    static func page(of name: String) -> Schema {
        page(of: .reference(name), hasFreshness: true)
    }

    static func page(of item: Schema, hasFreshness: Bool) -> Schema {
        .object(
            [
                .required("items", .list(item)),
                .optional("total", .integer(0...countedMatches)),
                .optional("next", .string),
            ] + (hasFreshness ? [.required("freshness", .reference("Freshness"))] : [])
        )
    }
}

extension MethodDescription.Parameter {
    /// How many items a page may hold.
    static func limit(_ range: ClosedRange<Int>, default count: Int) -> Self {
        .optional("limit", .integer(range), "How many items a page holds; \(count) if absent.")
    }

    /// Where a page begins.
    static var cursor: Self { .optional("cursor", .string, "The `next` of the page before.") }

    /// The id of an item.
    static var id: Self { .required("id", .text(1...200), "The id, as any reply carried it.") }
}
