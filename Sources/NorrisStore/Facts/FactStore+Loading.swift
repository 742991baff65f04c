import Logging
import NorrisProtocol
import Synchronization

/// Bringing what is on the disk into memory, and following its changes.
extension FactStore {
    /// How many chunks are kept in memory.
    private static let chunksInMemory = bytesInMemory / FactRecord.chunkSize

    /// Reads which lists there are, and the encoded facts where they are few. What memory has of another cache is void.
    ///
    /// At the start, or ``importing`` is held.
    func loadIndex() {
        let file = databases.cache.factFile
        var (index, chunks): (FactIndex, FactChunks?) = (FactIndex(), FactChunks())
        do {
            (index, chunks) = try databases.cache.opened.writer.read { database in
                (try FactStore.index(database), try FactStore.chunks(file, database))
            }
        } catch {
            logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
        withState { state in
            // Together: the shuffles know the lists by their places in the index.
            (state.index, state.chunks, state.file) = (index, chunks, file)
            state.book.removeAll()
            state.days = [:]
            state.version += 1
        }
        tellMove()
    }

    private static func index(_ database: Database) throws -> FactIndex {
        var index = FactIndex()
        let rows = try Row.fetchAll(database, sql: "SELECT category, kind, epoch, entries, live FROM fact_lists")
        for row in rows {
            guard let kind = FactKind(rawValue: UInt8(row[1] as Int)) else { continue }
            let name = FactListName(category: row[0], kind: kind)
            let list = FactList(name: name, epoch: UInt32(row[2] as Int), live: row[4], storedCount: row[3])
            index.update(name) { $0 = list }
        }
        let builtin = try StoredFact.count(of: .builtin, database)
        index.upstreamCount = index.count(of: "", .norris, allowsExplicit: true) - builtin
        return index
    }

    /// All encoded facts; nil where they are too many. What is missing in the file or damaged is made again.
    private static func chunks(_ file: FactFile, _ database: Database) throws -> FactChunks? {
        let next = try database.cachedStatement(sql: "SELECT min(ordinal) FROM facts WHERE ordinal >= ?")
        var numbers: [UInt32] = []
        while let ordinal = try Row.fetchOne(next, arguments: [Int(numbers.last.map { $0 + 1 } ?? 0) * Int(FactRecord.chunkUnits)])?[0] as Int? {
            numbers.append(UInt32(ordinal) / FactRecord.chunkUnits)
            guard numbers.count <= chunksInMemory else { return nil }
        }
        var chunks = FactChunks()
        for number in numbers {
            let first = number * FactRecord.chunkUnits
            chunks.write(file.chunk(at: first), at: first)
        }
        var json = JSONWriter()
        let rows = try Row.fetchCursor(database, sql: "SELECT ordinal, id FROM facts")
        while let row = try rows.next() {
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

    /// Shows what an import has done. Only one at a time: ``importing`` is held.
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
            let chunks = try databases.cache.opened.writer.read { try FactStore.chunks(file, $0) }
            withState { $0.chunks = chunks }
        } catch {
            logger.error("cache.unreadable", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the entries of a list.
    func loadList(_ name: FactListName) async throws(ResponseError) {
        for _ in 0..<100 {
            let (version, count) = withState { ($0.version, $0.index.list(name)?.count ?? 0) }
            let list = try await databases.read(.facts(.upstream), logger: logger) { database in
                var list = FactList(name: name)
                list.reserve(count)
                let rows = try Rows(
                    database.cachedStatement(
                        sql: """
                            SELECT fact, length FROM fact_entries
                            WHERE list = (SELECT number FROM fact_lists WHERE category = ? AND kind = ?) ORDER BY fact
                            """
                    ),
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

    // MARK: Shuffles

    func loadShuffles() {
        do {
            let records = try databases.state.shuffles()
            withState { state in
                for record in records {
                    let lists = record.key.filter.lists.map { state.index.place(of: $0) }
                    guard let bytes = record.shuffle, let shuffle = Shuffle(encoded: bytes, lists: lists) else { continue }
                    state.book.restore(
                        ShuffleBook.Entry(
                            key: record.key, shuffle: shuffle, lists: lists, usedAt: record.usedAt, isAttached: false
                        )
                    )
                }
            }
        } catch {
            logger.error("shuffles.unreadable", metadata: ["error": "\(error)"])
        }
    }

    /// Writes the shuffles that have moved, and what was served last.
    ///
    /// - Returns: false where they could not be written; they are tried again the next time.
    @discardableResult
    package func writeShuffles() async -> Bool {
        let (records, served) = withState { $0.book.takeChanges() }
        guard !records.isEmpty || !served.isEmpty else { return true }
        do {
            // A cache that cannot be read keeps no shuffle from the disk.
            let items = try? await databases.cache.opened.writer.read { cache in
                try served.compactMap { try FactStore.item($0, cache) }
            }
            try await databases.state.write(records, items ?? [])
            withState { $0.book.noteWritten() }
            databases.noteWriteSuccess(of: .state, logger)
            return true
        } catch {
            withState { $0.book.restoreChanges(records, served) }
            databases.noteWriteFailure(error, of: .state, logger)
            return false
        }
    }
}
