/// `cache.clear`: forgets what was fetched.
package enum CacheClear {
    package static let description = MethodDescription(
        "cache.clear",
        summary: "Removes what was fetched from a source; what users keep survives.",
        isAdministrative: true,
        parameters: [.optional("source", .text(1...200), "Which; all if absent.")],
        result: .object([.required("removed", .count)])
    )

    package typealias Parameters = SourceRefresh.Parameters

    /// How many items were removed.
    package typealias Result = Removed
}
