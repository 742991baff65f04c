import CSQLite
import NorrisProtocol
import NorrisText

/// What a transaction has done to the stored facts, for memory to follow.
struct FactChanges {
    /// A list as it is on the disk now.
    struct List {
        var number: Int64
        var epoch: UInt32
        var count: Int
        var live: Int
    }

    var addedEntries: [FactListName: [(ordinal: UInt32, length: Int)]] = [:]
    var removedEntries: [FactListName: [UInt32]] = [:]
    var lists: [FactListName: List] = [:]
    var added: [(id: String, ordinal: UInt32)] = []
    var removed: [(id: String, ordinal: UInt32)] = []
    /// The encoded facts from an ordinal on; nil where there are too many of them for memory.
    var records: (first: UInt32, bytes: [UInt8])? = (0, [])
    /// By how many the facts of the upstream are more.
    var upstreamDifference = 0

    /// How many facts were not stored before under any content.
    var new = 0
    /// How many of the removed ones made way for a fact of another group with the same text.
    var displaced = 0
    /// How many of the removed ones came with another content.
    var replaced = 0
    /// How many categories were dropped, counted once for each fact.
    var droppedCategories = 0
}

/// Stores and removes facts inside a transaction: the table, the lists, the texts to search and the encoded facts.
struct FactWriter: ~Copyable {
    /// Records are written to the file at this many bytes.
    private static let bufferedBytes = 1 << 20
    /// The highest ordinal is this far from the end of what 32 bits can count: 64 GiB of encoded facts.
    private static let maximumOrdinal = UInt32.max - 2 * FactRecord.chunkUnits

    let database: Database
    private let file: FactFile
    private(set) var changes = FactChanges()
    private var next: UInt32
    /// Where the records in ``bytes`` begin.
    private var first: UInt32
    private var bytes: [UInt8] = []
    private var json = JSONWriter()
    private var texts = FactTexts()

    init(_ database: Database, _ file: FactFile) throws {
        self.database = database
        self.file = file
        next = try CacheDatabase.value(forKey: "next_ordinal", database).flatMap(UInt32.init) ?? 1
        first = next
        changes.records = (first, [])
    }

    /// Stores a fact that is not stored.
    ///
    /// - Parameter isFound: whether only a search has brought it.
    /// - Returns: its ordinal; nil for one that is too large.
    @discardableResult
    mutating func insert(_ fact: Fact, isFound: Bool) throws -> UInt32? {
        guard next < FactWriter.maximumOrdinal else {
            throw DatabaseError(SQLITE_FULL, message: "cache.db has used up its ordinals; delete it")
        }
        let appended = FactRecord.append(fact, next: &next, to: &bytes, first: first, key: file.key, &json)
        guard let ordinal = appended else { return nil }
        if bytes.count >= FactWriter.bufferedBytes { flushRecords() }
        try database.cachedStatement(
            sql: """
                INSERT INTO facts (
                    ordinal, id, source, text, categories, url, created_at, updated_at, found, text_digest
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            Int(ordinal), fact.id, fact.source, fact.text, fact.categories.joined(separator: " "), fact.url,
            fact.createdAt?.seconds, fact.updatedAt?.seconds, isFound, FactTable.digest(ofText: fact.text),
        ])
        let (kind, length) = (FactKind(fact), max(fact.length, 1))
        var numbers: [Int64] = []
        for category in [""] + fact.categories {
            let name = FactListName(category: category, kind: kind)
            var list = try list(name)
            list.count += 1
            list.live += 1
            changes.lists[name] = list
            numbers.append(list.number)
            try database.cachedStatement(sql: "INSERT INTO fact_entries (list, fact, length) VALUES (?, ?, ?)")
                .execute(arguments: [list.number, Int(ordinal), length])
            changes.addedEntries[name, default: []].append((ordinal, length))
        }
        if !kind.isExplicit { texts.append(fact.text, ordinal, kind, lists: numbers) }
        changes.added.append((fact.id, ordinal))
        if !fact.isLocal { changes.upstreamDifference += 1 }
        return ordinal
    }

    mutating func remove(_ stored: StoredFact) throws {
        try database.cachedStatement(sql: "DELETE FROM facts WHERE ordinal = ?").execute(arguments: [Int(stored.ordinal)])
        let isExplicit = stored.categories.contains { $0.hasSameBytes(as: Fact.explicitCategory) }
        let kind: FactKind =
            stored.group == .fortunes
            ? (isExplicit ? .explicitFortune : .fortune) : (isExplicit ? .explicitNorris : .norris)
        for category in [""] + stored.categories {
            let name = FactListName(category: category, kind: kind)
            var list = try list(name)
            list.live -= 1
            changes.lists[name] = list
            try database.cachedStatement(
                sql: "UPDATE fact_entries SET length = -length WHERE list = ? AND fact = ? AND length > 0"
            ).execute(arguments: [list.number, Int(stored.ordinal)])
            changes.removedEntries[name, default: []].append(stored.ordinal)
        }
        if !isExplicit { texts.remove(stored.ordinal) }
        changes.removed.append((stored.id, stored.ordinal))
        if stored.group == .upstream { changes.upstreamDifference -= 1 }
    }

    mutating func note(_ body: (inout FactChanges) -> Void) { body(&changes) }

    /// Writes what was collected; nothing may be inserted or removed afterwards.
    mutating func finish() throws -> FactChanges {
        flushRecords()
        try texts.write(database)
        for (name, list) in changes.lists {
            changes.lists[name] = try write(list)
        }
        try CacheDatabase.set(String(next), forKey: "next_ordinal", database)
        return changes
    }

    private mutating func flushRecords() {
        file.write(bytes, at: first)
        if let records = changes.records {
            changes.records =
                records.bytes.count + bytes.count > FactStore.bytesInMemory ? nil : (records.first, records.bytes + bytes)
        }
        bytes.removeAll(keepingCapacity: true)
        first = next
    }

    private mutating func list(_ name: FactListName) throws -> FactChanges.List {
        if let list = changes.lists[name] { return list }
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT number, epoch, entries, live FROM fact_lists WHERE category = ? AND kind = ?"
            ),
            arguments: [name.category, Int(name.kind.rawValue)]
        )
        if let row {
            return FactChanges.List(number: row[0], epoch: UInt32(row[1] as Int), count: row[2], live: row[3])
        }
        let epoch = UInt32.random(in: 1 ... .max)
        try database.cachedStatement(
            sql: "INSERT INTO fact_lists (category, kind, epoch, entries, live) VALUES (?, ?, ?, 0, 0)"
        ).execute(arguments: [name.category, Int(name.kind.rawValue), Int(epoch)])
        return FactChanges.List(number: database.lastInsertedRowID, epoch: epoch, count: 0, live: 0)
    }

    /// Writes the counts of a list, without its removed entries where these are most of it.
    private func write(_ list: FactChanges.List) throws -> FactChanges.List {
        var list = list
        if list.live == 0 {
            try database.cachedStatement(sql: "DELETE FROM fact_entries WHERE list = ?").execute(arguments: [list.number])
            try database.cachedStatement(sql: "DELETE FROM fact_lists WHERE number = ?").execute(arguments: [list.number])
            return FactChanges.List(number: list.number, epoch: 0, count: 0, live: 0)
        }
        if list.count - list.live > list.live + 64 {
            try database.cachedStatement(sql: "DELETE FROM fact_entries WHERE list = ? AND length < 0")
                .execute(arguments: [list.number])
            list.count = list.live
            list.epoch = UInt32.random(in: 1 ... .max)
        }
        try database.cachedStatement(sql: "UPDATE fact_lists SET epoch = ?, entries = ?, live = ? WHERE number = ?")
            .execute(arguments: [Int(list.epoch), list.count, list.live, list.number])
        return list
    }
}
