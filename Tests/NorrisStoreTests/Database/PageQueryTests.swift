import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct PageQueryTests {
    private let database: Database

    init() throws {
        database = try Database(path: ":memory:", .write)
        try database.execute("CREATE TABLE items (at INTEGER, id TEXT, size INTEGER) STRICT")
    }

    private func insert(_ rows: [(at: Int64, id: String, size: Int)]) throws {
        for row in rows { try database.execute("INSERT INTO items VALUES (?, ?, ?)", [row.at, row.id, row.size]) }
    }

    private func query(isFiltered: Bool = false) -> PageQuery {
        PageQuery(
            columns: "at, id, size", matches: "items WHERE size >= ?", arguments: [0], order: "at DESC, id",
            after: "at <= ? AND (at < ? OR id > ?)", cursorValues: { [$0.number, $0.number, $0.text] },
            isFiltered: isFiltered)
    }

    private func page(
        _ query: PageQuery, cursor: String? = nil, limit: Int, where shows: (Int) -> Bool = { _ in true }
    ) throws -> Page<String> {
        try query.page(
            of: ["items"], key: 7, cursor: cursor, limit: limit, database, where: { shows(try $0[2]) }
        ) { row in (try row[1], try row[2]) }
    }

    private func pages(
        _ query: PageQuery, limit: Int, where shows: (Int) -> Bool = { _ in true }
    ) throws -> [[String]] {
        var pages: [[String]] = []
        var cursor: String?
        repeat {
            let page = try page(query, cursor: cursor, limit: limit, where: shows)
            pages.append(page.items)
            cursor = page.next
        } while cursor != nil && pages.count < 99
        return pages
    }

    @Test("Any rows in pages of any size", arguments: 1...8) func model(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let rows = (0..<Int.random(in: 0...30, using: &generator)).map { number in
            let at = Int64.random(in: -2...2, using: &generator)
            return (at: at, id: "\(number)", size: Int.random(in: -1...3, using: &generator))
        }
        try insert(rows)
        let ordered = rows.filter { $0.size >= 0 }.sorted { ($1.at, $0.id) < ($0.at, $1.id) }
        for limit in 1...31 {
            #expect(try pages(query(), limit: limit).flatMap { $0 } == ordered.map(\.id))
            let odd = ordered.filter { !$0.size.isMultiple(of: 2) }.map(\.id)
            let isOdd = { (size: Int) in !size.isMultiple(of: 2) }
            let filtered = query(isFiltered: true)
            #expect(try pages(filtered, limit: limit, where: isOdd).flatMap { $0 } == odd)
            let first = try page(filtered, limit: limit, where: isOdd)
            #expect(first.total == odd.count)
            if let next = first.next {
                #expect(try page(filtered, cursor: next, limit: limit, where: isOdd).total == odd.count)
            }
            let page = try page(query(), limit: limit)
            #expect(page.total == ordered.count && page.items.count == min(limit, ordered.count))
            #expect((page.next == nil) == (ordered.count <= limit))
        }
    }

    @Test func aPageHoldsTwoMebibytesOrOneItem() throws {
        let mebibyte = 1 << 20
        try insert([(5, "a", mebibyte), (4, "b", mebibyte), (3, "c", 1), (2, "d", 3 * mebibyte), (1, "e", 0)])
        #expect(try pages(query(), limit: 9) == [["a", "b"], ["c"], ["d"], ["e"]])
    }

    @Test(arguments: [1_000, 1_001], [false, true])
    func aTotalIsExactUpToAThousand(count: Int, isFiltered: Bool) throws {
        try insert((0..<count).map { (1, "\($0)", 0) })
        let page = try page(query(isFiltered: isFiltered), limit: 1)
        #expect(page.total == (count > 1_000 ? nil : count))
    }

    @Test func aForgedCursorOrOneOfAnotherListIsRefused() throws {
        try insert([(1, "a", 0), (1, "b", 0)])
        let cursor = try #require(try page(query(), limit: 1).next)
        let parts = cursor.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        let forged = [
            "", "..", "zzz", "0.\(parts[1]).\(parts[2])", "\(parts[0]).2.\(parts[2])", "\(parts[0]).\(parts[1])",
            "+\(cursor)", cursor + "0", " " + cursor, "\u{0}", String(repeating: "z", count: 10_000), "💥.💥.💥",
        ]
        for text in forged {
            #expect(throws: ResponseError.foreignCursor) { try page(query(), cursor: text, limit: 1) }
        }
        #expect(throws: ResponseError.foreignCursor) {
            try query().page(of: ["others"], key: 7, cursor: cursor, limit: 1, database) { _ in ("", 0) }
        }
    }
}
