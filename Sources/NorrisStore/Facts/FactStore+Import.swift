import Logging
package import NorrisProtocol
import Synchronization

/// Taking in content that needs no network.
extension FactStore {
    private static let builtinMark = "builtin_digest"

    /// What a group's source gives.
    private struct Batch {
        var facts: [Fact]
        /// Whether all was read that was to be read.
        var isComplete = true
        /// Whether a stored fact stays although it is not among these: what gave it could not be read this time.
        var keeps: (StoredFact) -> Bool = { _ in false }
    }

    /// Brings the starting collection of this build into the cache, unless it is there.
    package func importStartingCollection(at now: Timestamp = .now()) {
        importGroup(.builtin, mark: FactStore.builtinMark, digest: StartingCollection.digest, at: now) {
            let facts = StartingCollection.facts().map {
                Fact(id: $0.id, text: $0.text, categories: $0.categories, source: "builtin")
            }
            return Batch(facts: facts)
        }
    }

    /// Brings fortune files into the cache, unless they are there unchanged.
    ///
    /// - Parameter paths: files and folders, as configured.
    /// - Returns: what could not be read, a sentence each; the facts that such a file gave before stay.
    @discardableResult
    package func importFortunes(_ paths: [String], at now: Timestamp = .now()) -> [String] {
        let found = FortuneFiles.find(paths)
        var faults = found.faults
        importGroup(.fortunes, mark: LeftOutTexts.fortunesMark, digest: found.digest, at: now) {
            let (facts, unreadable) = Fortunes.read(found.files)
            faults += unreadable
            let unread = faults.filter { $0.extent != .nothing }
            let keepsAll = unread.contains { $0.extent == .unknown }
            let sources = Set(unread.map { Fortunes.source(of: lastComponent(of: $0.path)) })
            return Batch(facts: facts, isComplete: unread.isEmpty) { keepsAll || sources.contains($0.source) }
        }
        for fault in faults {
            logger.error("fortunes.unreadable", metadata: ["path": "\(fault.path)", "error": "\(fault)"])
        }
        return faults.map(\.description)
    }

    private func importGroup(
        _ group: FactGroup, mark: String, digest: String, at now: Timestamp, _ read: () -> Batch
    ) {
        importing.withLock { _ in
            let cache = databases.cache
            guard (try? cache.value(forKey: mark)) != digest else {
                return databases.noteWriteSuccess(of: .facts(group), logger)
            }
            let batch = read()
            do {
                let rules = FactImport.Rules(group: group, goes: { !batch.keeps($0) })
                let changes = try cache.take(batch.facts, rules, at: now) { database in
                    // Without the right mark what could not be read is tried again at the next start.
                    try CacheDatabase.set(batch.isComplete ? digest : "", forKey: mark, database)
                }
                publish(changes)
                databases.noteWriteSuccess(of: .facts(group), logger)
            } catch {
                databases.noteWriteFailure(error, of: .facts(group), logger)
                // The disk does not take them: they are in memory for this run.
                publish(FactChanges(stored: batch.facts))
            }
        }
    }
}
