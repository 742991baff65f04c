import GRDB
import NorrisProtocol

/// Facts of one group on their way into the cache, inside a transaction, so that no text is stored twice.
///
/// Of facts with one text, byte for byte, the built-in one is kept, else the upstream's, else the fortune. Of several
/// of the upstream one that is stored already is kept, else the one whose id is the smallest by its bytes, with the
/// categories of all.
struct FactImport {
    /// What is imported, and what it means for what is stored.
    struct Rules {
        let group: FactGroup
        /// Whether what is new was brought by a search and by nothing else.
        var isSearch = false
        /// Which stored facts of the group go when they are not among the new ones; nil where none do.
        var goes: ((StoredFact) -> Bool)?
        /// Looked at every few hundred facts; once it is true the import ends with a `CancellationError`.
        var isCancelled: () -> Bool = { false }
    }

    let rules: Rules
    let database: Database
    private let now: Timestamp
    /// The ids of all facts of the import, whether they get stored or not.
    var ids: Set<String> = []
    private var categoryLimit = CategoryLimit()
    private var leftOut = LeftOutTexts()
    private var changes = FactChanges()
    private var steps = 0

    private init(_ rules: Rules, at now: Timestamp, _ database: Database) {
        self.rules = rules
        self.now = now
        self.database = database
    }

    /// Stores facts by the rules. A transaction that this throws out of is to be rolled back.
    static func run(_ facts: [Fact], _ rules: Rules, at now: Timestamp, _ database: Database) throws -> FactChanges {
        var run = FactImport(rules, at: now, database)
        // Highest id first, so that within one import the order of storing is that of the contract, backwards.
        let merged = try run.merged(facts).sorted { $1.id.utf8.lexicographicallyPrecedes($0.id.utf8) }
        for fact in try run.limitCategories(of: merged) {
            try run.take(fact)
        }
        try run.removeOthers()
        try run.leftOut.write(after: rules.group, database)
        run.changes.droppedCategories = run.categoryLimit.dropped
        return run.changes
    }

    /// The facts with the categories that are stored: those of facts that stay count first.
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

    private mutating func take(_ fact: Fact) throws {
        try step()
        let known = try StoredFact.find(fact, database)
        if let known, known.isSame {
            if !rules.isSearch { try StoredFact.noteFetched(known.stored, database) }
            return
        }
        // What another group has under this id is not the upstream's to change.
        if rules.group == .upstream, let known, known.stored.group != .upstream { return }

        let others = try StoredFact.others(withTextOf: fact, database)
        if others.contains(where: { $0.group.outranks(rules.group) }) {
            leftOut.isLeftOut(of: rules.group)
            return try remove(known?.stored)
        }
        if let kept = others.first(where: { $0.group == rules.group && stays($0) }) {
            try remove(known?.stored)
            return try add(fact.categories, to: kept)
        }
        for other in others where rules.group.outranks(other.group) {
            try remove(other)
            changes.displaced += 1
        }
        if let known, !known.hasText { leftOut.isFree() }
        try store(fact, isNew: known == nil, isFound: rules.isSearch)
    }

    /// Whether a stored fact of the group will be there after the import, as it is.
    private func stays(_ stored: StoredFact) -> Bool {
        !ids.contains(stored.id) && !(rules.goes?(stored) ?? false)
    }

    private mutating func removeOthers() throws {
        guard let goes = rules.goes else { return }
        var others: [StoredFact] = []
        try StoredFact.forEach(of: rules.group, database) { stored in
            if !ids.contains(stored.id), goes(stored) { others.append(stored) }
        }
        for other in others {
            try step()
            try remove(other)
        }
    }

    /// Takes out a fact of this group, or one that makes way for it.
    mutating func remove(_ stored: StoredFact?) throws {
        guard let stored, !stored.group.outranks(rules.group) else { return }
        try FactRecord.delete(stored, database)
        changes.removed.append(stored.id)
        if stored.group == rules.group { leftOut.isFree() } else { leftOut.isLeftOut(of: stored.group) }
    }

    private mutating func add(_ categories: [String], to stored: StoredFact) throws {
        guard var fact = try FactRecord.fact(number: stored.number, database) else { return }
        var all = fact.categories.adding(categories)
        if rules.group == .upstream { all = categoryLimit.limited(all) }
        guard all.count > fact.categories.count else { return }
        fact.categories = all
        try store(fact, isNew: false, isFound: stored.isFound)
    }

    private mutating func store(_ fact: Fact, isNew: Bool, isFound: Bool) throws {
        try FactRecord.store(fact, isFound: isFound, at: now, database)
        changes.stored.append(fact)
        if isNew { changes.added += 1 }
    }

    /// Ends an import that nobody waits for any more.
    mutating func step() throws {
        steps += 1
        if steps.isMultiple(of: 256), rules.isCancelled() { throw CancellationError() }
    }
}
