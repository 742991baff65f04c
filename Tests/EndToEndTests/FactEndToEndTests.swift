import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .serialized) struct FactEndToEndTests {
    @Test func aDevFactComesOverTheSocket() throws {
        let daemon = try RunningDaemon()
        let result = try daemon.ctl("fact", "--category", "dev")
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.count == 1)
        #expect(result.output.contains("Chuck Norris"))
        #expect(result.errors.isEmpty)

        let json = try daemon.ctl("--json", "fact", "--category", "dev")
        let page = try FactRandom.Result(parsing: json.output.dropLastNewline)
        #expect(page.items.count == 1)
        #expect(page.items[0].categories.contains("dev"))
        #expect(page.freshness.origin == .builtin)
    }

    @Test func theFactOfTheDayStaysTheSame() throws {
        let folder = TemporaryFolder()
        var daemon: RunningDaemon? = try RunningDaemon(in: folder)
        let first = try #require(try daemon?.ctl("fact", "--today"))
        #expect(first.status == 0)
        daemon?.end()
        // The cache may be deleted at any time, but the fact of the day does not change.
        try FileManager.default.removeItem(atPath: folder("cache"))
        daemon = nil
        let successor = try RunningDaemon(in: folder)
        #expect(try successor.ctl("fact", "--today").output == first.output)
    }

    @Test func everyFactComesBeforeAnyComesTwiceAlsoOverRestarts() throws {
        let folder = TemporaryFolder()
        var seen: [String] = []
        func draw(_ count: Int, from daemon: RunningDaemon) throws -> [String] {
            try (0..<count).flatMap { _ in try daemon.ctl("fact", "--category", "dev").lines }
        }
        var total = 0
        do {
            let daemon = try RunningDaemon(in: folder)
            let categories = try daemon.ctl("categories").lines
            let dev = try #require(categories.first { $0.hasPrefix("dev\t") })
            total = try #require(Int(dev.dropFirst(4)))
            seen += try draw(12, from: daemon)
            #expect(daemon.end() == 0)
        }
        do {
            let daemon = try RunningDaemon(in: folder)
            seen += try draw(12, from: daemon)
            #expect(Set(seen).count == 24, "A clean stop loses nothing")
            daemon.end(SIGKILL)
        }
        // Only facts that norrisd returned in the second before a crash may be repeated.
        let daemon = try RunningDaemon(in: folder)
        var rest: [String] = []
        while Set(seen + rest).count < total, rest.count < total { rest += try draw(1, from: daemon) }
        #expect(Set(seen + rest).count == total)
        #expect(Set(rest).isDisjoint(with: seen[..<12]))
    }

    @Test func searchPagesToTheEnd() throws {
        let daemon = try RunningDaemon()
        let all = try daemon.ctl("search", "the", "--limit", "100").lines
        #expect(all.count > 20)
        let pages = try (1...3).map { try daemon.ctl("search", "the", "--limit", "7", "--page", "\($0)").lines }
        #expect(Array(pages.joined()) == Array(all.prefix(21)))
        let nothing = try daemon.ctl("search", "no such text anywhere")
        #expect(nothing.status == 1)
        #expect(nothing.output.isEmpty)
        #expect(!nothing.errors.isEmpty)
    }

    @Test func netcatGetsItsAnswers() throws {
        let daemon = try RunningDaemon()
        let lines =
            #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"# + "\r\n \t\r\n"
            + #"[{"jsonrpc":"2.0","id":2,"method":"fact.search","params":{"query":"a","limit":1}},1]"# + "\n"
            + #"{"jsonrpc":"2.0","id":3,"method":"fact.categories"}"#
        let result = try run("nc", ["-N", "-U", daemon.socket], input: lines)
        #expect(result.lines.count == 3, "\(result)")
        #expect(result.lines[0].hasPrefix(#"{"jsonrpc":"2.0","id":1,"#))
        #expect(result.lines[1].hasPrefix(#"[{"jsonrpc":"2.0","id":2,"#))
        #expect(result.lines[2].hasPrefix(#"{"jsonrpc":"2.0","id":3,"#))
    }

    @Test func debiansFortunesAreReadWholeAndOnce() throws {
        let path = "/usr/share/games/fortunes"
        let daemon = try RunningDaemon(configuration: "facts: {enabled: false, fortunes: [\(path), \(path)/art]}\n")
        let art = try String(contentsOfFile: path + "/art", encoding: .utf8).components(separatedBy: "\n%\n")
            .filter { !$0.allSatisfy(\.isWhitespace) }
        try #require(art.count > 100, "Debian's package fortunes is needed")
        try daemon.waitForLog("fortunes.read")
        #expect(try daemon.ctl("categories").lines.contains("art\t\(Set(art).count)"))
        let found = try daemon.ctl("search", "--category", "art", "--limit", "100", "Picasso")
        #expect(found.lines.count == art.filter { $0.lowercased().contains("picasso") }.count)
    }

    /// Runs the example of norrisd-protocol(7) unchanged, with a shell and nc.
    @Test func exampleOfTheProtocolGivesWhatThePageSays() throws {
        let display = try #require(try ManualPage("norrisd-protocol.7").section("DESCRIPTION").displays.first)
        #expect(display.hasPrefix("$ "))
        // The reply follows the command.
        let parts = display.dropFirst(2).split(separator: "\n{", maxSplits: 1)
        let (command, reply) = (String(try #require(parts.first)), "{" + (try #require(parts.last)))
        #expect(command.contains("/run/norrisd.sock"))
        let daemon = try RunningDaemon()
        let result = try run("/bin/sh", ["-c", command.replacing("/run/norrisd.sock", with: daemon.socket)])
        #expect(result.output == reply)
        #expect(result.status == 0, "\(result)")
        #expect(daemon.end() == 0)
    }

    /// Runs the client of PROTOCOL.md unchanged, with Python.
    @Test func clientOfTheProtocolDocumentPrintsAFact() throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let document = try String(contentsOf: root.appending(path: "PROTOCOL.md"), encoding: .utf8)
        let start = try #require(document.range(of: "```python\n")).upperBound
        let end = try #require(document.range(of: "\n```", range: start..<document.endIndex)).lowerBound
        let daemon = try RunningDaemon()
        let result = try run(
            "python3", ["-"], input: String(document[start..<end]), environment: ["NORRISD_SOCKET": daemon.socket])
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.count == 1)
        #expect(result.output.contains("Chuck Norris"))
    }
}

extension String {
    var dropLastNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
