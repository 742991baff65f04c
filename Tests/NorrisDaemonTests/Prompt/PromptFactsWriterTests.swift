import Foundation
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// The file over time.
struct PromptFactsWriterTests {
    private let scratch = TemporaryFolder()
    private let recorder = LogRecorder()
    private let store: FactStore
    private let writer: PromptFactsWriter
    private let path: String

    init() throws {
        store = try FactStore.inMemory()
        let file = PromptFile(folder: scratch("run"))
        path = file.path
        writer = PromptFactsWriter(file: file, facts: store, scope: { .all }, logger: recorder.logger)
    }

    private func put(_ text: String) throws {
        try store.put([Fact(id: "a", text: text, categories: [], source: "chucknorris")])
    }

    private var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func eachTimeItIsAnotherFile() throws {
        try put("One.")
        writer.write()
        #expect(content == "One.\n")
        // Kept open, so that its inode is not given out again.
        let first = try #require(FileHandle(forReadingAtPath: path))
        try put("Two.")
        writer.write()
        #expect(content == "Two.\n")
        #expect(try first.readToEnd() == Data("One.\n".utf8))
        #expect(recorder.lines == [])
    }

    @Test func troubleIsToldOnceAndMends() throws {
        try put("One.")
        _ = try scratch.write("", to: "run")
        writer.write()
        writer.write()
        #expect(recorder.lines == ["error prompt-facts.unwritable"])
        #expect(recorder.records.first?.contains("\(path): cannot be written (Not a directory)") == true)

        try FileManager.default.removeItem(atPath: scratch("run"))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        writer.write()
        #expect(recorder.lines.count == 2, "Another reason is told")
        #expect(recorder.records.last?.contains("Is a directory") == true)

        try FileManager.default.removeItem(atPath: path)
        writer.write()
        #expect(content == "One.\n")
        writer.write()
        #expect(recorder.lines.dropFirst(2) == ["notice prompt-facts.writes-again"])
    }
}
