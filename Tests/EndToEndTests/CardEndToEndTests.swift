import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Tests of `norrisctl card`, with scripts in place of norris-card and with norris-card itself.
@Suite(.onTestThread, .timeLimit(.minutes(20))) struct CardEndToEndTests {
    /// A script that prints the header of a PNG of 1080 × 1350 pixels and 1,000,000 bytes, which exceed a pipe buffer.
    private static let drawing = #"""
        cat >"$0.input"
        printf '%s\n' "$*" >>"$0.arguments"
        case "$*" in
        *--alt*) printf 'A poster.\n' ;;
        *) printf '\211PNG\r\n\032\n\0\0\0\015IHDR\0\0\0048\0\0\005F'; head -c 1000000 /dev/zero ;;
        esac
        """#
    private static let size = 1_000_024

    /// Creates a folder with a copy of norrisctl and, beside it, a script as norris-card.
    private func installation(_ script: String? = drawing) throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        for name in ["bin", "libexec", "libexec/norrisd", "home"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: false)
        }
        // cp(1) writes the program because of ETXTBSY; see writeProgram(_:to:).
        #expect(try run("cp", [Programs.norrisctl, folder("bin/norrisctl")]).status == 0)
        if let script { _ = try folder.writeProgram(script, to: "bin/norris-card") }
        return folder
    }

    private func names(_ folder: TemporaryFolder, _ name: String = "home") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder(name)).sorted()
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// Runs a line of bash in the `home` folder. `norrisctl` is the copy.
    private func shell(
        _ line: String, _ folder: TemporaryFolder, _ environment: [String: String] = [:]
    ) throws -> ProgramResult {
        try run(
            "bash", ["-c", "cd '\(folder("home"))' && \(line)"],
            environment: ["PATH": folder("bin") + ":/usr/bin:/bin", "NORRISD_SOCKET": "/nowhere"]
                .merging(environment) { $1 }
        )
    }

    @Test func writesFilesAndPipes() throws {
        let folder = try installation()
        let result = try shell("umask 027; norrisctl card --text 'Ship it.' -o f.png --alt --size 300", folder)
        #expect(result.status == 0, "\(result)")
        #expect(result.output == "A poster.\n")
        #expect(result.errors == "Wrote f.png, 1080 × 1350.\n")
        #expect(try bytes(folder("home/f.png")).count == Self.size)
        #expect(
            try FileManager.default.attributesOfItem(atPath: folder("home/f.png"))[.posixPermissions] as? Int == 0o640)
        let arguments = try String(contentsOfFile: folder("bin/norris-card.arguments"), encoding: .utf8)
        #expect(arguments == "--size 300 --alt\n--size 300\n")
        let input = try String(contentsOfFile: folder("bin/norris-card.input"), encoding: .utf8)
        #expect(input.contains(#""text":"Ship it.""#))

        let piped = try shell("norrisctl card --text x -o - | cmp - f.png", folder)
        #expect(piped.status == 0, "\(piped)")
        #expect(piped.errors.isEmpty)
        let device = try shell("norrisctl card --text x -o /dev/stdout | cmp - f.png", folder)
        #expect(device.status == 0, "\(device)")
        let closed = try shell("norrisctl card --text x -o - | head -c1 | wc -c; echo ${PIPESTATUS[0]}", folder)
        #expect(closed.output == "1\n0\n", "\(closed)")
        #expect(closed.errors.isEmpty)
        let full = try shell("norrisctl card --text x -o - >/dev/full", folder)
        #expect(full.status == 74, "\(full)")
        #expect(try names(folder) == ["f.png"])
    }

    @Test func findsNorrisCardBesideItsOwnFileAndNowhereElse() throws {
        let folder = try installation(nil)
        let other = try installation()
        // norrisctl searches neither PATH nor the current folder nor the folder of a link to norrisctl.
        #expect(symlink(folder("bin/norrisctl"), other("bin/ctl")) == 0)
        let stray = "cd '\(other("bin"))' && PATH='\(other("bin"))':$PATH ./ctl card --text x -o f.png"
        let missing = try shell(stray, folder)
        #expect(missing.status == 69, "\(missing)")
        #expect(missing.errors == "norrisctl: norris-card is not installed.\n  sudo apt install norris-card\n")

        _ = try folder.writeProgram(Self.drawing, to: "libexec/norrisd/norris-card")
        #expect(try shell("norrisctl card --text x -o f.png", folder).status == 0)
        #expect(try shell(stray, folder).status == 0)
        #expect(try names(other, "bin") == ["ctl", "f.png", "norris-card", "norrisctl"])
    }

    @Test func whatCannotBeWrittenIsToldAndLeavesNothing() throws {
        let folder = try installation()
        _ = try folder.write("old", to: "home/old.png")
        // The file size limit simulates a disk that becomes full during the write.
        for file in ["old.png", "new.png"] {
            let result = try shell("ulimit -f 100; norrisctl card --text x -o \(file)", folder)
            #expect(result.status == 74, "\(result)")
            #expect(result.errors == "norrisctl: \"\(file)\" cannot be written: File too large.\n")
        }
        let piped = try shell("ulimit -f 100; norrisctl card --text x -o - >out", folder)
        #expect(piped.status == 74, "\(piped)")
        #expect(piped.errors == "norrisctl: Standard output cannot be written: File too large.\n")
        #expect(try names(folder) == ["old.png", "out"])
        #expect(try bytes(folder("home/old.png")) == Data("old".utf8))
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsNorrisCardAndLeavesNothing(signal: Int32) throws {
        let folder = try installation("echo $$ >\"$0.pid\"; mv \"$0.pid\" \"$0.begun\"; exec sleep 60")
        let child = try ChildProcess(folder("bin/norrisctl"), ["card", "--text", "x", "-o", folder("home/f.png")])
        for _ in 0..<12_000 where access(folder("bin/norris-card.begun"), F_OK) != 0 { poll(nil, 0, 10) }
        let text = try String(contentsOfFile: folder("bin/norris-card.begun"), encoding: .utf8)
        let process = try #require(Int32(text.dropLast()))
        child.send(signal)
        #expect(child.wait() == 128 + signal)
        #expect(kill(process, 0) == -1)
        #expect(try names(folder).isEmpty)
    }

    @Test func noByteOfAPictureReachesATerminal() throws {
        let folder = try installation("printf 'a\\033]0;x\\007\\233b\\033[31m\\200c\\n\\033[2Jd'")
        for arguments in [["-o", "-"], ["-o", "/dev/stdout"], ["-o", "/dev/tty"], ["--alt"], ["--show"]] {
            let terminal = try PseudoTerminal(
                folder("bin/norrisctl"), ["card", "--text", "x", "--color", "always"] + arguments)
            #expect([0, 64, 70, 74].contains(terminal.waitForEnd()))
            expectClean(terminal.transcript, arguments, isTerminal: true)
        }
        // Now with output that begins like a PNG.
        let picture = try installation()
        let terminal = try PseudoTerminal(picture("bin/norrisctl"), ["card", "--text", "x", "-o", "-", "--plain"])
        #expect(terminal.waitForEnd() == 64)
        expectClean(terminal.transcript, ["-o -"], isTerminal: true)
        #expect(terminal.rest.contains("erminal"), "\(terminal.rest)")
    }

    // MARK: The real norris-card

    private func width(_ png: Data) -> [Int] {
        [16..<20, 20..<24].map { png[$0].reduce(0) { $0 << 8 | Int($1) } }
    }

    @Test func drawsRealCards() throws {
        let folder = TemporaryFolder()
        func card(_ arguments: String...) throws -> ProgramResult {
            try run(Programs.norrisctl, ["card", "--size", "256", "--timeout", "1m"] + arguments)
        }
        let first = try card("--text", "Ship it.", "-o", folder("a.png"))
        #expect(first.status == 0, "\(first)")
        #expect(first.errors == "Wrote \(folder("a.png")), 256 × 256.\n")
        #expect(width(try bytes(folder("a.png"))) == [256, 256])
        let words = try card("--text", "Ship\nit.", "--alt")
        #expect(words.status == 0, "\(words)")
        #expect(words.lines.count == 1)
        #expect(words.output.contains("Ship it."), "\(words)")

        let invisible = try card("--text", "\u{200D}\u{200C}", "-o", folder("none.png"))
        #expect(invisible.status == 64, "\(invisible)")
        #expect(access(folder("none.png"), F_OK) != 0)

        let terminal = try PseudoTerminal(
            Programs.norrisctl, ["card", "--text", "Ship it.", "--size", "256", "--show"],
            environment: ["COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"])
        #expect(terminal.waitForEnd() == 0, "\(terminal.rest)")
        #expect(terminal.rest.contains("8;2;"), "\(terminal.rest)")
    }
}
