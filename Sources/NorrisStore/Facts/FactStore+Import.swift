import Logging
package import NorrisProtocol

/// Taking in content that needs no network.
extension FactStore {
    private static let builtinMark = "builtin_digest"
    private static let fortunesMark = "fortunes_digest"

    /// What a group's source gives.
    private struct Batch {
        var facts: [Fact]
        /// Sources whose stored facts stay although they are not among these: they could not be read this time.
        var keeping: Set<String> = []
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
        importGroup(.fortunes, mark: FactStore.fortunesMark, digest: found.digest, at: now) {
            let (facts, unreadable) = Fortunes.read(found.files)
            faults += unreadable
            let names = faults.compactMap { $0.path.split(separator: "/").last }
            return Batch(facts: facts, keeping: Set(names.map { "fortune:\($0)" }))
        }
        for fault in faults {
            logger.error("fortunes.unreadable", metadata: ["error": "\(fault)"])
        }
        return faults.map(\.description)
    }

    private func importGroup(
        _ group: FactGroup, mark: String, digest: String, at now: Timestamp, _ read: () -> Batch
    ) {
        let cache = databases.cache
        var batch: Batch?
        do {
            guard try cache.value(forKey: mark) != digest else { return }
            let read = read()
            batch = read
            // Without the mark what could not be read is tried again at the next start.
            let marks = read.keeping.isEmpty ? [mark: digest] : [:]
            publish(
                try cache.replace(group, with: read.facts, keeping: read.keeping, marks: marks, at: now)
            )
        } catch {
            databases.noteWriteFailure(error, logger)
            // The disk does not take them: they are in memory for this run.
            publish(CacheDatabase.Changes(stored: (batch ?? read()).facts))
        }
    }
}
