import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .serialized) struct FactEndToEndTests {
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
