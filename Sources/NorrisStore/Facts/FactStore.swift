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

        /// A user's walk, begun where there is none.
        mutating func entry(_ uid: Int64, _ filter: WalkFilter) -> WalkBook.Entry {
            walks.walk(of: uid, filter) {
                let tracks = catalogue.tracks(of: filter)
                return Walk(tracks: tracks, position: WalkPosition(key: .random(in: .min ... .max), strips: tracks.count))
            }
        }
    }

    let databases: Databases
    let state = Mutex(State())
    /// Held while content changes: new seats are numbered before the catalogue has them.
    let importing = Mutex(())
    let logger: Logger
    private let moved = Mutex<(@Sendable () -> Void)?>(nil)

    /// Reads what the databases hold.
    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
        forgetUnusedCategories()
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

    /// The next fact of a user's walk.
    package func next(uid: UInt32, filter: WalkFilter) -> Given? {
        next(uid: Int64(uid), filter)
    }

    func next(uid: Int64, _ filter: WalkFilter) -> Given? {
        let (given, isFirst) = state.withLock { state -> (Given?, Bool) in
            let isFirst = !state.walks.hasChanges
            let entry = state.entry(uid, filter)
            guard let slot = entry.walk.next(from: state.catalogue), let given = state.catalogue.given(slot)
            else { return (nil, isFirst) }
            state.walks.noteLatest(.wire(given.wire))
            return (given, isFirst)
        }
        if isFirst { moved.withLock { $0 }?() }
        return given
    }

    /// The next facts of a user's walk.
    package func next(_ count: Int, uid: UInt32, filter: WalkFilter) -> [Given] {
        let (given, isFirst) = state.withLock { state in
            let isFirst = !state.walks.hasChanges
            let entry = state.entry(Int64(uid), filter)
            let given = entry.walk.next(count, from: state.catalogue).compactMap { state.catalogue.given($0) }
            if let last = given.last { state.walks.noteLatest(.wire(last.wire)) }
            return (given, isFirst)
        }
        if isFirst { moved.withLock { $0 }?() }
        return given
    }

    /// Notes that a user was served a fact otherwise.
    package func noteServed(_ id: String?, uid: UInt32) {
        if let id { state.withLock { $0.walks.note(.id(id), uid: Int64(uid)) } }
    }

    /// The id of the fact that a user was served last.
    package func lastServed(uid: UInt32) -> String? {
        switch state.withLock({ $0.walks.lastServed(uid: Int64(uid)) }) {
        case .id(let id)?: id
        case .wire(let wire)?: try? JSON.parse(wire).objectValue().required("id")
        case nil: nil
        }
    }

    /// Calls the body, from any thread, when a walk has moved after ``writeWalks()`` has taken all that had moved.
    package func onMove(_ body: @escaping @Sendable () -> Void) {
        moved.withLock { $0 = body }
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
