import Glibc
@testable import NorrisCommands
import NorrisTestSupport
import Testing

/// Other programs, run for real.
struct SubprocessTests {
    private func run(
        _ program: String, _ arguments: String..., input: SubprocessRequest.Input = .nothing,
        output: SubprocessRequest.Output = .collected(limit: 1 << 24), timeout: Duration? = nil, mayGoOn: Bool = false
    ) async throws -> SubprocessOutcome {
        try await TestThread.run {
            runSubprocess(
                SubprocessRequest(
                    program: program, arguments: arguments, input: input, output: output, timeout: timeout,
                    mayGoOn: mayGoOn
                )
            )
        }
    }

    @Test func feedsAndCollectsMoreThanAPipeHolds() async throws {
        let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await run("cat", input: .bytes(bytes)) == .ended(status: 0, output: bytes))
        #expect(try await run("cat", input: .bytes([])) == .ended(status: 0))
        #expect(try await run("cat") == .ended(status: 0))
        #expect(try await run("cat", input: .bytes(bytes), output: .discarded) == .ended(status: 0))
        // Not all is read; as norrisctl, it does not die of that.
        signal(SIGPIPE, SIG_IGN)
        #expect(try await run("head", "-c1", input: .bytes(bytes)) == .ended(status: 0, output: [0]))
    }

    @Test func passesArgumentsOnAsTheyAre() async throws {
        let arguments = "$(id) `id` ' \" \\ * ; | &"
        #expect(try await run("printf", "%s", arguments) == .ended(status: 0, output: Array(arguments.utf8)))
    }

    @Test func tellsHowItEnded() async throws {
        #expect(try await run("sh", "-c", "exit 3") == .ended(status: 3))
        #expect(try await run("sh", "-c", "kill -KILL $$") == .ended(status: 137))
        #expect(try await run("norris-no-such-program") == .missing)
        let long = String(repeating: "x", count: 200_000)
        #expect(try await run("true", long) == .notStarted(errno: E2BIG))
    }

    @Test func takesAProgramByItsFile() async throws {
        let folder = TemporaryFolder()
        let program = try await TestThread.run { try folder.writeProgram("printf %s \"$0\"", to: "program") }
        #expect(try await run(program) == .ended(status: 0, output: Array(program.utf8)))
        // In Swift the slash and such a mark behind it are one character.
        let marked = try await TestThread.run { try folder.writeProgram("", to: "\u{301}program") }
        #expect(try await run(marked) == .ended(status: 0))
        let file = try folder.write("#!/bin/sh\n", to: "file")
        for path in [folder("none"), file, folder.path, program + "/x", "/", "./norris-no-such-program"] {
            #expect(try await run(path) == .missing)
        }
    }

    @Test func discardsWhatIsSaidToStandardError() async throws {
        #expect(try await run("sh", "-c", "echo a >&2; echo b") == .ended(status: 0, output: Array("b\n".utf8)))
    }

    @Test func givesItTheUsualSignals() async throws {
        // As norrisctl does; what is ignored is inherited.
        signal(SIGPIPE, SIG_IGN)
        #expect(try await run("sh", "-c", "kill -PIPE $$") == .ended(status: 141))
    }

    @Test func endsOneThatWritesTooMuch() async throws {
        #expect(try await run("yes", output: .collected(limit: 1_000_000)) == .tooLarge)
        #expect(try await run("printf", "1234", output: .collected(limit: 3)) == .tooLarge)
        #expect(try await run("printf", "123", output: .collected(limit: 3)) == .ended(status: 0, output: [49, 50, 51]))
    }

    @Test func endsOneThatHangsWithAllItStarted() async throws {
        // On a busy machine a shell may need more than the first for what it does before it hangs.
        for timeout in [Duration.seconds(2), .seconds(20), .seconds(200)] {
            let folder = TemporaryFolder()
            let outcome = try await run(
                "sh", "-c", "sleep 1000 & echo $! > '\(folder("child"))'; echo $$ > '\(folder("parent"))'; wait",
                timeout: timeout
            )
            #expect(outcome == .timedOut)
            let started = ["parent", "child"].compactMap { processID(in: folder($0)) }
            guard started.count == 2 else { continue }
            for processID in started {
                #expect(try await TestThread.run { hasEnded(processID) })
            }
            return
        }
        Issue.record("The shell never came to where it hangs.")
    }

    @Test func leavesOneAloneThatMayGoOn() async throws {
        let folder = TemporaryFolder()
        let outcome = try await run(
            "sh", "-c", "echo $$ > '\(folder("shell"))'; until [ -e '\(folder("end"))' ]; do sleep 0.05; done",
            output: .discarded, timeout: .milliseconds(50), mayGoOn: true
        )
        #expect(outcome == .goesOn)
        try await TestThread.run {
            #expect(waits { processID(in: folder("shell")) != nil })
            _ = try folder.write("", to: "end")
            // A child that nobody waited for would keep the runner's own waiting for exit tests busy.
            let shell = try #require(processID(in: folder("shell")))
            var status: CInt = 0
            #expect(waitpid(shell, &status, 0) == shell)
            #expect(status == 0)
        }
    }

    @Test func ignoresOneThatStaysBehindWithItsOutput() async throws {
        // As clipboard programs do, but those have no pipe of ours.
        #expect(try await run("sh", "-c", "sleep 3 & echo a", timeout: .seconds(60))
            == .ended(status: 0, output: Array("a\n".utf8)))
    }
}

/// The number that a shell has written; nil as long as it is not there whole.
private func processID(in path: String) -> Int32? {
    guard let text = try? readFile(path, limit: 100), text.last == UInt8(ascii: "\n") else { return nil }
    return Int32(String(decoding: text.dropLast(), as: UTF8.self))
}

/// Whether a process is gone within some seconds; one that nobody has waited for yet counts as gone.
private func hasEnded(_ processID: Int32) -> Bool {
    waits {
        guard let status = try? readFile("/proc/\(processID)/stat", limit: 1000) else { return true }
        return String(decoding: status, as: UTF8.self).contains(") Z ")
    }
}

/// Whether something comes true within some seconds.
private func waits(for condition: () -> Bool) -> Bool {
    for _ in 0..<3000 {
        if condition() { return true }
        poll(nil, 0, 10)
    }
    return false
}
