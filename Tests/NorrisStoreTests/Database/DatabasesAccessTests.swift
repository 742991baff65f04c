import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Failed reads and writes: the database contents, the log and the thrown error, on this and on another thread.
struct DatabasesAccessTests {
    private let databases: Databases
    private let fixture = StoreFixture()
    private let recorder = LogRecorder()

    init() throws {
        databases = try Databases(
            cacheFolder: fixture.cacheFolder, stateFolder: fixture.stateFolder, logger: recorder.logger)
    }

    private struct Failure: Error {}
    private static let contents: [Databases.Content] = [.posts, .state]

    private func fail(_ content: Databases.Content) {
        let error = #expect(throws: StoreError.self) { try databases.write(content) { _ in throw Failure() } }
        #expect(error == StoreError(path: databases.opened(content).path ?? "", .failed("Failure()")))
    }

    private func insert(_ database: Database) throws {
        try database.execute("CREATE TABLE IF NOT EXISTS kept (x); INSERT INTO kept VALUES (1)")
    }

    /// The synchronous functions. In a task, the compiler would select the asynchronous functions.
    private func run(_ content: Databases.Content, _ body: (Database) throws -> Void) throws {
        try databases.write(content, body)
    }

    private func read<Value>(_ content: Databases.Content, _ body: (Database) throws -> Value) throws -> Value {
        try databases.read(content, body)
    }

    @Test(arguments: contents)
    func aFailureIsNotedUntilAWriteChangesSomething(content: Databases.Content) async throws {
        fail(content)
        #expect(databases.faults.count == 1)
        try run(content) { _ in }
        try await databases.write(content) { _ in }
        #expect(databases.faults.count == 1)
        try run(content, insert)
        #expect(databases.faults == [])
        fail(content)
        try await databases.write(.gifs) { [self] in try insert($0) }
        #expect(databases.faults.count == 1)
        try await databases.write(content) { [self] in try insert($0) }
        #expect(databases.faults == [])
    }

    @Test func aResponseThatTheBodyThrowsUndoesTheWriteAndIsNoFault() async throws {
        try run(.state, insert)
        let full = ResponseError.busy("Full.")
        await #expect(throws: full) {
            try await databases.writeState {
                try insert($0)
                throw full
            }
        }
        #expect(throws: full) { try read(.state) { _ in throw full } }
        await #expect(throws: full) { try await databases.read(.state) { _ in throw full } }
        #expect(try read(.state) { try Int.fetchOne($0, "SELECT count(*) FROM kept") } == 1)
        #expect(databases.faults == [] && recorder.lines == [])
    }

    @Test(arguments: contents) func aFailureBecomesAResponse(content: Databases.Content) async throws {
        let name = content == .state ? "state" : "cache"
        let unreadable = ResponseError.storage("The \(name) cannot be read now.", hint: "The daemon's log says why.")
        #expect(throws: unreadable) { try read(content) { _ in throw Failure() } }
        await #expect(throws: unreadable) { try await databases.read(content) { _ in throw Failure() } }
        #expect(recorder.lines == ["error database.unreadable", "error database.unreadable"])
        #expect(databases.faults == [])
        let unwritable = ResponseError.storage(
            "Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
        await #expect(throws: unwritable) { try await databases.writeState { _ in throw Failure() } }
        #expect(databases.faults.count == 1)
    }

    @Test(arguments: contents) func aCancelledTaskIsNoFault(content: Databases.Content) async throws {
        let (written, read) = await withTaskGroup(of: (StoreError?, ResponseError?).self) { [databases] tasks in
            tasks.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                var errors: (StoreError?, ResponseError?)
                do throws(StoreError) {
                    try await databases.write(content) { _ in }
                } catch {
                    errors.0 = error
                }
                do throws(ResponseError) {
                    try await databases.read(content) { _ in }
                } catch {
                    errors.1 = error
                }
                return errors
            }
            return await tasks.next() ?? (nil, nil)
        }
        #expect(written == StoreError(path: databases.opened(content).path ?? "", .cancelled))
        #expect(read == .shuttingDown)
        #expect(databases.faults == [] && recorder.lines == [])
    }
}
