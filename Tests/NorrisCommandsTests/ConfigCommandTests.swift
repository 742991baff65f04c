import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

struct ConfigCommandTests {
    private let path = "/etc/norrisd/config.yaml"
    private let old = Array("facts: {}\n".utf8)
    private var copy: String { ConfigEditCommand.copy(of: path, old) }
    private let new = Array("facts: {refresh: 12h}\n".utf8)

    /// A machine whose daemon reads `path`. Each editor run writes the next text.
    private func machine(_ texts: [UInt8]..., checks: Int32..., editor: Int32 = 0) -> Machine {
        let machine = Machine(
            results: """
                {"name":"norrisd","version":"0.1.0","protocol":1,"capabilities":[],"pid":7,\
                "started_at":"2026-11-21T11:00:00Z","config_path":"\(path)"}
                """)
        machine.environment = ["EDITOR": "emacs -nw", "HOME": "/home/me"]
        machine.files[path] = old
        machine.installed = ["emacs", "code", "editor", "vi", "nano"]
        machine.programs["/bin/sh"] = Array(repeating: .ended(status: editor), count: 3)
        machine.programs["/opt/libexec/norrisd"] = checks.map { .ended(status: $0) }
        var texts = texts[...]
        let copy = copy
        machine.whileRunning = { [unowned machine] request in
            if request.program == "/bin/sh", let text = texts.popFirst() { machine.files[copy] = text }
        }
        return machine
    }

    // MARK: path

    @Test func saysWhereTheDaemonReads() {
        #expect(machine().run("config", "path") == Outcome(output: path + "\n"))
        #expect(machine().run("config", "path", "--json") == Outcome(output: #"{"path":"\#(path)"}"# + "\n"))
    }

    @Test(arguments: [
        (["HOME": "/h"], [String](), "/h/.config/norrisd/config.yaml"),
        (["HOME": "/h", "XDG_CONFIG_HOME": "/x"], ["/etc/norrisd/config.yaml"], "/etc/norrisd/config.yaml"),
        (
            ["HOME": "/h", "XDG_CONFIG_HOME": "/x"], ["/etc/norrisd/config.yaml", "/x/norrisd/config.yaml"],
            "/x/norrisd/config.yaml"
        ), (["HOME": "/h", "NORRISD_CONFIG": "/n.yaml"], ["/etc/norrisd/config.yaml"], "/n.yaml"),
        ([:], ["/etc/norrisd/config.yaml"], "/etc/norrisd/config.yaml"),
    ]) func findsTheDefaultWhereNoDaemonRuns(environment: [String: String], files: [String], expected: String) {
        let machine = Machine(failure: .noSocket(paths: ["/s"]))
        machine.environment = environment
        files.forEach { machine.files[$0] = old }
        #expect(machine.run("config", "path") == Outcome(output: expected + "\n"))
    }

    @Test func aDaemonThatDoesNotAnswerIsMentioned() {
        let hung = Machine(failure: .timedOut(path: "/s"))
        hung.environment = ["NORRISD_CONFIG": "/n.yaml"]
        #expect(
            hung.run("config", "path")
                == Outcome(
                    output: "/n.yaml\n",
                    errors: "norrisctl: norrisd at /s did not answer within 5s. Using the default file.\n"))
        let stopped = Machine(failure: .refused(path: "/s"))
        stopped.environment = hung.environment
        #expect(stopped.run("config", "path") == Outcome(output: "/n.yaml\n"))
        let elsewhere = Machine(failure: .refused(path: "/s"))
        elsewhere.environment = ["NORRISD_CONFIG": "/n.yaml", "NORRISD_SOCKET": "/s"]
        let named = elsewhere.run("config", "path")
        #expect(named.output == "/n.yaml\n" && named.errors.hasSuffix(" Using the default file.\n"))
    }

    @Test(arguments: [ClientError.noSocket(paths: ["/s"]), .refused(path: "/s"), .timedOut(path: "/s")])
    func takesNoOtherFileForASocketThatWasGiven(failure: ClientError) {
        for command in ["path", "check", "edit"] {
            let machine = Machine(failure: failure)
            machine.environment = ["NORRISD_CONFIG": "/n.yaml", "EDITOR": "vi"]
            let outcome = machine.run("config", command, "--socket", "/s")
            #expect(outcome.status == .unavailable && outcome.output == "" && outcome.errors.contains("/s"))
            #expect(machine.runs.isEmpty)
        }
    }

    @Test func saysWhereNoFileCanBe() {
        let outcome = Machine(failure: .noSocket(paths: ["/s"])).run("config", "path")
        #expect(outcome.status == .configuration)
        #expect(outcome.errors.contains("no home directory"))
    }

    // MARK: check

    @Test(arguments: [(Int32(0), ExitStatus.done), (78, .configuration), (3, .internalError)])
    func passesOnWhatTheCheckFinds(status: Int32, expected: ExitStatus) {
        let machine = machine(checks: status)
        #expect(machine.run("config", "check") == Outcome(output: status == 0 ? "ok\n" : "", status: expected))
        let run = machine.runs.last
        #expect(run?.arguments == ["--check-config", "--config", path])
        #expect(run?.output == .collected(limit: 1 << 20) && run?.collectsErrors == true)
        #expect(
            self.machine(checks: status).run("config", "check", "--json")
                == Outcome(output: #"{"path":"\#(path)","valid":\#(status == 0)}"# + "\n", status: expected))
    }

    @Test func aMissingFileIsNoFault() {
        let machine = machine()
        machine.files = [:]
        #expect(machine.run("config", "check").status == .done)
        #expect(machine.runs.isEmpty)
    }

    @Test func saysWhereThereIsNoDaemonToCheckWith() {
        #expect(
            machine().run("config", "check")
                == .failed(.unavailable, "norrisd is not installed here, so \(path) cannot be checked."))
    }

    // MARK: edit

    @Test func replacesTheFileByWhatWasEdited() {
        let machine = machine(new, checks: 0)
        #expect(
            machine.run("config", "edit") == Outcome(output: "saved: \(path)\n", errors: "Apply it: norrisctl reload\n")
        )
        #expect(machine.writtenFiles == [path: new])
        #expect(machine.files[copy] == nil)
        #expect(machine.runs.first?.arguments == ["-c", "trap : INT QUIT; emacs -nw \"$1\"", "emacs -nw", copy])
        #expect(machine.runs.last?.arguments == ["--check-config", "--config", copy])
    }

    @Test func takesVISUALBeforeEDITORAndElseWhatThereIs() {
        let visual = machine(new, checks: 0)
        visual.environment["VISUAL"] = "code --wait"
        _ = visual.run("config", "edit")
        #expect(visual.runs.first?.arguments[2] == "code --wait")
        let none = machine(new, checks: 0)
        none.environment["EDITOR"] = nil
        none.programs["/bin/sh"] = [.ended(status: 127), .ended(status: 0)]
        #expect(none.run("config", "edit").status == .done)
        #expect(none.runs.prefix(2).map { $0.arguments[2] } == ["editor", "vi"])
        let nothing = machine()
        nothing.environment["EDITOR"] = nil
        nothing.installed = []
        #expect(
            nothing.run("config", "edit")
                == .failed(.unavailable, "No editor is installed.", "Install one: apt install nano"))
        #expect(nothing.runs.isEmpty)
        #expect(nothing.files == [path: old])
    }

    @Test func leavesAnUnchangedFileAlone() {
        let machine = machine(checks: 0)
        #expect(machine.run("config", "edit") == Outcome(output: "unchanged: \(path)\n"))
        #expect(machine.writtenFiles.isEmpty && machine.files == [path: old])
    }

    @Test func beginsAFileThatIsNotThere() {
        let machine = machine(checks: 0)
        machine.files = [:]
        machine.whileRunning = { [unowned machine, path, new] request in
            if request.program == "/bin/sh" { machine.files[ConfigEditCommand.copy(of: path, nil)] = new }
        }
        #expect(machine.run("config", "edit").status == .done)
        #expect(machine.writtenFiles == [path: new])
    }

    @Test func keepsABadFileAsideAndGoesOnWithIt() {
        let machine = machine(old + old, new, checks: 78, 0)
        #expect(
            machine.run("config", "edit")
                == .failed(
                    .configuration, "The configuration has faults, so \(path) was not changed.",
                    "Your changes are in \(copy). Go on with: norrisctl config edit"))
        #expect(machine.writtenFiles.isEmpty)
        #expect(machine.files == [path: old, copy: old + old])
        machine.reply(.failure(.noSocket(paths: ["/s"])))
        machine.environment["NORRISD_CONFIG"] = path
        let next = machine.run("config", "edit")
        #expect(next.errors.hasPrefix("norrisctl: Continuing with the unsaved changes in \(copy).\n"))
        #expect(machine.writtenFiles == [path: new])
    }

    @Test func aCopyThatWasLeftIsNotAppliedUntouched() {
        let machine = machine(checks: 0)
        machine.files[copy] = new
        #expect(
            machine.run("config", "edit")
                == Outcome(
                    output: "unchanged: \(path)\n",
                    errors: """
                        norrisctl: Continuing with the unsaved changes in \(copy).
                        norrisctl: The unsaved changes in \(copy) were not applied.
                          To apply them, change something in the editor; to discard them, delete that file.

                        """))
        #expect(machine.writtenFiles.isEmpty && machine.files == [path: old, copy: new])
    }

    @Test func aCopyOfWhatTheFileHeldBeforeIsNotContinued() {
        let machine = machine(new, checks: 0)
        let earlier = ConfigEditCommand.copy(of: path, old + old)
        machine.files[earlier] = new
        #expect(machine.run("config", "edit").status == .done)
        #expect(machine.runs.first?.arguments.last == copy && machine.files[earlier] == new)
    }

    @Test(arguments: [("/a/config.yaml", "/a/config.edit-", ".yaml"), ("/a/b.yml", "/a/b.yml.edit-", "")])
    func theCopyIsBesideTheFile(path: String, start: String, end: String) {
        let copy = ConfigEditCommand.copy(of: path, old)
        #expect(copy.hasPrefix(start) && copy.hasSuffix(end) && copy == ConfigEditCommand.copy(of: path, old))
        #expect(copy != ConfigEditCommand.copy(of: path, new))
    }

    @Test(arguments: [(["y", "n"], 2), ([""], 2), (["n"], 1), (["N"], 1), (["No"], 1), (["NO"], 1), ([String](), 1)])
    func asksWhetherToEditAgain(answers: [String], edits: Int) {
        let machine = machine(new, old, new, checks: 78, 78, 78)
        if answers == [""] { machine.programs["/opt/libexec/norrisd"] = [.ended(status: 78), .ended(status: 0)] }
        (machine.isInputTerminal, machine.isErrorTerminal) = (true, true)
        machine.answers = answers
        let outcome = machine.run("config", "edit")
        #expect(machine.runs.count { $0.program == "/bin/sh" } == edits)
        #expect(outcome.status == (answers == [""] ? .done : .configuration))
    }

    @Test(arguments: [(Int32(127), "is not installed"), (1, "failed with status 1"), (130, "failed with status 130")])
    func anEditorThatFailsChangesNothing(status: Int32, words: String) {
        let machine = machine(checks: 0, editor: status)
        #expect(
            machine.run("config", "edit")
                == .failed(
                    .unavailable, "The editor 'emacs -nw' \(words), so nothing was changed.",
                    "Use another one: EDITOR=nano norrisctl config edit"))
        #expect(machine.writtenFiles.isEmpty && machine.files == [path: old])
    }

    @Test(arguments: [
        ("nano", ["vi"], "Use another one: EDITOR=vi norrisctl config edit"),
        ("nano -w", ["vi", "vim"], "Use another one: EDITOR=vim norrisctl config edit"),
        ("nano", [], "Install one: apt install nano"),
    ]) func anEditorThatIsNotInstalledIsNamedWithOneThatIs(editor: String, installed: [String], hint: String) {
        let machine = machine()
        machine.environment["EDITOR"] = editor
        machine.installed = Set(installed)
        #expect(
            machine.run("config", "edit")
                == .failed(.unavailable, "The editor 'nano' is not installed, so nothing was changed.", hint))
        // The shell would write a message of its own.
        #expect(machine.runs.isEmpty && machine.files == [path: old])
    }

    @Test(arguments: [("emacs -nw", "emacs -nw +3 \"$1\""), ("vi", "vi +3 \"$1\""), ("code", "code \"$1\"")])
    func theEditorOpensAtTheFaultyLine(editor: String, command: String) {
        let machine = machine(new, old, new, checks: 78, 0)
        machine.environment["EDITOR"] = editor
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, ["y", "n"])
        let faults = "norrisd: \(copy):\nnorrisd: line 3: facts.x: unknown key\nnorrisd: line 5: more\n"
        machine.programs["/opt/libexec/norrisd"] = [
            .ended(status: 78, output: Array(faults.utf8)), .ended(status: 0, output: Array("ok\n".utf8)),
        ]
        let outcome = machine.run("config", "edit")
        #expect(outcome.status == .done)
        #expect(
            outcome.errors.hasPrefix(
                """
                \(copy):
                line 3: facts.x: unknown key
                line 5: more
                Edit it again? [Y/n/d] (d discards the changes)

                """), "\(outcome.errors)")
        let runs = machine.runs.filter { $0.program == "/bin/sh" }.map { $0.arguments[1] }
        #expect(runs == ["trap : INT QUIT; \(editor) \"$1\"", "trap : INT QUIT; \(command)"])
    }

    @Test func discardsACopyOnRequest() {
        let machine = machine(new, checks: 78)
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, ["d"])
        let outcome = machine.run("config", "edit")
        #expect(outcome.output == "unchanged: \(path)\n" && outcome.status == .done)
        #expect(outcome.errors.hasSuffix("norrisctl: Your changes were discarded.\n"))
        #expect(machine.files == [path: old] && machine.writtenFiles.isEmpty)
    }

    @Test(arguments: [("d", true), ("n", false)]) func asksAboutALeftCopy(answer: String, isDiscarded: Bool) {
        let machine = machine(checks: 0)
        machine.files[copy] = new
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, [answer])
        #expect(machine.run("config", "edit").status == .done)
        #expect(machine.files == (isDiscarded ? [path: old] : [path: old, copy: new]))
        #expect(machine.runs.isEmpty != isDiscarded)
    }

    @Test(arguments: [("y", "reloaded"), ("n", "Apply it: norrisctl reload")])
    func offersToApplyTheChange(answer: String, words: String) {
        let machine = machine(new, checks: 0)
        if answer == "y" { machine.reply(.success(Array(Machine.result("{}").utf8))) }
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, [answer])
        let outcome = machine.run("config", "edit")
        #expect(outcome.errors == "Saved. Apply it now? [Y/n]\n\(words)\n")
        #expect(machine.methods.contains("server.reload") == (answer == "y"))
    }

    @Test func aNewFileBeginsWithTheMostUsedSettings() {
        let machine = machine(checks: 0)
        machine.files = [:]
        var shown: [UInt8]?
        machine.whileRunning = { [unowned machine, path] request in
            if request.program == "/bin/sh" { shown = machine.files[ConfigEditCommand.copy(of: path, nil)] }
        }
        _ = machine.run("config", "edit")
        let lines = String(decoding: shown ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("#posts:") && lines.allSatisfy { $0.hasPrefix("#") })
    }

    @Test func namesTheCommandForWhoMayNotWrite() {
        let machine = machine()
        machine.fileWriteErrors[path] = SystemError("open", code: EACCES)
        machine.listener = 7
        machine.environment["NORRISD_SOCKET"] = "/s"
        #expect(
            machine.run("config", "edit")
                == .failed(.notPermitted, "You may not change \(path).", "Run: sudo norrisctl config edit --socket /s"))
        #expect(machine.runs.isEmpty)
    }

    @Test(arguments: [
        (["NORRISD_CONFIG": "/n b.yaml"], "/n b.yaml", "sudoedit '/n b.yaml'"),
        (["HOME": "/h"], "/etc/norrisd/config.yaml", "sudo norrisctl config edit"),
    ])
    func namesTheFileForWhoMayNotWriteWhereNoDaemonRuns(environment: [String: String], file: String, command: String) {
        let machine = Machine(failure: .noSocket(paths: ["/s"]))
        machine.environment = environment
        machine.files[file] = old
        machine.fileWriteErrors[file] = SystemError("open", code: EACCES)
        #expect(
            machine.run("config", "edit") == .failed(.notPermitted, "You may not change \(file).", "Run: \(command)"))
    }

    @Test func doesNotUndoWhatSomebodyElseHasWritten() {
        let machine = machine(checks: 0)
        machine.whileRunning = { [unowned machine, copy, path, new, old] request in
            guard request.program == "/bin/sh" else { return }
            machine.files[copy] = new
            machine.files[path] = old + old
        }
        let outcome = machine.run("config", "edit")
        #expect(outcome.status == .temporary)
        #expect(outcome.errors.contains("\(path) changed while you edited"))
        #expect(outcome.errors.contains("diff \(path) \(copy)"))
        #expect(machine.writtenFiles.isEmpty && machine.files[copy] == new)
    }
}

/// The files behind `norrisctl config edit`.
struct ConfigFileTests {
    private let folder = TemporaryFolder()

    @Test func makesAPrivateFileAndItsFolders() throws {
        try createFile(folder("a/b/c.yaml"), [1, 2], home: folder.path)
        #expect(try readFile(folder("a/b/c.yaml"), limit: 10) == [1, 2])
        var status = stat()
        #expect(stat(folder("a/b/c.yaml"), &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(stat(folder("a/b"), &status) == 0 && status.st_mode & 0o7777 == 0o700)
        #expect(throws: SystemError("open", code: EEXIST)) { try createFile(folder("a/b/c.yaml"), [3], home: nil) }
        // The system daemon runs as another user and must read files in this folder.
        try createFile(folder("etc/c.yaml"), [1], home: folder("a"))
        mkdir(folder("open"), 0o755)
        var other = stat()
        #expect(stat(folder("etc"), &status) == 0 && stat(folder("open"), &other) == 0)
        #expect(status.st_mode == other.st_mode)
    }

    @Test func knowsWhatMayBeReplaced() throws {
        #expect(mayReplace(folder("new")))
        #expect(mayReplace(folder("no/such/folder/new")))
        // Root may create a file in every folder except proc(5).
        #expect(mayReplace("/proc/norrisd/config.yaml") == (geteuid() == 0))
    }

    @Test func whatIsReplacedKeepsItsOwner() throws {
        try #require(geteuid() == 0)
        let file = try folder.write("old", to: "f")
        #expect(chown(file, 1234, 5678) == 0 && chmod(file, 0o640) == 0)
        try writeFile(file, [1])
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect((status.st_uid, status.st_gid, status.st_mode & 0o7777) == (1234, 5678, 0o640))
    }
}

struct ErrorTextTests {
    private func text(_ hint: Advice, columns: Int?) -> String {
        Report(Failure(.usage, "It does not work.", hint: hint), json: false).errorText(columns: columns)
    }

    @Test func wrapsAtWordsButNotInsideACommand() {
        let hint: Advice = "Start it with: \(command: "systemctl start norrisd"), or just: \(command: "norrisd")"
        #expect(
            text(hint, columns: nil) == """
                norrisctl: It does not work.
                  Start it with: systemctl start norrisd, or just: norrisd

                """)
        #expect(
            text(hint, columns: 32) == """
                norrisctl: It does not work.
                  Start it with:
                  systemctl start norrisd, or
                  just: norrisd

                """)
        // A command longer than a line also wraps between words.
        #expect(
            text(hint, columns: 20) == """
                norrisctl: It does
                not work.
                  Start it with:
                  systemctl start
                  norrisd, or just:
                  norrisd

                """)
    }

    @Test func errorsForProgramsStayOneLine() {
        let error = ResponseError.notFound("There is no such thing, and there never was one as far as anybody knows.")
        let machine = Machine(error: error)
        (machine.isErrorTerminal, machine.errorColumns) = (true, 30)
        #expect(machine.run("fact", "--json").errors.split(separator: "\n").count == 1)
    }

    @Test func whatIsSaidAtOnceIsWrappedToo() {
        let machine = Machine()
        (machine.isErrorTerminal, machine.isInputTerminal, machine.errorColumns) = (true, true, 30)
        let lines = machine.run("favorite", "import").errors.split(separator: "\n")
        #expect(lines.count > 2 && lines.allSatisfy { $0.count <= 30 }, "\(lines)")
    }
}
