import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Whatever upstreams, files, arguments or a daemon hold, no byte of theirs reaches a terminal raw, on any path.
@Suite(.timeLimit(.minutes(20)))
struct HostileUpstreamEndToEndTests {
    private func configuration(_ upstream: FakeUpstream, _ folder: TemporaryFolder) throws -> String {
        let fortunes = folder("fortunes")
        try FileManager.default.createDirectory(atPath: fortunes, withIntermediateDirectories: true)
        let name = Hostile.argument.filter { $0 != "/" }
        let texts = [
            (name, Hostile.argument), ("plain", "A fortune.\n%\n\(Hostile.argument)\n%\n"), ("binary", Hostile.text),
        ]
        for (name, text) in texts {
            try (Data(text.utf8) + Hostile.bytes).write(to: URL(fileURLWithPath: fortunes).appendingPathComponent(name))
        }
        let key = try folder.write("key\n", to: "giphy-key")
        let sources = HostileUpstream.sources.map { name, kind, path in
            "    \(name): {kind: \(kind), url: '\(upstream.baseURL)\(path)'}\n"
        }
        return """
            log: {level: trace}
            http: {timeout: 20s}
            facts: {base_url: '\(upstream.baseURL)', fortunes: ['\(fortunes)']}
            gifs: {base_url: '\(upstream.baseURL)', api_key_file: '\(key)', queries: []}
            posts:
              sources:
            \(sources.joined())
            """
    }

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
        let upstream = try await HostileUpstream.start()
        try await TestThread.run {
            let folder = TemporaryFolder()
            let daemon = try RunningDaemon(in: folder, configuration: configuration(upstream, folder))
            try daemon.waitForLog("fortunes.imported")
            // Some fail, as they are meant to.
            #expect(try daemon.ctl("refresh", "--wait", "--timeout", "2m").status == 75)
            let gifs = try ids("gif.trending", "{}", daemon)
            let posts = try ids("post.list", #"{"limit":100}"#, daemon)
            let facts = try ids("fact.search", #"{"query":"Norris","limit":100}"#, daemon)
            // What is hostile was taken in, so there is something to see.
            #expect(gifs.contains("gif1"))
            #expect(facts.contains("one"))
            for source in ["planet", "atom", "jsonfeed", "town", "team"] {
                #expect(posts.contains { $0.hasPrefix("\(source):") }, "\(source)")
            }
            #expect(try daemon.ctl("search", "A fortune.", "--offline").status == 0)
            var walk = CommandWalk(socket: daemon.socket, folder: folder)
            (walk.fact, walk.gif, walk.post) = ("one", "gif1", posts.first { $0.hasPrefix("town:") } ?? "")
            try walk.walk(skipping: ["clear-cache", "reload"])

            HostileUpstream.fail(upstream)
            _ = try daemon.ctl("refresh", "--wait", "--timeout", "2m")
            try walk.walk()
            #expect(daemon.end() == 0)
            let log = try Data(contentsOf: URL(fileURLWithPath: folder("log")))
            #expect(log.count > 10_000)
            expectClean(Array(log), ["the log"])
        }
        await upstream.stop()
    }

    @Test func noLineOfTheLogLetsOneThrough() async throws {
        let upstream = try await HostileUpstream.start()
        try await TestThread.run {
            let folder = TemporaryFolder()
            let file = try folder.write(configuration(upstream, folder), to: "config.yaml")
            let daemon = try PseudoTerminal(
                Programs.norrisd, RunningDaemon.arguments(in: folder) + ["--config", file],
                environment: ["HOME": folder.path]
            )
            #expect(daemon.wait(for: " server.ready") != nil)
            // At least those whose upstream is of no use.
            for _ in 0..<5 { #expect(daemon.wait(for: " source.failed") != nil) }
            kill(daemon.processID, SIGTERM)
            #expect(daemon.waitForEnd() == 0)
            expectClean(daemon.transcript, ["norrisd"], isTerminal: true)
        }
        await upstream.stop()
    }

    @Test(arguments: HostileDaemon.Manner.allCases)
    private func noCommandLetsAByteOfADaemonThrough(_ manner: HostileDaemon.Manner) async throws {
        try await TestThread.run {
            let daemon = try HostileDaemon(manner)
            try CommandWalk(socket: daemon.socket, folder: daemon.folder).walk()
        }
    }

    @Test func noCommandLetsAByteOfItsSocketsPathThrough() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            try CommandWalk(socket: folder("\u{1B}]0;x\u{7}\u{9B}m\u{202E}"), folder: folder).walk()
        }
    }

    @Test func norrisdLetsNoneOfItsArgumentsAndFilesThrough() async throws {
        try await TestThread.run {
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
            ] {
                try check(arguments)
            }
        }
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
