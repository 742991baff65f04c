import Glibc
package import NorrisProtocol
package import NorrisThreads
import Synchronization

/// The facts, served from memory if there are few, else from a file, and searched in `cache.db`; and each user's
/// shuffles.
///
/// One lock protects lists and shuffles. It is held for microseconds and never during a wait for a disk: a request that
/// needs the disk gets ``Draw/missing(_:)``, and continues in ``nextReading(_:uid:filter:name:)``.
package final class FactStore: Sendable {
    /// The bytes of encoded facts from which they are read from the file.
    static let bytesInMemory = 8 << 20

    struct State {
        var index = FactIndex()
        /// The encoded facts; nil if there are too many.
        var chunks: FactChunks? = FactChunks()
        var book = ShuffleBook()
        /// The facts of the last requested days.
        var days: [CivilDate: Fact] = [:]
        /// Increases with every change of the facts.
        var version = 0
        var file: FactFile

        /// A user's shuffle, created if missing.
        mutating func entry(_ uid: Int64, _ filter: ShuffleFilter) -> ShuffleBook.Entry {
            book.entry(uid, filter) { key in
                let lists = filter.lists.map { index.position(of: $0) }
                let shuffle = Shuffle(key: .random(in: .min ... .max), lists: lists)
                return ShuffleBook.Entry(key: key, shuffle: shuffle, lists: lists, isAttached: true)
            }
        }
    }

    /// The outcome of a request for facts.
    package enum Draw: Sendable {
        case served(count: Int, isLocal: Bool)
        /// Nothing was served; ``FactStore/nextReading(_:uid:filter:name:)`` reads the missing data.
        case missing(Missing)
    }

    /// The data that must be read from disk before facts can be served.
    package enum Missing: Sendable {
        case list(FactListName)
        case record(UInt32)
    }

    let databases: Databases
    private let lock = Mutex(())
    // Allocated by the initializer and freed by the deinitializer; in between used only by withState(_:), with the lock
    // held. Not stored in the mutex, whose body cannot write to variables of its caller, and not a variable of this
    // class, whose accesses the runtime would check again.
    nonisolated(unsafe) private let state: UnsafeMutablePointer<State>
    /// Increases with every import of fortune files, which ends the previous import.
    let fortuneImports = Atomic(0)
    /// The number of fortunes that the running import has read; -1 without an import.
    let fortuneProgress = Atomic(-1)
    let fortunesWanted = Listener()
    private let moved = Listener()

    /// Reads the databases, except data whose size depends on the number of facts.
    package init(databases: Databases, _ access: BlockingAccess) {
        self.databases = databases
        state = .allocate(capacity: 1)
        state.initialize(to: State(file: databases.cache(.facts).factFile))
        loadIndex(access)
        // A damaged cache is recreated before it is filled.
        if databases.recreateLostCaches(access).contains(.facts) { loadIndex(access) }
        loadShuffles(access)
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Calls `body` with the state in memory. The body never waits for a disk.
    @inline(__always) func withState<Result>(_ body: (inout State) -> Result) -> Result {
        var result: Result?
        lock.withLock { _ in result = body(&state.pointee) }
        // Not nil, because the body has run.
        return result!
    }

    /// The number of facts.
    package var count: Int { withState { $0.index.count } }

    /// The categories with facts, without explicit facts.
    package func categories(of source: FactScope) -> [FactCategories.Category] {
        withState { $0.index.categories(of: source) }
    }

    /// Whether all facts are from the starting collection or fortune files.
    package var isLocal: Bool { withState { $0.index.upstreamCount == 0 } }
    package func hasCategory(_ name: String) -> Bool { withState { $0.index.hasCategory(name) } }

    /// Calls the body on any thread when ``writeShuffles()`` has something to write.
    package func onMove(_ body: @escaping @Sendable () -> Void) { moved.set(body) }
    func notifyOfMove() { moved.notify() }

    // MARK: Serving

    /// The next facts of a user's shuffle; all matching facts if there are fewer than `count`.
    ///
    /// - Parameters:
    ///   - name: stored with the last fact, see ``lastServed(_:uid:)``.
    ///   - write: called with each fact; the caller discards the written facts if the result is ``Draw/missing(_:)``.
    package func next(
        _ count: Int, uid: UInt32, filter: ShuffleFilter, name: String? = nil, write: (EncodedFact) -> Void
    ) -> Draw { next(count, Int64(uid), filter, name, [:], write) }

    private func next(
        _ count: Int, _ uid: Int64, _ filter: ShuffleFilter, _ name: String?, _ loaded: [UInt32: [UInt8]],
        _ write: (EncodedFact) -> Void
    ) -> Draw {
        let (draw, isFirst) = withState { state in
            let hadChanges = state.book.hasChanges
            let draw = FactStore.draw(count, &state, uid, filter, name, loaded, write)
            return (draw, !hadChanges && state.book.hasChanges)
        }
        if isFirst { notifyOfMove() }
        return draw
    }

    @inline(__always) private static func draw(
        _ count: Int, _ state: inout State, _ uid: Int64, _ filter: ShuffleFilter, _ name: String?,
        _ loaded: [UInt32: [UInt8]], _ write: (EncodedFact) -> Void
    ) -> Draw {
        let entry = state.entry(uid, filter)
        if let list = state.index.missing(entry.lists) { return .missing(.list(list)) }
        if !entry.isAttached {
            entry.change { $0.attach(to: state.index, filter.maxLength) }
            entry.isAttached = true
        }
        var served: [UInt32] = []
        var isEmpty = true
        var isLocal = true
        while served.count < count, let ordinal = draw(&state, entry, without: served) {
            let isWritten = state.withRecord(ordinal, loaded) { fact in
                isLocal = isLocal && fact.isLocal
                write(fact)
            }
            guard isWritten else {
                entry.drawn = served + [ordinal] + entry.drawn
                return .missing(.record(ordinal))
            }
            isEmpty = false
            if count == 1 { break }
            served.append(ordinal)
        }
        guard !isEmpty else { return .served(count: 0, isLocal: true) }
        state.book.note(entry, name: name)
        return .served(count: max(served.count, 1), isLocal: isLocal)
    }

    @inline(__always)
    private static func draw(_ state: inout State, _ entry: ShuffleBook.Entry, without served: [UInt32]) -> UInt32? {
        while !entry.drawn.isEmpty {
            let ordinal = entry.drawn.removeFirst()
            if entry.lists.contains(where: { state.index.lists[$0].contains(ordinal) }) { return ordinal }
        }
        return entry.change { $0.next(from: state.index, entry.key.filter.maxLength, without: served) }
    }

    /// The same as ``next(_:uid:filter:name:write:)``, but reads missing data from disk.
    ///
    /// - Returns: the facts in wire form.
    package func nextReading(
        _ count: Int, uid: UInt32, filter: ShuffleFilter, name: String? = nil
    ) async throws(ResponseError) -> (facts: [[UInt8]], isLocal: Bool) {
        try await nextReading(count, Int64(uid), filter, name)
    }

    func nextReading(
        _ count: Int, _ uid: Int64, _ filter: ShuffleFilter, _ name: String? = nil
    ) async throws(ResponseError) -> (facts: [[UInt8]], isLocal: Bool) {
        var loaded: [UInt32: [UInt8]] = [:]
        // Other requests may advance the shuffle, so that other facts are missing; therefore the number of attempts is
        // limited.
        for _ in 0..<1_000 {
            var facts: [[UInt8]] = []
            switch next(count, uid, filter, name, loaded, { facts.append(Array($0.json)) }) {
            case .served(_, let isLocal): return (facts, isLocal)
            case .missing(.list(let list)): try await loadList(list)
            case .missing(.record(let ordinal)):
                let file = withState { $0.file }
                let record = try await databases.read(.facts) { try FactStore.record(ordinal, file, $0) }
                // The lists in memory may still contain a removed fact.
                if let record { loaded[ordinal] = record } else { withState { $0.index.remove(ordinal) } }
            }
        }
        throw .busy("Too many requests use this shuffle at the same time.", hint: "Try again.")
    }

    /// A complete record: from the file, or encoded again from `cache.db` and written to the file; nil for a removed
    /// fact.
    private static func record(_ ordinal: UInt32, _ file: FactFile, _ database: Database) throws -> [UInt8]? {
        if case .record(let bytes) = file.withRecord(ordinal, waits: true, { Array($0.record) }) { return bytes }
        guard let fact = try FactTable.fact(ordinal: ordinal, database) else { return nil }
        var json = JSONWriter()
        let bytes = FactRecord.encode(fact, ordinal, key: file.key, &json)
        file.write(bytes, at: ordinal)
        return bytes
    }

    // MARK: Facts by their ids

    /// Calls `body` with a fact by its id, and notes that the user was served the fact.
    ///
    /// - Returns: false, without a call, if the fact is explicit or not in memory; `cache.db` may contain the fact
    ///   (``fact(id:)``).
    package func serveFactInMemory(id: String, uid: UInt32, name: String? = nil, _ body: (EncodedFact) -> Void) -> Bool
    {
        let (isServed, isFirst) = withState { state in
            let isFirst = !state.book.hasChanges
            guard let ordinal = state.chunks?.withFact(id: id, body) else { return (false, false) }
            state.book.note(.init(uid: Int64(uid), kind: .fact), .ordinal(ordinal), name: name)
            return (true, isFirst)
        }
        if isFirst { notifyOfMove() }
        return isServed
    }

    package func fact(id: String) async throws(ResponseError) -> Fact? {
        try await databases.read(.facts) { try FactTable.fact(id: id, $0) }
    }

    // MARK: Search

    /// Searches the stored facts.
    ///
    /// - Parameter uid: the waiting user; users take turns (``SearchTurns``).
    /// - Throws: `-32602` for a cursor of another search, `-32004` after a second, `-32005` if the disk fails.
    package func search(
        _ query: FactQuery, for uid: UInt32 = 0, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Fact> {
        let key = databases.cache(.facts).cursorKey
        return try await databases.read(.facts, within: databases.searchLimit) { database in
            try SearchTurns.shared.run(for: uid) { step in
                try query.page(cursor: cursor, key: key, limit: limit, database, step: step)
            }
        }
    }
}

extension FactStore.State {
    /// Calls `body` with a record that can be read without waiting for a disk.
    ///
    /// - Returns: false if there is none.
    @inline(__always) fileprivate func withRecord(
        _ ordinal: UInt32, _ loaded: [UInt32: [UInt8]], _ body: (EncodedFact) -> Void
    ) -> Bool {
        if let chunks { if chunks.withRecord(ordinal, body) != nil { return true } }
        if let bytes = loaded[ordinal] {
            return bytes.withUnsafeBytes { FactRecord.read(ordinal, $0).map(body) != nil }
        }
        guard chunks == nil, case .record = file.withRecord(ordinal, waits: false, body) else { return false }
        return true
    }
}
