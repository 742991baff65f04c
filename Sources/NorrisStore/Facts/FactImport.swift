import NorrisProtocol

/// Stores facts of one group in the cache without duplicate texts.
///
/// Of facts with equal bytes of text, the built-in fact is stored, else the upstream's, else the fortune. Of several
/// facts of the upstream, an already stored fact stays, else the fact with the smallest id by bytes, with the
/// categories of all.
struct FactImport: ~Copyable {
    /// The facts of an import, and their effect on the stored facts.
    struct Rules {
        let group: FactGroup
        /// Whether the facts come from a search.
        var isSearch = false
        /// The stored facts of the group that are removed if the import does not contain them; nil for none.
        var removes: ((StoredFact) -> Bool)?
        /// Checked every few hundred facts; if true, the import ends with a `CancellationError`.
        var isCancelled: () -> Bool = { false }
    }

    let rules: Rules
    private var writer: FactWriter
    /// The ids of the upstream's facts in the import, stored or not.
    private var ids: Set<String> = []
    /// The facts of the group in the earlier parts of the import.
    private var brought: Brought
    private var categoryLimit = CategoryLimit()
    /// Whether a fortune is omitted or was removed, because another fact with the same text has precedence.
    private var leavesOutFortunes = false
    /// Whether a stored fact of the group was removed or has a new text.
    private var freesTexts = false
    private var steps = 0

    private var database: Database { writer.database }

    private init(_ rules: Rules, _ brought: Brought, _ writer: consuming FactWriter) {
        self.rules = rules
        self.brought = brought
        self.writer = writer
    }

    /// Stores all facts in one transaction, which must be rolled back if this throws.
    static func run(_ facts: [Fact], _ rules: Rules, _ file: FactFile, _ database: Database) throws -> FactChanges {
        var brought = Brought()
        return try run(rules, &brought, file, database) { run in
            // Highest id first, because a search returns the newest stored facts first, then by id.
            let merged = try run.merged(facts).sorted { $1.id.utf8.lexicographicallyPrecedes($0.id.utf8) }
            for fact in try run.limitCategories(of: merged) { try run.take(fact) }
            var last: UInt32 = 0
            while let next = try run.removeOthers(after: last) { last = next }
        }
    }

    /// Runs a part of an import in a transaction.
    ///
    /// - Parameter brought: the facts of the earlier parts.
    static func run(
        _ rules: Rules, _ brought: inout Brought, _ file: FactFile, _ database: Database,
        _ body: (inout FactImport) throws -> Void
    ) throws -> FactChanges {
        if rules.isCancelled() { throw CancellationError() }
        var run = FactImport(rules, brought, try FactWriter(database, file))
        // Avoids a copy at the first change. If this throws, the import is over.
        brought = Brought()
        try body(&run)
        brought = run.brought
        try LeftOutTexts.write(run.leavesOutFortunes, run.freesTexts, after: rules.group, database)
        run.writer.changes.droppedCategories = run.categoryLimit.dropped
        return try run.writer.finish()
    }

    /// Removes from some facts the categories that no part contains. Complete when ``Brought/incomplete`` is empty.
    mutating func complete(limit: Int) throws {
        for (ordinal, categories) in brought.incomplete.prefix(limit) {
            brought.incomplete[ordinal] = nil
            guard var fact = try FactTable.fact(ordinal: ordinal, database) else { continue }
            fact.categories = categories
            try store(fact, replacing: StoredFact.find(fact, database)?.stored, isFound: false)
        }
    }

    /// The facts without duplicate ids, of which the first counts, and without duplicate texts.
    ///
    /// A stored fact that is omitted in favor of another is removed from the cache.
    private mutating func merged(_ facts: [Fact]) throws -> [Fact] {
        var merged: [Fact] = []
        var indices: [OpaqueInteger: Int] = [:]
        merged.reserveCapacity(facts.count)
        for fact in facts where ids.insert(fact.id).inserted {
            try step()
            let digest = FactTable.digest(ofText: fact.text)
            // Different texts may have the same digest.
            if let index = indices[digest], merged[index].text.hasSameBytes(as: fact.text) {
                merged[index] = try one(of: merged[index], fact)
            } else {
                indices[digest] = merged.count
                merged.append(fact)
            }
        }
        return merged
    }

    /// The stored one of two facts with the same text, with the categories of both.
    private mutating func one(of first: Fact, _ second: Fact) throws -> Fact {
        let (storedFirst, storedSecond) = (try stored(first), try stored(second))
        let keepsFirst =
            (storedFirst == nil) == (storedSecond == nil)
            ? first.id.utf8.lexicographicallyPrecedes(second.id.utf8) : storedFirst != nil
        try remove(keepsFirst ? storedSecond : storedFirst)
        var kept = keepsFirst ? first : second
        kept.categories = first.categories.adding(second.categories)
        return kept
    }

    private func stored(_ fact: Fact) throws -> StoredFact? {
        try StoredFact.find(fact, database).map(\.stored).flatMap { $0.group == rules.group ? $0 : nil }
    }

    /// Removes the categories above the limit. The categories of stored facts that stay count first.
    private mutating func limitCategories(of facts: [Fact]) throws -> [Fact] {
        guard rules.group == .upstream, facts.contains(where: { !$0.categories.isEmpty }) else { return facts }
        var limit = CategoryLimit()
        try limit.addStored(database) { stays($0) }
        let limited = facts.map { fact in
            var fact = fact
            fact.categories = limit.limited(fact.categories)
            return fact
        }
        categoryLimit = limit
        return limited
    }

    mutating func take(_ fact: Fact) throws {
        try step()
        var fact = fact
        var known = try StoredFact.find(fact, database)
        if rules.group == .fortunes, let stored = known?.stored, known?.hasText == true, stored.group == .fortunes {
            guard let merged = try merged(fact, with: stored) else { return }
            fact = merged
            known = try StoredFact.find(fact, database)
        }
        if let known, known.isSame {
            brought.ordinals.insert(known.stored.ordinal)
            if !rules.isSearch { try StoredFact.noteFetched(known.stored, database) }
            return
        }
        // The upstream cannot change a fact of another group with the same id.
        if rules.group == .upstream, let known, known.stored.group != .upstream { return }

        let others = try StoredFact.others(withTextOf: fact, database)
        if others.contains(where: { $0.group.outranks(rules.group) }) {
            leavesOutFortunes = leavesOutFortunes || rules.group == .fortunes
            return try remove(known?.stored)
        }
        if let kept = others.first(where: { $0.group == rules.group && stays($0) }) {
            try remove(known?.stored)
            return try add(fact.categories, to: kept)
        }
        for other in others where rules.group.outranks(other.group) {
            try remove(other)
            writer.changes.displaced += 1
        }
        if let known, !known.hasText { freesTexts = true }
        // A fact that was fetched once is no longer a search result.
        try store(fact, replacing: known?.stored, isFound: rules.isSearch && known?.stored.isFound ?? true)
    }

    /// A fortune with the categories of earlier files that contain the same text.
    ///
    /// - Returns: nil if the stored fact has all these categories.
    private mutating func merged(_ fact: Fact, with stored: StoredFact) throws -> Fact? {
        let ordinal = stored.ordinal
        let isFirst = !brought.ordinals.contains(ordinal)
        guard !isFirst || stored.source == fact.source else { return fact }
        let before = isFirst ? [] : brought.incomplete[ordinal] ?? stored.categories
        let categories = before.adding(fact.categories)
        if Set(categories).isSubset(of: stored.categories) {
            brought.ordinals.insert(ordinal)
            brought.incomplete[ordinal] = categories.count < stored.categories.count ? categories : nil
            return nil
        }
        brought.incomplete[ordinal] = nil
        guard !isFirst, var first = try FactTable.fact(ordinal: ordinal, database) else { return fact }
        first.categories = categories
        return first
    }

    /// Whether a stored fact of the group stays unchanged.
    private func stays(_ stored: StoredFact) -> Bool { !ids.contains(stored.id) && !(rules.removes?(stored) ?? false) }

    /// Removes some of the facts that no part contains.
    ///
    /// - Returns: the ordinal after which to continue; nil at the end.
    mutating func removeOthers(after ordinal: UInt32) throws -> UInt32? {
        guard let removes = rules.removes else { return nil }
        let some = try StoredFact.some(of: rules.group, after: ordinal, limit: 2_048, database)
        for stored in some where !brought.ordinals.contains(stored.ordinal) && removes(stored) {
            try step()
            try remove(stored)
        }
        return some.last?.ordinal
    }

    /// Removes a fact of this group, or a fact that a fact of this group replaces.
    private mutating func remove(_ stored: StoredFact?) throws {
        guard let stored, !stored.group.outranks(rules.group) else { return }
        try writer.remove(stored)
        if stored.group == rules.group { freesTexts = true }
        if stored.group == .fortunes, rules.group != .fortunes { leavesOutFortunes = true }
    }

    private mutating func add(_ categories: [String], to stored: StoredFact) throws {
        guard var fact = try FactTable.fact(ordinal: stored.ordinal, database) else { return }
        var all = fact.categories.adding(categories)
        if rules.group == .upstream { all = categoryLimit.limited(all) }
        guard all.count > fact.categories.count else { return }
        fact.categories = all
        try store(fact, replacing: stored, isFound: stored.isFound)
    }

    private mutating func store(_ fact: Fact, replacing stored: StoredFact?, isFound: Bool) throws {
        if let stored { try writer.remove(stored) }
        guard let ordinal = try writer.insert(fact, isFound: isFound) else { return }
        brought.ordinals.insert(ordinal)
        if stored == nil { writer.changes.new += 1 } else { writer.changes.replaced += 1 }
    }

    /// Throws if the import was cancelled.
    private mutating func step() throws {
        steps += 1
        if steps.isMultiple(of: 256), rules.isCancelled() { throw CancellationError() }
    }
}

/// Restores fortunes that were omitted because of their text, when no other fact has the text any more.
///
/// The omitted fortunes are not stored; only a mark records that there are some. If a text becomes free while the mark
/// is set, the fortune files count as unread, so that the next import reads them again.
enum LeftOutTexts {
    /// The key in `meta` of the digest of the fortune files that were read.
    static let fortunesMark = "fortunes_digest"
    /// The key in `meta` that exists while fortunes are left out.
    private static let leftOutMark = "fortunes_left_out"

    /// Begins an import of fortune files, which sets the mark again if necessary.
    static func beginFortunes(_ database: Database) throws {
        try CacheDatabase.set(nil, forKey: leftOutMark, database)
        // Until the end of the import the files count as unread.
        try CacheDatabase.set(reading, forKey: fortunesMark, database)
    }

    /// Ends an import of fortune files. If a text became free in the meantime, the files still count as unread.
    static func endFortunes(digest: String, _ database: Database) throws {
        guard try CacheDatabase.value(forKey: fortunesMark, database) == reading else { return }
        try CacheDatabase.set(digest, forKey: fortunesMark, database)
    }

    private static let reading = "reading"

    /// Stores the marks of an import in its transaction.
    static func write(
        _ leavesOutFortunes: Bool, _ freesTexts: Bool, after group: FactGroup, _ database: Database
    ) throws {
        if leavesOutFortunes { try CacheDatabase.set("yes", forKey: leftOutMark, database) }
        guard freesTexts, group != .fortunes else { return }
        if try CacheDatabase.value(forKey: leftOutMark, database) != nil {
            try CacheDatabase.set(nil, forKey: fortunesMark, database)
        }
        // The upstream may have the same text; only a complete reply contains its fact.
        if group == .builtin { try FetchRecord.removeValidators(of: FactStore.upstreamSource, database) }
    }
}

/// The results of the earlier parts of an import.
struct Brought {
    /// The stored facts.
    var ordinals: Set<UInt32> = []
    /// The categories of facts that are stored with more categories, because a fortune may be in several files.
    var incomplete: [UInt32: [String]] = [:]
}

extension [String] {
    /// Appends the other categories that are missing, in their order.
    func adding(_ others: [String]) -> [String] {
        others.reduce(into: self) { all, other in if !all.contains(other) { all.append(other) } }
    }
}
