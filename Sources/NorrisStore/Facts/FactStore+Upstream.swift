import GRDB
import Logging
package import NorrisProtocol
import Synchronization

/// Taking in what the upstream of the facts gives.
///
/// Blocking; called from where it may take seconds. What throws has changed nothing. Fortunes may be left out for what
/// comes, and come back for what goes: importing them afterwards, which is cheap otherwise, sees to that.
extension FactStore {
    /// The name that the source has among the fetch records.
    package static let upstreamSource = "facts"

    /// Puts what a fetch brought in place of the upstream's facts.
    ///
    /// - Parameters:
    ///   - isComplete: false where the absence of a fact proves nothing: then none goes.
    ///   - fetch: is written together with them.
    ///   - isCancelled: asked every now and then until all is stored.
    /// - Throws: `cancelled` or `failed`.
    @discardableResult
    package func replaceUpstream(
        _ facts: [Fact],
        isComplete: Bool,
        fetch: FetchRecord,
        at now: Timestamp = .now(),
        isCancelled: @escaping () -> Bool = { Task.isCancelled }
    ) throws(StoreError) -> UpstreamChanges {
        var total = 0
        let goes: (StoredFact) -> Bool = { !$0.isFound }
        let rules = FactImport.Rules(group: .upstream, goes: isComplete ? goes : nil, isCancelled: isCancelled)
        let changes = try take(facts, rules, at: now) { database in
            try fetch.write(for: FactStore.upstreamSource, database)
            total = try StoredFact.count(of: .upstream, database)
        }
        return UpstreamChanges(changes, total: total)
    }

    /// Takes in what a search at the upstream brought; such facts stay when a fetch does not bring them.
    ///
    /// - Returns: how many of them are new.
    /// - Throws: `failed`.
    @discardableResult
    package func addFound(_ facts: [Fact], at now: Timestamp = .now()) throws(StoreError) -> Int {
        let changes = try take(facts, FactImport.Rules(group: .upstream, isSearch: true), at: now)
        if changes.droppedCategories > 0 {
            logger.info("facts.found", metadata: ["categories_dropped": "\(changes.droppedCategories)"])
        }
        return changes.added
    }

    /// Takes out all facts of the upstream, and forgets that they were ever fetched.
    ///
    /// - Returns: how many facts went.
    /// - Throws: `failed`.
    @discardableResult
    package func clearUpstream() throws(StoreError) -> Int {
        let rules = FactImport.Rules(group: .upstream, goes: { _ in true })
        let changes = try take([], rules, at: .now()) { database in
            try FetchRecord.remove(FactStore.upstreamSource, database)
        }
        return changes.removed.count
    }

    private func take(
        _ facts: [Fact],
        _ rules: FactImport.Rules,
        at now: Timestamp,
        completing: (Database) throws -> Void = { _ in }
    ) throws(StoreError) -> FactChanges {
        try importing.withLock { _ throws(StoreError) in
            let cache = databases.cache
            let changes: FactChanges
            do {
                changes = try cache.take(facts, rules, at: now, completing: completing)
            } catch is CancellationError {
                throw StoreError(path: cache.name, .cancelled)
            } catch {
                databases.noteWriteFailure(error, of: .facts(rules.group), logger)
                throw StoreError(path: cache.name, .failed("\(error)"))
            }
            publish(changes)
            let (used, unused) = state.withLock { $0.catalogue.categoriesByUse }
            forget(unused, used: used)
            databases.noteWriteSuccess(of: .facts(rules.group), logger)
            databases.noteWriteSuccess(of: .fetches, logger)
            return changes
        }
    }
}
