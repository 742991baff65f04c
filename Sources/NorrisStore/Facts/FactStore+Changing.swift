import Logging
package import NorrisProtocol
import Synchronization

/// Importing facts: the starting collection, fortune files, and the upstream's facts.
///
/// Blocking, maybe for seconds. A change may displace fortunes, or make their texts free again: fortune files are imported
/// afterwards, which is cheap where nothing has changed.
extension FactStore {
    private static let builtinMark = "builtin_digest"
    /// The name that the upstream has among the fetch records.
    package static let upstreamSource = "facts"
    /// How many facts of fortune files are stored in one transaction: other writers wait for it.
    private static let factsAtOnce = 1_024

    /// Imports the starting collection of this build, unless it is stored.
    package func importStartingCollection() {
        importing.withLock { _ in
            let isStored = (try? databases.cache.value(forKey: FactStore.builtinMark)) == StartingCollection.digest
            guard !isStored else { return databases.noteWriteSuccess(of: .facts(.builtin), logger) }
            let facts = StartingCollection.facts()
            do {
                try change(.builtin) { database, file in
                    let rules = FactImport.Rules(group: .builtin, removes: { _ in true })
                    let changes = try FactImport.run(facts, rules, file, database)
                    try CacheDatabase.set(StartingCollection.digest, forKey: FactStore.builtinMark, database)
                    return changes
                }
            } catch {
                // A daemon without a single fact is useless: it serves from memory what the disk does not take.
                guard count == 0, databases.replaceCacheByMemory(error, logger) else { return }
                loadIndex()
                _ = try? change(.builtin) { database, file in
                    try FactImport.run(facts, FactImport.Rules(group: .builtin), file, database)
                }
            }
        }
    }

    /// Imports fortune files, unless they are stored unchanged. Another call ends this one.
    ///
    /// - Parameters:
    ///   - paths: files and folders, as configured.
    ///   - isCancelled: checked now and then.
    /// - Returns: what could not be read, a sentence each; the stored facts of such a file stay.
    @discardableResult
    package func importFortunes(_ paths: [String], isCancelled: @escaping () -> Bool = { Task.isCancelled }) -> [String] {
        let number = fortuneImports.add(1, ordering: .relaxed).newValue
        let isCancelled = { isCancelled() || self.fortuneImports.load(ordering: .relaxed) != number }
        let found = FortuneFiles.find(paths)
        var faults = found.faults
        if (try? databases.cache.value(forKey: LeftOutTexts.fortunesMark)) != found.digest {
            // Without files there is no progress, only facts of former ones to remove.
            if !found.files.isEmpty { fortuneProgress.store(0, ordering: .relaxed) }
            defer { fortuneProgress.store(-1, ordering: .relaxed) }
            do {
                try importFortunes(found, &faults, isCancelled)
                databases.noteWriteSuccess(of: .facts(.fortunes), logger)
            } catch is CancellationError {
                return faults.map(\.description)
            } catch {
                // Noted; tried again at the next start or reload.
            }
        }
        for fault in faults {
            logger.error("fortunes.unreadable", metadata: ["path": "\(fault.path)", "error": "\(fault)"])
        }
        return faults.map(\.description)
    }

    private func importFortunes(
        _ found: FortuneFiles, _ faults: inout [FortuneFault], _ isCancelled: @escaping () -> Bool
    ) throws {
        var brought = Brought()
        var rules = FactImport.Rules(group: .fortunes, isCancelled: isCancelled)
        var count = 0
        try importing.withLock { _ in
            if isCancelled() { throw CancellationError() }
            try change(.fortunes) { database, _ in
                try LeftOutTexts.beginFortunes(database)
                return FactChanges()
            }
        }
        for file in found.files {
            do {
                var part: [Fact] = []
                func take() throws {
                    try importing.withLock { _ in
                        _ = try change(.fortunes) { database, file in
                            try FactImport.run(part: part, rules, &brought, file, database)
                        }
                    }
                    count += part.count
                    fortuneProgress.store(count, ordering: .relaxed)
                    part.removeAll(keepingCapacity: true)
                }
                try Fortunes.forEachText(of: file) { text in
                    part.append(Fortunes.fact(text, of: file))
                    if part.count >= FactStore.factsAtOnce { try take() }
                }
                if !part.isEmpty { try take() }
            } catch let fault as FortuneFault {
                faults.append(fault)
            }
        }
        let unread = faults.filter { $0.extent != .nothing }
        while unread.isEmpty, !brought.incomplete.isEmpty {
            try importing.withLock { _ in
                _ = try change(.fortunes) { database, file in
                    try FactImport.complete(rules, &brought, limit: FactStore.factsAtOnce, file, database)
                }
            }
        }
        let removesNothing = unread.contains { $0.extent == .unknown }
        let sources = Set(unread.map { Fortunes.source(of: lastComponent(of: $0.path)) })
        rules.removes = { !removesNothing && !sources.contains($0.source) }
        var last: UInt32? = 0
        while let ordinal = last {
            try importing.withLock { [rules, brought] _ in
                _ = try change(.fortunes) { database, file in
                    let (changes, next) = try FactImport.removeOthers(rules, brought, after: ordinal, file, database)
                    last = next
                    // Without the right digest what could not be read is tried again at the next start.
                    if next == nil {
                        try LeftOutTexts.endFortunes(digest: unread.isEmpty ? found.digest : "", database)
                    }
                    return changes
                }
            }
        }
        if count > 0 {
            logger.info("fortunes.imported", metadata: ["files": "\(found.files.count)", "facts": "\(count)"])
        }
    }

    /// Fills a recreated cache with what needs no network.
    package func refill() {
        importing.withLock { _ in loadIndex() }
        importStartingCollection()
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
    ///   - isCancelled: checked now and then until all is stored.
    /// - Throws: `cancelled` or `failed`; then nothing has changed.
    @discardableResult
    package func replaceUpstream(
        _ facts: [Fact], isComplete: Bool, fetch: FetchRecord,
        isCancelled: @escaping () -> Bool = { Task.isCancelled }
    ) throws(StoreError) -> UpstreamChanges {
        let removes: (StoredFact) -> Bool = { !$0.isFound }
        let rules = FactImport.Rules(group: .upstream, removes: isComplete ? removes : nil, isCancelled: isCancelled)
        let (changes, total) = try takeUpstream(facts, rules) { database in
            try fetch.write(for: FactStore.upstreamSource, database)
        }
        return UpstreamChanges(
            added: changes.new, changed: changes.replaced,
            removed: changes.removed.count - changes.displaced - changes.replaced, total: total,
            droppedCategories: changes.droppedCategories
        )
    }

    /// Stores what a search at the upstream brought; such facts stay when a fetch does not bring them.
    ///
    /// - Returns: how many of them are new.
    @discardableResult
    package func addFound(_ facts: [Fact]) throws(StoreError) -> Int {
        let (changes, _) = try takeUpstream(facts, FactImport.Rules(group: .upstream, isSearch: true)) { _ in }
        if changes.droppedCategories > 0 {
            logger.info("facts.found", metadata: ["categories_dropped": "\(changes.droppedCategories)"])
        }
        return changes.new
    }

    /// Removes all facts of the upstream, and the record of their fetch.
    @discardableResult
    package func clearUpstream() throws(StoreError) -> Int {
        let rules = FactImport.Rules(group: .upstream, removes: { _ in true })
        return try takeUpstream([], rules) { database in
            try FetchRecord.remove(FactStore.upstreamSource, database)
        }.changes.removed.count
    }

    private func takeUpstream(
        _ facts: [Fact], _ rules: FactImport.Rules, completing: (Database) throws -> Void
    ) throws(StoreError) -> (changes: FactChanges, total: Int) {
        try importing.withLock { _ throws(StoreError) in
            let name = databases.cache.name
            do {
                let changes = try change(.upstream) { database, file in
                    let changes = try FactImport.run(facts, rules, file, database)
                    try completing(database)
                    return changes
                }
                databases.noteWriteSuccess(of: .fetches, logger)
                return (changes, withState { $0.index.upstreamCount })
            } catch is CancellationError {
                throw StoreError(path: name, .cancelled)
            } catch {
                throw StoreError(path: name, .failed("\(error)"))
            }
        }
    }

    /// Changes the facts on the disk and in memory; a failure is noted. ``importing`` is held.
    @discardableResult
    private func change(
        _ group: FactGroup, _ body: (Database, FactFile) throws -> FactChanges
    ) throws -> FactChanges {
        let cache = databases.cache
        do {
            let changes = try cache.writer.write { try body($0, cache.factFile) }
            publish(changes)
            databases.noteWriteSuccess(of: .facts(group), logger)
            releaseSpace(of: changes, cache.factFile)
            return changes
        } catch {
            if !(error is CancellationError) { databases.noteWriteFailure(error, of: .facts(group), logger) }
            throw error
        }
    }

    /// Returns to the file system what long runs of removed facts take in the file.
    private func releaseSpace(of changes: FactChanges, _ file: FactFile) {
        let removed = changes.removed.map(\.ordinal).sorted()
        guard removed.count > 64 else { return }
        _ = try? databases.cache.writer.read { database in
            let next = "SELECT ordinal FROM facts WHERE ordinal > ? ORDER BY ordinal LIMIT 1"
            var rest = removed[...]
            while let first = rest.first {
                // Up to the next fact that is stored; behind the last one up to the last removed.
                let end = try Int.fetchOne(database, next, [Int(first)]).map { UInt32($0) } ?? .max
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
