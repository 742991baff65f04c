import Foundation
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct PromptFactsEndToEndTests {
    /// Returns the lines of the file, which exists when the daemon is ready.
    private func lines(_ folder: TemporaryFolder, _ name: String = "run") throws -> [String] {
        let text = try String(contentsOfFile: folder(name + "/prompt-facts"), encoding: .utf8)
        #expect(text.isEmpty || text.hasSuffix("\n"))
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    @Test func itIsThereWhenTheDaemonIsReadyAndStaysWhenItStops() throws {
        let folder = TemporaryFolder()
        let daemon = try RunningDaemon(in: folder, ["--runtime-dir", folder("run")])
        let first = try lines(folder)
        #expect(first.count == 64)
        #expect(first.allSatisfy { !$0.isEmpty && $0.count <= 100 && !$0.contains(where: "`$\\%!".contains) })
        // The daemon's other files are private, but every user may read this file.
        let attributes = try FileManager.default.attributesOfItem(atPath: folder("run/prompt-facts"))
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        #expect(try FileManager.default.attributesOfItem(atPath: folder("run"))[.posixPermissions] as? Int == 0o755)
        #expect(daemon.end() == 0)
        #expect(try lines(folder) == first)

        // Each start writes different facts. A reader that has the old file open still reads the old content.
        let reader = try #require(FileHandle(forReadingAtPath: folder("run/prompt-facts")))
        let next = try RunningDaemon(in: folder, ["--runtime-dir", folder("run")])
        #expect(try lines(folder) != first)
        #expect(try reader.readToEnd() == Data(first.map { $0 + "\n" }.joined().utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("run")) == ["prompt-facts"])
        next.end(SIGKILL)
        #expect(try lines(folder).count == 64)
    }

    @Test func anUnwritableFolderIsReportedAndTheServiceGoesOn() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("", to: "file")
        let daemon = try RunningDaemon(in: folder, ["--runtime-dir", file])
        #expect(try daemon.ctl("fact").status == 0)
        let told = try daemon.log(of: "prompt-facts.unwritable", atLeast: 1)
        #expect(told.count == 1)
        #expect(told.first?.contains("\(file)/prompt-facts: cannot be written (Not a directory)") == true)
        #expect(daemon.end() == 0)
    }
}
