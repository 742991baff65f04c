import Foundation
import NorrisSystem
import Testing

/// Runs each fuzz target on its stored inputs: those that once found a defect, and a few of each kind.
@Suite(.serialized) struct CorpusTests {
    /// A violated check ends the process, and names what was violated.
    @Test(arguments: Fuzzing.targets.map(\.name)) func storedInputsPass(target: String) throws {
        let inputs = try inputs("../Corpora/\(target)")
        let run = try #require(Fuzzing.targets.first { $0.name == target }?.run)
        #expect(!inputs.isEmpty)
        for input in inputs { run(input[...]) }
    }

    /// `Scripts/fuzz` takes the names of the targets from the folders.
    @Test func everyFolderBelongsToATarget() throws {
        let folder = URL(filePath: #filePath).appending(path: "../Corpora").standardized
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == Fuzzing.targets.map(\.name).sorted())
    }

    @Test func everyUpstreamHasAnInput() throws {
        let kinds = Set(try inputs("../Corpora/upstreams").map { Int($0.first ?? 0) % upstreamKinds.count })
        for (index, kind) in upstreamKinds.enumerated() {
            #expect(kinds.contains(index), "Tests/Fuzzing/Corpora/upstreams has no \(kind): a first byte of \(index).")
        }
    }

    @Test("Files of JSONTestSuite as a request line, and as a member that the envelope ignores") func testSuite() throws
    {
        let files = try inputs("../../NorrisProtocolTests/JSONTestSuite/test_parsing")
        #expect(files.count > 300)
        for file in files {
            fuzzRequests(file[...])
            fuzzRequests((Array(#"{"jsonrpc":"2.0","id":1,"method":"m","x":"#.utf8) + file + [0x7D])[...])
        }
    }

    @Test("40,000 request lines with some bytes changed, added or removed") func mutations() throws {
        var generator = SeededRandom(seed: 14)
        let seeds = try inputs("../Corpora/requests")
        let pieces = ["\\u0061", "\\ud800", "1e999", "\u{7F}", "é", "null", "\u{FEFF}"].map { Array($0.utf8) }
        let bytes = Array("\"\\{}[],:-0.\u{0}\n".utf8) + [0xC3, 0xFF]
        for _ in 0..<40_000 {
            var line = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0...line.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0 where place < line.count: line.remove(at: place)
                case 1: line.insert(bytes.randomElement(using: &generator) ?? 0, at: place)
                case 2: line.insert(contentsOf: line[place..<min(line.count, place + 12)], at: place)
                default: line.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
                }
            }
            fuzzRequests(line[...])
        }
    }

    private func inputs(_ path: String) throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).appending(path: path).standardized
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.map { $0.path }.sorted().map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
    }
}
