import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import Testing

/// `norrisctl feed add`, `remove`, `import` and `export`, against a scripted daemon.
struct FeedSourceTests {
    private let url = "https://planet.example/rss.xml"
    private let file = "/etc/norrisd/sources.d/planet-example.yaml"
    private static let reloaded = Machine.result("{}", id: 2)

    /// A machine whose daemon has the sources, and reports events after a reload.
    ///
    /// - Parameters:
    ///   - known: the sources that exist before, as a JSON list.
    ///   - replies: the replies after the list of sources; the first is the status after the reload.
    private func machine(known: String = "[]", _ replies: String..., events: Event...) -> Machine {
        let machine = Machine()
        let info = """
            {"name":"norrisd","version":"0.1.0","protocol":1,"capabilities":[],"pid":7,\
            "started_at":"2026-11-21T11:00:00Z","config_path":"/etc/norrisd/config.yaml"}
            """
        for reply in [info, #"{"items":\#(known)}"#] + replies {
            machine.reply(.success(Array(Machine.result(reply).utf8)))
        }
        machine.programs["/opt/libexec/norrisd"] = [.ended(status: 0), .ended(status: 0)]
        machine.stream = [Machine.result(#"{"topics":["source"]}"#), Self.reloaded] + events.map(Machine.line)
        return machine
    }

    private static func status(_ names: String...) -> String {
        var status = ServerStatus.Result()
        status.sources = names.map {
            SourceStatus(
                name: $0, kind: "feed", isEnabled: true, items: 0, freshness: Freshness(origin: .none, state: .stale))
        }
        return status.jsonText
    }

    private let status = FeedSourceTests.status("planet-example")
    private let finished = Event.source("planet-example", .finished, items: 30, at: Machine.now)
    private let post =
        #"{"items":[{"id":"p:1","source":"planet-example","author":{"id":"a","name":"Ada"},"text":"Hello","tags":[],"images":[],"stats":{},"read":false}]}"#

    private func failed(_ failure: SourceFailure, _ name: String = "planet-example") -> Event {
        .source(name, .failed, error: failure, at: Machine.now)
    }

    private let webPage = SourceFailure(
        kind: .decode, message: "Not a feed (text/html).", since: Machine.now, feedURL: "https://planet.example/feed'1")
    private let offline = SourceFailure(kind: .offline, message: "No route to planet.example.", since: Machine.now)

    private func text(_ machine: Machine, _ file: String) -> String? {
        machine.writtenFiles[file].map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: add

    @Test func addsOneFileAndShowsTheNewestPost() {
        let machine = machine(status, post, events: finished).onTerminal()
        let outcome = machine.run("feed", "add", url, "--refresh", "2h")
        #expect(outcome.status == .done, "\(outcome)")
        #expect(outcome.output.hasPrefix("added: planet-example\n\n") && outcome.output.contains("Hello"))
        #expect(text(machine, file) == "kind: feed\nurl: '\(url)'\nrefresh: 2h\n")
        #expect(machine.runs.last?.arguments == ["--check-config", "--config", file])
        #expect(
            machine.methods == [
                "server.info", "post.sources", "event.subscribe", "server.reload", "server.status", "post.list",
            ])
        #expect(machine.removedFiles.isEmpty)
    }

    @Test func aPipeGetsTheNameOnly() {
        let machine = machine(status, post, events: finished)
        #expect(
            machine.run("feed", "add", url, "--json").output
                == #"{"name":"planet-example","url":"\#(url)","path":"\#(file)"}"# + "\n")
        let other = self.machine(Self.status("p"), post, events: .source("p", .finished, at: Machine.now))
        #expect(other.run("feed", "add", url, "--name", "p") == Outcome(output: "added: p\n"))
    }

    @Test func aFetchThatWasFasterThanTheAnswerCounts() {
        // The event precedes the reply of the reload.
        let machine = machine(status, post)
        machine.stream = [Machine.result(#"{"topics":[]}"#), Machine.line(finished), Self.reloaded]
        #expect(machine.run("feed", "add", url).status == .done)
    }

    @Test func asksBeforeAnotherAddressIsUsed() {
        let machine = machine(status, status, post, events: failed(webPage))
        machine.laterStreams = [[Machine.result("{\"topics\":[]}"), Self.reloaded, Machine.line(finished)]]
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, ["y"])
        let outcome = machine.run("feed", "add", url)
        #expect(outcome.status == .done, "\(outcome)")
        #expect(
            outcome.errors.split { $0.isWhitespace }.joined(separator: " ").contains(
                "\(url) is a web page. Its feed is https://planet.example/feed'1. Use it? [Y/n]"), "\(outcome.errors)")
        #expect(text(machine, file) == "kind: feed\nurl: 'https://planet.example/feed''1'\n")
    }

    @Test func aWebPageLeavesNothingBehindWithoutATerminal() {
        let machine = machine(status, "{}", events: failed(webPage))
        #expect(
            machine.run("feed", "add", url, "--name", "planet-example")
                == .failed(
                    .usage,
                    "\(url) is a web page, so nothing was added. Its feed is https://planet.example/feed'1.",
                    "Add it: norrisctl feed add 'https://planet.example/feed'\\''1' --name planet-example"))
        #expect(machine.removedFiles == [file])
        #expect(machine.methods.last == "server.reload")
    }

    @Test func noMeansNothing() {
        let machine = machine(status, "{}", events: failed(webPage))
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, ["n"])
        let outcome = machine.run("feed", "add", url)
        #expect(outcome.status == .nothing && outcome.errors.hasSuffix("norrisctl: Nothing was added.\n"))
        #expect(machine.removedFiles == [file] && machine.methods.last == "server.reload")
    }

    @Test func aHostThatIsAwayStays() {
        let machine = machine(status, events: failed(offline))
        let outcome = machine.run("feed", "add", url)
        #expect(outcome.status == .temporary && outcome.output == "added: planet-example\n")
        #expect(outcome.errors.contains("planet-example: offline: No route to planet.example"))
        #expect(outcome.errors.contains("norrisctl feed remove planet-example"))
        #expect(machine.removedFiles.isEmpty)
    }

    @Test func whatIsNoFeedIsRemoved() {
        let failure = SourceFailure(kind: .decode, message: "Not a feed (image/png).", since: Machine.now)
        let machine = machine(status, "{}", events: failed(failure))
        let outcome = machine.run("feed", "add", url)
        #expect(outcome.status == .nothing && outcome.errors.contains("is not a feed, so nothing was added"))
        #expect(machine.removedFiles == [file])
    }

    @Test func aSourceThatExistsIsNotAddedAgain() {
        let known =
            #"[{"name":"planet","kind":"feed","url":"https://planet.example/rss.xml","items":1,"unread":0,"freshness":{"origin":"none","state":"empty","error":null}}]"#
        let same = machine(known: known)
        same.stream = []
        #expect(
            same.run("feed", "add", url)
                == .failed(
                    .done, "You already have this feed: its name is \"planet\".",
                    "Read it: norrisctl feed --source planet"))
        // The daemon leaves out the query, which the file has.
        let other = machine(known: known, Self.status("planet-example"), post, events: finished)
        other.files["/etc/norrisd/sources.d/planet.yaml"] = NewSource(name: "planet", url: url + "?all=1").file
        #expect(other.run("feed", "add", url).output == "added: planet-example\n")
        let named = machine(known: known)
        named.stream = []
        #expect(named.run("feed", "add", "https://b.example", "--name", "planet").status == .usage)
    }

    @Test(arguments: [
        ("planet.example", "Did you mean 'norrisctl feed add https://planet.example'?"), ("ftp://a.example", "."),
        ("https://a.example/ü", "."), ("https://", "."), ("https://a.example/a b", "."), ("a\nkind: feed", "."),
    ]) func refusesOtherAddresses(address: String, words: String) {
        let outcome = Machine().run("feed", "add", address)
        #expect(outcome.status == .usage && outcome.errors.contains(words), "\(outcome)")
    }

    @Test(arguments: ["../x", "X", "a.b", "", "a b", String(repeating: "a", count: 41)])
    func refusesNamesThatAreNone(name: String) {
        #expect(Machine().run("feed", "add", url, "--name", name).status == .usage)
        #expect(!NewSource.isName(name))
    }

    @Test func aFailedCheckLeavesNothingBehind() {
        let machine = machine()
        machine.stream = []
        machine.programs["/opt/libexec/norrisd"] = [
            .ended(status: 78, output: Array("norrisd: line 2: url: bad\n".utf8))
        ]
        #expect(
            machine.run("feed", "add", url)
                == Outcome(
                    errors: "line 2: url: bad\nnorrisctl: The source has faults, so nothing was added.\n",
                    status: .configuration))
        #expect(machine.removedFiles == [file])
    }

    @Test func aRefusedReloadLeavesNothingBehind() {
        let machine = machine()
        machine.stream[1] =
            #"{"jsonrpc":"2.0","id":2,"error":{"code":-32003,"message":"server.reload needs an administrator","data":{"reason":"permission_denied"}}}"#
        let outcome = machine.run("feed", "add", url)
        #expect(outcome.status == .notPermitted)
        #expect(machine.removedFiles == [file])
    }

    @Test func aDaemonThatGoesAwayLeavesNothingBehind() {
        let machine = machine()
        machine.stream.removeLast()
        let outcome = machine.run("feed", "add", url)
        #expect(outcome.status == .unavailable && outcome.errors.contains("connection to norrisd"), "\(outcome)")
        #expect(machine.removedFiles == [file])
        // After the reload the source exists.
        let later = self.machine(status)
        let kept = later.run("feed", "add", url)
        #expect(kept.status == .unavailable && kept.output == "added: planet-example\n")
        #expect(later.removedFiles.isEmpty)
    }

    @Test func aSourceThatTheDaemonCannotReadIsRemoved() {
        let machine = machine(Self.status(), "{}")
        #expect(machine.run("feed", "add", url).status == .configuration)
        #expect(machine.removedFiles.contains(file))
    }

    @Test(arguments: [(EACCES, ExitStatus.notPermitted), (ENOSPC, .inputOutput), (EROFS, .inputOutput)])
    func aFolderThatCannotBeWritten(code: Int32, status: ExitStatus) {
        for path in ["/etc/norrisd/sources.d", file] {
            let machine = machine()
            machine.stream = []
            machine.fileWriteErrors[path] = SystemError("open", code: code)
            let outcome = machine.run("feed", "add", url)
            #expect(outcome.status == status && outcome.errors.contains(path))
            if code == EACCES { #expect(outcome.errors.contains("Run: sudo norrisctl feed add \(url)")) }
            #expect(machine.writtenFiles.isEmpty && machine.runs.isEmpty)
        }
    }

    @Test(
        arguments: [
            (nil, "https://www.planet.example/rss.xml", [], "planet-example"),
            (nil, "https://me:pw@planet.example:8080/a", [], "planet-example-8080"),
            (nil, "https://planet.example/~ada/feed.xml", ["planet-example"], "planet-example-ada-feed-xml"),
            (nil, "https://a.example", ["a-example"], "a-example-2"), ("../../x", "https://a.example", [], "x"),
            ("facts", "https://a.example", [], "a-example"), ("日本語", "https://a.example", [], "a-example"),
            ("Ada's  Blög", "https://a.example", [], "ada-s-bl-g"), ("日本語", "https://[::1]/", [], "1"),
            (String(repeating: "ab-", count: 900), "https://a.example", [], String(repeating: "ab-", count: 13)),
        ] as [(String?, String, [String], String)]) func namesAreValidAndUnique(
            title: String?, url: String, taken: [String], name: String
        )
    {
        let found = NewSource.name(title: title, url: url, taken: Set(taken))
        #expect(found.hasPrefix(name) && NewSource.isName(found) && found.utf8.count <= name.utf8.count + 1, "\(found)")
    }

    @Test func anAddressAfterFeedIsAddedWithAdd() {
        let outcome = Machine().run("feed", url)
        #expect(outcome.status == .usage && outcome.errors.contains("Did you mean 'norrisctl feed add \(url)'?"))
    }

    // MARK: remove

    @Test func removesTheFileOnly() {
        let machine = Machine()
        let info =
            #"{"name":"norrisd","version":"0.1.0","protocol":1,"capabilities":[],"pid":7,"started_at":"2026-11-21T11:00:00Z","config_path":"/etc/norrisd/config.yaml"}"#
        machine.files[file] = [1]
        for reply in [info, "{}"] { machine.reply(.success(Array(Machine.result(reply).utf8))) }
        #expect(machine.run("feed", "remove", "planet-example") == Outcome(output: "removed: planet-example\n"))
        #expect(machine.files.isEmpty && machine.methods == ["server.info", "server.reload"])

        for reply in [info, status] { machine.reply(.success(Array(Machine.result(reply).utf8))) }
        let configured = machine.run("feed", "rm", "planet-example")
        #expect(configured.status == .usage && configured.errors.contains("norrisctl config edit"))
        for reply in [info, status] { machine.reply(.success(Array(Machine.result(reply).utf8))) }
        #expect(machine.run("feed", "remove", "../config").status == .nothing)
        machine.files[file] = [1]
        machine.fileWriteErrors[file] = SystemError("open", code: EACCES)
        machine.reply(.success(Array(Machine.result(info).utf8)))
        let refused = machine.run("feed", "remove", "planet-example")
        #expect(refused.errors.contains("Run: sudo norrisctl feed remove planet-example"))
        #expect(machine.files[file] != nil)
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

    private func addList(to machine: Machine) {
        machine.files["/f.opml"] = Array("<opml/>".utf8)
        machine.programs["/opt/libexec/norris-fetch"] = [.ended(status: 0, output: Array(Self.feeds.utf8))]
    }

    @Test func importsEachFeedOnce() {
        let a = Event.source("x", .finished, at: Machine.now)
        let machine = machine(Self.status("x", "b"), events: a, failed(offline, "b"))
        addList(to: machine)
        (machine.isErrorTerminal, machine.delay) = (true, .seconds(2))
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(outcome.status == .temporary && outcome.output == "2 added, 1 already there\n", "\(outcome)")
        #expect(outcome.errors.contains("1 of 2 fetched"))
        #expect(outcome.errors.contains("b: No route to planet.example."))
        #expect(outcome.errors.contains("file:///etc/passwd"))
        #expect(text(machine, "/etc/norrisd/sources.d/x.yaml") == "kind: feed\nurl: 'https://a.example/feed?x=1&y=2'\n")
        #expect(text(machine, "/etc/norrisd/sources.d/b.yaml") == "kind: feed\nurl: 'https://b.example/''1'''\n")
        #expect(machine.writtenFiles.count == 2)
        #expect(machine.methods.count { $0 == "server.reload" } == 1)
    }

    @Test func asksOnceAboutWebPages() {
        let machine = machine(
            Self.status("x", "b"), Self.status("x", "b"), events: failed(webPage, "x"),
            .source("b", .finished, at: Machine.now))
        let finished = Event.source("x", .finished, at: Machine.now)
        machine.laterStreams = [[Machine.result("{\"topics\":[]}"), Self.reloaded, Machine.line(finished)]]
        addList(to: machine)
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, [""])
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(outcome.errors.contains("1 address is a web page. Use the feed it names? [Y/n]"), "\(outcome)")
        #expect(outcome.status == .done)
        #expect(text(machine, "/etc/norrisd/sources.d/x.yaml")?.contains("feed''1") == true)
    }

    @Test func webPagesAreLeftOutWithoutATerminal() {
        let machine = machine(
            Self.status("x", "b"), "{}", events: failed(webPage, "x"), .source("b", .finished, at: Machine.now))
        addList(to: machine)
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(outcome.output == "1 added, 1 already there\n")
        #expect(outcome.errors.contains("Add its feed: norrisctl feed add"))
        #expect(machine.removedFiles == ["/etc/norrisd/sources.d/x.yaml"])
    }

    @Test func writesAllFilesOrNone() {
        let machine = machine()
        machine.stream = []
        addList(to: machine)
        machine.fileWriteErrors["/etc/norrisd/sources.d/b.yaml"] = SystemError("write", code: ENOSPC)
        let outcome = machine.run("feed", "import", "/f.opml")
        #expect(outcome.status == .inputOutput && outcome.errors.contains("No space left on device"))
        #expect(machine.removedFiles == ["/etc/norrisd/sources.d/x.yaml"])
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
        #expect(machine.runs.map(\.program) == ["/opt/bin/norris-fetch", "/opt/libexec/norris-fetch"])
        #expect(machine.runs.last?.arguments == ["decode", "opml"])
        #expect(machine.runs.first?.input == .bytes(Array("<html/>".utf8)))
        machine.input = Array(repeating: 0x20, count: 10 << 20 | 1)
        #expect(machine.run("feed", "import", "-").errors.contains("is larger than 10 MiB"))
        machine.input = []
        #expect(machine.run("feed", "import", "-").errors.contains("norris-fetch is not installed"))
    }

    @Test func exportsCompleteAddressesOfFeedsOnly() throws {
        let source =
            #"{"name":"NAME","kind":"KIND","url":"https://NAME.example/","items":1,"unread":0,"freshness":{"origin":"none","state":"empty","error":null}}"#
        let sources = [("a", "feed"), ("b", "feed"), ("c", "mastodon")].map {
            source.replacing("NAME", with: $0.0).replacing("KIND", with: $0.1)
        }
        let machine = Machine(
            results: "{\"items\":[\(sources.joined(separator: ","))]}",
            #"{"name":"norrisd","version":"0.1.0","protocol":1,"capabilities":[],"pid":7,"started_at":"2026-11-21T11:00:00Z","config_path":"/etc/norrisd/config.yaml"}"#
        )
        machine.files["/etc/norrisd/sources.d/a.yaml"] = NewSource(name: "a", url: "https://a.example/?key=1").file
        let outcome = machine.run("feed", "export")
        #expect(outcome.output.contains(#"<outline type="rss" text="a" title="a" xmlUrl="https://a.example/?key=1"/>"#))
        #expect(outcome.output.contains(#"xmlUrl="https://b.example/"/>"#) && !outcome.output.contains("c.example"))
    }
}
