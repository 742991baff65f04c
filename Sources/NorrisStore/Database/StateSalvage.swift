import CSQLite
import Logging
import NorrisText

/// Copies the readable rows of a damaged `state.db` into a new one, because favorites cannot be fetched again.
///
/// A table is read in the order of its keys. If a read meets damage, the rest of its range of keys is divided, until a
/// range is readable or contains one key. So a damaged page loses its own rows only.
struct StateSalvage: Equatable {
    /// The number of copied favorites.
    private(set) var favorites = 0
    /// The number of favorites in the damaged file; nil if unknown.
    private(set) var known: Int?

    /// The tables of content; totals are counted anew. Their keys are integers.
    private static let tables = [
        (name: "favorites", key: "number"), ("facts_of_the_day", "number"), ("recent_searches", "number"),
        ("quota_calls", "rowid"), ("read_marks", "uid"), ("read_watermarks", "uid"), ("shuffles", "uid"),
        ("served", "uid"),
    ]
    /// The limit for damage that leaves nothing readable. A failed statement takes about 20 µs.
    private static let maximumFailures = 20_000

    /// The end of a sentence about the damaged file, such as `; 11 of 12 favorites saved`; empty if the file had no
    /// favorites.
    var summary: String {
        if favorites == 0 { return known == 0 ? "" : "; none of its favorites can be read" }
        guard let known, known > favorites else { return "; its \(countText(favorites, "favorite")) saved" }
        return "; \(favorites) of \(countText(known, "favorite")) saved"
    }

    /// Copies all tables and logs what was copied.
    ///
    /// - Parameter uri: the damaged file, for SQLite.
    static func run(from uri: String, into database: Database, _ logger: Logger) -> StateSalvage {
        var salvage = StateSalvage()
        do {
            // Not attached, because an INSERT from a damaged table also spoils the transaction.
            let damaged = try Database(path: uri, .read)
            salvage.known = try? Int.fetchOne(
                damaged, "SELECT items FROM favorite_totals WHERE uid = \(FavoriteTotals.all)")
            for (name, key) in tables {
                var copy = TableCopy(name: name, key: key)
                do { try database.write { try copy.run(from: damaged, into: $0) } } catch {
                    // A failed transaction copies nothing.
                    (copy.rows, copy.error) = (0, "\(error)")
                }
                if name == "favorites" { salvage.favorites = copy.rows }
                copy.log(logger)
            }
        } catch {
            logger.error("state.not-salvaged", metadata: ["error": "\(error)"])
        }
        return salvage
    }

    private struct TableCopy {
        let name: String
        let key: String
        var rows = 0
        /// The number of keys whose rows are not readable; some of them may have had no row.
        private var unreadable = 0
        private var failures = 0
        /// The reason why the rest of the table was given up.
        var error: String?

        init(name: String, key: String) { (self.name, self.key) = (name, key) }

        mutating func run(from damaged: Database, into database: Database) throws {
            let names = "SELECT name FROM pragma_table_info('\(name)')"
            let known = try String.fetchAll(damaged, names)
            let columns = try String.fetchAll(database, names).filter(known.contains)
            if columns.isEmpty { return }
            // The row as it is written in SQL.
            let literals = columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
            let select = "SELECT \(key), \(literals) FROM \(name) WHERE \(key) BETWEEN ? AND ? ORDER BY \(key)"
            let beginning = "INSERT OR IGNORE INTO \(name) (\(columns.joined(separator: ", "))) VALUES "
            // Neighboring rows are in one page, so the ranges are copied in their order.
            var ranges = [(low: end("min", damaged) ?? -1, high: end("max", damaged) ?? Int64(UInt32.max))]
            while let (low, high) = ranges.popLast() {
                var reached = low
                do {
                    let found = try damaged.rows(select, [low, high])
                    while try found.next() {
                        reached = (found[0] as OpaqueInteger).columnValue
                        rows += try insert(beginning + "(\(found[1] as String))", database)
                    }
                } catch  where DatabaseError.isCorruption(error) {
                    failures += 1
                    if failures > StateSalvage.maximumFailures {
                        self.error = "\(error)"
                        return
                    }
                    // The rows before the damage are copied, and a row that is copied again is ignored.
                    if reached >= high {
                        unreadable += 1
                    } else {
                        let middle = reached + (high - reached) / 2
                        ranges += [(middle + 1, high), (reached, middle)]
                    }
                }
            }
        }

        /// Returns the number of inserted rows, 0 for a row that the table already has or that is not valid.
        private func insert(_ sql: String, _ database: Database) throws -> Int {
            do {
                try database.execute(sql)
                return database.changesCount
            } catch let error as DatabaseError where error.resultCode == SQLITE_CONSTRAINT {
                return 0
            }
        }

        /// The first or the last key; nil if it is not readable, or no key that norrisd stores.
        private func end(_ function: String, _ damaged: Database) -> Int64? {
            let end = try? OpaqueInteger.fetchOne(damaged, "SELECT \(function)(\(key)) FROM \(name)")
            return end.flatMap { SequenceNumber.columnRange.contains($0.columnValue) ? $0.columnValue : nil }
        }

        func log(_ logger: Logger) {
            var metadata: Logger.Metadata = ["table": "\(name)", "rows": "\(rows)", "unreadable": "\(unreadable)"]
            if let error { metadata["error"] = "\(error)" }
            logger.error("state.salvaged", metadata: metadata)
        }
    }
}
