import Foundation
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct ConfigEndToEndTests {
    private func edit(_ daemon: RunningDaemon, editor: String) throws -> ProgramResult {
        try run(
            Programs.norrisctl, ["config", "edit"],
            environment: [
                "NORRISD_SOCKET": daemon.socket, "HOME": daemon.folder.path, "PATH": "/usr/bin:/bin", "EDITOR": editor,
            ])
    }

    private func text(_ daemon: RunningDaemon) throws -> String {
        try String(contentsOfFile: daemon.folder("config.yaml"), encoding: .utf8)
    }

    @Test func theDaemonSaysWhichFileItReadsAndWhetherItIsValid() throws {
        let daemon = try RunningDaemon()
        let path = try daemon.ctl("config", "path")
        #expect(path.status == 0 && path.output == daemon.folder("config.yaml") + "\n", "\(path)")
        let valid = try daemon.ctl("config", "check")
        #expect(valid.status == 0 && valid.output == "ok\n", "\(valid)")
        _ = try daemon.folder.write("facts: {refesh: 1h}\n", to: "config.yaml")
        let invalid = try daemon.ctl("config", "check")
        #expect(invalid.status == 78 && invalid.errors.contains("facts.refesh"), "\(invalid)")
    }

    @Test func anEditorChangesTheFileAndAReloadAppliesIt() throws {
        let daemon = try RunningDaemon(configuration: "facts: {enabled: false}\n")
        chmod(daemon.folder("config.yaml"), 0o640)
        let result = try edit(daemon, editor: "sed -i s/false/true/")
        #expect(result.status == 0, "\(result)")
        #expect(result.output == "saved: \(daemon.folder("config.yaml"))\n")
        #expect(result.errors == "Apply it: norrisctl reload\n")
        #expect(try text(daemon) == "facts: {enabled: true}\n")
        var status = stat()
        #expect(stat(daemon.folder("config.yaml"), &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(try copies(daemon) == [])
    }

    @Test(arguments: [("sed -i s/facts/fatcs/", Int32(78)), ("no-such-editor", 69), ("false", 69), ("true", 0)])
    func nothingButAValidChangeTouchesTheFile(editor: String, status: Int32) throws {
        let daemon = try RunningDaemon()
        let before = try text(daemon)
        let result = try edit(daemon, editor: editor)
        #expect(result.status == status, "\(result)")
        #expect(try text(daemon) == before)
        let copies = try copies(daemon)
        #expect(copies.count == (status == 78 ? 1 : 0))
        for copy in copies { #expect(result.errors.contains(daemon.folder(copy)), "\(result)") }
    }

    private func copies(_ daemon: RunningDaemon) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path).filter { $0.hasPrefix("config.edit") }
    }
}
