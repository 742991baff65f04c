import NorrisProtocol

/// A list of rows that is read page by page, in a strict order.
struct PageQuery: Sendable {
    /// The first column is the integer of a row's cursor.
    let columns: String
    /// `table WHERE condition`.
    let matches: String
    let arguments: StatementArguments
    let order: String
    /// The condition that selects the rows after a cursor.
    let after: String
    /// The text of a row's cursor.
    var cursorText: @Sendable (Rows) throws -> String = { try $0[1] }
    /// The values of the condition `after`.
    var cursorValues: @Sendable (SealedCursor) -> StatementArguments = { [$0.number] }
    /// Whether rows are excluded by a test outside of SQLite.
    var isFiltered = false
    /// Whether more rows match than are counted.
    var isLarge = false
    /// The cursor at the end of a list that grows there, which then always has a next page, and no total.
    var end: SealedCursor?

    /// A page for a reply: as many rows as requested and as fit into a reply, but at least one.
    ///
    /// - Parameters:
    ///   - list: distinguishes its cursors from the cursors of other lists with the same key.
    ///   - shows: the test of ``isFiltered``, called with rows of all columns.
    ///   - read: returns the item and its size in bytes.
    /// - Throws: `-32602` for a cursor of another list.
    func page<Item: WireValue>(
        of list: [String], key: UInt64, cursor: String?, limit: Int, _ database: Database,
        where shows: (Rows) throws -> Bool = { _ in true }, read: (Rows) throws -> (item: Item, size: Int)
    ) throws -> Page<Item> {
        let start = try cursor.map { try SealedCursor($0, of: list, key: key) }
        var page = Page<Item>(items: [])
        // A test may read long texts, so the first page is counted with the same rows.
        let hasTotal = !isLarge && end == nil
        let isCounting = isFiltered && start == nil && hasTotal
        if hasTotal, !isCounting { page.total = try total(database, where: shows) }
        let rows = try database.rows(
            "SELECT \(columns) FROM \(matches) \(start == nil ? "" : "AND \(after)") ORDER BY \(order) LIMIT ?",
            arguments + (start.map(cursorValues) ?? []) + [isFiltered ? Int64(-1) : limit + 1])
        var (last, hasMore, bytes, matches) = (SealedCursor?.none, false, 0, 0)
        while !hasMore || isCounting && matches <= countedMatches, try rows.next() {
            guard try shows(rows) else { continue }
            matches += 1
            if hasMore { continue }
            hasMore = page.items.count == limit
            if hasMore { continue }
            let (item, size) = try read(rows)
            bytes += size
            hasMore = !page.items.isEmpty && bytes > maximumPageBytes
            if hasMore { continue }
            page.items.append(item)
            last = SealedCursor(number: try rows[0], text: try cursorText(rows))
        }
        if isCounting, matches <= countedMatches { page.total = matches }
        page.next = (hasMore ? last : end)?.sealed(for: list, key: key)
        return page
    }

    private func total(_ database: Database, where shows: (Rows) throws -> Bool) throws -> Int? {
        var total = 0
        if isFiltered {
            let rows = try database.rows("SELECT \(columns) FROM \(matches)", arguments)
            while total <= countedMatches, try rows.next() { if try shows(rows) { total += 1 } }
        } else {
            let sql = "SELECT count(*) FROM (SELECT 1 FROM \(matches) LIMIT \(countedMatches + 1))"
            total = try database.value(sql, arguments) ?? 0
        }
        return total > countedMatches ? nil : total
    }
}

extension Rows {
    /// A stored value in wire form.
    ///
    /// - Throws: damage for anything that norrisd did not store, such as a control character.
    func content<Value: JSONDecodable>(_ column: Int) throws -> Value {
        let bytes = try bytes(column)
        guard JSONWriter.isPossibleOutput(bytes), let value = try? Value(parsing: bytes) else {
            throw damage("column \(column) contains no \(Value.self)")
        }
        return value
    }

    /// ``content(_:)`` of a column that may be NULL.
    func optionalContent<Value: JSONDecodable>(_ column: Int) throws -> Value? {
        try bytes(column).isEmpty ? nil : content(column)
    }
}

/// The maximum content of a page, in bytes. The server refuses replies of more than twice that size.
let maximumPageBytes = 2 << 20

/// The end of a page, as a text that only this daemon can create.
struct SealedCursor: Equatable {
    /// The first sort key of the list.
    let number: Int64
    /// The second sort key, which distinguishes items with the same number.
    let text: String

    init(number: Int64, text: String = "") {
        self.number = number
        self.text = text
    }

    /// Reads the result of ``sealed(for:key:)`` for the same list and the same key.
    ///
    /// - Throws: `-32602` for any other text.
    init(_ sealed: String, of list: [String], key: UInt64) throws(ResponseError) {
        // Splits bytes, because a combining mark after the dot would form one character with it.
        let parts = sealed.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
            .map(Substring.init)
        guard parts.count == 3, let number = Int64(parts[0], radix: 36) else { throw SealedCursor.refusal }
        self.init(number: number, text: String(parts[2]))
        guard self.sealed(for: list, key: key).hasSameBytes(as: sealed) else { throw SealedCursor.refusal }
    }

    /// - Parameter list: texts that distinguish the list from all others with this key, in a fixed order.
    func sealed(for list: [String], key: UInt64) -> String {
        let number = String(number, radix: 36)
        let tag = String(SipHash.hash(ofTexts: [number, text] + list, key: key), radix: 36)
        return "\(number).\(tag).\(text)"
    }

    private static let refusal = ResponseError.invalidParams(
        "The cursor belongs to another list.", parameter: "cursor", hint: "Start again without a cursor.")
}
