/// What a fetch of a source did to its posts.
package struct PostChanges: Sendable, Equatable {
    package var added = 0
    /// How many that were known have another content.
    package var changed = 0
    /// The ids of posts that were kept long enough; their read marks may go too.
    package var removed: [String] = []
    /// How many posts of the source are stored now.
    package var total = 0

    package init(added: Int = 0, changed: Int = 0, removed: [String] = [], total: Int = 0) {
        self.added = added
        self.changed = changed
        self.removed = removed
        self.total = total
    }
}
