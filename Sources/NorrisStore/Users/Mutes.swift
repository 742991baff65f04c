package import NorrisProtocol
import Synchronization

/// The rules by which users hide posts from themselves, in `state.db`.
///
/// The posts that each rule hides are worked out when the rule is added and when a post arrives, and stored in
/// `cache.db` (``MutedPosts``), so that lists do not search for words.
package final class Mutes: Sendable {
    /// The number of posts in one transaction, because other users wait for it.
    private static let postsAtOnce = 500
    /// The most rules of all users, because each is matched with every post that arrives. User ids are unlimited in
    /// user namespaces.
    static let maximumInAll = 10_000

    private let databases: Databases
    /// The rules that count for arriving posts, with their sources.
    private let current = Mutex(State())

    private struct State {
        /// nil until they are read.
        var rules: [MuteRule]?
        /// The sources with their tags.
        var sources: [(name: String, tags: [String])] = []
    }

    init(databases: Databases) { self.databases = databases }

    /// The rules of all users.
    var rules: [MuteRule] { current.withLock { $0.rules ?? [] } }

    /// Reads the rules again, for other sources or after the file was replaced. If the disk fails, the rules in memory
    /// stay.
    package func read(for sources: [(name: String, tags: [String])]) async {
        current.withLock { state in
            state = State(rules: state.rules?.map { $0.choosing(sources) }, sources: sources)
        }
        let read: @Sendable (Database) throws -> Void = { [self] database in
            let sql = "SELECT \(MuteRule.columns) FROM mutes ORDER BY number"
            let rules = try database.map(sql) { try MuteRule($0) }
            current.withLock { state in state.rules = rules.map { $0.choosing(state.sources) } }
        }
        // On the thread of writes, so that no change of a rule is lost.
        if (try? await databases.write(databases.state, read)) == nil {
            try? await databases.read(databases.state, read)
        }
    }

    /// Works out the posts of the rules that the cache does not know as they are, and forgets those of removed rules.
    package func workOut() async throws(StoreError) {
        guard current.withLock({ $0.rules != nil }) else { return }
        let known = try await databases.write(databases.cache) { [self] database in
            let known = try database.map("SELECT rule, uid, form FROM muted_rules") {
                (number: try $0[0] as Int64, uid: try $0[1] as Int64, form: try $0[2] as String)
            }
            let numbers = Set(rules.map(\.number))
            for rule in known where !numbers.contains(rule.number) {
                try Mutes.forget(rule.number, of: rule.uid, database)
            }
            // Numbers of posts are not used again.
            try database.execute(
                """
                DELETE FROM muted WHERE NOT EXISTS (
                    SELECT 1 FROM posts WHERE number >= chunk * \(MutedPosts.size)
                        AND number < (chunk + 1) * \(MutedPosts.size))
                """, [])
            return Dictionary(known.map { ($0.number, $0.form) }) { first, _ in first }
        }
        let unknown = rules.filter { known[$0.number] != $0.form }.map(\.number)
        for numbers in unknown.parts(of: MuteAdd.maximum) { try await workOut(Set(numbers)) }
    }

    /// Works out the posts of some rules, in several transactions.
    private func workOut(_ numbers: Set<Int64>) async throws(StoreError) {
        var (forms, last): ([String]?, Int64?) = (nil, 0)
        while let after = last {
            (forms, last) = try await databases.write(databases.cache) { [self, forms] database in
                let chosen = rules.filter { numbers.contains($0.number) }
                let current = chosen.map(\.form)
                // If a rule was removed meanwhile, or has other sources, everything begins again.
                return (current, try Mutes.workOut(chosen, after: forms == current ? after : 0, database))
            }
        }
    }

    /// - Returns: the number of the last post; nil at the end.
    private static func workOut(_ rules: [MuteRule], after last: Int64, _ database: Database) throws -> Int64? {
        if rules.isEmpty { return nil }
        let sql = """
            SELECT posts.number, source, text FROM posts CROSS JOIN post_texts ON post_texts.number = posts.number
            WHERE posts.number > ? ORDER BY posts.number LIMIT \(postsAtOnce)
            """
        var posts: [Int64: [(number: Int64, isHidden: Bool)]] = [:]
        var (end, count) = (last, 0)
        let rows = try database.rows(sql, [last])
        while try rows.next() {
            (end, count) = (try rows[0], count + 1)
            for rule in rules {
                let isHidden = try rule.hides(rows.bytes(2), of: rows[1])
                posts[rule.number, default: []].append((end, isHidden))
            }
        }
        for rule in rules { try MutedPosts.store(posts[rule.number] ?? [], rule.number, of: rule.uid, database) }
        if count == postsAtOnce { return end }
        for rule in rules {
            try database.execute(
                "REPLACE INTO muted_rules (rule, uid, form) VALUES (?, ?, ?)",
                [rule.number, Int64(rule.uid), rule.form])
        }
        for uid in Set(rules.map(\.uid)) { try MutedPosts.unite(uid, database) }
        return nil
    }

    private static func forget(_ rule: Int64, of uid: Int64, _ database: Database) throws {
        try database.execute("DELETE FROM muted_rules WHERE rule = ?", [rule])
        try database.execute("DELETE FROM muted WHERE uid = ? AND rule = ?", [uid, rule])
        try MutedPosts.unite(UInt32(clamping: uid), database)
    }

    // MARK: Requests

    /// Adds a rule, and returns when it holds. An equal rule stays the only one.
    ///
    /// - Throws: `-32004` above the limits, `-32005` if the disks accept no writes; then there is no
    ///   rule.
    package func add(_ rule: MuteRule, sources: [String]) async throws(ResponseError) -> MuteAdd.Result {
        let uid = rule.uid
        let (number, isNew) = try await databases.changeState { [self] database in
            let (number, isNew) = try rule.insert(database)
            var stored = rule
            stored.number = number
            database.afterCommit { [stored] in
                if isNew { self.current.withLock { $0.rules?.append(stored.choosing($0.sources)) } }
            }
            return (number, isNew)
        }
        do throws(StoreError) { try await workOut([number]) } catch {
            if isNew { _ = try? await remove(number, uid: uid) }
            throw .storage("The rule cannot be stored in the cache now.", hint: "See why: norrisctl status")
        }
        let matching = try await list(uid: uid, sources: sources).first { $0.number == number }?.matching
        return MuteAdd.Result(number: Int(number), matching: matching ?? 0)
    }

    /// The number of stored posts that a rule would hide.
    ///
    /// - Throws: `-32004` if this takes too long.
    package func count(_ rule: MuteRule, sources: [String]) async throws(ResponseError) -> Int {
        let rule = rule.choosing(current.withLock { $0.sources })
        return try await databases.read(databases.cache, within: databases.searchLimit) { database in
            let rows = try database.rows(
                """
                SELECT source, text FROM posts CROSS JOIN post_texts ON post_texts.number = posts.number
                WHERE source IN (\(databaseQuestionMarks(count: sources.count)))
                """, StatementArguments(sources))
            var count = 0
            while try rows.next() { if try rule.hides(rows.bytes(1), of: rows[0]) { count += 1 } }
            return count
        }
    }

    /// A user's rules in the order in which they were added, with the number of stored posts that each hides.
    package func list(uid: UInt32, sources: [String]) async throws(ResponseError) -> [MuteList.Rule] {
        let rules = try await databases.read(databases.state) { database in
            try database.map(
                "SELECT \(MuteRule.columns) FROM mutes WHERE uid = ? ORDER BY number", [Int64(uid)]
            ) { try MuteRule($0) }
        }
        return try await databases.read(databases.cache) { database in
            var stored = MutedPosts()
            let sql = "SELECT number FROM posts WHERE source IN (\(databaseQuestionMarks(count: sources.count)))"
            let numbers = try database.rows(sql, StatementArguments(sources))
            while try numbers.next() { stored.insert(try numbers[0]) }
            return try rules.map { rule in
                let matching = try MutedPosts(of: rule.uid, rule.number...rule.number, database).count(in: stored)
                return rule.listed(matching: matching)
            }
        }
    }

    /// Removes a rule of a user; its posts are shown again.
    ///
    /// - Returns: its query; nil if there was no such rule.
    package func remove(_ number: Int64, uid: UInt32) async throws(ResponseError) -> String? {
        let query: String? = try await databases.changeState { [self] database in
            let query: String? = try database.value(
                "DELETE FROM mutes WHERE number = ? AND uid = ? RETURNING query", [number, Int64(uid)])
            database.afterCommit {
                if query != nil { self.current.withLock { $0.rules?.removeAll { $0.number == number } } }
            }
            return query
        }
        guard query != nil else { return nil }
        do {
            try await databases.write(databases.cache) { try Mutes.forget(number, of: Int64(uid), $0) }
        } catch {
            throw .storage("The posts of the rule cannot be shown now.", hint: "They are shown after a restart.")
        }
        return query
    }
}

/// A rule that hides posts from a user.
package struct MuteRule: Sendable {
    /// 0 for a rule that is not stored.
    fileprivate(set) var number: Int64
    let uid: UInt32
    private let words: SearchWords
    private let source: String?, tag: String?
    /// Whether the rule hides the posts that do not match.
    private let except: Bool
    /// The names of its sources; nil for all.
    private var sources: Set<String>?

    /// - Throws: `-32602` for a query that is no search, and for an exception without a scope.
    package init(_ parameters: MuteAdd.Parameters, uid: UInt32) throws(ResponseError) {
        words = try SearchWords(parameters.query)
        (number, self.uid, except) = (0, uid, parameters.except)
        (source, tag) = (parameters.source, parameters.tag?.lowercased())
        if except, source == nil, tag == nil {
            throw .invalidParams(
                "except needs the source or the tag whose other posts the rule hides.", parameter: "except")
        }
    }

    static let columns = "number, uid, query, source, tag, is_exception"

    init(_ row: Rows) throws {
        guard let words = try? SearchWords(row[2] as String) else { throw row.damage("a rule has no words") }
        (number, uid, self.words) = (try row[0], UInt32(clamping: try row[1] as Int64), words)
        (source, tag, except) = (try row[3], try row[4], try row[5])
    }

    /// The rule with the sources of its scope; no sources if the source or tag does not exist.
    func choosing(_ all: [(name: String, tags: [String])]) -> MuteRule {
        guard source != nil || tag != nil else { return self }
        var rule = self
        let chosen = all.filter { source?.hasSameBytes(as: $0.name) ?? true }
        rule.sources = Set(chosen.filter { source in tag.map(source.tags.contains) ?? true }.map(\.name))
        return rule
    }

    /// Equal for rules that hide the same posts.
    var form: String { "\(except) \(sources?.sorted().joined(separator: " ") ?? "*")\n\(words.text)" }

    /// - Parameter text: in the form of ``SearchWords/storedText(_:)``.
    func hides(_ text: UnsafeRawBufferPointer, of source: @autoclosure () throws -> String) rethrows -> Bool {
        if let sources, try !sources.contains(source()) { return false }
        return words.matches(text) != except
    }

    /// Stores the rule, unless the user has an equal one.
    ///
    /// - Returns: the number of the rule, and whether it is new.
    /// - Throws: `-32004` above the limits.
    func insert(_ database: Database) throws -> (number: Int64, isNew: Bool) {
        let values: StatementArguments = [Int64(uid), words.text, source, tag, except]
        let sql = """
            SELECT number FROM mutes WHERE uid = ? AND query = ? AND source IS ? AND tag IS ? AND is_exception = ?
            """
        if let number: Int64 = try database.value(sql, values) { return (number, false) }
        let count: Int = try database.value("SELECT count(*) FROM mutes WHERE uid = ?", [Int64(uid)]) ?? 0
        guard count < MuteAdd.maximum else {
            throw ResponseError.busy(
                "You have \(MuteAdd.maximum) rules, the limit.", hint: "Remove one: norrisctl mute --remove N")
        }
        let all: Int = try database.value("SELECT count(*) FROM mutes", []) ?? 0
        guard all < Mutes.maximumInAll else {
            throw ResponseError.busy(
                "The users of this machine have \(Mutes.maximumInAll) rules, the limit.",
                hint: "Remove one of yours: norrisctl mute --remove N")
        }
        if try UserState.isFull(for: Int64(uid), database) { throw UserState.full }
        try database.execute(
            "INSERT INTO mutes (uid, query, source, tag, is_exception) VALUES (?, ?, ?, ?, ?)", values)
        return (database.lastInsertedNumber, true)
    }

    func listed(matching: Int) -> MuteList.Rule {
        MuteList.Rule(
            number: Int(number), query: words.text, source: source, tag: tag, except: except, matching: matching)
    }
}

/// A set of posts by their numbers: a bit for each post, in chunks.
struct MutedPosts: Sendable {
    /// The number of posts of a chunk.
    static let size: Int64 = 4_096
    /// The two further sets of a user: the union of the rules, and the posts that a rule hid on arrival.
    private static let (union, onArrival) = (Int64(0), Int64(-1))

    private var chunks: [Int64: [UInt8]] = [:]

    init() {}

    /// The posts that some rules hide; of one chunk if it is not nil.
    fileprivate init(
        of uid: UInt32, _ rules: ClosedRange<Int64>, chunk: Int64? = nil, _ database: Database
    ) throws {
        let rows = try database.rows(
            "SELECT chunk, bits FROM muted WHERE uid = ? AND rule BETWEEN ? AND ? AND chunk = ifnull(?, chunk)",
            [Int64(uid), rules.lowerBound, rules.upperBound, chunk])
        while try rows.next() {
            let (chunk, bits): (Int64, [UInt8]) = (try rows[0], try rows[1])
            guard bits.count == MutedPosts.size / 8 else { throw rows.damage("a chunk of posts has another size") }
            guard let old = chunks[chunk] else {
                chunks[chunk] = bits
                continue
            }
            chunks[chunk] = zip(old, bits).map(|)
        }
    }

    /// The posts that are hidden from a user.
    ///
    /// - Parameter arrivals: whether posts are included that a rule hid when they arrived.
    init(of user: ReadPosts, arrivals: Bool = false, _ database: Database) throws {
        self.init()
        let rules = (arrivals ? MutedPosts.onArrival : MutedPosts.union)...MutedPosts.union
        if let uid = user.uid { self = try MutedPosts(of: uid, rules, database) }
    }

    var isEmpty: Bool { chunks.isEmpty }
    var count: Int { chunks.values.reduce(0) { $0 + $1.reduce(0) { $0 + $1.nonzeroBitCount } } }

    func contains(_ number: Int64) -> Bool {
        guard let bits = chunks[number / MutedPosts.size] else { return false }
        let bit = Int(number % MutedPosts.size)
        return bits[bit / 8] & 1 << (bit % 8) != 0
    }

    /// The number of posts in both sets.
    func count(in other: MutedPosts) -> Int {
        chunks.reduce(0) { count, chunk in
            zip(chunk.value, other.chunks[chunk.key] ?? []).reduce(count) { $0 + ($1.0 & $1.1).nonzeroBitCount }
        }
    }

    mutating func insert(_ number: Int64) { set(number, true) }

    private mutating func set(_ number: Int64, _ isContained: Bool) {
        let bit = Int(number % MutedPosts.size)
        let mask: UInt8 = 1 << (bit % 8)
        let empty = [UInt8](repeating: 0, count: Int(MutedPosts.size / 8))
        if isContained {
            chunks[number / MutedPosts.size, default: empty][bit / 8] |= mask
        } else {
            chunks[number / MutedPosts.size]?[bit / 8] &= ~mask
        }
    }

    /// Stores whether a rule hides some posts.
    static func store(
        _ posts: [(number: Int64, isHidden: Bool)], _ rule: Int64, of uid: UInt32, _ database: Database
    ) throws {
        for (chunk, posts) in Dictionary(grouping: posts, by: { $0.number / size }) {
            let old = try MutedPosts(of: uid, rule...rule, chunk: chunk, database)
            var new = old
            for post in posts { new.set(post.number, post.isHidden) }
            if let bits = new.chunks[chunk], bits != old.chunks[chunk] { try insert(bits, chunk, rule, uid, database) }
        }
    }

    private static func insert(
        _ bits: [UInt8], _ chunk: Int64, _ rule: Int64, _ uid: UInt32, _ database: Database
    ) throws {
        try database.execute(
            "REPLACE INTO muted (uid, rule, chunk, bits) VALUES (?, ?, ?, ?)", [Int64(uid), rule, chunk, bits])
    }

    /// Stores the union of a user's rules.
    static func unite(_ uid: UInt32, _ database: Database) throws {
        let all = try MutedPosts(of: uid, 1...(1 << 53), database)
        try database.execute("DELETE FROM muted WHERE uid = ? AND rule = \(union)", [Int64(uid)])
        for (chunk, bits) in all.chunks { try insert(bits, chunk, union, uid, database) }
    }

    /// Stores which rules hide a post that has arrived or was edited.
    ///
    /// - Returns: the users from whom the post is hidden.
    static func store(
        _ number: Int64, _ text: String, of source: String, isNew: Bool, _ rules: [MuteRule], _ database: Database
    ) throws -> Set<UInt32> {
        var text = text
        var hidden: [UInt32: Bool] = [:]
        try text.withUTF8 { bytes in
            for rule in rules {
                let isHidden = rule.hides(UnsafeRawBufferPointer(bytes), of: source)
                hidden[rule.uid] = isHidden || hidden[rule.uid] ?? false
                if isHidden || !isNew { try store([(number, isHidden)], rule.number, of: rule.uid, database) }
            }
        }
        for (uid, isHidden) in hidden where isHidden || !isNew {
            try store([(number, isHidden)], union, of: uid, database)
            if isNew { try store([(number, true)], onArrival, of: uid, database) }
        }
        return Set(hidden.filter(\.value).keys)
    }
}
