package import NorrisProtocol

/// Whoever the prefetcher works for: keeps its records and hears what happens. Called from its background thread, and
/// may block.
package protocol PrefetchHost: Sendable {
    /// What was kept of a source when it was last here.
    func history(of source: String) -> (record: SourceSchedule.Record, content: SourceSchedule.Content?)

    /// Keeps a record for good.
    func keep(_ record: SourceSchedule.Record, of source: String)

    func began(_ source: String)
    func finished(_ source: String, added: Int)
    func failed(_ source: String, _ failure: SourceFailure)
}
