import NorrisProtocol

/// A list of rows that is read page by page, in an order that no two rows share.
struct PageQuery: Sendable {
    /// The first two are the integer and the text of a row's cursor. With a filter the third is what it tests.
    let columns: String
    /// `table WHERE condition`.
    let matches: String
    let arguments: StatementArguments
    let order: String
    /// The condition on the rows after a cursor.
    let after: String
    /// The values of that condition.
    var place: @Sendable (SealedCursor) -> StatementArguments = { [$0.number] }
    /// Leaves rows out for what SQLite does not know.
    var filter: Filter?

    struct Filter: Sendable {
        let column: String
        let shows: @Sendable (Int64) -> Bool
    }

    struct Rows<Item> {
        var items: [Item] = []
        /// Exact up to ``countedMatches``; nil above.
        var total: Int?
        /// The cursor of the last row; nil without rows.
        var end: SealedCursor?
        var hasMore = false
    }

    /// The rows after a cursor: as many as are wanted and a reply can hold, but one at least.
    ///
    /// - Parameter read: the item, nil where it cannot be read, which costs its page one item; and its size in bytes.
    func rows<Item>(
        after cursor: SealedCursor?, limit: Int, _ database: Database, read: (Row) throws -> (item: Item?, size: Int)
    ) throws -> Rows<Item> {
        var page = Rows<Item>(total: try total(database))
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(columns) FROM \(matches) \(cursor == nil ? "" : "AND \(after)") ORDER BY \(order) LIMIT ?
                """,
            arguments: arguments + (cursor.map(place) ?? []) + [filter == nil ? limit + 1 : -1]
        )
        var (count, bytes) = (0, 0)
        while let row = try rows.next() {
            if let filter, !filter.shows(row[2]) { continue }
            page.hasMore = count == limit
            if page.hasMore { break }
            let (item, size) = try read(row)
            bytes += size
            page.hasMore = count > 0 && bytes > maximumPageBytes
            if page.hasMore { break }
            count += 1
            page.end = SealedCursor(number: row[0], text: row[1])
            if let item { page.items.append(item) }
        }
        return page
    }

    /// A page for a reply.
    ///
    /// - Parameter list: what tells its cursors from those of other lists with the same key.
    /// - Throws: `-32602` for a cursor that is not of this list.
    func page<Item>(
        of list: [String], key: UInt64, cursor: String?, limit: Int, _ database: Database,
        read: (Row) throws -> (item: Item?, size: Int)
    ) throws -> Page<Item> {
        let after = try cursor.map { try SealedCursor($0, of: list, key: key) }
        let rows = try rows(after: after, limit: limit, database, read: read)
        return Page(
            items: rows.items, total: rows.total,
            next: rows.hasMore ? rows.end?.sealed(for: list, key: key) : nil
        )
    }

    private func total(_ database: Database) throws -> Int? {
        var total = 0
        if let filter {
            let values = try Int64.fetchCursor(
                database, sql: "SELECT \(filter.column) FROM \(matches)", arguments: arguments
            )
            while total <= countedMatches, let value = try values.next() {
                if filter.shows(value) { total += 1 }
            }
        } else {
            total = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM (SELECT 1 FROM \(matches) LIMIT \(countedMatches + 1))",
                arguments: arguments
            ) ?? 0
        }
        return total > countedMatches ? nil : total
    }
}

/// In bytes: what the contents on one page may come to. The server refuses to send a reply of more than twice that.
let maximumPageBytes = 2 << 20

extension Array {
    /// The items of a page: the first ones, as many as are wanted and no more than a reply can hold, but one at least.
    ///
    /// - Parameter size: of an item's content, in bytes.
    func page(limit: Int, size: (Element) -> Int) -> ArraySlice<Element> {
        var bytes = 0
        let fitting = prefix(limit).prefix { item in
            bytes += size(item)
            return bytes <= maximumPageBytes
        }
        return fitting.isEmpty ? prefix(Swift.min(limit, 1)) : fitting
    }
}
