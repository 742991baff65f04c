import Testing

@testable import NorrisStore

/// Each message names the faulty file or folder and a remedy.
struct StoreErrorTests {
    @Test(
        arguments: [
            (.locked(pid: 7), "the norrisd with process id 7 uses this folder; stop it, or give another --state-dir"),
            (.locked(pid: nil), "another norrisd uses this folder; stop it, or give another --state-dir"),
            (
                .newerSchema(found: 3, known: 1, alternative: "give another folder"),
                "written by a newer norrisd (schema 3, this one knows 1); it was left untouched: "
                    + "install that version again, or give another folder"
            ),
            (
                .failedMigration(from: 1, to: 2, "table more already exists"),
                "the update from schema 1 to 2 failed (table more already exists); the file is unchanged: "
                    + "install the previous version again (norrisd(8), UPGRADES)"
            ),
            (.foreign, "is a database of another program; it was left untouched: move it away, or give another folder"),
            (
                .notWritable("No space left on device"),
                "cannot be written (No space left on device); check the folder's owner and permissions, and the disk's space"
            ),
            (.failed("no space"), "could not be changed (no space); check the disk, its space, and who owns the file"),
            (.cancelled, "the change was cancelled, and nothing was written; try again"),
            (.contentGone, "the content was removed while it was stored; it is fetched again"),
        ] as [(StoreError.Reason, String)])
    func textSaysWhatToDo(reason: StoreError.Reason, text: String) {
        #expect(StoreError(path: "/x", reason).description == "/x: " + text)
    }
}

struct DatabaseFailureTests {
    private let error = DatabaseError(10, message: "disk I/O error", sql: "SELECT 1")

    @Test func theStatementIsLeftOut() {
        #expect(error.summary(path: "/none/state.db") == "disk I/O error (SQLite error 10)")
    }

    /// proc(5) reports no free space.
    @Test func aFullDiskIsNamed() {
        #expect(error.summary(path: "/proc/version") == "disk I/O error (SQLite error 10): the disk is full")
        let full = DatabaseError(13, message: "database or disk is full")
        #expect(full.summary(path: "/proc/version") == "database or disk is full (SQLite error 13)")
    }
}
