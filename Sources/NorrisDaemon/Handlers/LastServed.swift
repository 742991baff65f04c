import NorrisProtocol
import NorrisStore
import Synchronization

/// What each user was served last, of each kind: in memory, for a moment later they may want to keep it. Facts are noted
/// by their store, together with the shuffle that served them.
final class LastServed: Sendable {
    private struct Key: Hashable {
        let uid: UInt32
        let kind: Favorite.Kind
    }

    /// Past this many everything is forgotten: uids are cheap only in user namespaces.
    private static let maximum = 4_096

    private let facts: FactStore
    private let ids = Mutex<[Key: String]>([:])

    init(facts: FactStore) {
        self.facts = facts
    }

    /// - Parameter id: nil where the answer was empty.
    func note(_ id: String?, _ kind: Favorite.Kind, uid: UInt32) {
        guard let id else { return }
        if kind == .fact { return facts.noteServed(id, uid: uid) }
        ids.withLock { ids in
            let key = Key(uid: uid, kind: kind)
            if ids.count >= LastServed.maximum, ids[key] == nil { ids.removeAll() }
            ids[key] = id
        }
    }

    func id(of kind: Favorite.Kind, uid: UInt32) -> String? {
        kind == .fact ? facts.lastServed(uid: uid) : ids.withLock { $0[Key(uid: uid, kind: kind)] }
    }
}
