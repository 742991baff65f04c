import Foundation
import Glibc
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
    ) async throws -> Result<(head: FetchHead, items: [Post]), FetchFailure> {
        let process = FetchProcess(path: try program(script))
        do throws(FetchFailure) {
            return .success(try await process.fetch(request, Post.self, within: limit))
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
        #expect(fetched.items.map(\.id) == ["blog:1"] && fetched.head == FetchHead())
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
        output(head.replacing(#""age":0"#, with: #""age":-1"#), #"{"end":0}"#),
        output(
            head.replacing(
                #""age":0"#,
                with: #""failure":{"kind":"http","message":"\#(String(repeating: "x", count: 5000))"},"age":0"#),
            #"{"end":0}"#), output(head.replacing("skipped", with: "skip")), output(#"{"age":99999999999999999999}"#),
    ]

    @Test(arguments: bad) func anythingElseIsOneFailure(script: String) async throws {
        let failure = try #require(try await failure(script))
        #expect(failure.kind == .decode && failure.isRetryable, "\(failure)")
        #expect(failure.message.hasSuffix("."), "\(failure.message)")
    }

    @Test func aProgramThatIsMissingOrNoProgramIsOneFailure() async throws {
        let text = try folder.write("text", to: "text")
        for path in [folder("missing"), text, folder.path] {
            await #expect(throws: FetchFailure.self) {
                try await FetchProcess(path: path).fetch(request, Post.self)
            }
        }
    }

    @Test(arguments: ["sleep 1000", "trap '' TERM; while :; do :; done", "exec >&-; sleep 1000", "sleep 1000 & wait"])
    func aProgramThatHangsIsEndedInTime(script: String) async throws {
        let start = ContinuousClock.now
        let failure = try #require(try await failure(script, within: .milliseconds(300)))
        #expect(failure.kind == .timeout, "\(failure)")
        #expect(start.duration(to: .now) < .seconds(60))
    }

    @Test func aRunThatIsCancelledEndsItsProcess() async throws {
        let process = FetchProcess(path: try program("sleep 1000 & echo $! >\(folder("pid")); wait"))
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { _ = try? await process.fetch(request, Post.self) }
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

    // MARK: Programs of the configuration

    private static let feed = """
        <rss version="2.0"><channel><title>N</title><item><guid>1</guid><title>Note</title></item></channel></rss>
        """

    private func run(_ script: String, within limit: Duration? = nil) async throws -> (posts: [Post]?, FetchFailure?) {
        let process = FetchProcess(path: Programs.norrisFetch)
        let command = [try program(script), "an argument"]
        do throws(FetchFailure) {
            return (try await process.fetch(request, Post.self, from: command, within: limit).items, nil)
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

    @Test(arguments: ["yes", "head -c 20000000 /dev/zero"]) func outputWithoutEndIsRefused(script: String) async throws
    {
        let failure = try #require(try await run(script).1)
        #expect(failure.kind == .decode, "\(failure)")
    }

    @Test(arguments: ["sleep 1000", "sleep 1000 & exit 0", "cat <<'X'\n\(feed)\nX\n(trap '' HUP; sleep 1000) & exit 0"])
    func whatDoesNotEndIsEndedWithItsGroup(script: String) async throws {
        let failure = try #require(try await run(script, within: .milliseconds(800)).1)
        #expect(failure.kind == .timeout, "\(failure)")
    }
}
