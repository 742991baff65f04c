import NorrisProtocol

/// What a change of the cache did, for the catalogue to follow.
struct FactChanges: Equatable {
    /// New facts and facts whose content is another, in the order of storing.
    var stored: [Fact] = []
    /// How many of the stored ones are new.
    var added = 0
    /// The ids of facts that are gone.
    var removed: [String] = []
    /// How many of the removed ones made way for a fact of another group with the same text.
    var displaced = 0
    /// How many categories were dropped, counted once for each fact.
    var droppedCategories = 0
}

/// What a replacement of the upstream's facts did, in numbers of facts.
package struct UpstreamChanges: Sendable, Equatable {
    package let added: Int
    package let changed: Int
    package let removed: Int
    /// How many facts of the upstream are stored now.
    package let total: Int
    /// How many categories were dropped, counted once for each fact.
    package let droppedCategories: Int

    init(_ changes: FactChanges, total: Int) {
        added = changes.added
        changed = changes.stored.count - changes.added
        removed = changes.removed.count - changes.displaced
        droppedCategories = changes.droppedCategories
        self.total = total
    }
}
