import Foundation
import Testing

/// SECURITY.md names tests, fuzz targets and experiments that exist.
struct SecurityDocumentTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized
    private let document: String

    init() throws { document = try Self.text("SECURITY.md") }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private func names(_ pattern: Regex<(Substring, Substring)>) -> Set<String> {
        Set(document.matches(of: pattern).map { String($0.1) })
    }

    @Test func theTestsExist() throws {
        let files = FileManager.default.enumerator(
            at: Self.root.appending(path: "Tests"), includingPropertiesForKeys: nil)
        let sources = try (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
        let named = names(/`([A-Z][A-Za-z]+Tests)`/)
        #expect(named.count > 20)
        for name in named { #expect(sources.contains { $0.contains("struct \(name) {") }, "\(name)") }
    }

    @Test func theFuzzTargetsExist() throws {
        let program = try Self.text("Tests/Fuzzing/Fuzzing.swift")
        let named = names(/Scripts\/fuzz ([a-z]+)`/)
        #expect(!named.isEmpty)
        for name in named {
            #expect(program.contains("(\"\(name)\", "), "\(name)")
            let corpus = Self.root.appending(path: "Tests/Fuzzing/Corpora/\(name)").path
            #expect(try !FileManager.default.contentsOfDirectory(atPath: corpus).isEmpty)
        }
    }

    @Test func theExperimentsExist() throws {
        let program = try Self.text("Scripts/failures/main.py")
        let named = names(/\*([a-z]+)\*/)
        #expect(!named.isEmpty)
        for name in named { #expect(program.contains("    \"\(name)\": ("), "\(name)") }
    }
}
