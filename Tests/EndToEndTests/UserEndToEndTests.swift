import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .serialized) struct EventEndToEndTests {
    /// Starts `norrisctl watch` on a daemon without earlier requests, and returns when `watch` has subscribed.
    private func watch(_ daemon: RunningDaemon) throws -> ChildProcess {
        let process = try ChildProcess(
            Programs.norrisctl, ["watch", "--timeout", "5m"], environment: ["NORRISD_SOCKET": daemon.socket],
            output: daemon.folder("events"), errors: daemon.folder("notes"))
        var asked = 0
        repeat {
            asked += 1
            try #require(asked < 2_000 && !process.hasEnded, "The watch has not subscribed")
        } while !(try daemon.ctl("status").output.contains("\nrequests_total\t\(asked + 1)\n"))
        return process
    }

    private func lines(_ daemon: RunningDaemon, _ file: String) throws -> [String] {
        try String(contentsOfFile: daemon.folder(file), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func watchShowsAReloadAndEndsWithTheDaemon() throws {
        let daemon = try RunningDaemon()
        let watch = try watch(daemon)
        #expect(try daemon.ctl("reload").status == 0)
        #expect(daemon.end() == 0)
        #expect(watch.wait() == 0)
        let events = try lines(daemon, "events").map { $0.split(separator: "\t").dropFirst().joined(separator: " ") }
        #expect(events == ["norrisd reloaded", "norrisd stopping"])
        #expect(try lines(daemon, "notes") == ["norrisctl: norrisd has stopped."])
    }

    @Test func aWatchOfADaemonThatDiesSaysSo() throws {
        let daemon = try RunningDaemon()
        let watch = try watch(daemon)
        daemon.end(SIGKILL)
        #expect(watch.wait() == 69)
        let note = try lines(daemon, "notes").first
        #expect(note == "norrisctl: The connection to norrisd at \(daemon.socket) was lost.")
    }

    @Test("A watch with a cursor file prints each post once, whichever of the two programs is killed")
    func eachNewPostOnce() throws {
        let folder = TemporaryFolder()
        let (feed, cursor, output) = (folder("feed.json"), folder("cursor"), folder("events"))
        func publish(_ count: Int, _ daemon: RunningDaemon) throws {
            let items = (1...count).map { #"{"id":"\#($0)","content_text":"Post \#($0)."}"# }.joined(separator: ",")
            let document = #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items)]}"#
            _ = try folder.write(document, to: "feed.json")
            try #require(try daemon.ctl("refresh", "made", "--wait").status == 0)
        }
        func start() throws -> RunningDaemon {
            try RunningDaemon(
                in: folder,
                configuration: """
                    facts: {enabled: false}
                    posts: {sources: {made: {kind: exec, command: [/bin/cat, '\(feed)']}}}

                    """)
        }
        func watch(_ daemon: RunningDaemon) throws -> ChildProcess {
            try ChildProcess(
                "/bin/sh", ["-c", "exec '\(Programs.norrisctl)' watch --new --cursor-file '\(cursor)' >>'\(output)'"],
                environment: ["NORRISD_SOCKET": daemon.socket], output: folder("out"), errors: folder("notes"))
        }
        func text(_ file: String) -> String { (try? String(contentsOfFile: folder(file), encoding: .utf8)) ?? "" }
        func wait(_ condition: () -> Bool) throws {
            for _ in 0..<60_000 where !condition() { usleep(1_000) }
            try #require(condition(), "\(text("events")) \(text("notes"))")
        }
        var daemon = try start()
        var watcher = try watch(daemon)
        try wait { !text("cursor").isEmpty }
        for count in 1...6 {
            let last = text("cursor")
            if count % 3 == 0 {
                watcher.send(SIGKILL)
                watcher.wait()
            }
            try publish(count, daemon)
            if count % 2 == 0 {
                daemon.end(SIGKILL)
                daemon = try start()
            }
            if count % 3 == 0 { watcher = try watch(daemon) }
            try wait { text("events").contains("Post \(count).") && text("cursor") != last }
        }
        #expect(text("events") == (1...6).map { "made:\($0)\t-\tmade\tPost \($0).\n" }.joined())
        // Another program uses the file.
        _ = try folder.write("another\n", to: "cursor")
        try publish(7, daemon)
        #expect(watcher.wait() == 74)
        #expect(text("notes").contains("was changed by another program"))
    }
}

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct FavoriteEndToEndTests {
    @Test func noneIsLostWhenTheDaemonIsKilledAtThatInstant() throws {
        let folder = TemporaryFolder()
        var kept: [String] = []
        for _ in 0..<12 {
            let daemon = try RunningDaemon(in: folder)
            let client = try LineClient(path: daemon.socket)
            let given: FactRandom.Result = try client.call(FactRandom.self, #"{"count":60}"#)
            for fact in given.items where !kept.contains(fact.id) {
                let reply: FavoriteAdd.Result = try client.call(
                    FavoriteAdd.self, #"{"kind":"fact","id":"\#(fact.id)"}"#)
                #expect(reply.added)
                kept.append(fact.id)
                break
            }
            #expect(daemon.end(SIGKILL) == 128 + SIGKILL)
        }
        let daemon = try RunningDaemon(in: folder)
        let list: FavoriteList.Result = try LineClient(path: daemon.socket).call(FavoriteList.self, #"{"limit":100}"#)
        #expect(list.items.map(\.id) == kept.reversed())
        #expect(kept.count == 12)
        #expect(list.items.allSatisfy { $0.fact != nil })
    }

    @Test(
        "Neither of two users sees what the other keeps, searched, was given or has read",
        .enabled(if: geteuid() == 0, "needs root to become other users"))
    func usersAreStrangers() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.setDocument(
            "/users/posts", contentType: "application/json",
            body: Array(#"{"data":[{"uid":"u","name":"Ada","posts":[{"id":1,"date":null,"pics":[]}]}]}"#.utf8))
        do {
            let folder = TemporaryFolder()
            let daemon = try RunningDaemon(
                in: folder,
                configuration: """
                    facts: {enabled: false}
                    http: {timeout: 60s, host_gap: 0s}
                    posts: {sources: {team: {kind: users-posts, url: '\(upstream.baseURL)'}}}

                    """)
            try #require(chmod(folder.path, 0o755) == 0 && chmod(daemon.socket, 0o666) == 0)
            try #require(try daemon.ctl("refresh", "--wait").status == 0)
            let (ada, bob) = (4001, 4002)
            func status(_ uid: Int, _ arguments: String...) throws -> Int32 {
                try daemon.ctl(uid: uid, arguments).status
            }
            for arguments in [["search", "goldfish"], ["fact"], ["favorite", "add", "fact"], ["read", "team:1"]] {
                let result = try daemon.ctl(uid: ada, arguments)
                try #require(result.status == 0, "\(result)")
            }
            #expect(try status(ada, "recent") == 0)
            #expect(try status(ada, "favorite", "list") == 0)
            #expect(try status(ada, "feed", "--unread") == 1)
            #expect(try status(bob, "recent") == 1)
            #expect(try status(bob, "favorite", "list") == 1)
            #expect(try status(bob, "favorite", "add", "fact") == 1, "Bob was given nothing")
            #expect(try status(bob, "feed", "--unread") == 0)
            #expect(try status(bob, "recent", "--clear") == 0)
            #expect(try status(ada, "recent") == 0)
        }
        await upstream.stop()
    }

    @Test func theLastOneServedIsKeptAndMovesToAnotherMachine() throws {
        let folder = TemporaryFolder()
        var first: RunningDaemon? = try RunningDaemon(in: folder)
        #expect(try first?.ctl("favorite", "add", "fact").status == 1, "Nothing was served yet")
        let fact = try #require(try first?.ctl("fact").output)
        first?.end()
        first = nil
        // The next daemon also knows the last fact.
        let here = try RunningDaemon(in: folder)
        #expect(try here.ctl("favorite", "add", "fact").status == 0)
        #expect(try here.ctl("favorite", "list").output.contains(fact.prefix(20)))
        let exported = try here.ctl("favorite", "export").output
        #expect(exported.split(separator: "\n").count == 1)

        let there = try RunningDaemon()
        let imported = try there.ctl("favorite", "import", input: exported)
        #expect(imported.status == 0, "\(imported)")
        #expect(try there.ctl("favorite", "export").output == exported)
        #expect(try there.ctl("favorite", "import", input: exported + "garbage\n").status == 64)
        #expect(try there.ctl("favorite", "export").output == exported)
        #expect(try there.ctl("favorite", "remove", "fact").status == 1, "Nothing was served there")
        let id = try Favorite(parsing: exported.trimmingCharacters(in: .newlines)).id
        #expect(try there.ctl("favorite", "remove", "fact", id).status == 0)
        #expect(try there.ctl("favorite", "list").status == 1)
    }
}
