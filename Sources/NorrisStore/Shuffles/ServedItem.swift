import Logging
package import NorrisProtocol
import Synchronization

/// The last item of a kind that a user was served, for a moment later they may want to keep it.
package struct ServedItem: Sendable {
    /// Whose, and of which kind.
    struct Key: Hashable {
        let uid: Int64
        let kind: Favorite.Kind
    }

    let key: Key
    package let id: String
    /// The name that stood in place of Chuck Norris.
    package let name: String?

    /// Past this many, the users who were served longest ago are forgotten: uids are cheap in user namespaces.
    static let maximum = 4_096

    func write(_ database: Database) throws {
        try database.cachedStatement(sql: "REPLACE INTO served (uid, kind, id, name) VALUES (?, ?, ?, ?)")
            .execute(arguments: [key.uid, key.kind.rawValue, id, name])
        try database.cachedStatement(
            sql: "DELETE FROM served WHERE number <= "
                + "(SELECT number FROM served ORDER BY number DESC LIMIT 1 OFFSET \(ServedItem.maximum))"
        ).execute()
    }
}

extension FactStore {
    /// Notes that a user was served an item otherwise than from a shuffle; written with the shuffles.
    ///
    /// - Parameter id: nil where the answer was empty.
    package func noteServed(_ id: String?, _ kind: Favorite.Kind, uid: UInt32) {
        guard let id else { return }
        let isFirst = withState { state in
            defer { state.book.note(ServedItem.Key(uid: Int64(uid), kind: kind), .id(id)) }
            return !state.book.hasChanges
        }
        if isFirst { tellMove() }
    }

    /// The item of a kind that a user was served last.
    ///
    /// - Throws: `-32005` where a database cannot be read.
    package func lastServed(_ kind: Favorite.Kind, uid: UInt32) async throws(ResponseError) -> ServedItem? {
        let key = ServedItem.Key(uid: Int64(uid), kind: kind)
        if let served = withState({ $0.book.served(key) }) {
            let item = try await databases.read(.facts(.upstream), logger: logger) { try FactStore.item(served, $0) }
            if let item { return item }
        }
        return try await databases.read(.state, logger: logger) { database in
            try Row.fetchOne(
                database.cachedStatement(sql: "SELECT id, name FROM served WHERE uid = ? AND kind = ?"),
                arguments: [key.uid, kind.rawValue]
            ).map { ServedItem(key: key, id: $0[0], name: $0[1]) }
        }
    }

    /// - Parameter cache: has the facts' ids.
    /// - Returns: nil for a fact that is gone.
    static func item(_ served: ShuffleBook.Served, _ cache: Database) throws -> ServedItem? {
        switch served.what {
        case .id(let id): ServedItem(key: served.key, id: id, name: served.name)
        case .ordinal(let ordinal):
            try FactTable.fact(ordinal: ordinal, cache).map { ServedItem(key: served.key, id: $0.id, name: served.name) }
        }
    }
}
