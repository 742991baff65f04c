import Foundation
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// The file over time, by a clock that the test turns.
@Suite(.timeLimit(.minutes(20)))
struct PromptFactsServiceTests {
    private let scratch = TemporaryFolder()
    private let clock = ManualClock()
    private let recorder = LogRecorder()
    private let store: FactStore
    private let service: PromptFactsService
    private let path: String

    init() throws {
        store = try FactStore.inMemory()
        let file = PromptFile(folder: scratch("run"))
        path = file.path
        service = PromptFactsService(file: file, facts: store, clock: clock, logger: recorder.logger)
    }

    private func put(_ text: String) throws {
        try store.put([Fact(id: "a", text: text, categories: [], source: "chucknorris")])
    }

    private var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Lets the service run while the body turns the clock.
    private func run(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await service.run() }
            defer { tasks.cancelAll() }
            await clock.untilAsleep()
            try await body()
        }
    }

    /// Turns the clock, and returns when the service has done what is due.
    private func advance(by duration: Duration) async {
        clock.advance(by: duration)
        await clock.untilAsleep()
    }

    @Test func everyTenMinutesItIsAnotherFile() async throws {
        try put("One.")
        service.write()
        #expect(content == "One.\n")
        // Kept open, so that its inode is not given out again.
        let first = try #require(FileHandle(forReadingAtPath: path))
        try put("Two.")
        try await run {
            clock.advance(by: .seconds(599))
            #expect(content == "One.\n")
            await advance(by: .seconds(1))
            #expect(content == "Two.\n")
            try put("Three.")
            await advance(by: .seconds(600))
            #expect(content == "Three.\n")
        }
        #expect(try first.readToEnd() == Data("One.\n".utf8))
        #expect(recorder.lines == [])
    }

    @Test func troubleIsToldOnceAndMends() async throws {
        try put("One.")
        _ = try scratch.write("", to: "run")
        service.write()
        try await run {
            await advance(by: .seconds(600))
            await advance(by: .seconds(600))
            #expect(recorder.lines == ["error prompt-facts.unwritable"])
            #expect(recorder.records.first?.contains("\(path): cannot be written (Not a directory)") == true)

            try FileManager.default.removeItem(atPath: scratch("run"))
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            await advance(by: .seconds(600))
            #expect(recorder.lines.count == 2, "Another reason is told")
            #expect(recorder.records.last?.contains("Is a directory") == true)

            try FileManager.default.removeItem(atPath: path)
            await advance(by: .seconds(600))
            #expect(content == "One.\n")
            await advance(by: .seconds(600))
            #expect(recorder.lines.dropFirst(2) == ["notice prompt-facts.writes-again"])
        }
    }
}
