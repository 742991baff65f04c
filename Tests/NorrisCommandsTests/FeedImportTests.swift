import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

/// `norrisctl feed import`, against a scripted daemon. The transcripts have the other commands.
struct FeedImportTests {
    /// The output of norris-fetch for a list of feeds.
    private static let feeds = #"""
        {"age":0,"skipped":0,"repairs":0,"authors":[],"categories":[]}
        {"title":"../../x","url":"https://a.example/feed?x=1&y=2"}
        {"title":"B","url":"https://b.example/'1'"}
        {"title":"again","url":"https://a.example/feed?x=1&y=2"}
        {"title":"local","url":"file:///etc/passwd"}
        {"end":4}

        """#

    private func importing(
        _ replies: Result<[UInt8], ClientError>..., sources: String = "", feeds: String = Self.feeds
    ) -> Machine {
        let machine = Machine([Machine.reply(#"{"items":[\#(sources)]}"#)] + replies)
        machine.files["/f.opml"] = Array("<opml/>".utf8)
        machine.programs["/opt/libexec/norris-fetch"] = [.ended(status: 0, output: Array(feeds.utf8))]
        return machine
    }

    @Test func importsEachFeedAndSumsUp() {
        let error = SourceFailure(kind: .offline, message: "No route to b.example.", since: Machine.now)
        var refusal = ResponseError.nothingCached(error.message, source: "b", lastError: error)
        refusal.hint = "Nothing was added."
        let failure = Machine.reply(refusal)
        let machine = importing(
            Machine.reply(#"{"name":"x","added":true}"#), failure, Machine.reply(#"{"name":"x","added":false}"#),
            Machine.reply(.invalidParams("file:///etc/passwd is no address.", parameter: "url")))
        (machine.isErrorTerminal, machine.delay) = (true, .seconds(2))
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(
            outcome.status == .temporary && outcome.output == "1 added, 1 already there, 2 not added\n", "\(outcome)")
        #expect(outcome.errors.contains("of 4 fetched"))
        #expect(outcome.errors.contains("norrisctl: Not added: https://b.example/'1': No route to b.example.\n"))
        #expect(
            machine.requests[1].jsonText.contains(#""name":"x""#)
                && machine.requests[3].jsonText.contains(#""name":"again""#))
    }

    @Test(
        "Says the address of a feed once",
        arguments: [
            ("HTTP 404 from a.example/feed.", "https://a.example/feed?x=1&y=2: HTTP 404."),
            ("HTTP 404 from a.example/feed: No such feed.", "https://a.example/feed?x=1&y=2: HTTP 404: No such feed."),
            ("a.example/feed is gone (HTTP 410).", "https://a.example/feed?x=1&y=2 is gone (HTTP 410)."),
            ("HTTP 404 from b.example/new.", "https://a.example/feed?x=1&y=2: HTTP 404 from b.example/new."),
        ]) func saysTheAddressOnce(message: String, line: String)
    {
        let error = SourceFailure(kind: .http, message: message, since: Machine.now)
        let known = Machine.reply(#"{"name":"x","added":false}"#)
        let failure = Machine.reply(.nothingCached(message, source: "x", lastError: error))
        let outcome = importing(failure, known, known, known).run("feed", "import", "/f.opml")
        #expect(outcome.errors == "norrisctl: Not added: \(line)\n")
    }

    private static let tagged = """
        {"age":0,"skipped":0,"repairs":0,"authors":[],"categories":[]}
        {"title":"Planet Debian","url":"https://a.example/","tags":["linux","debian"]}
        {"end":1}

        """

    @Test func anImportKeepsTitlesAndTags() {
        let machine = importing(Machine.reply(#"{"name":"planet-debian","added":true}"#), feeds: Self.tagged)
        _ = machine.run("feed", "import", "/f.opml", "--tag", "New", "--tag", "linux", "--unread", "0")
        let request = machine.requests[1].jsonText
        #expect(request.contains(#""unread":0,"title":"Planet Debian","tags":["linux","debian","new"]"#), "\(request)")
        #expect(request.contains(#""name":"planet-debian""#))
    }

    @Test("The tags of a known feed are offered, unless the configuration has it", arguments: ["added", "config"])
    func tagsOfKnownFeeds(origin: String) {
        let source =
            #"{"name":"a","kind":"feed","url":"https://a.example/","origin":"\#(origin)","tags":["debian"],"items":1,"#
            + #""unread":0,"consecutive_failures":0,"article":false,"#
            + #""freshness":{"origin":"none","state":"empty","error":null}}"#
        let known = Machine.reply(#"{"name":"a","added":false}"#)
        let outcome = importing(known, sources: source, feeds: Self.tagged).run("feed", "import", "/f.opml")
        #expect(outcome.status == .done && outcome.output == "0 added, 1 already there\n", "\(outcome)")
        let isOffered = outcome.errors.hasSuffix("  norrisctl feed edit a --tag +linux\n")
        #expect(isOffered == (origin == "added"), "\(outcome)")
    }

    @Test func anImportThatBreaksOffSaysWhatWasAdded() {
        let machine = importing(Machine.reply(#"{"name":"x","added":true}"#))
        machine.reply(.failure(.timedOut(path: "/s")))
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(outcome.status == .unavailable && outcome.output == "1 added\n", "\(outcome)")
        #expect(outcome.errors.contains("did not answer within 10m"))
        #expect(outcome.errors.hasSuffix("  It is safe to import the file again.\n"))
    }

    @Test func anAddressIsDownloadedFirst() {
        let outcome = Machine().run("feed", "import", "https://e.org/f.opml")
        #expect(outcome.status == .usage)
        #expect(outcome.errors.contains("curl -fsS https://e.org/f.opml | norrisctl feed import -"), "\(outcome)")
    }

    @Test func theStatusSaysWhetherAnyWasAdded() {
        let failure = Machine.reply(.nothingCached("Away.", source: "b", lastError: nil))
        #expect(importing(failure, failure, failure, failure).run("feed", "import", "/f.opml").status == .nothing)
        let known = Machine.reply(#"{"name":"x","added":false}"#)
        #expect(importing(known, known, known, known).run("feed", "import", "/f.opml").status == .done)
        let denied = importing(Machine.reply(.permissionDenied))
        #expect(denied.run("feed", "import", "/f.opml").status == .notPermitted && denied.methods.count == 2)
    }

    @Test func theProcessThatReadsDocumentsReadsTheList() {
        let machine = Machine()
        machine.input = Array("<html/>".utf8)
        machine.programs["/opt/libexec/norris-fetch"] = [
            .ended(status: 75, output: Array("norris-fetch: It is not OPML.\n".utf8))
        ]
        let outcome = machine.run("feed", "import", "-")
        #expect(outcome.status == .usage)
        #expect(outcome.errors.contains("Standard input cannot be imported: It is not OPML."), "\(outcome.errors)")
        #expect(machine.runs.map(\.program) == ["/opt/libexec/norris-fetch"])
        #expect(machine.runs.last?.arguments == ["decode", "opml"])
        #expect(machine.runs.first?.input == Array("<html/>".utf8))
        machine.input = Array(repeating: 0x20, count: 10 << 20 | 1)
        #expect(machine.run("feed", "import", "-").errors.contains("is larger than 10 MiB"))
        (machine.input, machine.programs) = ([], ["/opt/libexec/norris-fetch": [.missing]])
        #expect(machine.run("feed", "import", "-").errors.contains("norris-fetch is not installed"))
    }
}

struct SourceNameTests {
    @Test(
        arguments: [
            (nil, "https://www.planet.example/rss.xml", [], "planet-example"),
            ("My Blog!", "https://x.example/", [], "my-blog"),
            ("日本", "https://x.example/", [], "x-example"),
            (nil, "https://u:p@x.example:8080/a?b", [], "x-example-8080"),
            (nil, "https://x.example/a", ["x-example"], "x-example-a"),
            (nil, "https://x.example/", ["x-example"], "x-example-2"), ("facts", "https://facts/", [], "facts-2"),
        ] as [(String?, String, Set<String>, String)])
    func names(title: String?, url: String, taken: Set<String>, name: String) {
        #expect(SourceName.make(title: title, url: url, taken: taken) == name)
        #expect(SourceName.isValid(name))
    }
}
