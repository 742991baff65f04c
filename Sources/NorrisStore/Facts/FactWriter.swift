import CSQLite
import NorrisProtocol

/// The changes of a transaction, to apply to memory.
struct FactChanges: Sendable {
    /// The stored state of a list.
    struct List: Sendable {
        var number: SequenceNumber
        var epoch: UInt32
        var count: Int
        var live: Int
    }

    var addedEntries: [FactListName: [(ordinal: UInt32, length: Int)]] = [:]
    var removedEntries: [FactListName: [UInt32]] = [:]
    var lists: [FactListName: List] = [:]
    var added: [(id: String, ordinal: UInt32)] = []
    var removed: [(id: String, ordinal: UInt32)] = []
    /// The encoded facts from an ordinal on; nil if there are too many for memory.
    var records: (first: UInt32, bytes: [UInt8])? = (0, [])
    /// The change of the number of the upstream's facts.
    var upstreamDifference = 0

    /// The number of facts whose id was not stored before.
    var new = 0
    /// The number of removed facts that a fact of another group with the same text replaced.
    var displaced = 0
    /// The number of removed facts that a fact with the same id replaced.
    var replaced = 0
    /// The number of dropped categories, counted once for each fact.
    var droppedCategories = 0
}

/// Stores and removes facts in a transaction: the table, the lists, the search texts and the encoded facts.
struct FactWriter: ~Copyable {
    /// The bytes at which records are written to the file.
    private static let bufferedBytes = 1 << 20
    /// With this ordinal the file has 64 GiB.
    private static let maximumOrdinal = UInt32.max - 2 * FactRecord.chunkUnits

    let database: Database
    private let file: FactFile
    var changes = FactChanges()
    private var next: UInt32
    /// The position of ``bytes``.
    private var first: UInt32
    private var bytes: [UInt8] = []
    private var json = JSONWriter()
    private var texts = FactTexts()

    init(_ database: Database, _ file: FactFile) throws {
        self.database = database
        self.file = file
        next = try FactWriter.next(database)
        first = next
        changes.records = (first, [])
    }

    /// The first unused ordinal.
    static func next(_ database: Database) throws -> UInt32 {
        let last =
            try Ordinal.fetchOne(database, "SELECT ordinal FROM facts ORDER BY ordinal DESC LIMIT 1")?.number ?? 0
        let text = try CacheDatabase.value(forKey: "next_ordinal", database)
        if text == nil, last == 0 { return 1 }
        guard let next = text.flatMap(UInt32.init), next > last else {
            throw DatabaseError.damaged("meta.next_ordinal")
        }
        return next
    }

    /// Stores a new fact.
    ///
    /// - Parameter isFound: whether only a search returned the fact.
    /// - Returns: the ordinal; nil for a fact that is too large.
    @discardableResult mutating func insert(_ fact: Fact, isFound: Bool) throws -> UInt32? {
        guard next < FactWriter.maximumOrdinal else {
            throw DatabaseError(SQLITE_FULL, message: "cache.db has used up its ordinals; delete it")
        }
        let appended = FactRecord.append(fact, next: &next, to: &bytes, first: first, key: file.key, &json)
        guard let ordinal = appended else { return nil }
        if bytes.count >= FactWriter.bufferedBytes { flushRecords() }
        try database.execute(
            """
            INSERT INTO facts (ordinal, id, source, text, categories, url, created_at, updated_at, found, text_digest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                Int(ordinal), fact.id, fact.source, fact.text, fact.categories.joined(separator: " "), fact.url,
                fact.createdAt?.seconds, fact.updatedAt?.seconds, isFound, FactTable.digest(ofText: fact.text),
            ])
        let kind = FactKind(FactGroup(source: fact.source), categories: fact.categories)
        let length = max(fact.length, 1)
        var numbers: [SequenceNumber] = []
        for category in [""] + fact.categories {
            let name = FactListName(category: category, kind: kind)
            var list = try list(name)
            list.count += 1
            list.live += 1
            changes.lists[name] = list
            numbers.append(list.number)
            try database.execute(
                "INSERT INTO fact_entries (list, fact, length) VALUES (?, ?, ?)", [list.number, Int(ordinal), length])
            changes.addedEntries[name, default: []].append((ordinal, length))
        }
        if !kind.isExplicit { texts.append(fact.text, ordinal, kind, lists: numbers) }
        changes.added.append((fact.id, ordinal))
        if !fact.isLocal { changes.upstreamDifference += 1 }
        return ordinal
    }

    mutating func remove(_ stored: StoredFact) throws {
        try database.execute("DELETE FROM facts WHERE ordinal = ?", [Int(stored.ordinal)])
        let kind = FactKind(stored.group, categories: stored.categories)
        for category in [""] + stored.categories {
            let name = FactListName(category: category, kind: kind)
            var list = try list(name)
            guard list.live > 0 else { throw DatabaseError.damaged("a list has fewer facts than entries") }
            list.live -= 1
            changes.lists[name] = list
            try database.execute(
                "UPDATE fact_entries SET length = -length WHERE list = ? AND fact = ? AND length > 0",
                [list.number, Int(stored.ordinal)])
            changes.removedEntries[name, default: []].append(stored.ordinal)
        }
        if !kind.isExplicit { texts.remove(stored.ordinal) }
        changes.removed.append((stored.id, stored.ordinal))
        if stored.group == .upstream { changes.upstreamDifference -= 1 }
    }

    /// Writes all collected changes; no change may follow.
    mutating func finish() throws -> FactChanges {
        flushRecords()
        try texts.write(database)
        for (name, list) in changes.lists { changes.lists[name] = try write(list) }
        try CacheDatabase.set(String(next), forKey: "next_ordinal", database)
        return changes
    }

    private mutating func flushRecords() {
        file.write(bytes, at: first)
        if let records = changes.records {
            let isLarge = records.bytes.count + bytes.count > FactStore.bytesInMemory
            changes.records = isLarge ? nil : (records.first, records.bytes + bytes)
        }
        bytes.removeAll(keepingCapacity: true)
        first = next
    }

    private mutating func list(_ name: FactListName) throws -> FactChanges.List {
        if let list = changes.lists[name] { return list }
        let stored = try database.first(
            "SELECT number, epoch, entries, live FROM fact_lists WHERE category = ? AND kind = ?",
            [name.category, name.kind]
        ) { FactChanges.List(number: $0[0], epoch: ($0[1] as Epoch).number, count: $0[2], live: $0[3]) }
        if let stored { return stored }
        let epoch = UInt32.random(in: 1 ... .max)
        try database.execute(
            "INSERT INTO fact_lists (category, kind, epoch, entries, live) VALUES (?, ?, ?, 0, 0)",
            [name.category, name.kind, Int(epoch)])
        return FactChanges.List(number: database.lastInsertedNumber, epoch: epoch, count: 0, live: 0)
    }

    /// Writes the counts of a list, and deletes removed entries if they are the majority.
    private func write(_ list: FactChanges.List) throws -> FactChanges.List {
        var list = list
        if list.live == 0 {
            try database.execute("DELETE FROM fact_entries WHERE list = ?", [list.number])
            try database.execute("DELETE FROM fact_lists WHERE number = ?", [list.number])
            return FactChanges.List(number: list.number, epoch: 0, count: 0, live: 0)
        }
        if list.count - list.live > list.live + 64 {
            try database.execute("DELETE FROM fact_entries WHERE list = ? AND length < 0", [list.number])
            list.count = list.live
            list.epoch = UInt32.random(in: 1 ... .max)
        }
        try database.execute(
            "UPDATE fact_lists SET epoch = ?, entries = ?, live = ? WHERE number = ?",
            [Int(list.epoch), list.count, list.live, list.number])
        return list
    }
}
