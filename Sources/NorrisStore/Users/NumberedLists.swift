package import NorrisProtocol
import Synchronization

/// The last numbered lists of each user, so that a client can refer to an item by its number. In memory only.
package final class NumberedLists: Sendable {
    /// The maximum number of items of a list; later items have no number.
    static let maximumItems = 100
    /// The maximum number of users with lists; above it the lists of the least recently listing user are removed.
    static let maximumUsers = 1_024
    /// The limit of all lists in bytes, as estimated for the memory.
    static let maximumBytes = 8 << 20

    package struct Item: Sendable, Equatable {
        package let kind: Favorite.Kind
        package let id: String

        package init(_ kind: Favorite.Kind, _ id: String) { (self.kind, self.id) = (kind, id) }
    }

    private struct List {
        var items: [Item] = []
        /// The cursor of the page after the list; nil at the end.
        var next: String?
        /// The cursor of the last page, and the number of items before it.
        var last: (cursor: String, count: Int)?

        var bytes: Int {
            let cursors = (next?.utf8.count ?? 0) + (last?.cursor.utf8.count ?? 0)
            return items.reduce(64 + cursors) { $0 + 64 + $1.id.utf8.count }
        }
    }

    private struct User {
        /// The last list of each kind, and of ``RecentServed/anyKind``.
        var lists: [Favorite.Kind: List] = [:]
        var usedAt = 0

        /// A list that is stored under several kinds counts several times.
        var bytes: Int { lists.values.reduce(0) { $0 + $1.bytes } }
    }

    private struct State {
        var users: [UInt32: User] = [:]
        var bytes = 0
        var lastUse = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of users with lists, and the bytes of all lists.
    var size: (users: Int, bytes: Int) { state.withLock { ($0.users.count, $0.bytes) } }

    /// Stores a page as the user's last list of its kinds. A page whose cursor is the end of a stored list continues
    /// that list; requested again, because its reply was lost, it takes the same place. A page without items changes
    /// nothing, so that the list before it keeps its numbers.
    ///
    /// - Parameters:
    ///   - kind: the kind of all items; nil for a list of several kinds, which is the last list of those it contains.
    ///   - cursor: the cursor that requested the page; nil for a first page.
    ///   - next: the cursor of the following page.
    package func note(_ items: [Item], of kind: Favorite.Kind?, cursor: String?, next: String?, uid: UInt32) {
        guard !items.isEmpty else { return }
        state.withLock { state in
            var user = state.users[uid] ?? User()
            state.bytes -= user.bytes
            var list = List()
            if let cursor {
                func isSame(_ other: String?) -> Bool { other.map { $0.hasSameBytes(as: cursor) } ?? false }
                if let continued = user.lists.values.first(where: { isSame($0.next) }) {
                    list = continued
                    list.last = (cursor, list.items.count)
                } else if let repeated = user.lists.values.first(where: { isSame($0.last?.cursor) }) {
                    list = repeated
                    list.items.removeSubrange((list.last?.count ?? 0)...)
                }
            }
            list.items = Array((list.items + items).prefix(NumberedLists.maximumItems))
            list.next = next
            let kinds =
                kind.map { [$0] } ?? Favorite.Kind.all.filter { kind in list.items.contains { $0.kind == kind } }
            for kind in kinds + [RecentServed.anyKind] { user.lists[kind] = list }
            state.lastUse += 1
            user.usedAt = state.lastUse
            state.bytes += user.bytes
            state.users[uid] = user
            while state.users.count > NumberedLists.maximumUsers || state.bytes > NumberedLists.maximumBytes {
                guard let oldest = state.users.min(by: { $0.value.usedAt < $1.value.usedAt }) else { break }
                state.users[oldest.key] = nil
                state.bytes -= oldest.value.bytes
            }
        }
    }

    /// The item with a number in a user's last list of a kind.
    ///
    /// - Parameters:
    ///   - number: 1 for the first item.
    ///   - kind: ``RecentServed/anyKind`` for the last list of any kind.
    /// - Throws: `-32001` without a list, without such an item, and for an item of another kind.
    package func item(_ number: Int, of kind: Favorite.Kind, uid: UInt32) throws(ResponseError) -> Item {
        guard let list = state.withLock({ $0.users[uid]?.lists[kind] }) else {
            throw .notFound(
                "There is no list of \(NumberedLists.names[kind] ?? "items") to take number \(number) from; "
                    + "lists are forgotten when norrisd restarts.", hint: NumberedLists.hint(kind))
        }
        guard number >= 1, number <= list.items.count else {
            let count = list.items.count
            throw .notFound(
                "The last list has \(count) item\(count == 1 ? "" : "s"), so there is no number \(number).")
        }
        let item = list.items[number - 1]
        guard kind == RecentServed.anyKind || item.kind == kind else {
            throw .notFound(
                "Number \(number) of the last list is a \(NumberedLists.name(item.kind)), not a "
                    + "\(NumberedLists.name(kind)).", hint: NumberedLists.hint(kind))
        }
        return item
    }

    private static let names: [Favorite.Kind: String] = [.fact: "facts", .gif: "GIFs", .post: "posts"]

    private static func name(_ kind: Favorite.Kind) -> String { kind == .gif ? "GIF" : kind.rawValue }

    private static func hint(_ kind: Favorite.Kind) -> String {
        switch kind {
        case .fact: "List facts: norrisctl search WORD"
        case .gif: "List GIFs: norrisctl gif WORD"
        case .post: "List posts: norrisctl feed"
        default: "Show a list: norrisctl feed, norrisctl search WORD or norrisctl favorite list"
        }
    }
}
