import Testing

@testable import NorrisStore

/// What a status says of a database that fails.
struct DatabaseFailureTests {
    private let error = DatabaseError(10, message: "disk I/O error", sql: "SELECT 1")

    @Test func theStatementIsLeftOut() {
        #expect(DatabaseError.summary(of: error, path: nil) == "disk I/O error (SQLite error 10)")
        #expect(DatabaseError.summary(of: error, path: "/none/state.db") == "disk I/O error (SQLite error 10)")
    }

    /// proc(5) says that it has no room.
    @Test func aFullDiskIsNamed() {
        #expect(
            DatabaseError.summary(of: error, path: "/proc/version")
                == "disk I/O error (SQLite error 10): the disk is full"
        )
        let full = DatabaseError(13, message: "database or disk is full")
        let said = DatabaseError.summary(of: full, path: "/proc/version")
        #expect(said == "database or disk is full (SQLite error 13)")
    }
}
