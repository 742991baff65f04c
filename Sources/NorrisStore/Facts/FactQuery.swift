import CLinux
package import NorrisProtocol
import NorrisText

/// A search over the stored facts: every word must occur, in any order, ignoring case.
package struct FactQuery: Sendable, Hashable {
    private let search: SearchWords
    /// The fact must have one of these categories; empty for any.
    package let categories: [String]
    package let source: FactScope

    /// - Throws: `-32602` for a text that ``SearchWords`` refuses.
    package init(text: String, categories: [String] = [], source: FactScope = .all) throws(ResponseError) {
        search = try SearchWords(text)
        self.categories = Set(categories).sorted()
        self.source = source
    }

    /// The text as typed, for the upstream.
    package var text: String { search.text }
    var words: [String] { search.words }

    /// Whether a fact contains all words.
    package func matches(_ fact: Fact) -> Bool { search.match([fact.text]) }

    /// Distinguishes the query's cursors from the cursors of other lists.
    var list: [String] { ["facts", source.rawValue, "\(words.count)"] + words + categories }
}

extension FactQuery {
    /// Reads all texts, newest first, until the page is full and the matches are counted.
    ///
    /// - Parameters:
    ///   - key: the key of the cursors.
    ///   - step: called after each block of texts, which takes some tens of microseconds.
    /// - Throws: `-32602` for a cursor of another search.
    func page(
        cursor: String?, key: UInt64, limit: Int, _ database: Database, step: () -> Void = {}
    ) throws -> Page<Fact> {
        let after = try cursor.map { try SealedCursor($0, of: list, key: key).number } ?? .max
        guard let matcher = try FactMatcher(self, database) else { return Page(items: [], total: 0) }
        var counted = 0
        var found: [UInt32] = []
        let rows = try database.rows("SELECT texts FROM fact_texts ORDER BY last DESC")
        var matches: [UInt32] = []
        while counted <= countedMatches || found.count <= limit {
            matches.removeAll(keepingCapacity: true)
            guard try rows.next() else { break }
            try rows.withBytes(0) { block in
                try FactTexts.forEach(in: block) { entry in if matcher.matches(entry) { matches.append(entry.ordinal) }
                }
            }
            step()
            counted += matches.count
            found += matches.reversed().lazy.filter { Int64($0) < after }.prefix(limit + 1 - found.count)
        }
        var facts: [(ordinal: UInt32, fact: Fact)] = []
        for ordinal in found {
            if let fact = try FactTable.fact(ordinal: ordinal, database) { facts.append((ordinal, fact)) }
        }
        // As many as requested and as fit into a reply, but at least one.
        var bytes = 0
        let fitting = facts.prefix(limit).prefix { entry in
            bytes += entry.fact.text.utf8.count
            return bytes <= maximumPageBytes
        }
        let page = fitting.isEmpty ? facts.prefix(min(limit, 1)) : fitting
        let end = facts.count > page.count ? page.last.map { SealedCursor(number: Int64($0.ordinal)) } : nil
        return Page(
            items: page.map(\.fact), total: counted > countedMatches ? nil : counted,
            next: end?.sealed(for: list, key: key))
    }
}

/// Searches the entries of a block for the words of a query.
private struct FactMatcher {
    private let words: [[UInt8]]
    private let kinds: [FactKind]
    /// The numbers of the lists of which one must contain the fact; nil for any.
    private let lists: [UInt32]?

    /// - Returns: nil if no fact can match.
    init?(_ query: FactQuery, _ database: Database) throws {
        // The longest word is usually the rarest.
        words = query.words.map { Array($0.utf8) }.sorted { $0.count > $1.count }
        kinds = query.source.kinds(allowsExplicit: false)
        guard !query.categories.isEmpty else {
            lists = nil
            return
        }
        let marks = databaseQuestionMarks(count: query.categories.count)
        lists = try SequenceNumber.fetchAll(
            database, "SELECT number FROM fact_lists WHERE category IN (\(marks))",
            query.categories as StatementArguments
        ).map { UInt32(truncatingIfNeeded: $0.columnValue) }
        if lists?.isEmpty == true { return nil }
    }

    func matches(_ entry: FactTexts.Entry) -> Bool {
        guard kinds.contains(entry.kind) else { return false }
        if let lists, !entry.isOnAny(of: lists) { return false }
        return words.allSatisfy { word in
            word.withUnsafeBytes { memmem(entry.text.baseAddress, entry.text.count, $0.baseAddress, $0.count) != nil }
        }
    }
}
