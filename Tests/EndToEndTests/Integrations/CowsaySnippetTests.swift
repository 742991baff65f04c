import NorrisTestSupport
import Testing

/// `cowsay.sh` in the shells that may read it, with Debian's cowsay.
struct CowsaySnippetTests {
    @Test(arguments: ["bash", "dash", "zsh"])
    func aCowTellsAFact(shell: String) async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            let snippet = try Snippet("cowsay.sh")
            let result = try snippet.run(in: shell, "norrissay -W 500", daemon: daemon)
            #expect(result.status == 0, "\(result)")
            let balloon = result.lines.dropFirst().first ?? ""
            #expect(balloon.hasPrefix("< ") && balloon.contains("Chuck Norris"), "\(result)")
            #expect(result.output.contains("(oo)"))
            #expect(result.errors.isEmpty)
        }
    }

    @Test(arguments: ["bash", "dash", "zsh"])
    func withoutAFactThereIsNoCow(shell: String) async throws {
        try await TestThread.run {
            let result = try Snippet("cowsay.sh").run(in: shell, "norrissay")
            #expect(result.status == 69)
            #expect(result.output.isEmpty)
            #expect(result.errors.contains("norrisd"))
        }
    }

    @Test func optionsGoToTheCow() async throws {
        try await TestThread.run {
            let snippet = try Snippet("cowsay.sh", norrisctl: "echo One two three four five")
            #expect(try snippet.run(in: "dash", "norrissay -f tux").output.contains("|o_o |"))
            #expect(try snippet.run(in: "dash", "norrissay -W 10").output.contains("\n| three "))
        }
    }

    @Test func whatAFactHoldsIsNotRun() async throws {
        try await TestThread.run {
            let snippet = try Snippet("cowsay.sh", norrisctl: #"cat "$HOME/fact""#)
            let text = snippet.hostileText + #" \n %s \e[1m"#
            _ = try snippet.folder.write(text, to: "fact")
            let result = try snippet.run(in: "bash", "norrissay -n")
            #expect(result.output.contains("< \(text) >"), "\(result)")
            #expect(!snippet.hostileTextHasRun)
        }
    }

    @Test func noCharacterIsCutInAnotherLocale() async throws {
        try await TestThread.run {
            let text = String(repeating: "ß", count: 60)
            let snippet = try Snippet("cowsay.sh", norrisctl: "echo \(text)")
            let result = try snippet.run(in: "dash", "export LC_ALL=C; norrissay")
            #expect(result.output.filter { $0 == "ß" } == text, "\(result)")
        }
    }
}
