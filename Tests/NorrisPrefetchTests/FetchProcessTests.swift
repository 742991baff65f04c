import Foundation
import Glibc
import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

/// The output of norris-fetch, of programs in its place, and of programs of the configuration.
@Suite(.timeLimit(.minutes(20))) struct FetchProcessTests {
    private let folder = TemporaryFolder()

    private static let head = #"{"age":0,"skipped":0,"repairs":0,"authors":[],"categories":[]}"#
    private static let post =
        #"{"id":"blog:1","source":"blog","author":{"id":"blog:a","name":"A"},"title":"T","tags":[],"images":[],"#
        + #""stats":{},"read":false}"#

    private var request: FetchRequest {
        var request = FetchRequest(.feed, url: "http://127.0.0.1:1/")
        request.source = "blog"
        return request
    }

    /// A program in the place of norris-fetch.
    private func program(_ script: String) throws -> String {
        try folder.writeProgram(script, to: "program")
    }

    private func fetch(
        _ script: String, within limit: Duration? = nil
    ) async throws -> Result<(head: FetchHead, items: [FetchedPost]), FetchFailure> {
        let process = FetchProcess(path: try program(script))
        do throws(FetchFailure) {
            return .success(try await process.fetch(request, FetchedPost.self, within: limit))
        } catch {
            return .failure(error)
        }
    }

    private func failure(_ script: String, within limit: Duration? = nil) async throws -> FetchFailure? {
        if case .failure(let failure) = try await fetch(script, within: limit) { failure } else { nil }
    }

    private static func output(_ lines: String...) -> String {
        "cat <<'X'\n\(lines.joined(separator: "\n"))\nX"
    }

    @Test func itemsArrive() async throws {
        let fetched = try await fetch(Self.output(Self.head, Self.post, #"{"end":1}"#)).get()
        #expect(fetched.items.map(\.post.id) == ["blog:1"] && fetched.head == FetchHead())
        let failing = #"{"failure":{"kind":"http","message":"HTTP 404","status":404},"age":0,"skipped":0,"repairs":0,"#
        let failure = try await failure(Self.output(failing + #""authors":[],"categories":[]}"#, #"{"end":0}"#))
        #expect(failure == FetchFailure(kind: .http, message: "HTTP 404", status: 404))
    }

    /// The output that a decoder could print after a document took it over.
    private static let bad: [String] = [
        "", output(head), output(head, post), output(head, post, #"{"end":2}"#), output(head, post, "garbage"),
        output(#"{"end":0}"#), output(head, #"{"end":0}"#, post), output(post, post, #"{"end":1}"#),
        output(head, #"{"id":"x","text":"t","categories":[],"source":"chucknorris"}"#, #"{"end":1}"#),
        output(head, post.replacing("blog:1", with: "other:1"), #"{"end":1}"#),
        output(head, post.replacing(#""source":"blog""#, with: #""source":"other""#), #"{"end":1}"#),
        output(head, post.replacing(#""T""#, with: #""\u001b[31m""#), #"{"end":1}"#),
        output(head, post.replacing(#""T""#, with: "\"\u{202E}\""), #"{"end":1}"#),
        output(head, post.replacing(#""T""#, with: #""a\nb""#), #"{"end":1}"#),
        output(head, post.replacing(#""tags""#, with: #""url":"javascript:1","tags""#), #"{"end":1}"#),
        output(head, post, #"{"end":1}"#) + "; printf more", "printf '%s' '\(head)'; printf '{\"end'",
        "head -c 20000000 /dev/zero | tr '\\0' x", "yes '\(post)'", "head -c 1000000000 /dev/zero",
        output(head) + "; kill -9 $$", output(head, post, #"{"end":1}"#) + "; echo; echo '{}'", "exit 3",
        output(
            head.replacing(#""age":0"#, with: #""etag":"\#(String(repeating: "x", count: 1025))","age":0"#),
            #"{"end":0}"#),
        output(head.replacing("[],", with: #"[{"id":"other:a","name":"A"}],"#), #"{"end":0}"#),
        output(head.replacing("[],", with: #"[{"id":"blog:a","name":"\#(text(201))"}],"#), #"{"end":0}"#),
        output(head.replacing(#""age":0"#, with: #""age":-1"#), #"{"end":0}"#),
        output(head.replacing(#""age":0"#, with: #""moved_to":"file:///etc","age":0"#), #"{"end":0}"#),
        found(#"{"kind":"exec","url":"https://h/"}"#), found(#"{"kind":"feed","url":"file:///etc"}"#),
        feeds(#"{"url":"\#(text(4097))"}"#), feeds(#"{"url":"https://h/","title":"\#(text(4097))"}"#),
        feeds([String](repeating: #"{"url":"https://h/"}"#, count: 101).joined(separator: ",")),
        output(
            head.replacing(
                #""age":0"#,
                with: #""failure":{"kind":"http","message":"\#(String(repeating: "x", count: 5000))"},"age":0"#),
            #"{"end":0}"#), output(head.replacing("skipped", with: "skip")), output(#"{"age":99999999999999999999}"#),
    ]

    /// The output of a failure with the feeds of a web page.
    private static func feeds(_ feeds: String) -> String {
        let failure = #""failure":{"kind":"http","message":"m","feeds":[\#(feeds)]},"age":0"#
        return output(head.replacing(#""age":0"#, with: failure), #"{"end":0}"#)
    }

    /// The output of a failure that names another source.
    private static func found(_ source: String) -> String {
        let failure = #""failure":{"kind":"http","message":"m","found":\#(source)},"age":0"#
        return output(head.replacing(#""age":0"#, with: failure), #"{"end":0}"#)
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    /// A post with the longest texts and lists.
    private static let longest: Post = {
        let author = Post.Author(id: "blog:a", name: text(200), handle: text(200), email: text(254))
        var image = Post.Image(url: "https://h/")
        (image.alt, image.title) = (text(1_500), text(1_500))
        var attachment = Post.Attachment()
        (attachment.url, attachment.type) = ("https://h/", text(100))
        return Post(
            id: "blog:1", source: "blog", author: author, title: text(500), text: text(100_000),
            tags: [String](repeating: text(100), count: 32), images: [Post.Image](repeating: image, count: 50),
            attachments: [Post.Attachment](repeating: attachment, count: 50),
            links: [String](repeating: "", count: 150))
    }()

    @Test func aPostIsAsLongAsTheCleaningLeavesIt() async throws {
        let changes: [@Sendable (inout Post) -> Void] = [
            { $0.text? += "x" }, { $0.title? += "x" }, { $0.author.name += "x" }, { $0.author.handle? += "x" },
            { $0.author.email? += "x" }, { $0.tags[0] += "x" }, { $0.tags.append("x") }, { $0.images[0].alt? += "x" },
            { $0.images[0].title? += "x" }, { $0.images.append($0.images[0]) }, { $0.attachments[0].type? += "x" },
            { $0.attachments.append($0.attachments[0]) }, { $0.links?.append("") }, { $0.sourceTitle = "x" },
        ]
        func count(_ post: Post) async throws -> Int? {
            let line = String(decoding: post.jsonBytes, as: UTF8.self)
            return try? await fetch(Self.output(Self.head, line, #"{"end":1}"#)).get().items.count
        }
        #expect(try await count(Self.longest) == 1)
        for length in [200, 201] {
            let head = Self.head.dropLast() + #","title":"\#(Self.text(length))"}"#
            let fetched = try? await fetch(Self.output(String(head), #"{"end":0}"#)).get()
            #expect(fetched?.head.title?.count == (length > 200 ? nil : length))
        }
        for (number, change) in changes.enumerated() {
            var post = Self.longest
            change(&post)
            #expect(try await count(post) == nil, "\(number)")
        }
    }

    @Test func moreThanOneRunMayHaveIsNamed() async throws {
        let failure = try await failure("\(Self.output(Self.head))\nyes '\(Self.post)'")
        #expect(failure?.message == "The document has more than 32 MiB or 2000 items.")
    }

    @Test(
        arguments: [("TERM", "ended by signal 15."), ("SEGV", "ended by signal 11, probably for lack of memory.")]
    ) func aSignalIsExplainedIfItHasOneUsualCause(signal: String, end: String) async throws {
        let failure = try #require(try await failure("kill -\(signal) $$"))
        #expect(failure.message.hasSuffix(end), "\(failure.message)")
    }

    /// A program whose norris-fetch was missing, for example while packages are unpacked.
    @Test func theProgramIsLookedForInEachRun() async throws {
        let process = FetchProcess.beside(folder("bin/norrisd"))
        await #expect(throws: FetchFailure.self) { try await process.fetch(request, FetchedPost.self) }
        for place in ["libexec/norrisd", "bin"] {
            let id = #"{"id":"blog:\#(place.prefix(3))","#
            let post = Self.post.replacing(#"{"id":"blog:1","#, with: id)
            try FileManager.default.createDirectory(atPath: folder(place), withIntermediateDirectories: true)
            try FileManager.default.createDirectory(atPath: folder("bin"), withIntermediateDirectories: true)
            _ = try folder.writeProgram(Self.output(Self.head, post, #"{"end":1}"#), to: place + "/norris-fetch")
            let items = try await process.fetch(request, FetchedPost.self).items
            #expect(items.map(\.post.id) == ["blog:" + place.prefix(3)])
        }
    }

    @Test(arguments: bad) func anythingElseIsOneFailure(script: String) async throws {
        let failure = try #require(try await failure(script))
        #expect(failure.kind == .decode && failure.isRetryable, "\(failure)")
        #expect(failure.message.hasSuffix("."), "\(failure.message)")
    }

    @Test func aProgramThatIsMissingOrNoProgramIsOneFailure() async throws {
        let text = try folder.write("text", to: "text")
        for path in [folder("missing"), text, folder.path] {
            await #expect(throws: FetchFailure.self) {
                try await FetchProcess(path: path).fetch(request, FetchedPost.self)
            }
        }
    }

    /// Leaves the process group and stops, as a decoder that a document took over could without the sandbox.
    private static let leaving = "exec '\(Programs.norrisSandboxProbe)' leaving"

    @Test(arguments: [
        "sleep 1000", "trap '' TERM; while :; do :; done", "exec >&-; sleep 1000", "sleep 1000 & wait", leaving,
        "exec >&-; \(leaving)", "kill -STOP $$",
    ]) func aProgramThatHangsIsEnded(script: String) async throws {
        let failure = try #require(
            try await failure("echo $$ >\(folder("pid")); \(script)", within: .milliseconds(300)))
        #expect(failure.kind == .timeout, "\(failure)")
        if FileManager.default.fileExists(atPath: folder("pid")) { try await untilProcessEnds() }
    }

    @Test(arguments: ["sleep 1000 & echo $! >PID; wait", "echo $$ >PID; \(leaving)"])
    func aRunThatIsCancelledEndsItsProcess(script: String) async throws {
        let process = FetchProcess(path: try program(script.replacing("PID", with: folder("pid"))))
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { _ = try? await process.fetch(request, FetchedPost.self) }
            await eventually { FileManager.default.contents(atPath: folder("pid"))?.isEmpty == false }
            tasks.cancelAll()
        }
        try await untilProcessEnds()
    }

    /// Waits for the end of the process that has written its id.
    private func untilProcessEnds() async throws {
        let text = try String(contentsOfFile: folder("pid"), encoding: .utf8)
        let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        // Empty until another process has reaped it.
        await eventually { FileManager.default.contents(atPath: "/proc/\(pid)/cmdline")?.isEmpty != false }
    }

    @Test func whatUsersWaitForHasThreadsOfItsOwn() async throws {
        let process = FetchProcess(path: try program("echo $$ >>\(folder("pids")); sleep 1000"))
        let other = FetchProcess(path: try folder.writeProgram(Self.output(Self.head, #"{"end":0}"#), to: "other"))
        await withTaskGroup(of: Void.self) { tasks in
            for _ in 0..<8 { tasks.addTask { _ = try? await process.fetch(request, FetchedPost.self) } }
            await eventually { (FileManager.default.contents(atPath: folder("pids"))?.count { $0 == 10 } ?? 0) == 4 }
            await #expect(throws: Never.self) { try await other.fetch(request, FetchedPost.self, isAwaited: true) }
            tasks.cancelAll()
        }
    }

    // MARK: Programs of the configuration

    private static let feed = """
        <rss version="2.0"><channel><title>N</title><item><guid>1</guid><title>Note</title></item></channel></rss>
        """

    private func run(_ script: String, within limit: Duration? = nil) async throws -> (posts: [Post]?, FetchFailure?) {
        let process = FetchProcess(path: Programs.norrisFetch)
        let command = [try program(script), "an argument"]
        do throws(FetchFailure) {
            let items = try await process.fetch(request, FetchedPost.self, from: command, within: limit).items
            return (items.map(\.post), nil)
        } catch {
            return (nil, error)
        }
    }

    @Test(arguments: [
        "", "cat; ", "[ \"$1\" = 'an argument' ] || exit 1; ", "head -c 100000 /dev/zero >&2; ",
    ]) func whatAProgramPrintsIsRead(begin: String) async throws {
        let (posts, failure) = try await run("\(begin)cat <<'X'\n\(Self.feed)\nX")
        #expect(posts?.map(\.title) == ["Note"], "\(failure as Any)")
    }

    @Test func whatAProgramLeavesBehindIsEnded() async throws {
        let script = "sleep 1000 >/dev/null 2>&1 & echo $! >\(folder("pid")); cat <<'X'\n\(Self.feed)\nX"
        #expect(try await run(script).posts?.count == 1)
        try await untilProcessEnds()
    }

    @Test func aStatusIsAFailureWithTheEndOfStandardError() async throws {
        let script = "echo first >&2; printf 'no \\033[31mnetwork\\n' >&2; cat <<'X'\n\(Self.feed)\nX\nexit 3"
        let failure = try #require(try await run(script).1)
        #expect(failure.message == "The program ended with status 3: no network")
    }

    /// The status of the program does not matter, because it ends after norris-fetch has stopped reading.
    @Test(arguments: [
        "yes", "head -c 20000000 /dev/zero", "yes; exit 1", "trap '' PIPE; yes 2>&-; sleep 1000",
        "yes; echo broken pipe >&2; exit 1",
    ]) func outputWithoutEndIsRefused(script: String) async throws {
        let failure = try #require(try await run(script).1)
        #expect(failure.kind == .decode, "\(failure)")
        let limit = "more than 16777216 bytes; raise http.max_body if that is right."
        #expect(failure.message == "The output has \(limit)")
    }

    @Test(arguments: [":", "echo", "echo warning >&2"]) func noOutputIsNamed(script: String) async throws {
        let failure = try #require(try await run(script).1)
        #expect(failure.message == "The program printed nothing; it has to print a feed.")
        #expect(try await run("\(script)\nexit 3").1?.message.hasPrefix("The program ended with status 3") == true)
    }

    @Test func theSignalThatEndsAProgramIsNamed() async throws {
        #expect(try await run("kill -9 $$").1?.message == "The program ended by signal 9.")
    }

    @Test func aProgramThatCannotBeStartedIsNamed() async throws {
        let process = FetchProcess(path: Programs.norrisFetch)
        let failure = await #expect(throws: FetchFailure.self) {
            try await process.fetch(request, FetchedPost.self, from: ["/nowhere/notes"])
        }
        #expect(failure?.message.hasSuffix("/nowhere/notes cannot be started: No such file or directory.") == true)
    }

    @Test(arguments: [
        "sleep 1000", "yes >&2", "yes >&2 & yes >&2 & yes >&2 & yes >&2 & wait", "exec >&- 2>&-; sleep 1000",
        "kill -STOP $$",
    ]) func whatDoesNotEndIsEnded(script: String) async throws {
        let failure = try #require(try await run(script, within: .milliseconds(800)).1)
        #expect(failure.kind == .timeout, "\(failure)")
    }

    /// For example a connection that ssh(1) keeps for later.
    @Test(arguments: ["sleep 1000 &", "(trap '' HUP; sleep 1000) &", "setsid sleep 1000 &", "yes >&2 &"])
    func aProgramThatHasEndedIsDoneWhoeverHoldsItsOutput(rest: String) async throws {
        let (posts, failure) = try await run("\(rest) echo $! >\(folder("pid")); cat <<'X'\n\(Self.feed)\nX")
        #expect(posts?.map(\.title) == ["Note"], "\(failure as Any)")
        guard rest.hasPrefix("setsid") else { return try await untilProcessEnds() }
        let text = try String(contentsOfFile: folder("pid"), encoding: .utf8)
        kill(try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))), SIGKILL)
    }
}
