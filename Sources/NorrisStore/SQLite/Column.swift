import CSQLite
import NorrisProtocol

/// A value that can be bound to a statement.
protocol DatabaseValue: Sendable {
    /// - Returns: SQLite's result code; `SQLITE_RANGE` for a value that could not be read back.
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32
}

/// A value of a column. The schema has no REAL (https://sqlite.org/datatype3.html).
///
/// `Int64` does not conform, because an integer is read as a type with a range.
protocol ColumnValue: DatabaseValue {
    /// nil for a value of another type or out of range.
    static func read(_ row: Rows, _ column: Int) -> Self?
    /// A placeholder for a damaged value; the transaction fails at the next row at the latest.
    static var placeholder: Self { get }
}

/// An integer of a column with its range. A value out of range is neither stored nor read.
protocol ColumnInteger: ColumnValue {
    static var columnRange: ClosedRange<Int64> { get }
    var columnValue: Int64 { get }
    /// - Parameter columnValue: in ``columnRange``.
    init(columnValue: Int64)
}

extension ColumnInteger {
    static var placeholder: Self { Self(columnValue: columnRange.contains(0) ? 0 : columnRange.lowerBound) }

    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        Self.columnRange.contains(columnValue) ? columnValue.bind(to: statement, number) : SQLITE_RANGE
    }
}

extension Int64: DatabaseValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { sqlite3_bind_int64(statement, number, self) }
}

/// A count, a size, an offset or a position.
extension Int: ColumnInteger {
    static let columnRange: ClosedRange<Int64> = 0...Int64(UInt32.max)
    var columnValue: Int64 { Int64(self) }
    init(columnValue: Int64) { self = Int(truncatingIfNeeded: columnValue) }
}

extension Bool: ColumnInteger {
    static let columnRange: ClosedRange<Int64> = 0...1
    var columnValue: Int64 { self ? 1 : 0 }
    init(columnValue: Int64) { self = columnValue == 1 }
}

/// The times that RFC 3339 can represent, with a day for the offset at both ends.
extension Timestamp: ColumnInteger {
    static let columnRange: ClosedRange<Int64> = -62_167_305_600...253_402_387_200
    var columnValue: Int64 { seconds }
    init(columnValue: Int64) { self.init(seconds: columnValue) }
}

/// A number that increases with each new row, or with each use.
struct SequenceNumber: ColumnInteger, Hashable, Comparable {
    /// Far below `Int64.max`, so that a sum of two numbers never overflows.
    static let columnRange: ClosedRange<Int64> = 0...1 << 53
    private(set) var columnValue: Int64
    init(columnValue: Int64 = 0) { self.columnValue = columnValue }
    static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left.columnValue < right.columnValue }
    /// Stops at the end of the range, which only a damaged number approaches.
    func advanced(by count: Int) -> SequenceNumber {
        SequenceNumber(columnValue: min(columnValue + Int64(count), SequenceNumber.columnRange.upperBound))
    }
}

/// An integer that is only compared and bound again, such as the first integer of a cursor.
struct OpaqueInteger: ColumnInteger, Hashable {
    static let columnRange: ClosedRange<Int64> = .min ... .max
    let columnValue: Int64
    init(columnValue: Int64) { self.columnValue = columnValue }
}

/// A user id; -1 for the daemon itself.
struct UserID: ColumnInteger, Hashable {
    static let columnRange: ClosedRange<Int64> = -1...Int64(UInt32.max)
    let columnValue: Int64
    init(columnValue: Int64) { self.columnValue = columnValue }
}

extension String: ColumnValue {
    static var placeholder: String { "" }

    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        withCString { norris_sqlite_bind_text(statement, number, $0, UInt64(utf8.count)) }
    }
    static func read(_ row: Rows, _ column: Int) -> String? {
        row.type(column) == SQLITE_TEXT ? row.withBytes(column) { String(decoding: $0, as: UTF8.self) } : nil
    }
}

extension [UInt8]: ColumnValue, DatabaseValue {
    static var placeholder: [UInt8] { [] }

    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        // A nil address would bind NULL.
        if isEmpty { return sqlite3_bind_zeroblob(statement, number, 0) }
        return norris_sqlite_bind_blob(statement, number, self, UInt64(count))
    }
    static func read(_ row: Rows, _ column: Int) -> [UInt8]? {
        row.type(column) == SQLITE_BLOB ? row.withBytes(column) { Array($0) } : nil
    }
}

/// A text that is stored with a checksum, because a wrong byte in it would be shown to users.
struct CheckedText: ColumnValue, Equatable {
    let text: String
    private let stored: String

    init(_ text: String) {
        self.text = text
        stored = text + "#" + String(SipHash.hash(text), radix: 36)
    }

    /// - Returns: nil if a byte of the text or of the checksum has changed.
    init?(stored: String) {
        guard let end = stored.utf8.lastIndex(of: UInt8(ascii: "#")) else { return nil }
        self.init(String(stored[..<end]))
        guard self.stored.hasSameBytes(as: stored) else { return nil }
    }

    static var placeholder: CheckedText { CheckedText("") }

    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { stored.bind(to: statement, number) }
    static func read(_ row: Rows, _ column: Int) -> CheckedText? {
        String.read(row, column).flatMap { CheckedText(stored: $0) }
    }
}

extension ColumnValue {
    /// The first column of all rows.
    static func fetchAll(_ database: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> [Self] {
        try database.map(sql, arguments) { $0[0] }
    }

    /// The first column of the first row; nil without a row.
    static func fetchOne(_ database: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> Self? {
        try database.first(sql, arguments) { $0[0] }
    }
}
