import NorrisProtocol
import Synchronization

/// What each user was given last, of each kind: in memory, for a moment later they may want to keep it.
final class LastServed: Sendable {
    private struct Key: Hashable {
        let uid: UInt32
        let kind: Favorite.Kind
    }

    private enum Item {
        case id(String)
        /// On the wire, whose id is looked for only when somebody asks.
        case wire([UInt8])
    }

    /// Past this many everything is forgotten: uids are cheap only in user namespaces.
    private static let maximum = 4_096

    private let items = Mutex<[Key: Item]>([:])

    /// - Parameter fact: as it went out, for the answers that have to be quickest.
    func note(fact: [UInt8], uid: UInt32) {
        set(.wire(fact), .fact, uid)
    }

    /// - Parameter id: nil where the answer was empty.
    func note(_ id: String?, _ kind: Favorite.Kind, uid: UInt32) {
        if let id { set(.id(id), kind, uid) }
    }

    private func set(_ item: Item, _ kind: Favorite.Kind, _ uid: UInt32) {
        items.withLock { items in
            let key = Key(uid: uid, kind: kind)
            if items.count >= LastServed.maximum, items[key] == nil { items.removeAll() }
            items[key] = item
        }
    }

    func id(of kind: Favorite.Kind, uid: UInt32) -> String? {
        switch items.withLock({ $0[Key(uid: uid, kind: kind)] }) {
        case .id(let id)?: id
        case .wire(let wire)?: try? JSON.parse(wire).objectValue().required("id")
        case nil: nil
        }
    }
}
