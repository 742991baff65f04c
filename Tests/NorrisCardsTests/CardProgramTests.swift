import Foundation
import NorrisArguments
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisCards

/// The built program, with fonts from the Debian packages fonts-inter, fonts-noto-core and fonts-noto-cjk.
struct CardProgramTests {
    private func draw(
        _ input: String, _ arguments: [String] = ["--size", "256"], environment: [String: String] = [:]
    ) throws -> ProgramResult { try run(Programs.norrisCard, arguments, input: input, environment: environment) }

    private func json(_ text: String) -> String { String(decoding: fact(text).jsonBytes, as: UTF8.self) }

    @Test func writesThePictureThatTheLibraryDraws() async throws {
        try await TestThread.run {
            let result = try draw(json("Chuck Norris counted to infinity."))
            #expect((result.status, result.errors) == (0, ""))
            let png = try Card(fact: fact("Chuck Norris counted to infinity."), options(["--size", "256"])).png()
            #expect(result.output == String(decoding: png, as: UTF8.self))
        }
    }

    /// The locale of Marathi selects other forms of some Devanagari letters than the locale of Hindi.
    @Test(
        "Another locale changes no byte",
        arguments: [
            ["LANG": "mr_IN.UTF-8", "LANGUAGE": "mr_IN"], ["FC_LANG": "ja", "LC_ALL": "ja_JP.UTF-8"],
            ["LANG": "ar", "LC_ALL": "tr_TR.UTF-8"],
        ])
    func localeDoesNotMatter(environment: [String: String]) async throws {
        try await TestThread.run {
            let text = json("शल ५८ झ 骨直 IiÄ 123 عدّ \u{10FFFD}")
            let plain = try draw(text)
            #expect(plain.status == 0)
            #expect(try draw(text, environment: environment).output == plain.output)
        }
    }

    private static func input(_ text: String) -> String {
        #"{"id":"1","text":"\#(text)","categories":[],"source":"text"}"#
    }

    @Test(
        "Each error is one line and has an exit status",
        arguments: [
            ("", "256", 65, "Standard input is not a fact: The JSON ends too early, at byte 0."),
            (input(" \\n\\t"), "256", 65, "The fact's text has no visible characters"),
            (
                input(String(repeating: "x", count: 10_001)), "256", 65,
                "The fact's text is longer than 10000 characters"
            ), (input(String(repeating: "a\\n", count: 5_000)), "256", 65, "The fact's text has too many lines"),
            (
                input("a"), "255", 64,
                "The value '255' is invalid for '--size <n>': it takes a whole number from 256 to 4096."
            ),
        ])
    func refuses(input: String, size: String, status: Int32, message: String) async throws {
        try await TestThread.run {
            let result = try draw(input, ["--size", size])
            #expect((result.status, result.output) == (status, ""))
            #expect(result.errors.hasPrefix("norris-card: \(message)"))
            #expect(result.errors.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        }
    }

    @Test func saysThatThereIsNoFont() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let configuration = try folder.write("<fontconfig></fontconfig>", to: "fonts.conf")
            let result = try draw(json("x"), environment: ["FONTCONFIG_FILE": configuration])
            #expect((result.status, result.output) == (69, ""))
            #expect(result.errors == "norris-card: No font is installed; install one, such as Debian's fonts-inter.\n")
        }
    }
}

struct CardRequestTests {
    @Test func readsOptions() throws {
        let usual = try options([])
        #expect(usual.size == 1080 && !usual.isPoster && !usual.isText && !usual.leavesOutText)
        #expect(try options(["--size=300", "--size=4096"]).size == 4096)
        #expect(try options(["--aspect", "16:9"]).size == 1920 && options(["--aspect", "9:16"]).size == 1080)
        #expect(try options(["--no-tags"]).shared.leavesOutTags)
        #expect(try options(["--alt"]).isText)
        let poster = try options(["--style=poster", "--headline=-x"])
        #expect(poster.isPoster && poster.shared.headline == "-x")
        #expect(try options(["--style=poster", "--style=scenic"]) == options(["--style=scenic"]))
        let others = try options(["--aspect", "9:16", "--scene=sea", "--look", "3", "--name", "Ada", "--no-text"])
        #expect(others.shared.aspect == .story && others.shared.scene == .sea && others.look == 3)
        #expect(others.name == "Ada" && others.leavesOutText)
        #expect(try CardRequest(arguments: ["--version", "--what"]) == .version)
        #expect(try CardRequest(arguments: ["--help"]) == .help)
        #expect(try CardRequest(arguments: ["-h"]) == .help)
    }

    @Test(
        "Unknown arguments are refused",
        arguments: [
            ["--tags"], ["card.png"], ["--size"], ["-"], ["--alt=1"], ["--style"], ["--style", "Poster"],
            ["--headline=x"],
            ["--style=poster", "--headline="], ["--style=poster", "--headline", "a headline that is too long"],
        ])
    func refusesTheUnknown(arguments: [String]) {
        let error = #expect(throws: CardError.self) { try CardRequest(arguments: arguments) }
        #expect(error?.status == 64)
    }
}
