import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Runs every command of norrisctl, to a pipe, as JSON and at a terminal, and looks at each byte that comes.
struct CommandWalk {
    let socket: String
    let folder: TemporaryFolder

    /// Ids of content that is there.
    var fact = "fact"
    var gif = "gif"
    var post = "post"

    private var environment: [String: String] { ["NORRISD_SOCKET": socket, "HOME": folder.path] }

    /// The arguments to try of each command, in an order in which those that take away come last.
    private func arguments() throws -> [(command: String, tries: [[String]])] {
        let text = Hostile.argument
        let file = try folder.write("{\"kind\":\(Hostile.json),\"id\":\(Hostile.json)}\n\(text)\n", to: "favorites")
        return [
            ("fact", [
                [], ["--count", "100"], ["--today"], ["--id", fact], ["--id", text], ["--category", text],
                ["--name", text], ["--count", text],
            ]),
            ("categories", [[]]),
            ("search", [["norris"], ["norris", "--limit", "100"], [text], ["--offline", text], ["--limit", text]]),
            ("gif", [
                [], ["--trending"], ["cats"], [text], ["--random"], ["--random", text], ["--id", gif], ["--id", text],
                ["--url"], ["--markdown"], ["--rendition", text], ["--limit", text],
            ]),
            ("feed", [
                [], ["--full"], ["--unread", "--limit", "100"], ["--source", text], ["--author", text], ["--page", "2"],
            ]),
            ("post", [[post], [post, "--full"], [text], ["--\(text)"]]),
            ("read", [[post], [text], ["--all"]]),
            ("favorite", [
                ["add", "fact", fact], ["add", "gif", gif], ["add", "post", post], ["add", "fact"],
                ["add", "fact", text], ["add", text], ["list"],
                ["list", "--kind", text], ["export"], ["import", file], ["import", text],
                ["remove", "fact", text], ["remove", "post", post], [text],
            ]),
            ("recent", [[], ["1"], ["6"], [text], ["--clear"]]),
            ("status", [[], ["--metrics"], [text]]),
            ("refresh", [[], ["--wait"], [text], ["--wait", text]]),
            ("reload", [[]]),
            ("doctor", [[], [text]]),
            ("call", [
                ["server.status"], ["fact.random", #"{"count":100}"#], ["post.list"], ["gif.trending"], ["author.list"],
                ["favorite.list"], ["recent.list"], ["rpc.discover"], [text], ["fact.get", "{\"id\":\(Hostile.json)}"],
                ["fact.get", text],
            ]),
            ("prompt", [[], ["--max-length", "400"], ["--max-length", text]]),
            ("init", [["bash"], ["zsh", "--greeting"], ["fish", "--prompt"], [text]]),
            ("completion", [["bash"], ["zsh"], ["fish"], [text]]),
            // Small pictures, for a debug build draws slowly.
            ("card", [
                ["-o", folder("card.png")], ["--alt"], ["--today", "--alt"], ["--id", fact, "-o", folder("card.png")],
                ["--id", text, "--alt"], ["--text", text, "--alt"], ["--text", text, "-o", folder(text)],
                ["--text", "a", "-o", folder("\(text)/\(text)")],
            ].map { ["--size", "256"] + $0 } + [["--size", text, "--alt"], [text]]),
            ("help", [[], ["fact"], [text]]),
            ("clear-cache", [[text], []]),
        ]
    }

    /// The names of the commands, from the help.
    private func commands() throws -> [String] {
        let help = try run(Programs.norrisctl, ["--help"]).lines
        let start = try #require(help.firstIndex { $0.hasPrefix("SUBCOMMANDS") })
        return help[(start + 1)...].compactMap { line in
            // A name stands behind two spaces, its description further to the right.
            line.hasPrefix("  ") && !line.hasPrefix("   ")
                ? line.dropFirst(2).split(separator: " ").first.map(String.init) : nil
        }.filter { $0 != "See" }
    }

    /// Walks through all of them.
    ///
    /// - Parameter skipped: those that would take away what is still needed.
    func walk(skipping skipped: Set<String> = []) throws {
        let commands = try commands()
        #expect(commands.count >= 16, "The help lists the commands")
        let arguments = try arguments()
        let known = Set(arguments.map(\.command) + ["watch"])
        #expect(Set(commands).subtracting(known).isEmpty, "These are not walked yet")
        for (command, tries) in arguments where commands.contains(command) || command == "help" {
            guard !skipped.contains(command) else { continue }
            for further in tries { try check([command] + further) }
        }
        if !skipped.contains("watch") { try watch() }
        for arguments in [
            [], [Hostile.argument], ["--\(Hostile.argument)"], ["--color", Hostile.argument, "fact"], ["-\u{1B}"],
            ["fact", "--timeout", Hostile.argument],
        ] {
            try check(arguments)
        }
    }

    private func check(_ arguments: [String]) throws {
        for options in [[], ["--json"]] {
            // In front, since the last argument may be words.
            let result = try run(Programs.norrisctl, options + arguments, environment: environment)
            expectClean(Array((result.output + result.errors).utf8), options + arguments)
            #expect(result.status < 128, "\(arguments)")
        }
        let terminal = try PseudoTerminal(
            Programs.norrisctl, ["--color", "always"] + arguments, environment: environment
        )
        #expect(terminal.waitForEnd() < 128, "\(arguments)")
        expectClean(terminal.transcript, arguments, isTerminal: true)
    }

    /// It goes on for ever, so it is looked at while something happens, and ended.
    private func watch() throws {
        let files = [[], ["--json"]].enumerated().map { (folder("watch\($0)"), $1) }
        let children = try files.map { file, options in
            try ChildProcess(
                Programs.norrisctl, options + ["watch"], environment: environment, output: file, errors: file
            )
        }
        let terminal = try PseudoTerminal(
            Programs.norrisctl, ["--color", "always", "watch"], environment: environment
        )
        // The first run may be over before they listen.
        for _ in 0..<5 where terminal.transcript.isEmpty {
            _ = try run(Programs.norrisctl, ["refresh", "--wait"], environment: environment)
            terminal.wait(for: "\n", within: 2)
        }
        #expect(!terminal.transcript.isEmpty)
        kill(terminal.processID, SIGTERM)
        terminal.waitForEnd()
        expectClean(terminal.transcript, ["watch"], isTerminal: true)
        for (child, (file, options)) in zip(children, files) {
            child.send(SIGTERM)
            child.wait()
            expectClean(try Data(contentsOf: URL(fileURLWithPath: file)).map { $0 }, options + ["watch"])
            unlink(file)
        }
    }
}

func expectClean(
    _ bytes: [UInt8],
    _ name: [String],
    isTerminal: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let faults = TerminalScanner.faults(in: bytes, isTerminal: isTerminal)
    let name = name.joined(separator: " ").unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    let place = isTerminal ? "at a terminal" : "to a pipe"
    #expect(faults.isEmpty, "\(name), \(place): \(faults.prefix(3))", sourceLocation: sourceLocation)
}
