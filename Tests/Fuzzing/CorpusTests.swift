import Foundation
import Testing

/// Runs each fuzz target on its stored inputs: those that once found a defect, and a few of each kind.
@Suite(.serialized) struct CorpusTests {
    /// A violated check ends the process, and names what was violated.
    @Test(arguments: Fuzzing.targets.map(\.name)) func storedInputsPass(target: String) throws {
        let folder = URL(filePath: #filePath).appending(path: "../Corpora/\(target)").standardized
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let run = try #require(Fuzzing.targets.first { $0.name == target }?.run)
        #expect(!files.isEmpty)
        for file in files { run(try [UInt8](Data(contentsOf: file))[...]) }
    }
}
