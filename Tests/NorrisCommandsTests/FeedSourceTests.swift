import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

/// `norrisctl feed add`, `remove`, `import` and `export`, against a scripted daemon.
struct FeedSourceTests {
    private let url = "https://planet.example/rss.xml"
    private static let post =
        #"{"items":[{"id":"p:1","source":"planet-example","author":{"id":"a","name":"Ada"},"text":"Hello","tags":[],"images":[],"stats":{},"read":false}]}"#
    private static let added = #"{"name":"planet-example","added":true,"items":30}"#

    private func page(_ feeds: String...) -> [UInt8] {
        var error = ResponseError.invalidParams("\(url) is a web page, so nothing was added.", parameter: "url")
        error.details["feed_urls"] = .array(feeds.map(JSON.string))
        return Array(Response(id: .integer(1), outcome: .failure(error)).jsonText.utf8)
    }

    private func machine(_ replies: [UInt8]...) -> Machine { Machine(replies.map { .success($0) }) }

    private func result(_ text: String) -> [UInt8] { Array(Machine.result(text).utf8) }

    // MARK: add

    @Test func addsWithOneRequestAndShowsTheNewestPost() {
        let machine = machine(result(Self.added), result(Self.post)).onTerminal()
        let outcome = machine.run("feed", "add", url, "--refresh", "2h", "--name", "planet-example")
        #expect(outcome.status == .done, "\(outcome)")
        #expect(outcome.output.hasPrefix("added: planet-example\n\n") && outcome.output.contains("Hello"))
        #expect(machine.methods == ["source.add", "post.list"])
        #expect(
            machine.requests.first?.jsonText.contains(
                #""params":{"url":"https://planet.example/rss.xml","name":"planet-example","refresh":"2h","wait":true}"#
            ) == true)
    }

    @Test func aPipeGetsTheNameOnly() {
        #expect(
            machine(result(Self.added), result(Self.post)).run("feed", "add", url)
                == Outcome(output: "added: planet-example\n"))
        #expect(
            machine(result(Self.added), result(Self.post)).run("feed", "add", url, "--json").output == Self.added + "\n"
        )
    }

    @Test func aKnownFeedIsNamed() {
        let outcome = machine(result(#"{"name":"p","added":false}"#), result(Self.post)).run("feed", "add", url)
        #expect(outcome.status == .done && outcome.output.isEmpty)
        #expect(outcome.errors.contains("You already have this feed: its name is \"p\"."))
    }

    @Test(arguments: [(["y"], ExitStatus.done, 3), (["n"], .nothing, 1)])
    func asksBeforeAFeedOfAPageIsUsed(answers: [String], status: ExitStatus, calls: Int) {
        let machine = machine(
            page("https://planet.example/feed'1", "https://planet.example/2"), result(Self.added), result(Self.post))
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, answers)
        let outcome = machine.run("feed", "add", url)
        let errors = outcome.errors.split { $0.isWhitespace }.joined(separator: " ")
        #expect(outcome.status == status && machine.methods.count == calls, "\(outcome)")
        #expect(errors.contains("\(url) is a web page. Its feed is https://planet.example/feed'1. Use it? [Y/n]"))
        #expect(errors.contains("It also names https://planet.example/2."))
        #expect(status == .done || errors.hasSuffix("norrisctl: Nothing was added."))
        guard status == .done else { return }
        #expect(machine.requests[1].jsonText.contains(#""url":"https://planet.example/feed'1""#))
    }

    @Test func withoutATerminalTheCommandsAreNamed() {
        let outcome = machine(page("https://planet.example/feed'1")).run("feed", "add", url, "--name", "p")
        #expect(
            outcome
                == .failed(
                    .usage, "\(url) is a web page, so nothing was added.",
                    "Add it: norrisctl feed add 'https://planet.example/feed'\\''1' --name p"))
        #expect(machine(page()).run("feed", "add", url).status == .usage)
    }

    @Test func aFailedFetchIsTold() {
        let failure = SourceFailure(kind: .offline, message: "No route to planet.example.", since: Machine.now)
        let machine = Machine(error: .nothingCached("No route to planet.example.", source: "p", lastError: failure))
        let outcome = machine.run("feed", "add", url)
        #expect(outcome.status == .temporary && outcome.errors.contains("No route to planet.example."), "\(outcome)")
        #expect(Machine(error: .permissionDenied).run("feed", "add", url).status == .notPermitted)
        #expect(Machine(failure: .timedOut(path: "/s")).run("feed", "add", url).status == .unavailable)
    }

    @Test func theDaemonHas30SecondsUnlessTheUserSaysOtherwise() {
        let machine = machine(result(Self.added), result(Self.post))
        _ = machine.run("feed", "add", url)
        #expect(machine.timeouts.first == .seconds(30))
        let other = self.machine(result(Self.added), result(Self.post))
        _ = other.run("feed", "add", url, "--timeout", "2m")
        #expect(other.timeouts.first == .seconds(120))
    }

    @Test(arguments: ["../x", "a b", "Ü", ""]) func aNameIsChecked(name: String) {
        let machine = Machine()
        #expect(machine.run("feed", "add", url, "--name", name).status == .usage && machine.requests.isEmpty)
    }

    // MARK: remove

    @Test func removes() {
        let machine = machine(result(#"{"removed":true}"#))
        #expect(machine.run("feed", "remove", "planet") == Outcome(output: "removed: planet\n"))
        #expect(machine.methods == ["source.remove"])
        #expect(
            self.machine(result(#"{"removed":false}"#)).run("feed", "rm", "x")
                == .failed(.nothing, "There is no source \"x\".", "List the sources: norrisctl feed sources"))
    }

    // MARK: import and export

    /// What norris-fetch prints for a list of feeds.
    private static let feeds = #"""
        {"age":0,"skipped":0,"repairs":0,"authors":[],"categories":[]}
        {"title":"../../x","url":"https://a.example/feed?x=1&y=2"}
        {"title":"B","url":"https://b.example/'1'"}
        {"title":"again","url":"https://a.example/feed?x=1&y=2"}
        {"title":"local","url":"file:///etc/passwd"}
        {"end":4}

        """#

    private func importing(_ replies: [UInt8]...) -> Machine {
        let machine = Machine(([result(#"{"items":[]}"#)] + replies).map { .success($0) })
        machine.files["/f.opml"] = Array("<opml/>".utf8)
        machine.programs["/opt/libexec/norris-fetch"] = [.ended(status: 0, output: Array(Self.feeds.utf8))]
        return machine
    }

    private func refusal(_ error: ResponseError) -> [UInt8] {
        Array(Response(id: .integer(1), outcome: .failure(error)).jsonText.utf8)
    }

    @Test func importsEachFeedAndSumsUp() {
        let failure = refusal(.nothingCached("No route to b.example.", source: "b", lastError: nil))
        let machine = importing(
            result(#"{"name":"x","added":true}"#), failure, result(#"{"name":"x","added":false}"#),
            refusal(.invalidParams("file:///etc/passwd is no address.", parameter: "url")))
        (machine.isErrorTerminal, machine.delay) = (true, .seconds(2))
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(
            outcome.status == .temporary && outcome.output == "1 added, 1 already there, 2 not added\n", "\(outcome)")
        #expect(outcome.errors.contains("of 4 fetched"))
        #expect(outcome.errors.contains("https://b.example/'1': No route to b.example."))
        #expect(outcome.errors.contains("norrisctl: file:///etc/passwd is no address."))
        #expect(
            machine.requests[1].jsonText.contains(#""name":"x""#)
                && machine.requests[3].jsonText.contains(#""name":"again""#))
    }

    @Test func anImportThatBreaksOffSaysWhatWasAdded() {
        let machine = importing(result(#"{"name":"x","added":true}"#))
        machine.reply(.failure(.timedOut(path: "/s")))
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(outcome.status == .unavailable && outcome.output == "1 added\n", "\(outcome)")
        #expect(outcome.errors.contains("did not answer within 10m"))
        #expect(outcome.errors.hasSuffix("  It is safe to import the file again.\n"))
    }

    @Test func theStatusSaysWhetherAnyWasAdded() {
        let failure = refusal(.nothingCached("Away.", source: "b", lastError: nil))
        #expect(importing(failure, failure, failure, failure).run("feed", "import", "/f.opml").status == .nothing)
        let known = result(#"{"name":"x","added":false}"#)
        #expect(importing(known, known, known, known).run("feed", "import", "/f.opml").status == .done)
        let denied = importing(refusal(.permissionDenied))
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

    @Test func exportsFeedsOnly() {
        let source =
            #"{"name":"NAME","kind":"KIND","url":"https://NAME.example/?a=<","origin":"added","items":1,"unread":0,"freshness":{"origin":"none","state":"empty","error":null}}"#
        let sources = [("a", "feed"), ("c", "mastodon")].map {
            source.replacing("NAME", with: $0.0).replacing("KIND", with: $0.1)
        }
        let outcome = machine(result("{\"items\":[\(sources.joined(separator: ","))]}")).run("feed", "export")
        #expect(
            outcome.output.contains(#"<outline type="rss" text="a" title="a" xmlUrl="https://a.example/?a=&lt;"/>"#))
        #expect(!outcome.output.contains("c.example"))
    }
}

struct SourceNameTests {
    @Test(
        arguments: [
            (nil, "https://www.planet.example/rss.xml", [], "planet-example"),
            ("My Blog!", "https://x.example/", [], "my-blog"),
            ("Über", "https://x.example/", [], "ber"), ("日本", "https://x.example/", [], "x-example"),
            (nil, "https://u:p@x.example:8080/a?b", [], "x-example-8080"),
            (nil, "https://x.example/a", ["x-example"], "x-example-a"),
            (nil, "https://x.example/", ["x-example"], "x-example-2"), ("facts", "https://facts/", [], "facts-2"),
        ] as [(String?, String, Set<String>, String)])
    func names(title: String?, url: String, taken: Set<String>, name: String) {
        #expect(SourceName.make(title: title, url: url, taken: taken) == name)
        #expect(SourceName.isValid(name))
    }
}
