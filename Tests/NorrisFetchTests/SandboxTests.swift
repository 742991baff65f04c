import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

struct SandboxTests {
    /// Tried by another program, because norris-fetch tries none of it.
    @Test func nothingIsLeftButDecodingAndTheInternet() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("secret", to: "state.db")
        let result = try run(Programs.norrisSandboxProbe, [file, folder.path])
        // Without Landlock, which some containers refuse, files can be read.
        #expect(Set(result.lines).subtracting(["read"]) == ["thread", "internet", "system"], "\(result)")
        let endless = try run(Programs.norrisSandboxProbe, [file, folder.path, "endless"])
        #expect(endless.status == 128 + SIGXCPU, "\(endless)")
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
    }
}
