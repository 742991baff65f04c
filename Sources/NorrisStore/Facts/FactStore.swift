import Logging
package import NorrisProtocol
import NorrisThreads
import Synchronization

/// The facts that the daemon serves, and each user's shuffles.
///
/// A request works on the catalogue that it began with. A change of the facts makes a new catalogue on a background
/// thread, and replaces the old one by an assignment. No request waits for a disk.
package final class FactStore: Sendable {
    private struct State {
        var catalogue: FactCatalogue
        var book = ShuffleBook()
        var days = FactsOfTheDay()
        /// The generation of the file whose shuffles and days are in memory; nil for none.
        var readGeneration: Int?
        /// Whether a listener was told of changes that ``FactStore/writeShuffles()`` has not taken.
        var hasChanged = false
    }

    /// The name of the source in the fetch records.
    package static let upstreamSource = SourceStatus.facts

    let databases: Databases
    private let state: Mutex<State>
    /// Held while a catalogue is built, so that the last one contains all changes.
    private let building = Mutex(())
    /// ``FortuneFiles/digest`` of the catalogue; nil if the files must be read again.
    private let fortunesDigest = Mutex<String?>(FactStore.digestWithoutFortunes)
    private static let digestWithoutFortunes = FortuneFiles.find([]).digest
    private let fortunesWanted = Callback()
    private let changed = Callback()

    /// Reads the stored facts. Fortune files are read later (``readFortunes(_:isCancelled:)``).
    package init(databases: Databases) async {
        self.databases = databases
        state = Mutex(State(catalogue: FactCatalogue.Builder().finish()))
        await readUpstream(fortunes: [])
    }

    /// Reads the stored shuffles and facts of the day, at the start and when the file was replaced. Entries of an
    /// earlier file are newer, and count as unwritten. Entries that began without a file are dropped.
    package func readShuffles() async {
        let (generation, isFile) = (databases.state.generation, databases.state.condition.isWritable)
        let stored = try? await databases.read(databases.state) { database in
            (try ShuffleBook.Entry.all(database), try FactsOfTheDay(database))
        }
        change { state in
            if state.readGeneration != nil {
                state.book.noteLost()
                state.days.noteLost()
            } else if let (entries, days) = stored {
                state.book = ShuffleBook()
                state.book.restore(entries)
                state.days.restore(days)
            }
            if isFile { state.readGeneration = generation }
        }
    }

    package var catalogue: FactCatalogue { state.withLock { $0.catalogue } }

    /// Calls the body on any thread when ``writeShuffles()`` has something to write.
    package func onChange(_ body: @escaping @Sendable () -> Void) { changed.set(body) }

    // MARK: Serving

    /// Facts of one catalogue.
    package struct Draw: Sendable {
        package let catalogue: FactCatalogue
        /// nil if no fact matches.
        package fileprivate(set) var first: UInt32?
        // Apart from the first, because most requests are for one fact, and an array would be allocated.
        package fileprivate(set) var others: [UInt32] = []
    }

    /// The next facts of a user's shuffle; all matching facts if there are fewer than `count`.
    ///
    /// - Parameter name: stored with the last fact, see ``lastServed(_:uid:)``.
    package func next(_ count: Int, uid: UInt32, filter: FactFilter, name: String? = nil) -> Draw {
        change { state in
            var draw = Draw(catalogue: state.catalogue)
            let index = state.book.index(Int64(uid), filter)
            draw.first = state.book.next(index, filter, from: state.catalogue)
            guard let first = draw.first else { return draw }
            if count > 1 {
                var served = [state.catalogue.hash(first)]
                while served.count < count,
                    let number = state.book.next(index, filter, from: state.catalogue, without: served)
                {
                    draw.others.append(number)
                    served.append(state.catalogue.hash(number))
                }
            }
            state.book.note(index, name: name)
            return draw
        }
    }

    /// The fact of a day, the same for all users; chosen by the first call.
    ///
    /// - Parameter source: the facts to choose from.
    /// - Returns: nil only if there are no facts.
    package func factOfTheDay(_ day: CivilDate, today: CivilDate, source: FactScope) -> Fact? {
        change { state in
            if let fact = state.days[day] { return fact }
            // The daemon's own shuffle: every fact is the fact of a day once before any fact is repeated.
            let filter = FactFilter(source: source)
            let index = state.book.index(-1, filter)
            guard let number = state.book.next(index, filter, from: state.catalogue) else { return nil }
            state.book.note(index, name: nil)
            let fact = state.catalogue.fact(number)
            state.days.add(fact, on: day, today: today)
            return fact
        }
    }

    @inline(__always) private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, isFirst) = state.withLock { state in
            let isFirst = !state.hasChanged
            state.hasChanged = true
            return (body(&state), isFirst)
        }
        if isFirst { changed.call() }
        return result
    }

    /// The key of the cursors of searches.
    package var cursorKey: UInt64 { databases.cursorKey }

    // MARK: Served items

    /// Records the last item of a kind that a user was served.
    ///
    /// - Parameters:
    ///   - id: nil if nothing was served.
    ///   - name: the name that replaced Chuck Norris.
    package func noteServed(_ id: String?, _ kind: Favorite.Kind, uid: UInt32, name: String? = nil) {
        if let id { change { $0.book.note(.id(id), kind, uid: Int64(uid), name: name) } }
    }

    /// The last item of a kind that was served to a user.
    ///
    /// - Parameter kind: ``RecentServed/anyKind`` for the last item of any kind.
    package func lastServed(_ kind: Favorite.Kind, uid: UInt32) async throws(ResponseError) -> ServedItem? {
        let kinds = kind == RecentServed.anyKind ? Favorite.Kind.all : [kind]
        let (served, catalogue) = state.withLock { ($0.book.served(kinds, uid: Int64(uid)), $0.catalogue) }
        // Items in memory are newer than all items on disk.
        if let item = served.lazy.compactMap({ catalogue.item($0) }).first { return item }
        return try await databases.read(databases.state) { database in
            let sql = """
                SELECT kind, id, name FROM served
                WHERE uid = ? AND kind IN (\(databaseQuestionMarks(count: kinds.count)))
                ORDER BY number DESC LIMIT 1
                """
            return try database.first(sql, [Int64(uid)] + kinds.map(\.rawValue)) { row in
                ServedItem(kind: Favorite.Kind(rawValue: try row[0]), id: try row[1], name: try row[2])
            }
        }
    }

    // MARK: Changing

    /// Replaces the upstream's facts with the result of a fetch. The facts are served when this returns.
    ///
    /// In several transactions, because users wait for each, and with the record in the last one: after a crash between
    /// them, the next fetch is complete.
    ///
    /// - Parameters:
    ///   - isComplete: false if a missing fact is no reason to remove it.
    ///   - fetch: the record of the fetch.
    ///   - run: the import of the fetch.
    /// - Throws: `failed` or `contentGone`.
    @discardableResult package func replaceUpstream(
        _ facts: [Fact], isComplete: Bool, fetch: FetchRecord, in run: SourceImport
    ) async throws(StoreError) -> UpstreamChanges {
        let cache = databases.cache
        let plan = try? await databases.read(cache) { try FactTable.plan(for: facts, isComplete: isComplete, $0) }
        guard let plan else {
            throw .notChanged(cache.path, "it cannot be read")
        }
        let stored: Result<Void, StoreError>
        do throws(StoreError) {
            for part in plan.removed.parts(of: FactStore.factsAtOnce) {
                try await run.write { try FactTable.remove(part, $0) }
            }
            for part in plan.stored.parts(of: FactStore.factsAtOnce) {
                try await run.write { try FactTable.store(part, $0) }
            }
            try await run.write { try fetch.write(for: run.source, $0) }
            stored = .success(())
        } catch {
            stored = .failure(error)
        }
        // Also after a failure, because some of the transactions have changed the facts.
        if !plan.removed.isEmpty || !plan.stored.isEmpty { await upstreamChanged() }
        try stored.get()
        return plan.changes
    }

    /// Removes all facts of the upstream and the record of their fetch.
    ///
    /// - Throws: `failed`.
    @discardableResult package func clearUpstream() async throws(StoreError) -> Int {
        let count = try await databases.write(databases.cache) { [databases] database in
            databases.noteCleared(FactStore.upstreamSource)
            try FetchRecord.remove(FactStore.upstreamSource, database)
            try database.execute("DELETE FROM facts")
            return database.changesCount
        }
        await upstreamChanged()
        return count
    }

    private func upstreamChanged() async {
        await readUpstream(fortunes: nil)
        // A fortune with the text of a removed fact is not in the old catalogue.
        let hasFortunes = fortunesDigest.withLock { digest in
            guard digest != FactStore.digestWithoutFortunes else { return false }
            digest = nil
            return true
        }
        if hasFortunes { wantFortunes() }
    }

    /// Builds a catalogue with the stored facts of the upstream.
    private func readUpstream(fortunes: [Fact]?) async {
        // Also for a cancelled task, because the stored facts have changed. Without a disk, the facts in memory are
        // still served; the error was logged.
        let isRead: Void? = try? await databases.cache.read(isCancellable: false) { [self] database in
            try build(from: database, fortunes: fortunes)
        }
        if isRead == nil { try? build(from: nil, fortunes: fortunes) }
    }

    /// Reads the fortune files, unless they are unchanged, and serves them. Blocking.
    ///
    /// - Parameters:
    ///   - paths: files and folders, as configured.
    ///   - isCancelled: checked from time to time.
    package func readFortunes(_ paths: [String], isCancelled: () -> Bool = { false }) {
        let found = FortuneFiles.find(paths)
        guard fortunesDigest.withLock({ $0 != found.digest }) else { return }
        var fortunes = Fortunes()
        for file in found.files where !isCancelled() { fortunes.read(file, isCancelled: isCancelled) }
        if isCancelled() { return }
        // Before the build, because a change of the upstream's facts during it makes another reading necessary.
        fortunesDigest.withLock { $0 = found.digest }
        try? build(from: nil, fortunes: fortunes.facts, leftOut: fortunes.leftOut)
        for fault in found.faults + fortunes.faults {
            let error = "\(fault.path): \(fault.problem)"
            databases.logger.error("fortunes.unreadable", metadata: ["path": "\(fault.path)", "error": "\(error)"])
        }
        let metadata: Logger.Metadata = ["files": "\(found.files.count)", "facts": "\(fortunes.facts.count)"]
        databases.logger.info("fortunes.read", metadata: metadata)
    }

    /// Calls the body on any thread when ``readFortunes(_:isCancelled:)`` should be called.
    package func onFortunesWanted(_ body: @escaping @Sendable () -> Void) { fortunesWanted.set(body) }

    package func wantFortunes() { fortunesWanted.call() }

    /// Builds a catalogue and serves it.
    ///
    /// - Parameters:
    ///   - database: nil for the upstream's facts of the old catalogue.
    ///   - fortunes: nil for the fortunes of the old catalogue.
    ///   - leftOut: the number of fortunes that were left out.
    /// - Throws: only an error of the database.
    private func build(from database: Database?, fortunes: [Fact]?, leftOut: Int = 0) throws {
        try building.withLock { _ in
            let old = catalogue
            let fortuneBytes = fortunes?.reduce(0) { $0 + $1.text.utf8.count } ?? 0
            var builder = FactCatalogue.Builder(leftOut: leftOut, capacity: databases.space.cache + fortuneBytes)
            for fact in StartingCollection.facts() { builder.add(fact) }
            if let database {
                try FactTable.add(to: &builder, database)
            } else {
                old.forEachFact(of: .upstream) { builder.add($0) }
            }
            if let fortunes {
                for fact in fortunes { builder.add(fact) }
            } else {
                old.forEachFact(of: .fortune) { builder.add($0) }
            }
            let new = builder.finish()
            state.withLock { $0.catalogue = new }
            if new.leftOut > 0 {
                let metadata: Logger.Metadata = ["facts": "\(new.leftOut)", "total": "\(new.count)"]
                databases.logger.warning("facts.left-out", metadata: metadata)
            }
        }
    }

    // MARK: On disk

    /// The number of rows in one transaction, because users wait for each transaction.
    private static let rowsAtOnce = 256
    private static let factsAtOnce = 2_000

    /// Writes the changed shuffles, the last items served and the facts of the day.
    ///
    /// - Returns: false if a write failed, or the file was not read yet; the next call tries again.
    @discardableResult package func writeShuffles() async -> Bool {
        guard state.withLock({ $0.readGeneration }) == databases.state.generation else { return false }
        let (changes, days, catalogue) = state.withLock { state in
            state.hasChanged = false
            return (state.book.changes, state.days.unwritten, state.catalogue)
        }
        let items = changes.served.compactMap { served in catalogue.item(served).map { (served.uid, $0) } }
        guard !changes.entries.isEmpty || !items.isEmpty || !days.isEmpty else { return true }
        do {
            for part in changes.entries.parts(of: FactStore.rowsAtOnce) {
                try await databases.write(databases.state) { try ShuffleBook.Entry.write(part, $0) }
            }
            for part in items.parts(of: FactStore.rowsAtOnce) {
                try await databases.write(databases.state) { database in
                    for (uid, item) in part { try item.write(uid: uid, database) }
                }
            }
            try await databases.write(databases.state) { try FactsOfTheDay.write(days, $0) }
            state.withLock { state in
                state.book.noteWritten(changes)
                state.days.noteWritten(days)
            }
            return true
        } catch {
            return false
        }
    }
}

extension FactCatalogue {
    /// A served item with its id; nil for a fact that was removed.
    fileprivate func item(_ served: ShuffleBook.Served) -> ServedItem? {
        let id: String? =
            switch served.item {
            case .id(let id): id
            case .hash(let hash): number(ofHash: hash).map { fact($0).id }
            }
        return id.map { ServedItem(kind: served.kind, id: $0, name: served.name) }
    }
}

extension Array {
    /// The elements in arrays of at most `count`, in order.
    func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}

/// The facts of the last requested days. A day keeps its fact, whatever becomes of the cache.
struct FactsOfTheDay {
    /// The maximum number of days, in addition to the days around today. Any user may request any day.
    static let maximum = 1_000

    private var facts: [CivilDate: Fact] = [:]
    /// Oldest choice first.
    private var order: [CivilDate] = []
    /// The chosen facts that are not on disk; nil for a day that is still there, and was left out.
    private(set) var unwritten: [CivilDate: Fact?] = [:]

    init() {}

    /// Reads the stored days.
    init(_ database: Database) throws {
        let rows = try database.rows("SELECT day, fact FROM facts_of_the_day ORDER BY number")
        while try rows.next() {
            guard let day = CivilDate(try rows[0] as String) else { throw rows.damage("column 0 contains no day") }
            facts[day] = try rows.content(1)
            order.append(day)
        }
    }

    /// Adds the stored days. A day keeps its stored fact.
    mutating func restore(_ stored: FactsOfTheDay) {
        let own = self
        self = stored
        for day in own.order where facts[day] == nil {
            (facts[day], unwritten[day]) = (own.facts[day], own.facts[day])
            order.append(day)
        }
    }

    subscript(day: CivilDate) -> Fact? { facts[day] }

    mutating func add(_ fact: Fact, on day: CivilDate, today: CivilDate) {
        (facts[day], unwritten[day]) = (fact, fact)
        order.append(day)
        guard order.count > FactsOfTheDay.maximum,
            let index = order.firstIndex(where: { abs($0.dayNumber - today.dayNumber) > 1 })
        else { return }
        let oldest = order.remove(at: index)
        facts[oldest] = nil
        unwritten.updateValue(nil, forKey: oldest)
    }

    /// Stores chosen facts, and deletes the days that were left out.
    static func write(_ changes: [CivilDate: Fact?], _ database: Database) throws {
        for (day, fact) in changes {
            if let fact {
                try database.execute(
                    "INSERT OR REPLACE INTO facts_of_the_day (day, fact) VALUES (?, ?)",
                    [day.description, fact.jsonText])
            } else {
                try database.execute("DELETE FROM facts_of_the_day WHERE day = ?", [day.description])
            }
        }
    }

    /// Makes ``unwritten`` contain everything, because the file was replaced.
    mutating func noteLost() { unwritten = facts.mapValues { $0 } }

    mutating func noteWritten(_ changes: [CivilDate: Fact?]) {
        for (day, fact) in changes where unwritten[day] == .some(fact) { unwritten.removeValue(forKey: day) }
    }
}
