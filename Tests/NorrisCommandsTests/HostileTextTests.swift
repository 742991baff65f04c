import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

/// Text from the daemon, the upstreams or the command line never reaches the terminal unescaped.
struct HostileTextTests {
    // Results of the daemon, in which `§` is replaced by the hostile text.
    private static let freshness =
        #"{"origin":"§","state":"§","error":{"kind":"§","message":"§","since":"2026-11-21T12:00:00Z"}}"#
    private static let fact = #"{"id":"§","text":"§","categories":["§"],"source":"§","url":"§"}"#
    private static let gif = """
        {"id":"§","title":"§","rating":"§","page_url":"§","username":"§","alt_text":"§!","sticker":false,"renditions":\
        {"original":{"url":"§","mp4":"https://e.org/§","webp":"https://e.org/\u{9B}"},"§":{"url":"https://e.org/"}}}
        """
    private static let post = """
        {"id":"§","source":"§","author":{"id":"§","name":"§","handle":"§","avatar_url":"§","email":"§"},"title":"§",\
        "text":"§","tags":["§"],"images":[{"url":"§","width":1,"height":1,"alt":"§"},{"url":"§"}],\
        "stats":{"likes":1},"url":"§","read":false}
        """
    private static let favorite = """
        {"kind":"§","id":"§","title":"§","added_at":"2026-11-21T12:00:00Z","fact":\(fact),"gif":\(gif)}
        """
    private static let status = """
        {"state":"§","message":"§","uptime_seconds":1,"connections":1,"requests_total":1,"sources":[{"name":"§",\
        "kind":"§","enabled":true,"items":1,"freshness":\(freshness),"consecutive_failures":0}],\
        "database":{"cache_bytes":1,"state_bytes":1,"read_only":true},"version":"§"}
        """

    private static func list(_ items: String...) -> String {
        #"{"items":[\#(items.joined(separator: ","))],"next":"§","freshness":\#(freshness)}"#
    }

    private static let results: [(arguments: [String], result: String)] = [
        (["fact"], list(fact)), (["fact", "--id", "§"], #"{"fact":\#(fact)}"#),
        (["fact", "--today"], #"{"fact":\#(fact),"freshness":\#(freshness)}"#), (["search", "§"], list(fact)),
        (["search", "§"], list()), (["categories"], list(#"{"name":"§","count":1}"#)), (["status"], status),
        (["gif"], list(gif)), (["gif", "§"], list(gif, gif)), (["gif", "--url"], list(gif)),
        (["gif", "--markdown"], list(gif)), (["gif", "--url", "--rendition", "§"], list(gif)),
        (["gif", "--rendition", "none"], list(gif)), (["gif", "§"], list()),
        (["gif", "--random", "§"], #"{"gif":\#(gif),"freshness":\#(freshness)}"#),
        (["gif", "--id", "§"], #"{"gif":\#(gif)}"#), (["favorite", "list"], list(favorite, favorite)),
        (["favorite", "export"], #"{"items":[\#(favorite)]}"#),
        (["favorite", "add", "fact", "§"], #"{"added":false}"#),
        (["favorite", "remove", "fact", "§"], #"{"removed":false}"#), (["call", "§"], #"{"§":"§"}"#),
        (["reload"], #""§""#), (["refresh", "§"], #"{"started":["§"]}"#), (["clear-cache", "§"], #"{"removed":1}"#),
        (["recent"], #"{"items":[{"kind":"§","query":"§","at":"2026-11-21T12:00:00Z"}]}"#),
        (["feed"], list(post, post)),
        (["feed", "--full"], list(post.replacing("{\"id\"", with: "{\"sensitive\":true,\"id\""))),
        (["feed", "--source", "§", "--author", "§"], list(post)), (["post", "§"], #"{"post":\#(post)}"#),
    ]

    @Test func isMadeHarmlessInAnEmptyFeed() {
        let outcome = machine(Self.list(), Self.status).run("feed", "--source", hostile, "--author", hostile)
        #expect(!outcome.errors.isEmpty)
        #expect(forbidden(in: outcome.output + outcome.errors) == [])
    }

    private func machine(_ results: String...) -> Machine {
        let text = JSON.string(hostile).jsonText.dropFirst().dropLast()
        return Machine(results: results.map { $0.replacing("§", with: text) })
    }

    @Test(arguments: results) func isMadeHarmlessInResults(arguments: [String], result: String) {
        for extra in [[], ["--plain"], ["--json"], ["--width", "30"], ["--width", "1"]] {
            for isTerminal in [true, false] {
                // A status takes a second call.
                let machine = machine(result, result)
                machine.terminal = TerminalFacts(isTerminal: isTerminal, columns: 80)
                machine.environment["NO_COLOR"] = "1"
                // Options precede the arguments, because the last argument may take all remaining words.
                let outcome = machine.run(extra + arguments.map { $0.replacing("§", with: hostile) })
                #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty)
                #expect(outcome.status != .internalError || arguments == ["reload"], "\(outcome.errors)")
                #expect(forbidden(in: outcome.output + outcome.errors) == [])
            }
        }
    }

    @Test func isMadeHarmlessInWhatIsKeptAndImported() {
        let machine = machine(#"{"added":true}"#, Self.list(Self.favorite)).onTerminal()
        let kept = machine.run("favorite", "add", "fact", hostile)
        #expect(forbidden(in: kept.output + kept.errors) == [])
        let imported = Machine().run("favorite", "import", hostile)
        #expect(imported.status == .inputOutput)
        #expect(forbidden(in: imported.errors) == [])
        let garbage = Machine()
        garbage.files[hostile] = Array(hostile.utf8)
        let refused = garbage.run("favorite", "import", hostile)
        #expect(refused.status == .usage)
        #expect(forbidden(in: refused.errors) == [])
    }

    private static let failure = SourceFailure(
        kind: SourceFailure.Kind(rawValue: hostile), message: hostile, since: Machine.now)

    private static let events = [
        Event.source(hostile, .started), .source(hostile, .finished, items: 1),
        .source(hostile, .failed, error: failure), .source(hostile, Event.Phase(rawValue: hostile)),
        .item(source: hostile, added: 1), .server(Event.Phase(rawValue: hostile)), .server(.stopping),
    ]

    @Test(arguments: [["watch"], ["refresh", "--wait"], ["watch", "--json"], ["refresh", "--wait", "--json"]])
    func isMadeHarmlessInEvents(arguments: [String]) {
        for last in [Event.source(hostile, .finished, items: 1), .source(hostile, .failed, error: Self.failure)] {
            for columns in [nil, 20, 80] {
                let machine = Machine()
                machine.terminal = TerminalFacts(isTerminal: columns != nil, columns: columns)
                machine.isErrorTerminal = true
                machine.environment["NO_COLOR"] = "1"
                machine.stream = [
                    Machine.result(#"{"topics":[]}"#),
                    Machine.result(SourceRefresh.Result(started: [hostile]).jsonText, id: 2),
                ]
                machine.stream += (Self.events + [last]).map { String(decoding: $0.line, as: UTF8.self) }
                let outcome = machine.run(arguments)
                #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty)
                #expect(forbidden(in: outcome.output + outcome.errors) == [])
            }
        }
        let unknown = Machine()
        let params: JSON = ["topic": .string(hostile), "at": "2026-11-21T12:00:00Z", hostile: .string(hostile)]
        unknown.stream = [#"{"jsonrpc":"2.0","method":"event","params":\#(params.jsonText)}"#]
        let outcome = unknown.run(arguments)
        #expect(forbidden(in: outcome.output + outcome.errors) == [])
    }

    @Test func isMadeHarmlessInErrors() {
        let error = ResponseError(
            .notFound, reason: hostile, hostile, hint: hostile, details: ["parameter": .string(hostile)])
        for arguments in [["fact"], ["fact", "--json"], ["call", "m"], ["doctor"], ["doctor", "--json"]] {
            let outcome = Machine(error: error).run(arguments)
            #expect(outcome.status == .nothing)
            #expect(forbidden(in: outcome.output + outcome.errors) == [])
        }
        let failures: [ClientError] = [
            .noSocket(paths: [hostile]), .refused(path: hostile), .notPermitted(path: hostile),
            .notASocket(path: hostile), .pathTooLong(path: hostile), .timedOut(path: hostile), .closed(path: hostile),
            .malformedReply(path: hostile, detail: hostile), .system(path: hostile, errno: 1),
        ]
        for failure in failures {
            let outcome = Machine(failure: failure).run("fact", "--socket", hostile)
            #expect(outcome.errors.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("  ") })
            #expect(forbidden(in: outcome.errors) == [])
        }
    }

    @Test(arguments: [
        [hostile], ["fact", hostile], ["fact", "--count", hostile], ["fact", "--\(hostile)"],
        ["--color", hostile, "fact"], ["call", "m", "{\(hostile)"], ["fact", "-x\u{1B}"], ["help", hostile],
        ["favorite", hostile], ["favorite", "add", hostile, hostile], ["card", "--show", "-o", hostile],
    ]) func isMadeHarmlessInUsageErrors(arguments: [String]) {
        let outcome = Machine().run(arguments)
        #expect(outcome.status == .usage)
        #expect(forbidden(in: outcome.output + outcome.errors) == [])
        #expect(outcome.errors.split(separator: "\n").count <= 2)
    }
}
