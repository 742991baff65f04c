import Logging
package import NorrisProtocol
package import NorrisSystem
import Synchronization

/// Importing facts: the starting collection, fortune files, and the upstream's facts.
///
/// Blocking, maybe for seconds. A change may displace fortunes, or make their texts free again: fortune files are
/// imported afterwards, which is cheap where nothing has changed.
extension FactStore {
    private static let builtinMark = "builtin_digest"
    /// The name that the upstream has among the fetch records.
    package static let upstreamSource = SourceStatus.facts
    /// How many facts of fortune files are stored in one transaction: other writers wait for it.
    private static let factsAtOnce = 1_024

    /// Imports the starting collection of this build, unless it is stored.
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
                // A daemon without a single fact is useless: it serves from memory what the disk does not take.
                guard count == 0, databases.replaceFactsByMemory(access) else { return }
                loadIndex(access)
            }
        }
    }

    /// Imports fortune files, unless they are stored unchanged. Another call ends this one.
    ///
    /// - Parameters:
    ///   - paths: files and folders, as configured.
    ///   - isCancelled: checked now and then.
    /// - Returns: what could not be read, a sentence each; the stored facts of such a file stay.
    @discardableResult package func importFortunes(
        _ paths: [String], _ access: BlockingAccess, isCancelled: @escaping () -> Bool = { Task.isCancelled }
    ) -> [String] {
        let number = fortuneImports.add(1, ordering: .relaxed).newValue
        let isCancelled = { isCancelled() || self.fortuneImports.load(ordering: .relaxed) != number }
        let found = FortuneFiles.find(paths)
        var faults = found.faults
        if (try? databases.cache(.facts).value(forKey: LeftOutTexts.fortunesMark, access)) != found.digest {
            // Without files there is no progress, only facts of former ones to remove.
            if !found.files.isEmpty { fortuneProgress.store(0, ordering: .relaxed) }
            defer { fortuneProgress.store(-1, ordering: .relaxed) }
            do {
                try importFortunes(found, &faults, access, isCancelled)
            } catch {
                // Another failure is noted; tried again at the next start or reload.
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
        /// Runs a part of the import in a transaction of its own.
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
                // Without the right digest what could not be read is tried again at the next start.
                if last == nil { try LeftOutTexts.endFortunes(digest: unread.isEmpty ? found.digest : "", database) }
            }
        }
        if count > 0 {
            let metadata: Logger.Metadata = ["files": "\(found.files.count)", "facts": "\(count)"]
            databases.logger.info("fortunes.imported", metadata: metadata)
        }
    }

    /// Fills a recreated cache with what needs no network.
    package func refill(_ access: BlockingAccess) {
        loadIndex(access)
        importStartingCollection(access)
        wantFortunes()
    }

    /// Calls the body, from any thread, when fortune files should be read again, as after a change of the upstream's
    /// facts.
    package func onFortunesWanted(_ body: @escaping @Sendable () -> Void) { fortunesWanted.withLock { $0 = body } }

    /// Ends a running import of fortune files, and requests another one.
    package func wantFortunes() {
        fortuneImports.add(1, ordering: .relaxed)
        fortunesWanted.withLock { $0 }?()
    }

    /// Ends a running import of fortune files; the next one continues.
    package func stopFortunes() { fortuneImports.add(1, ordering: .relaxed) }

    /// How many facts of fortune files the running import has read; nil while none runs.
    package var fortunesRead: Int? {
        let count = fortuneProgress.load(ordering: .relaxed)
        return count < 0 ? nil : count
    }

    // MARK: The upstream

    /// Replaces the upstream's facts with what a fetch brought.
    ///
    /// - Parameters:
    ///   - isComplete: false where the absence of a fact proves nothing: then none is removed.
    ///   - fetch: is stored together with them.
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

    /// Stores what a search at the upstream brought; such facts stay when a fetch does not bring them.
    ///
    /// - Returns: how many of them are new.
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

    /// Removes all facts of the upstream, and the record of their fetch, in steps: a search may wait to be stored.
    ///
    /// - Throws: `cancelled` or `failed`; the next fetch then brings what was removed.
    @discardableResult package func clearUpstream() async throws(StoreError) -> Int {
        var count = 0
        var last: UInt32? = 0
        while let ordinal = last {
            let changes = try await change { database, file in
                // With the first step: what is left is fetched again, whatever happens.
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

    /// The same on the calling thread.
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

    /// Returns to the file system what long runs of removed facts take in the file.
    private func releaseSpace(of changes: FactChanges, _ file: FactFile, _ database: Database) {
        let removed = changes.removed.map(\.ordinal).sorted()
        guard removed.count > 64 else { return }
        _ = try? database.read { database in
            let next = "SELECT ordinal FROM facts WHERE ordinal > ? ORDER BY ordinal LIMIT 1"
            var rest = removed[...]
            while let first = rest.first {
                // Up to the next fact that is stored; behind the last one up to the last removed.
                let end = try Ordinal.fetchOne(database, next, [Int(first)])?.number ?? .max
                let run = rest.prefix { $0 < end }
                file.release(first..<(end == .max ? run.last ?? first : end))
                rest = rest.dropFirst(run.count)
            }
        }
    }
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
}
