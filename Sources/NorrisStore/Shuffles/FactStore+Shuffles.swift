import Logging
package import NorrisProtocol
import NorrisThreads

/// The shuffles on disk, and the last items served.
extension FactStore {
    /// The number of shuffles or served items in one transaction.
    private static let rowsAtOnce = 256

    func loadShuffles(_ access: BlockingAccess) {
        do {
            let records = try databases.state.writer.read(access, ShuffleBook.Record.all)
            withState { state in
                for record in records {
                    let lists = record.key.filter.lists.map { state.index.position(of: $0) }
                    guard let shuffle = Shuffle(encoded: record.shuffle, lists: lists) else { continue }
                    state.book.restore(
                        ShuffleBook.Entry(
                            key: record.key, shuffle: shuffle, lists: lists, usedAt: record.usedAt, isAttached: false))
                }
            }
        } catch {
            databases.logger.error("shuffles.unreadable", metadata: ["error": "\(error)"])
        }
    }

    /// Writes the changed shuffles and the last items served.
    ///
    /// - Returns: false if a write failed; the next call tries again.
    @discardableResult package func writeShuffles() async -> Bool {
        let (records, served) = withState { $0.book.takeChanges() }
        guard !records.isEmpty || !served.isEmpty else { return true }
        do {
            // Shuffles are written even if the cache cannot be read.
            let items = try? await databases.read(.facts) { cache in
                try served.compactMap { try FactStore.item($0, cache) }
            }
            // In parts, because other users wait for each transaction.
            for part in records.parts(of: FactStore.rowsAtOnce) {
                try await databases.state.writer.write { try ShuffleBook.Record.write(part, $0) }
            }
            for part in (items ?? []).parts(of: FactStore.rowsAtOnce) {
                try await databases.state.writer.write { database in for item in part { try item.write(database) } }
            }
            withState { $0.book.noteWritten() }
            databases.noteWriteSuccess(of: .state)
            return true
        } catch {
            withState { $0.book.restoreChanges(records, served) }
            databases.noteWriteFailure(error, of: .state)
            return false
        }
    }

    /// Records an item that was served without a shuffle; written with the shuffles.
    ///
    /// - Parameters:
    ///   - id: nil if nothing was served.
    ///   - name: the name that replaced Chuck Norris.
    package func noteServed(_ id: String?, _ kind: Favorite.Kind, uid: UInt32, name: String? = nil) {
        guard let id else { return }
        let isFirst = withState { state in
            defer { state.book.note(ServedItem.Key(uid: Int64(uid), kind: kind), .id(id), name: name) }
            return !state.book.hasChanges
        }
        if isFirst { notifyOfMove() }
    }

    /// The last item of a kind that was served to a user.
    ///
    /// - Parameter kind: ``RecentServed/anyKind`` for the last item of any kind.
    package func lastServed(_ kind: Favorite.Kind, uid: UInt32) async throws(ResponseError) -> ServedItem? {
        let kinds = kind == RecentServed.anyKind ? Favorite.Kind.all : [kind]
        let served = withState { state in
            kinds.compactMap { state.book.served(ServedItem.Key(uid: Int64(uid), kind: $0)) }
        }
        // Items in memory are newer than all items on disk.
        for served in served.sorted(by: { $0.usedAt > $1.usedAt }) {
            let item = try await databases.read(.facts) { try FactStore.item(served, $0) }
            if let item { return item }
        }
        return try await databases.read(.state) { database in
            let sql = """
                SELECT kind, id, name FROM served WHERE uid = ? AND kind IN (\(databaseQuestionMarks(count: kinds.count)))
                ORDER BY number DESC LIMIT 1
                """
            return try database.first(sql, [Int64(uid)] + kinds.map(\.rawValue)) { row in
                let key = ServedItem.Key(uid: Int64(uid), kind: Favorite.Kind(rawValue: row[0]))
                return ServedItem(key: key, id: row[1], name: row[2])
            }
        }
    }

    /// - Parameter cache: contains the facts' ids.
    /// - Returns: nil for a removed fact.
    private static func item(_ served: ShuffleBook.Served, _ cache: Database) throws -> ServedItem? {
        let id: String? =
            switch served.what {
            case .id(let id): id
            case .ordinal(let ordinal): try FactTable.fact(ordinal: ordinal, cache)?.id
            }
        return id.map { ServedItem(key: served.key, id: $0, name: served.name) }
    }
}

extension Array {
    /// The elements in arrays of at most `count`, in order.
    func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
