import Foundation
import Glibc
import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

struct SandboxTests {
    /// Runs the program that tries what norris-fetch does not.
    ///
    /// - Parameter words: before the program's own arguments; such as the program itself, to run it in another way.
    private func probe(_ mode: String..., through words: [String] = []) throws -> ProgramResult {
        let folder = TemporaryFolder()
        let file = try folder.write("secret", to: "state.db")
        return try run(Programs.norrisSandboxProbe, words + [file, folder.path] + mode)
    }

    @Test func nothingIsLeftButDecodingAndTheInternet() throws {
        let result = try probe()
        // Without Landlock, which some containers refuse, files can be read.
        #expect(Set(result.lines).subtracting(["read"]) == ["thread", "internet", "system"], "\(result)")
        let endless = try probe("endless")
        #expect(endless.status == 128 + SIGXCPU, "\(endless)")
    }

    @Test func withoutLandlockFilesCanBeReadAndNoMore() throws {
        // 444 is landlock_create_ruleset(2).
        let result = try probe(through: ["refusing", "444", Programs.norrisSandboxProbe])
        #expect(result.lines == ["thread", "internet", "system", "read"], "\(result)")
    }

    @Test func whatTheSandboxRefusesIsPossibleOutside() throws {
        let result = try probe("outside")
        #expect(result.lines.count > 20 && !result.lines.contains { $0.hasPrefix("no ") }, "\(result)")
    }

    /// 157 is prctl(2) of x86_64, and 167 of aarch64.
    @Test func aRefusedLimitIsAFailure() throws {
        #if arch(x86_64)
            let number = "157"
        #else
            let number = "167"
        #endif
        let result = try run(
            Programs.norrisSandboxProbe, ["refusing", number, Programs.norrisFetch, "feed", "http://127.0.0.1:1/"])
        #expect(result.status == 71 && result.errors.contains("cannot limit itself: prctl failed"), "\(result)")
    }

    /// A stop of the unit sends SIGTERM to norris-fetch too, if a drop-in changes `KillMode=`.
    @Test func onlyNorrisdEndsIt() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.setFault(.hang)
        var request = FetchRequest(.feed, url: upstream.baseURL + "/feed")
        request.parent = Int(getpid())
        let folder = TemporaryFolder()
        let process = try ChildProcess(
            Programs.norrisFetch, [], input: try folder.write(request.jsonText + "\n", to: "in"))
        await eventually { !upstream.requests.isEmpty }
        let status = try String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)
        let ignored = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") }?.suffix(16))
        #expect(try #require(UInt64(ignored, radix: 16)) & 1 << UInt64(SIGTERM - 1) != 0)
        await upstream.stop()
    }

    @Test func itEndsWithItsParent() throws {
        var request = FetchRequest(.feed, url: "http://127.0.0.1:1/")
        // Another process than the one that starts it.
        request.parent = 1
        let result = try run(Programs.norrisFetch, input: request.jsonText + "\n")
        #expect(result.output.isEmpty && result.status == 75, "\(result)")
    }

    private static let document = """
        <rss version="2.0"><channel><title>N</title><item><guid>1</guid><title>Note</title></item></channel></rss>
        """

    @Test func aDocumentIsDecodedByHand() throws {
        let result = try run(Programs.norrisFetch, ["decode", "feed"], input: Self.document)
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.count == 3 && result.lines[1].contains(#""title":"Note""#), "\(result)")
    }

    @Test(
        arguments: [
            (["feeds", "http://localhost/"], 64, "feeds"), (["feed"], 64, "Which"),
            (["decode", "facts"], 64, "facts"), (["feed", "ftp://localhost/"], 75, "not an http or https URL"),
            (["decode", "feed"], 75, "empty document"), (["--help"], 0, "norris-fetch decode feed"),
            (["--version"], 0, "norris-fetch "),
        ] as [([String], Int32, String)])
    func arguments(arguments: [String], status: Int32, text: String) throws {
        let result = try run(Programs.norrisFetch, arguments)
        #expect(result.status == status, "\(result)")
        #expect((result.errors + result.output).contains(text), "\(result)")
    }

    @Test(arguments: ["", "{}", "[]", "garbage", #"{"version":"0","kind":"feed"}"#])
    func aRequestThatCannotBeReadIsAFailure(line: String) throws {
        let result = try run(Programs.norrisFetch, input: line + "\n")
        #expect(result.status == 0 && result.lines.count == 2, "\(result)")
        #expect(result.lines.first?.contains(#""failure":{"kind":"decode""#) == true, "\(result)")
    }

    @Test func anotherVersionIsNamed() throws {
        var request = FetchRequest(.feed, url: "http://127.0.0.1:1/")
        request.version = "0.0.1"
        let result = try run(Programs.norrisFetch, input: request.jsonText + "\n")
        #expect(result.output.contains("restart norrisd"), "\(result)")
        #expect(result.output.contains(#""retryable":true"#), "\(result)")
    }
}
