import GRDB
package import NorrisProtocol
import NorrisText

/// A search over the stored facts: what it looks for, and how its pages are told from those of another.
package struct FactQuery: Sendable, Hashable {
    /// Looked for as a whole, without regard to case; no character is special.
    package let text: String
    /// Any of these; empty for all.
    package let categories: [String]

    package init(text: String, categories: [String] = []) {
        self.text = text
        self.categories = Set(categories).sorted()
    }

    /// Whether the text is part of a fact's.
    package func matches(_ fact: Fact) -> Bool {
        let (text, part) = (Array(caseFolded(fact.text).utf8), Array(caseFolded(text).utf8))
        guard part.count <= text.count else { return false }
        return (0...text.count - part.count).contains { text[$0...].starts(with: part) }
    }

    /// What tells its cursors from those of other lists.
    var list: [String] { ["facts", caseFolded(text)] + categories }
}

/// One page of a search, with the cursor's number in place of its text.
struct FactPage: Sendable {
    var facts: [Fact]
    /// Up to ``countedMatches``; nil above.
    var total: Int?
    var next: Int64?
}

extension FactQuery {
    /// From this many code points on a text is looked up by its trigrams; a shorter one has none.
    private static let shortestIndexed = 3
    /// A longer one is looked for in the text itself: its hundreds of trigrams would cost more than they save.
    private static let longestIndexed = 120

    func page(after cursor: Int64?, limit: Int, _ database: Database) throws -> FactPage {
        let folded = caseFolded(text)
        let isIndexed = (FactQuery.shortestIndexed...FactQuery.longestIndexed).contains(folded.unicodeScalars.count)
        let source = isIndexed ? "facts_text JOIN facts ON facts.number = facts_text.rowid" : "facts"
        let number = isIndexed ? "facts_text.rowid" : "facts.number"
        var conditions = [isIndexed ? "facts_text MATCH ?" : "instr(facts.folded, ?) > 0", "facts.explicit = 0"]
        // In a phrase of FTS5 only the quotation mark is special, and it is written twice.
        var arguments: StatementArguments = [isIndexed ? "\"\(folded.doublingQuotes)\"" : folded]
        if !categories.isEmpty {
            let marks = databaseQuestionMarks(count: categories.count)
            conditions.append(
                """
                EXISTS (SELECT 1 FROM fact_categories
                        WHERE fact_categories.fact = facts.number AND fact_categories.category IN (\(marks)))
                """
            )
            arguments += StatementArguments(categories)
        }
        let matches = conditions.joined(separator: " AND ")
        let counted = try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM (SELECT 1 FROM \(source) WHERE \(matches) LIMIT \(countedMatches + 1))",
            arguments: arguments
        )
        let total = counted.flatMap { $0 > countedMatches ? nil : $0 }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT facts.number, \(FactRecord.columns) FROM \(source)
                WHERE \(matches) AND \(number) < ? ORDER BY \(number) DESC LIMIT ?
                """,
            arguments: arguments + [cursor ?? .max, limit + 1]
        )
        let page = rows.page(limit: limit) { ($0["text"] as String).utf8.count }
        return FactPage(
            facts: try page.map(FactRecord.fact),
            total: total,
            next: rows.count > page.count ? page.last.map { $0["number"] } : nil
        )
    }
}

extension String {
    /// The text with every quotation mark twice.
    fileprivate var doublingQuotes: String {
        var doubled = ""
        for scalar in unicodeScalars {
            doubled.unicodeScalars.append(scalar)
            if scalar == "\"" { doubled.unicodeScalars.append(scalar) }
        }
        return doubled
    }
}
