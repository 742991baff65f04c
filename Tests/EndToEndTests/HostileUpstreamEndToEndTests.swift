import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Runs every command with the texts of a hostile upstream. CI also runs this suite with the debug programs.
@Suite(.onTestThread, .timeLimit(.minutes(20))) struct EveryCommandEndToEndTests {
    private func ids(_ method: String, _ params: String, _ daemon: RunningDaemon) throws -> [String] {
        let reply = try daemon.ctl("--json", "call", method, params)
        guard case .object(let result) = try JSON.parse(Array(reply.output.utf8)),
            case .array(let items)? = result["items"]
        else { return [] }
        return items.compactMap { item in
            guard case .object(let item) = item, case .string(let id)? = item["id"] else { return nil }
            return id
        }
    }

    @Test func noCommandLetsAByteOfAnUpstreamThrough() async throws {
        for kind in PostSourceKind.addable.map(\.rawValue) {
            #expect(HostileUpstream.sources.contains { $0.1 == kind }, "HostileUpstream.sources has no \(kind)")
        }
        let upstream = try await HostileUpstream.start()
        do {
            let folder = TemporaryFolder()
            let daemon = try RunningDaemon(in: folder, configuration: HostileUpstream.configuration(upstream, folder))
            try daemon.waitForLog("fortunes.read")
            // Some sources fail as intended.
            #expect(try daemon.ctl("refresh", "--wait", "--timeout", "2m").status == .failedFetch)
            let gifs = try ids("gif.trending", "{}", daemon)
            let posts = try ids("post.list", #"{"limit":100}"#, daemon)
            // norrisd has stored hostile content, so the commands have something to print.
            #expect(gifs.contains("gif1"))
            #expect(try daemon.ctl("call", "fact.get", #"{"id":"one"}"#).status == 0)
            for source in ["planet", "town", "team"] {
                #expect(posts.contains { $0.hasPrefix("\(source):") }, "\(source)")
            }
            #expect(try daemon.ctl("search", "A fortune.").status == 0)
            var tour = CommandTour(socket: daemon.socket, folder: folder)
            (tour.fact, tour.gif, tour.post) = ("one", "gif1", posts.first { $0.hasPrefix("town:") } ?? "")
            try tour.run(skipping: ["clear-cache", "reload"])

            HostileUpstream.fail(upstream)
            _ = try daemon.ctl("refresh", "--wait", "--timeout", "2m")
            try tour.run()
            #expect(daemon.end() == 0)
            let log = try Data(contentsOf: URL(fileURLWithPath: folder("log")))
            #expect(log.count > 10_000)
            expectClean(Array(log), ["the log"])
        }
        await upstream.stop()
    }
}

/// No byte of hostile files and arguments reaches a terminal unescaped. `fuzzReplies` has the replies of hostile
/// daemons.
@Suite(.onTestThread, .timeLimit(.minutes(20)))
struct HostileArgumentEndToEndTests {
    @Test func noCommandLetsAByteOfItsSocketsPathThrough() throws {
        let folder = TemporaryFolder()
        try CommandTour(socket: folder("\u{1B}]0;x\u{7}\u{9B}m\u{202E}"), folder: folder).run()
    }

    @Test func norrisdLetsNoneOfItsArgumentsAndFilesThrough() throws {
        let folder = TemporaryFolder()
        let file = folder("config.yaml")
        for bytes in [
            Hostile.bytes, Array(Hostile.text.utf8), Array("log: {level: \(Hostile.json)}\n".utf8),
            Array("\(Hostile.json): 1\n".utf8), Array("posts: {sources: {\(Hostile.json): {kind: feed}}}\n".utf8),
            Array("facts: {fortunes: [\(Hostile.json)], base_url: \(Hostile.json)}\n".utf8),
            Array("admin_groups: [\(Hostile.json)]\n".utf8),
        ] {
            try Data(bytes).write(to: URL(fileURLWithPath: file))
            for flag in ["--check-config", "--print-config"] { try check(["--config", file, flag]) }
        }
        let text = Hostile.argument
        for arguments in [
            [text], ["--\(text)"], ["--log-level", text], ["--config", text], ["--config", text, "--check-config"],
            ["--state-dir", text, "--check-config", text],
        ] { try check(arguments) }
    }

    private func check(_ arguments: [String]) throws {
        let result = try run(Programs.norrisd, arguments)
        #expect(result.status < 128)
        expectClean(Array((result.output + result.errors).utf8), ["norrisd"] + arguments)
        let terminal = try PseudoTerminal(Programs.norrisd, arguments)
        terminal.waitForEnd()
        expectClean(terminal.transcript, ["norrisd"] + arguments, isTerminal: true)
    }
}
