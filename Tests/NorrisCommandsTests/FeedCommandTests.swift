import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct FeedCommandTests {
    private static let none = #"{"origin":"none","state":"empty","error":null}"#
    private static let failing = """
        {"origin":"none","state":"empty","error":{"kind":"offline","message":"No route.",\
        "since":"2026-11-21T11:00:00Z"}}
        """
    private let empty = #"{"items":[],"total":0,"freshness":\#(none)}"#

    private func source(
        _ name: String, kind: String = "mastodon", items: Int = 0, isEnabled: Bool = true, fetchedAt: Timestamp? = nil,
        failure: SourceFailure.Kind? = nil
    ) -> SourceStatus {
        SourceStatus(
            name: name, kind: kind, isEnabled: isEnabled, items: items,
            freshness: Freshness(
                origin: fetchedAt == nil ? .none : .cache, state: items == 0 ? .empty : .fresh, fetchedAt: fetchedAt,
                error: failure.map { kind in
                    SourceFailure(
                        kind: kind, message: "No route.",
                        since: Timestamp("2026-11-21T11:00:00Z")!,  // A literal that is a time.
                        retryAt: Timestamp("2026-11-21T12:05:00Z")
                    )
                }
            )
        )
    }

    private func status(_ sources: SourceStatus...) -> String {
        ServerStatus.Result(
            state: .ok, message: "m", uptimeSeconds: 1, connections: 1, requestsTotal: 1,
            sources: [
                source("facts", kind: "chucknorris", items: 9), source("gifs", kind: "giphy", items: 9),
            ] + sources,
            database: ServerStatus.Database(cacheBytes: 1, stateBytes: 1, isReadOnly: false),
            version: "0.1.0"
        ).jsonText
    }

    // MARK: What it shows

    @Test func printsTheWireResult() {
        let posts = page(post("town:1", "Good morning."), next: "c")
        #expect(Machine(results: posts).onTerminal().run("feed", "--json") == Outcome(output: posts + "\n"))
    }

    @Test func passesItsOptionsOn() {
        let machine = Machine(results: page(post("town:1", "x")))
        _ = machine.run("feed", "--source", "town", "--author", "@ada", "--unread", "--limit", "5", "--full")
        #expect(machine.parameters == [#"{"source":"town","author":"@ada","unread":true,"limit":5}"#])
        let dashed = Machine(results: page(post("town:1", "x")))
        _ = dashed.run("feed", "--author", "-x", "--source", "--full")
        #expect(dashed.parameters == [#"{"source":"--full","author":"-x"}"#])
    }

    @Test func cutsTextsUnlessAllIsWanted() {
        let posts = page(post("town:1", #"1\n2\n3\n4"#))
        #expect(Machine(results: posts).onTerminal().run("feed").output.contains("""
            1
            2
            3…
            norrisctl post town:1

            """))
        #expect(Machine(results: posts).onTerminal().run("feed", "--full").output.contains("1\n2\n3\n4\n12 likes"))
        let onSocket = Machine(results: posts).onTerminal().run("feed", "--socket", "/run/a b")
        #expect(onSocket.output.contains("\nnorrisctl post --socket '/run/a b' town:1\n"))
    }

    @Test(arguments: [
        ("-x", "norrisctl post -- -x"), ("a b", "norrisctl post 'a b'"), (#"a\u0007"#, "norrisctl feed --full"),
    ])
    func writesACommandThatShowsThePost(id: String, command: String) {
        let posts = page(post(id, #"1\n2\n3\n4"#))
        #expect(Machine(results: posts).onTerminal().run("feed").output.contains("\n3…\n\(command)\n"))
    }

    @Test func followsCursorsToAPage() {
        let machine = Machine(results: page(post("a", "1"), next: "c1"), page(post("b", "2"), total: 50, next: "c2"))
        let outcome = machine.onTerminal().run("feed", "--page", "2", "--unread", "--source", "it's", "--limit", "1")
        #expect(machine.parameters.last == #"{"source":"it's","unread":true,"limit":1,"cursor":"c1"}"#)
        #expect(outcome.output.hasSuffix("""
            #day  b

            from the cache, fetched 1 hour ago

            Page 2, 50 posts in all. The next page:
              norrisctl feed --source 'it'\\''s' --unread --limit 1 --page 3

            """))
        let full = Machine(results: page(post("a", "1"), next: "c1"))
            .onTerminal().run("feed", "--author", "@ada", "--full", "--socket", "/s")
        #expect(full.output.hasSuffix("  norrisctl feed --socket /s --author @ada --full --page 2\n"))
    }

    @Test func warnsOfFailingSourcesInOneLine() {
        let outcome = Machine(results: page(post("a", "1"), freshness: offline)).run("feed")
        #expect(outcome.output.hasSuffix("\tAda\t1\n"))
        #expect(outcome.errors == """
            norrisctl: posts: offline for 3 hours (There is no route to api.chucknorris.io); showing what is \
            stored

            """)
        let one = Machine(results: page(post("a", "1"), freshness: offline)).run("feed", "--source", "town")
        #expect(one.errors.hasPrefix("norrisctl: town: offline"))
    }

    @Test func pointsToTheSourcesWhereThereIsNoSuch() {
        let error = ResponseError.notFound("There is no source \"twn\".", hint: "server.status lists them.")
        #expect(Machine(error: error).run("feed", "--source", "twn") == Outcome(
            errors: "norrisctl: There is no source \"twn\".\n  norrisctl status lists the sources.\n", status: .nothing
        ))
        // Without a source it is not about one.
        #expect(Machine(error: error).run("feed").errors.hasSuffix("  server.status lists them.\n"))
    }

    // MARK: Where there is nothing

    @Test func saysHowToAddASource() {
        let machine = Machine(results: empty, status())
        #expect(machine.run("feed") == .failed(
            .nothing, "No posts: no source of posts is configured.",
            "Add some to ~/.config/norrisd/config.yaml, or /etc/norrisd/config.yaml for the system's norrisd:",
            "posts: {sources: {planet: {kind: feed, url: https://planet.debian.org/rss20.xml}}}",
            "Then: norrisctl reload"
        ))
        #expect(machine.methods == ["post.list", "server.status"])
    }

    @Test func saysThatNothingIsFetchedYet() {
        #expect(Machine(results: empty, status(source("town"))).run("feed") == Outcome(
            errors: "norrisctl: No posts: nothing fetched yet.\n  Fetch now: norrisctl refresh --wait\n",
            status: .nothing
        ))
        let all = status(source("a b"), source("town", items: 7, fetchedAt: Machine.now))
        #expect(Machine(results: empty, all).run("feed", "--source", "a b") == Outcome(
            errors: "norrisctl: No posts: nothing fetched yet.\n  Fetch now: norrisctl refresh 'a b' --wait\n",
            status: .nothing
        ))
    }

    @Test func saysThatSourcesAreSwitchedOff() {
        #expect(Machine(results: empty, status(source("town", isEnabled: false))).run("feed").errors == """
            norrisctl: No posts: fetching them is switched off.
              Take enabled: false out of the configuration, then: norrisctl reload

            """)
    }

    @Test func saysThatWhatWasFetchedHoldsNothing() {
        let all = status(source("town", fetchedAt: Machine.now), source("b", failure: .http))
        #expect(Machine(results: empty, all).run("feed") == Outcome(
            errors: """
                norrisctl: b: answering with errors for 1 hour (No route); next try in 5 minutes
                norrisctl: No posts: there are none in what was fetched.

                """,
            status: .nothing
        ))
    }

    @Test func failsWhereAllSourcesFail() {
        let failing = #"{"items":[],"total":0,"freshness":\#(Self.failing)}"#
        let sources = status(source("town", failure: .offline), source("planet", failure: .timeout))
        #expect(Machine(results: failing, sources).run("feed") == Outcome(
            errors: """
                norrisctl: town: offline for 1 hour (No route); next try in 5 minutes
                norrisctl: planet: timing out for 1 hour (No route); next try in 5 minutes
                norrisctl: No posts: nothing could be fetched yet.
                  Try now: norrisctl refresh --wait

                """,
            status: .temporary
        ))
        #expect(Machine(results: failing).run("feed", "--json") == Outcome(output: failing + "\n", status: .temporary))
        let keyless = failing.replacing("offline", with: "credentials")
        #expect(Machine(results: keyless).run("feed", "--json").status == .configuration)
        // Where something was fetched once, it is no failure that nothing matches.
        let fetched = failing.replacing(#""none""#, with: #""cache""#)
        #expect(Machine(results: fetched).run("feed", "--json").status == .nothing)
    }

    @Test(arguments: [
        (["--unread"], "All posts are read.", "Without --unread they are shown again."),
        (["--unread", "--source", "town"], "All posts of \"town\" are read.", "Without --unread they are shown again."),
        (
            ["--author", "Eve"], "No post by \"Eve\".",
            "Leave out --author, or see who writes: norrisctl call author.list"
        ),
        (["--author", "Eve", "--unread"], "No unread post by \"Eve\".", "Leave out --unread or --author."),
        (
            ["--author", "Eve", "--source", "town"], "No post of \"town\" by \"Eve\".",
            "Leave out --author, or see who writes: norrisctl call author.list"
        ),
        ([], "No posts here any more.", "Start again: norrisctl feed"),
    ])
    func saysWhichFilterToDrop(arguments: [String], message: String, hint: String) {
        let all = status(source("planet"), source("town", items: 7, fetchedAt: Machine.now))
        #expect(Machine(results: empty, all).run(["feed"] + arguments) == Outcome(
            errors: "norrisctl: \(message)\n  \(hint)\n", status: .nothing
        ))
    }

    @Test func asksForNothingMoreWhereJSONIsWanted() {
        let machine = Machine(results: empty)
        #expect(machine.run("feed", "--json") == Outcome(output: empty + "\n", status: .nothing))
        #expect(machine.methods == ["post.list"])
    }

    @Test func failsWhereTheStatusCannotBeHad() {
        let machine = Machine([
            .success(Array(#"{"jsonrpc":"2.0","id":1,"result":\#(empty)}"#.utf8)),
            .failure(.timedOut(path: "/run/norrisd.sock")),
        ])
        #expect(machine.run("feed").status == .unavailable)
    }
}
