/// `recent.clear`: forgets what this user searched for.
package enum RecentClear {
    package static let description = MethodDescription(
        "recent.clear",
        summary: "Forgets the user's last searches.",
        result: .object([.required("removed", .count)])
    )

    /// How many searches were forgotten.
    package typealias Result = Removed
}
