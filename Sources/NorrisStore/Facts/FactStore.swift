import GRDB
package import Logging
package import NorrisProtocol
import Synchronization

/// The facts: in memory to be given out at once, on disk to be searched, and who has been given what.
///
/// The catalogue and the walks are guarded by one lock that is held for microseconds; nothing waits for a disk in it.
package final class FactStore: Sendable {
    struct State {
        var catalogue = FactCatalogue()
        var walks = WalkBook()
        /// The facts of the last few days asked for.
        var days: [CivilDate: Fact] = [:]
    }

    let databases: Databases
    let state = Mutex(State())
    /// Held while content changes: new seats are numbered before the catalogue has them.
    let importing = Mutex(())
    let logger: Logger

    /// Reads what the databases hold.
    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
        loadSeats()
        loadCache()
        loadWalks()
    }

    /// How many facts there are.
    package var count: Int {
        state.withLock { $0.catalogue.count }
    }

    /// The categories with facts, explicit facts not counted.
    package var categories: [FactCategories.Category] {
        state.withLock { $0.catalogue.categories }
    }

    /// Whether all facts are from the starting collection or fortune files.
    package var isLocal: Bool {
        state.withLock { $0.catalogue.isLocal }
    }

    package func hasCategory(_ name: String) -> Bool {
        state.withLock { $0.catalogue.hasCategory(name) }
    }

    /// A fact as it stands in a reply.
    package struct Given: Sendable {
        /// The fact as it goes over the wire.
        package let wire: [UInt8]
        /// Whether it is from the starting collection or a fortune file.
        package let isLocal: Bool
        package let isExplicit: Bool
    }

    package func fact(id: String) -> Given? {
        state.withLock { state in
            state.catalogue.slot(of: id).flatMap { state.catalogue.given($0) }
        }
    }

    /// The next facts of a user's walk.
    package func next(_ count: Int, uid: UInt32, filter: WalkFilter) -> [Given] {
        next(count, key: WalkBook.Key(uid: Int64(uid), filter: filter))
    }

    func next(_ count: Int, key: WalkBook.Key) -> [Given] {
        state.withLock { state in
            if !state.walks.hasWalk(key) {
                let tracks = state.catalogue.tracks(of: key.filter)
                let position = WalkPosition(key: .random(in: .min ... .max), strips: tracks.count)
                state.walks.begin(Walk(tracks: tracks, position: position), key: key)
            }
            // Not a copy of what it holds: nothing changes the catalogue while both names live.
            let catalogue = state.catalogue
            let slots = state.walks.move(key) { $0.next(count, from: catalogue) }
            return slots.compactMap(catalogue.given)
        }
    }

    /// Searches the stored facts.
    ///
    /// - Throws: `-32602` for a cursor that is not of this search, `-32005` where the disk fails.
    package func search(_ query: FactQuery, cursor: String?, limit: Int) async throws(ResponseError) -> Page<Fact> {
        let cache = databases.cache
        let after = try cursor.map { text throws(ResponseError) in
            try SealedCursor(text, of: query.list, key: cache.cursorKey).number
        }
        do {
            let page = try await cache.opened.writer.read { try query.page(after: after, limit: limit, $0) }
            return Page(
                items: page.facts,
                total: page.total,
                next: page.next.map { SealedCursor(number: $0).sealed(for: query.list, key: cache.cursorKey) }
            )
        } catch {
            logger.error("search.failed", metadata: ["error": "\(error)"])
            throw .storage("The cache cannot be read now.", hint: "The daemon's log says why.")
        }
    }

    /// Writes down the walks that have moved.
    ///
    /// - Returns: false where they could not be written; they are tried again the next time.
    @discardableResult
    package func writeWalks() async -> Bool {
        let changes = state.withLock { $0.walks.takeChanges() }
        guard !changes.isEmpty else { return true }
        do {
            try await databases.state.write(changes)
            databases.noteWriteSuccess(of: .state, logger)
            return true
        } catch {
            state.withLock { $0.walks.giveBack(changes) }
            databases.noteWriteFailure(error, of: .state, logger)
            return false
        }
    }
}

extension FactCatalogue {
    func given(_ slot: Int32) -> FactStore.Given? {
        self[slot].map { FactStore.Given(wire: $0.wire, isLocal: $0.isLocal, isExplicit: $0.isExplicit) }
    }

    /// What a walk with this filter goes over.
    mutating func tracks(of filter: WalkFilter) -> [Walk.Track] {
        let strips = filter.strips
        return filter.rosters.flatMap { name in
            let number = number(of: name)
            if filter.maxLength != nil { indexLengths(of: number) }
            return strips.map { Walk.Track(roster: number, strip: $0) }
        }
    }
}
