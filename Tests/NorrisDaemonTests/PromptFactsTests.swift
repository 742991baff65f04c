import Foundation
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct PromptFactsTests {
    private func lines(_ facts: [Fact], _ scope: FactScope = .all, seed: UInt64 = 1) -> [String] {
        var builder = FactCatalogue.Builder()
        for fact in facts { builder.add(fact) }
        var generator = SeededRandom(seed: seed)
        return PromptFactsWriter.lines(from: builder.finish(), scope, using: &generator)
    }

    private func facts(_ texts: [String], categories: [String] = []) -> [Fact] {
        texts.enumerated().map { Fact(id: "\($0)", text: $1, categories: categories, source: "chucknorris") }
    }

    @Test func theStartingCollectionFillsTheFile() {
        let (first, second) = (lines(StartingCollection.facts()), lines(StartingCollection.facts(), .norris, seed: 2))
        #expect(first.count == 64 && Set(first).count == 64 && second.count == 64)
        #expect(Set(first) != Set(second))
    }

    @Test func whereFewFitAllOfThemAreThere() async throws {
        let fitting = (0..<20).map { "Chuck Norris fits, number \($0)." }
        let long = (0..<400).map { "Chuck Norris \($0) " + String(repeating: "never ends ", count: 10) }
        #expect(Set(lines(facts(long + fitting))) == Set(fitting))
        #expect(lines(facts(long)) == [])
        #expect(lines([]) == [])
    }

    @Test func whatShellsExpandAndWhatIsExplicitIsLeftOut() async throws {
        let hostile = [
            "$(touch X)", "`touch X`", "100 %n", "a\\nb", "Wow!", "\u{1B}]0;X\u{7}", "a\u{202E}b", "\u{9B}2Jc",
        ]
        #expect(Set(lines(facts(hostile))) == ["ab", "c"])
        #expect(lines(facts(["Chuck Norris."], categories: ["explicit"])) == [])
    }

    @Test func severalLinesAndDrawingsAreLeftOutAndEqualOnesComeOnce() async throws {
        let texts = ["Why?\n\tBecause.", "No.", "\nNo.\n", " ", "\n", " /\\_/\\\n( o.o )", "|   |", "x = [_] (__) [_]"]
        #expect(lines(facts(texts)) == ["No."])
    }

    @Test func onlyFactsOfTheSourceAreThere() {
        let fortune = Fact(id: "a", text: "A fortune.", categories: [], source: "fortune:x")
        #expect(lines([fortune], .norris) == [])
        #expect(lines([fortune], .fortune) == ["A fortune."])
    }

    /// A text with many combining characters has more characters than columns.
    @Test func columnsDecideAndNotCharacters() async throws {
        let accented = String(repeating: "e\u{301}", count: 100)
        #expect(lines(facts([accented, String(repeating: "日", count: 51)])) == [accented])
    }
}

struct PromptFileTests {
    private let scratch = TemporaryFolder()

    private var file: PromptFile { PromptFile(folder: scratch("run")) }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func folderAndFileAreReadableByAll() throws {
        try file.replace(with: ["One.", "Zwei \u{2014} 日本."])
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "One.\nZwei \u{2014} 日本.\n")
        #expect(try mode(file.path) == 0o644)
        #expect(try mode(file.folder) == 0o755)
        #expect(try names(file.folder) == ["prompt-facts"])
        try file.replace(with: [])
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)).isEmpty)
    }

    @Test func linksAreReplacedAndNotFollowed() throws {
        let precious = try scratch.write("precious", to: "target")
        try FileManager.default.createDirectory(atPath: file.folder, withIntermediateDirectories: false)
        for link in [file.path, file.folder + "/.prompt-facts.\(getpid())"] {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: precious)
        }
        try file.replace(with: ["One."])
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "One.\n")
        #expect(try names(file.folder) == ["prompt-facts"])
    }
}
