import Foundation
import NorrisTestSupport
import Testing

/// `starship.toml`, read by a TOML parser and run as starship runs custom modules: Debian 12 does not have starship.
struct StarshipSnippetTests {
    private struct Configuration: Decodable {
        struct Custom: Decodable {
            let norris: Module
        }

        struct Module: Decodable {
            let command: String
            let when: Bool
            let shell: [String]
            let format: String
            let style: String
            let unsafe_no_escape: Bool?
        }

        let custom: Custom
    }

    private func module(_ snippet: Snippet) throws -> Configuration.Module {
        let script = "import json, sys, tomllib; json.dump(tomllib.load(open(sys.argv[1], 'rb')), sys.stdout)"
        let json = try run("python3", ["-c", script, snippet.path]).output
        return try JSONDecoder().decode(Configuration.self, from: Data(json.utf8)).custom.norris
    }

    @Test func theModuleShowsEscapedOutputAlone() async throws {
        try await TestThread.run {
            let module = try module(Snippet("starship.toml"))
            #expect(module.when)
            // In round brackets: nothing at all, not even the space, where there is no output.
            #expect(module.format == "[($output )]($style)")
            #expect(!module.style.isEmpty)
            #expect(module.unsafe_no_escape != true)
        }
    }

    /// starship gives the command to the shell's standard input.
    @Test func theCommandPrintsAFactOrNothing() async throws {
        try await TestThread.run {
            let snippet = try Snippet("starship.toml")
            let module = try module(snippet)
            func prompt(_ daemon: RunningDaemon?) throws -> ProgramResult {
                try run(
                    #require(module.shell.first), Array(module.shell.dropFirst()), input: module.command,
                    environment: snippet.environment(daemon)
                )
            }
            let fact = try prompt(try RunningDaemon())
            #expect(fact.status == 0)
            #expect(fact.lines.count == 1 && fact.output.contains("Chuck Norris"), "\(fact)")
            #expect(fact.output.count <= 61)
            let nothing = try prompt(nil)
            #expect(nothing.status == 0)
            #expect(nothing.output.isEmpty && nothing.errors.isEmpty, "\(nothing)")
        }
    }
}
