import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisCards

/// The built program, with the fonts of Debian's fonts-inter, fonts-noto-core, fonts-noto-cjk.
struct CardProgramTests {
    private struct Outcome: Equatable {
        var status: Int32
        var output: [UInt8]
        var errors: String
    }

    private func draw(
        _ input: String, _ arguments: [String] = ["--size", "256"], environment: [String: String] = [:]
    ) throws -> Outcome {
        let folder = TemporaryFolder()
        let child = try ChildProcess(
            Programs.norrisCard, arguments, environment: environment,
            input: folder.write(input, to: "in"), output: folder("out"), errors: folder("err")
        )
        let status = child.wait()
        return Outcome(
            status: status,
            output: Array(try Data(contentsOf: URL(fileURLWithPath: folder("out")))),
            errors: try String(contentsOfFile: folder("err"), encoding: .utf8)
        )
    }

    private func json(_ text: String) -> String {
        var json = JSONWriter()
        fact(text).encode(to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test func writesThePictureThatTheLibraryDraws() async throws {
        try await TestThread.run {
            let outcome = try draw(json("Chuck Norris counted to infinity."))
            #expect(outcome.status == 0)
            #expect(outcome.errors == "")
            let png = try Card(fact: fact("Chuck Norris counted to infinity."), size: 256).png()
            #expect(outcome.output == png)
        }
    }

    /// Marathi writes some letters of Devanagari in another way than Hindi.
    @Test("Another locale changes no byte", arguments: [
        ["LANG": "mr_IN.UTF-8", "LANGUAGE": "mr_IN"], ["FC_LANG": "ja", "LC_ALL": "ja_JP.UTF-8"],
        ["LANG": "ar", "LC_ALL": "tr_TR.UTF-8"],
    ])
    func localeDoesNotMatter(environment: [String: String]) async throws {
        try await TestThread.run {
            let text = json("शल ५८ झ 骨直 IiÄ 123 عدّ \u{10FFFD}")
            let plain = try draw(text)
            let other = try draw(text, environment: environment)
            #expect(plain.status == 0)
            #expect(other == plain)
        }
    }

    @Test func aUsersSettingsOfFontsDoNotMatter() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            try FileManager.default.createDirectory(atPath: folder("fontconfig"), withIntermediateDirectories: true)
            let edits = ["embolden", "antialias"].map { name in
                "<edit name='\(name)' mode='assign'><bool>\(name == "embolden")</bool></edit>"
            }
            let settings = "<fontconfig><match target='font'>\(edits.joined())</match></fontconfig>"
            _ = try folder.write(settings, to: "fontconfig/fonts.conf")
            let text = json("Chuck 🚀")
            #expect(try draw(text, environment: ["XDG_CONFIG_HOME": folder.path]) == draw(text))
        }
    }

    @Test("Input that is no fact", arguments: [
        ("", "The value ends too early at byte 0."),
        ("{\"id\":\"1\"", "The value ends too early at byte 9."),
        ("[]", "The value must be an object."),
        (#"{"id":"1","categories":[],"source":"text"}"#, "text is missing."),
        (#"{"id":"1","text":1,"categories":[],"source":"text"}"#, "text must be a string."),
        (#"{"id":"1","text":"a","categories":[],"source":"text"} x"#, "Something follows the end of the value"),
    ])
    func refusesWhatIsNoFact(input: String, reason: String) async throws {
        try await TestThread.run {
            let outcome = try draw(input)
            #expect(outcome.status == 65)
            #expect(outcome.output == [])
            #expect(outcome.errors.hasPrefix("norris-card: Standard input is no fact: \(reason)"))
            #expect(outcome.errors.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        }
    }

    @Test("A fact of which there is no picture", arguments: [
        (" \\n\\t", "shows nothing"), (String(repeating: "x", count: 10_001), "longer than 10000 characters"),
        (String(repeating: "a\\n", count: 5_000), "too many lines"),
    ])
    func refusesFactsWithoutPicture(text: String, reason: String) async throws {
        try await TestThread.run {
            let outcome = try draw(#"{"id":"1","text":"\#(text)","categories":[],"source":"text"}"#)
            #expect(outcome.status == 65)
            #expect(outcome.output == [])
            #expect(outcome.errors.hasPrefix("norris-card: The fact's text"))
            #expect(outcome.errors.contains(reason))
        }
    }

    @Test func readsNoMoreThanAFactCanBe() async throws {
        try await TestThread.run {
            let outcome = try draw(json(String(repeating: "x", count: 4 * 1024 * 1024)))
            #expect(outcome.status == 65)
            #expect(outcome.errors == "norris-card: Standard input is no fact: It is longer than 4194304 bytes.\n")
        }
    }

    @Test func saysThatThereIsNoFont() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let configuration = try folder.write("<fontconfig></fontconfig>", to: "fonts.conf")
            let outcome = try draw(json("x"), environment: ["FONTCONFIG_FILE": configuration])
            #expect(outcome.status == 69)
            #expect(outcome.output == [])
            #expect(outcome.errors.hasPrefix("norris-card: No font is installed; install one"))
            #expect(outcome.errors.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        }
    }

    @Test("Wrong usage", arguments: [["--size", "255"], ["--size", "4097"], ["--size"], ["--what"], ["out.png"]])
    func refusesWrongUsage(arguments: [String]) async throws {
        try await TestThread.run {
            let outcome = try draw(json("x"), arguments)
            #expect(outcome.status == 64)
            #expect(outcome.output == [])
            #expect(outcome.errors.hasPrefix("norris-card: "))
        }
    }

    @Test func saysWhatItIsAndWhatItCanDo() async throws {
        try await TestThread.run {
            let version = try run(Programs.norrisCard, ["--version"])
            #expect(version.status == 0)
            #expect(version.output == "norris-card \(NorrisVersion.current)\n")
            let help = try run(Programs.norrisCard, ["--help"])
            #expect(help.status == 0)
            for option in ["--size", "--no-tags", "--alt", "--version", "--help"] {
                #expect(help.output.contains("\n  \(option) "))
            }
            let alternative = try run(Programs.norrisCard, ["--alt"], input: json("Two\nlines"))
            #expect(alternative.status == 0)
            #expect(alternative.output.hasSuffix(", with the words: Two lines\n"))
            #expect(alternative.lines.count == 1)
        }
    }

    @Test("Where it cannot read or write", arguments: [
        ("> /dev/full", "Standard output cannot be written: No space left on device."),
        (">&-", "Standard output cannot be written: Bad file descriptor."),
        ("> /dev/null <&-", "Standard input cannot be read: Bad file descriptor."),
        ("> /dev/null < /", "Standard input cannot be read: Is a directory."),
        ("> too-large", "Standard output cannot be written: File too large."),
        ("--alt > /dev/full", "Standard output cannot be written: No space left on device."),
    ])
    func saysWhyItCannot(redirection: String, reason: String) async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let command = "cd '\(folder.path)'; ulimit -f 10; \"$0\" --size 256 \(redirection)"
            let result = try run("bash", ["-c", command, Programs.norrisCard], input: json("x"))
            #expect(result.status == 74)
            #expect(result.errors == "norris-card: \(reason)\n")
        }
    }

    @Test func waitsForInputThatDoesNotBlock() async throws {
        try await TestThread.run {
            let script = """
                import os, subprocess, sys
                ours, theirs = os.pipe()
                os.set_blocking(ours, False)
                card = subprocess.Popen([sys.argv[1], "--alt"], stdin=ours)
                # Until it sleeps: there was nothing to read.
                while open(f"/proc/{card.pid}/stat").read().rpartition(")")[2].split()[0] != "S": pass
                os.write(theirs, sys.stdin.buffer.read())
                os.close(theirs)
                sys.exit(card.wait())
                """
            let result = try run("/usr/bin/python3", ["-c", script, Programs.norrisCard], input: json("x"))
            #expect(result.status == 0, "\(result)")
            #expect(result.output.hasSuffix("with the words: x\n"))
        }
    }

    @Test func aClosedPipeIsNoError() async throws {
        try await TestThread.run {
            let command = "\"$0\" --size 256 | head -c 9 > /dev/null; echo ${PIPESTATUS[0]}"
            let result = try run("bash", ["-c", command, Programs.norrisCard], input: json("x"))
            #expect(result.output == "0\n")
            #expect(result.errors == "")
        }
    }
}
