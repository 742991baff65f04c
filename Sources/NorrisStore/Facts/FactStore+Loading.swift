import Logging
import NorrisProtocol
import Synchronization

/// Loading from the disk into memory, and applying changes there.
extension FactStore {
    /// How many chunks are in memory at most.
    private static let chunksInMemory = bytesInMemory / FactRecord.chunkSize

    /// Reads which lists there are, and the encoded facts where they are few. Replaces all that memory has of another
    /// cache. At the start, or while ``importing`` is held.
    func loadIndex() {
        let file = databases.cache.factFile
        var (index, chunks): (FactIndex, FactChunks?) = (FactIndex(), FactChunks())
        do {
            (index, chunks) = try databases.cache.writer.read { database in
                (try FactStore.index(database), try FactStore.chunks(file, database))
            }
        } catch {
            databases.logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
        withState { state in
            // Together: the shuffles refer to the lists by their positions in the index.
            (state.index, state.chunks, state.file) = (index, chunks, file)
            state.book.removeAll()
            state.days = [:]
            state.version += 1
        }
        notifyOfMove()
    }

    private static func index(_ database: Database) throws -> FactIndex {
        var index = FactIndex()
        let row = try database.rows("SELECT category, kind, epoch, entries, live FROM fact_lists")
        while try row.next() {
            guard let kind = FactKind(rawValue: UInt8(row[1] as Int)) else { continue }
            let name = FactListName(category: row[0], kind: kind)
            let list = FactList(name: name, epoch: UInt32(row[2] as Int), live: row[4], storedCount: row[3])
            index.update(name) { $0 = list }
        }
        let builtin = try StoredFact.count(of: .builtin, database)
        index.upstreamCount = index.count(of: "", .norris, allowsExplicit: true) - builtin
        return index
    }

    /// All encoded facts; nil where they are too many. What is missing in the file or damaged is encoded again.
    private static func chunks(_ file: FactFile, _ database: Database) throws -> FactChunks? {
        let next = "SELECT ordinal FROM facts WHERE ordinal >= ? ORDER BY ordinal LIMIT 1"
        let chunkUnits = Int(FactRecord.chunkUnits)
        var numbers: [UInt32] = []
        while let ordinal = try Int.fetchOne(database, next, [numbers.last.map { (Int($0) + 1) * chunkUnits } ?? 0]) {
            numbers.append(UInt32(ordinal / chunkUnits))
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
            let ordinal = UInt32(row[0] as Int)
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

    /// Applies what an import has changed. ``importing`` is held.
    func publish(_ changes: FactChanges) {
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
        // Facts that were many may be few now.
        if !changes.removed.isEmpty, withState({ $0.chunks == nil }) { reloadChunks() }
    }

    private func reloadChunks() {
        let file = databases.cache.factFile
        do {
            let chunks = try databases.cache.writer.read { try FactStore.chunks(file, $0) }
            withState { $0.chunks = chunks }
        } catch {
            databases.logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the entries of a list.
    func loadList(_ name: FactListName) async throws(ResponseError) {
        for _ in 0..<100 {
            let (version, count) = withState { ($0.version, $0.index.list(name)?.count ?? 0) }
            let list = try await databases.read(.facts) { database in
                var list = FactList(name: name)
                list.reserve(count)
                let rows = try database.rows(
                    """
                    SELECT fact, length FROM fact_entries
                    WHERE list = (SELECT number FROM fact_lists WHERE category = ? AND kind = ?) ORDER BY fact
                    """,
                    [name.category, Int(name.kind.rawValue)]
                )
                while try rows.next() {
                    let (ordinal, length): (Int, Int) = (rows[0], rows[1])
                    list.append(UInt32(ordinal), length: abs(length), isRemoved: length < 0)
                }
                return list
            }
            // What was imported meanwhile may be missing in it.
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
