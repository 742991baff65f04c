import Logging
package import NorrisProtocol
package import NorrisThreads
import Synchronization

/// Imports of facts: the starting collection, fortune files, and the upstream's facts.
///
/// Blocking, possibly for seconds. A change may displace fortunes, or free their texts, so fortune files are imported
/// afterwards, which is fast without changes.
extension FactStore {
    private static let builtinMark = "builtin_digest"
    /// The name of the source in the fetch records.
    package static let upstreamSource = SourceStatus.facts
    /// The number of fortunes in one transaction, for which other writers wait.
    private static let factsAtOnce = 1_024

    /// Imports the starting collection of this program, unless it is stored.
    package func importStartingCollection(_ access: BlockingAccess) {
        let digest = StartingCollection.digest
        guard (try? databases.cache(.facts).value(forKey: FactStore.builtinMark, access)) != digest else { return }
        let rules = FactImport.Rules(group: .builtin, removes: { _ in true })
        while true {
            do {
                try change(access) { database, file in
                    try CacheDatabase.set(digest, forKey: FactStore.builtinMark, database)
                    return try FactImport.run(StartingCollection.facts(), rules, file, database)
                }
                return
            } catch {
                // Without a disk, the facts are served from memory, because a daemon without facts is useless.
                guard count == 0, databases.replaceFactsByMemory(access) else { return }
                loadIndex(access)
            }
        }
    }

    /// Imports fortune files, unless they are stored unchanged. A second call ends the first.
    ///
    /// - Parameters:
    ///   - paths: files and folders, as configured.
    ///   - isCancelled: checked from time to time.
    /// - Returns: the unreadable files, one sentence each; the stored facts of such a file stay.
    @discardableResult package func importFortunes(
        _ paths: [String], _ access: BlockingAccess, isCancelled: @escaping () -> Bool = { Task.isCancelled }
    ) -> [String] {
        let number = fortuneImports.add(1, ordering: .relaxed).newValue
        let isCancelled = { isCancelled() || self.fortuneImports.load(ordering: .relaxed) != number }
        let found = FortuneFiles.find(paths)
        var faults = found.faults
        if (try? databases.cache(.facts).value(forKey: LeftOutTexts.fortunesMark, access)) != found.digest {
            // Without files there is no progress, only removal of older facts.
            if !found.files.isEmpty { fortuneProgress.store(0, ordering: .relaxed) }
            defer { fortuneProgress.store(-1, ordering: .relaxed) }
            do {
                try importFortunes(found, &faults, access, isCancelled)
            } catch {
                // Other failures are recorded; the next start or reload tries again.
                if (error as? StoreError)?.reason == .cancelled { return faults.map(\.description) }
            }
        }
        for fault in faults {
            databases.logger.error("fortunes.unreadable", metadata: ["path": "\(fault.path)", "error": "\(fault)"])
        }
        return faults.map(\.description)
    }

    private func importFortunes(
        _ found: FortuneFiles, _ faults: inout [FortuneFault], _ access: BlockingAccess,
        _ isCancelled: @escaping () -> Bool
    ) throws {
        var brought = Brought()
        var rules = FactImport.Rules(group: .fortunes, isCancelled: isCancelled)
        var count = 0
        /// Runs a part of the import in a separate transaction.
        func run(_ part: (Database, inout FactImport) throws -> Void) throws(StoreError) {
            try change(access) { database, file in
                try FactImport.run(rules, &brought, file, database) { try part(database, &$0) }
            }
        }
        try run { database, _ in try LeftOutTexts.beginFortunes(database) }
        for file in found.files {
            var part: [Fact] = []
            func take() throws(StoreError) {
                try run { _, run in for fact in part { try run.take(fact) } }
                count += part.count
                fortuneProgress.store(count, ordering: .relaxed)
                part.removeAll(keepingCapacity: true)
            }
            do {
                try Fortunes.forEachText(of: file) { text in
                    part.append(Fortunes.fact(text, of: file))
                    if part.count >= FactStore.factsAtOnce { try take() }
                }
            } catch let fault as FortuneFault {
                faults.append(fault)
            }
            if !part.isEmpty { try take() }
        }
        let unread = faults.filter { $0.extent != .nothing }
        while unread.isEmpty, !brought.incomplete.isEmpty {
            try run { try $1.complete(limit: FactStore.factsAtOnce) }
        }
        let removesNothing = unread.contains { $0.extent == .unknown }
        let sources = Set(unread.map { Fortunes.source(of: lastComponent(of: $0.path)) })
        rules.removes = { !removesNothing && !sources.contains($0.source) }
        var last: UInt32? = 0
        while let ordinal = last {
            try run { database, run in
                last = try run.removeOthers(after: ordinal)
                // Without the right digest, the next start reads unreadable files again.
                if last == nil { try LeftOutTexts.endFortunes(digest: unread.isEmpty ? found.digest : "", database) }
            }
        }
        if count > 0 {
            let metadata: Logger.Metadata = ["files": "\(found.files.count)", "facts": "\(count)"]
            databases.logger.info("fortunes.imported", metadata: metadata)
        }
    }

    /// Fills a recreated cache with the facts that need no network.
    package func refill(_ access: BlockingAccess) {
        loadIndex(access)
        importStartingCollection(access)
        wantFortunes()
    }

    /// Calls the body on any thread when fortune files should be read again, for example after a change of the
    /// upstream's facts.
    package func onFortunesWanted(_ body: @escaping @Sendable () -> Void) { fortunesWanted.set(body) }

    /// Ends a running import of fortune files, and requests another one.
    package func wantFortunes() {
        fortuneImports.add(1, ordering: .relaxed)
        fortunesWanted.notify()
    }

    /// Ends a running import of fortune files; the next one continues.
    package func stopFortunes() { fortuneImports.add(1, ordering: .relaxed) }

    /// The number of fortunes that the running import has read; nil without an import.
    package var fortunesRead: Int? {
        let count = fortuneProgress.load(ordering: .relaxed)
        return count < 0 ? nil : count
    }

    // MARK: The upstream

    /// Replaces the upstream's facts with the result of a fetch.
    ///
    /// - Parameters:
    ///   - isComplete: false if a missing fact is no reason to remove it.
    ///   - fetch: the record, stored in the same transaction.
    /// - Throws: `cancelled` or `failed`; then nothing has changed.
    @discardableResult package func replaceUpstream(
        _ facts: [Fact], isComplete: Bool, fetch: FetchRecord
    ) async throws(StoreError) -> UpstreamChanges {
        let changes = try await change { database, file in
            var rules = FactImport.Rules(group: .upstream)
            if isComplete { rules.removes = { !$0.isFound } }
            let changes = try FactImport.run(facts, rules, file, database)
            try fetch.write(for: FactStore.upstreamSource, database)
            return changes
        }
        return UpstreamChanges(
            added: changes.new, changed: changes.replaced,
            removed: changes.removed.count - changes.displaced - changes.replaced,
            total: withState { $0.index.upstreamCount }, droppedCategories: changes.droppedCategories)
    }

    /// Stores the result of a search at the upstream; a fetch does not remove such facts.
    ///
    /// - Returns: the number of new facts.
    @discardableResult package func addFound(_ facts: [Fact]) async throws(StoreError) -> Int {
        let changes = try await change { database, file in
            try FactImport.run(facts, FactImport.Rules(group: .upstream, isSearch: true), file, database)
        }
        if changes.droppedCategories > 0 {
            let metadata: Logger.Metadata = ["categories_dropped": "\(changes.droppedCategories)"]
            databases.logger.info("facts.found", metadata: metadata)
        }
        return changes.new
    }

    /// Removes all facts of the upstream and the record of their fetch, in steps, because a search may wait to be
    /// stored.
    ///
    /// - Throws: `cancelled` or `failed`; the next fetch then restores the removed facts.
    @discardableResult package func clearUpstream() async throws(StoreError) -> Int {
        var count = 0
        var last: UInt32? = 0
        while let ordinal = last {
            let changes = try await change { database, file in
                // In the first step, so that the remaining facts are fetched again after a failure.
                try FetchRecord.remove(FactStore.upstreamSource, database)
                var brought = Brought()
                let rules = FactImport.Rules(group: .upstream, removes: { _ in true })
                return try FactImport.run(rules, &brought, file, database) { run in
                    _ = try run.removeOthers(after: ordinal)
                }
            }
            count += changes.removed.count
            last = changes.removed.last?.ordinal
        }
        return count
    }

    /// Changes the facts on the disk and in memory.
    private func change(
        _ body: @escaping @Sendable (Database, FactFile) throws -> FactChanges
    ) async throws(StoreError) -> FactChanges {
        let file = databases.cache(.facts).factFile
        return try await databases.write(.facts) { [self] in try apply(body, file, $0) }
    }

    /// Changes the facts on the calling thread.
    @discardableResult func change(
        _ access: BlockingAccess, _ body: (Database, FactFile) throws -> FactChanges
    ) throws(StoreError) -> FactChanges {
        let file = databases.cache(.facts).factFile
        return try databases.write(.facts, access) { try apply(body, file, $0) }
    }

    private func apply(
        _ body: (Database, FactFile) throws -> FactChanges, _ file: FactFile, _ database: Database
    ) throws -> FactChanges {
        let changes = try body(database, file)
        database.afterCommit { [self] in
            publish(changes, database)
            releaseSpace(of: changes, file, database)
        }
        return changes
    }

    /// Returns the space of long runs of removed facts to the file system.
    private func releaseSpace(of changes: FactChanges, _ file: FactFile, _ database: Database) {
        let removed = changes.removed.map(\.ordinal).sorted()
        guard removed.count > 64 else { return }
        _ = try? database.read { database in
            let next = "SELECT ordinal FROM facts WHERE ordinal > ? ORDER BY ordinal LIMIT 1"
            var rest = removed[...]
            while let first = rest.first {
                // Up to the next stored fact; after the last stored fact up to the last removed fact.
                let end = try Ordinal.fetchOne(database, next, [Int(first)])?.number ?? .max
                let run = rest.prefix { $0 < end }
                file.release(first..<(end == .max ? run.last ?? first : end))
                rest = rest.dropFirst(run.count)
            }
        }
    }
}

/// The result of a replacement of the upstream's facts, in numbers of facts.
package struct UpstreamChanges: Sendable, Equatable {
    package let added: Int
    package let changed: Int
    package let removed: Int
    /// The number of stored facts of the upstream.
    package let total: Int
    /// The number of dropped categories, counted once for each fact.
    package let droppedCategories: Int
}
