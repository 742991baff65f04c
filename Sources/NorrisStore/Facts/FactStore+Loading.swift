import Logging
import NorrisProtocol
import NorrisThreads
import Synchronization

/// Loading facts into memory, and applying changes in memory.
extension FactStore {
    /// The maximum number of chunks in memory.
    private static let chunksInMemory = bytesInMemory / FactRecord.chunkSize

    /// Reads the lists, and the encoded facts if there are few. Replaces all data of another cache in memory.
    func loadIndex(_ access: BlockingAccess) {
        let cache = databases.cache(.facts)
        do {
            // On the writing connection, so that no change is between the database and the memory.
            try cache.writer.withWriter(access) { database in
                let (index, chunks) = try database.read { database in
                    (try FactStore.index(database), try FactStore.chunks(cache.factFile, database))
                }
                takeOver(index, chunks, cache.factFile)
            }
        } catch {
            noteUnreadable(error)
            takeOver(FactIndex(), FactChunks(), cache.factFile)
        }
        notifyOfMove()
    }

    private func takeOver(_ index: FactIndex, _ chunks: FactChunks?, _ file: FactFile) {
        withState { state in
            // Replaced together, because shuffles refer to lists by their positions in the index.
            (state.index, state.chunks, state.file) = (index, chunks, file)
            state.book.removeAll()
            state.days = [:]
            state.version += 1
        }
    }

    private func noteUnreadable(_ error: any Error) {
        databases.noteDamage(error, of: .facts)
        databases.logger.error("cache.unreadable", metadata: ["error": "\(error)"])
    }

    private static func index(_ database: Database) throws -> FactIndex {
        var index = FactIndex()
        let row = try database.rows("SELECT category, kind, epoch, entries, live FROM fact_lists")
        while try row.next() {
            let name = FactListName(category: row[0], kind: row[1])
            let list = FactList(name: name, epoch: (row[2] as Epoch).number, live: row[4], storedCount: row[3])
            if list.live > list.storedCount { row.noteDamage("a list has more facts than entries") }
            index.update(name) { $0 = list }
        }
        let builtin = try StoredFact.count(of: .builtin, database)
        index.upstreamCount = index.count(of: "", .norris, allowsExplicit: true) - builtin
        if index.upstreamCount < 0 { throw DatabaseError.damaged("fact_lists counts too few facts") }
        return index
    }

    /// All encoded facts; nil if there are too many. Missing or damaged records are encoded again.
    private static func chunks(_ file: FactFile, _ database: Database) throws -> FactChunks? {
        let next = "SELECT ordinal FROM facts WHERE ordinal >= ? ORDER BY ordinal LIMIT 1"
        let chunkUnits = Int(FactRecord.chunkUnits)
        var numbers: [UInt32] = []
        while let ordinal = try Ordinal.fetchOne(database, next, [numbers.last.map { (Int($0) + 1) * chunkUnits } ?? 0])
        {
            numbers.append(ordinal.number / FactRecord.chunkUnits)
            guard numbers.count <= chunksInMemory else { return nil }
        }
        var chunks = FactChunks()
        for number in numbers {
            let first = number * FactRecord.chunkUnits
            chunks.write(file.chunk(at: first), at: first)
        }
        var json = JSONWriter()
        let row = try database.rows("SELECT ordinal, id FROM facts")
        while try row.next() {
            let ordinal = (row[0] as Ordinal).number
            let isWhole = chunks.withRecord(ordinal) { FactRecord.check(ordinal, $0.record, key: file.key) != nil }
            if isWhole != true, let fact = try FactTable.fact(ordinal: ordinal, database) {
                let bytes = FactRecord.encode(fact, ordinal, key: file.key, &json)
                chunks.write(bytes, at: ordinal)
                file.write(bytes, at: ordinal)
            }
            chunks.note(row[1], ordinal)
        }
        return chunks
    }

    /// Applies the changes of an import on the connection that has just committed them, so in their order.
    func publish(_ changes: FactChanges, _ database: Database) {
        withState { state in
            state.index.apply(changes)
            state.version += 1
            guard state.chunks != nil else { return }
            guard let records = changes.records else { return state.chunks = nil }
            state.chunks?.write(records.bytes, at: records.first)
            for fact in changes.added { state.chunks?.note(fact.id, fact.ordinal) }
            for fact in changes.removed { state.chunks?.forget(fact.id, fact.ordinal) }
            if state.chunks?.count ?? 0 > FactStore.chunksInMemory { state.chunks = nil }
        }
        // After a removal, the facts may be few enough for memory.
        if !changes.removed.isEmpty, withState({ $0.chunks == nil }) { reloadChunks(database) }
    }

    private func reloadChunks(_ database: Database) {
        let file = withState { $0.file }
        do {
            let chunks = try database.read { try FactStore.chunks(file, $0) }
            withState { $0.chunks = chunks }
        } catch {
            noteUnreadable(error)
        }
    }

    /// Reads the entries of a list.
    func loadList(_ name: FactListName) async throws(ResponseError) {
        for _ in 0..<100 {
            let (version, count) = withState { ($0.version, $0.index.list(name)?.count ?? 0) }
            let list = try await databases.read(.facts) { database in
                var list = FactList(name: name)
                // A damaged count must not reserve gigabytes.
                list.reserve(min(count, 1 << 16))
                let next = try FactWriter.next(database)
                let rows = try database.rows(
                    """
                    SELECT fact, length FROM fact_entries
                    WHERE list = (SELECT number FROM fact_lists WHERE category = ? AND kind = ?) ORDER BY fact
                    """, [name.category, Int(name.kind.rawValue)])
                while try rows.next() {
                    let (ordinal, entry): (Ordinal, EntryLength) = (rows[0], rows[1])
                    // Otherwise no later fact could be appended to the list.
                    if ordinal.number >= next { rows.noteDamage("a list has an ordinal that was never used") }
                    list.append(ordinal.number, length: entry.length, isRemoved: entry.isRemoved)
                }
                return list
            }
            // Facts imported in the meantime may be missing in the list.
            let isCurrent = withState { state in
                guard state.version == version else { return false }
                state.index.update(name) { $0.load(list) }
                return true
            }
            if isCurrent { return }
        }
        throw .busy("The facts are being replaced.", hint: "Try again.")
    }
}
