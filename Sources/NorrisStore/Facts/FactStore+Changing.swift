import Logging
package import NorrisProtocol
import Synchronization

/// Importing facts: the starting collection, fortune files, and the upstream's facts.
///
/// Blocking, maybe for seconds. A change may displace fortunes, or make their texts free again: fortune files are
/// imported afterwards, which is cheap where nothing has changed.
extension FactStore {
    private static let builtinMark = "builtin_digest"
    /// The name that the upstream has among the fetch records.
    package static let upstreamSource = "facts"
    /// How many facts of fortune files are stored in one transaction: other writers wait for it.
    private static let factsAtOnce = 1_024

    /// Imports the starting collection of this build, unless it is stored.
    package func importStartingCollection() {
        importing.withLock { _ in
            let digest = StartingCollection.digest
            guard (try? databases.cache.value(forKey: FactStore.builtinMark)) != digest else { return }
            let rules = FactImport.Rules(group: .builtin, removes: { _ in true })
            while true {
                do {
                    try change { database, file in
                        try CacheDatabase.set(digest, forKey: FactStore.builtinMark, database)
                        return try FactImport.run(StartingCollection.facts(), rules, file, database)
                    }
                    return
                } catch {
                    // A daemon without a single fact is useless: it serves from memory what the disk does not take.
                    guard count == 0, databases.replaceCacheByMemory() else { return }
                    loadIndex()
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
        _ found: FortuneFiles, _ faults: inout [FortuneFault], _ isCancelled: @escaping () -> Bool
    ) throws {
        var brought = Brought()
        var rules = FactImport.Rules(group: .fortunes, isCancelled: isCancelled)
        var count = 0
        /// Runs a part of the import in a transaction of its own.
        func run(_ part: (Database, inout FactImport) throws -> Void) throws(StoreError) {
            try importing.withLock { _ throws(StoreError) in
                _ = try change { database, file in
                    try FactImport.run(rules, &brought, file, database) { try part(database, &$0) }
                }
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
            let metadata: Logger.Metadata = ["categories_dropped": "\(changes.droppedCategories)"]
            databases.logger.info("facts.found", metadata: metadata)
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
            let changes = try change { database, file in
                let changes = try FactImport.run(facts, rules, file, database)
                try completing(database)
                return changes
            }
            return (changes, withState { $0.index.upstreamCount })
        }
    }

    /// Changes the facts on the disk and in memory. ``importing`` is held.
    @discardableResult
    private func change(_ body: (Database, FactFile) throws -> FactChanges) throws(StoreError) -> FactChanges {
        let file = databases.cache.factFile
        let changes = try databases.write(.facts) { try body($0, file) }
        publish(changes)
        releaseSpace(of: changes, file)
        return changes
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
