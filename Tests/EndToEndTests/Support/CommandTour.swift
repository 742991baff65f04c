import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Runs every command of norrisctl, to a pipe, as JSON and at a terminal, and checks each byte of the output.
struct CommandTour {
    let socket: String
    let folder: TemporaryFolder

    /// The id of an existing fact, GIF and post.
    var fact = "fact"
    var gif = "gif"
    var post = "post"

    private var environment: [String: String] { ["NORRISD_SOCKET": socket, "HOME": folder.path] }

    /// Returns the arguments to try for each command. Commands that remove content are last.
    private func arguments() throws -> [(command: String, tries: [[String]])] {
        let text = Hostile.argument
        let file = try folder.write("{\"kind\":\(Hostile.json),\"id\":\(Hostile.json)}\n\(text)\n", to: "favorites")
        return [
            (
                "fact",
                [
                    [], ["--count", "100"], ["--today"], ["--id", fact], ["--id", text], ["--category", text],
                    ["--name", text], ["--count", text],
                ]
            ), ("categories", [[]]),
            (
                "search",
                [
                    ["norris"], ["norris", "--limit", "100"], [text], ["--limit", text],
                    ["norris", "--in", "posts"],
                    [text, "--in", "posts", "--source", text], [text, "--in", "favorites"],
                ]
            ),
            (
                "gif",
                [
                    [], ["--trending"], ["cats"], [text], ["--random"], ["--random", text], ["--id", gif],
                    ["--id", text], ["--url"], ["--markdown"], ["--rendition", text], ["--limit", text],
                    ["1"], ["999"],
                ]
            ),
            (
                "feed",
                [
                    [], ["--full"], ["--unread", "--limit", "100"], ["--source", text], ["--author", text],
                    ["--page", "2"], ["sources"], ["export"], ["add", text], ["add", "https://127.0.0.1:1/\(text)"],
                    ["remove", text], ["import", file], ["import", text], [text],
                ]
            ), ("post", [[post], [post, "--full"], [text], ["--\(text)"], ["1"], ["999"], ["--id", text]]),
            ("unread", [[], [post], [text], ["1"]]), ("next", [[], ["--source", text]]),
            ("read", [[], [post], [text], ["1"], ["--all", "--source", text], ["--all"]]),
            (
                "favorite",
                [
                    ["add", "fact", fact], ["add", "gif", gif], ["add", "post", post], ["add", "fact"],
                    ["add", "fact", text], ["add", text], ["add"], ["add", "1"], [], ["list"],
                    ["list", "--kind", text], ["export"],
                    ["import", file], ["import", text], ["remove", "fact", text], ["remove", "post", post],
                    ["remove", text],
                    ["remove", "1"], ["remove"], [text],
                ]
            ), ("recent", [[], ["1"], ["6"], [text], ["--clear"]]), ("status", [[], ["--metrics"], [text]]),
            ("refresh", [[], ["--wait"], [text], ["--wait", text]]), ("reload", [[]]), ("doctor", [[], [text]]),
            ("config", [["path"], ["check"], [text]]),
            (
                "call",
                [
                    ["server.status"], ["fact.random", #"{"count":100}"#], ["post.list"], ["gif.trending"],
                    ["author.list"], ["favorite.list"], ["recent.list"], ["rpc.discover"], [text],
                    ["fact.get", "{\"id\":\(Hostile.json)}"], ["fact.get", text],
                ]
            ), ("prompt", [[], ["--max-length", "400"], ["--max-length", text]]),
            ("init", [["bash"], ["zsh", "--greeting"], ["fish", "--prompt"], [text]]),
            ("completion", [["bash"], ["zsh"], ["fish"], [text]]),
            // Small pictures, because a debug build draws slowly.
            (
                "card",
                [
                    ["-o", folder("card.png")], ["--alt"], ["--today", "--alt"],
                    ["--id", fact, "-o", folder("card.png")], [], ["--style", "poster", "-o", folder("card.png")],
                    ["-c", "dev", "--name", text, "--alt"], ["--id", text, "--alt"], ["--text", text, "--alt"],
                    ["--text", text, "-o", folder(text)], ["--text", "a", "-o", folder("\(text)/\(text)")],
                ].map { ["--size", "256"] + $0 } + [["--size", text, "--alt"], [text]]
            ), ("help", [[], ["fact"], [text]]), ("clear-cache", [[text], ["--yes"]]),
        ]
    }

    private func commands() throws -> [String] {
        let help = try NorrisTestSupport.run(Programs.norrisctl, ["--help"]).lines
        let start = try #require(help.firstIndex { $0 == "READ" })
        return help[(start + 1)...].prefix { $0 != "OPTIONS" }.compactMap { line in
            // A name follows two spaces. A description is indented further.
            line.hasPrefix("  ") && !line.hasPrefix("   ")
                ? line.dropFirst(2).split(separator: " ").first.map(String.init) : nil
        }
    }

    /// - Parameter skipped: commands that would remove content that a later step needs.
    func run(skipping skipped: Set<String> = []) throws {
        let commands = try commands()
        #expect(commands.count >= 16, "The help lists the commands")
        let arguments = try arguments()
        let known = Set(arguments.map(\.command) + ["watch"])
        #expect(Set(commands).subtracting(known).isEmpty, "These are not run yet")
        for (command, tries) in arguments where commands.contains(command) || command == "help" {
            guard !skipped.contains(command) else { continue }
            for further in tries { try check([command] + further) }
        }
        if !skipped.contains("watch") { try watch() }
        for arguments in [
            [], [Hostile.argument], ["--\(Hostile.argument)"], ["--color", Hostile.argument, "fact"], ["-\u{1B}"],
            ["fact", "--timeout", Hostile.argument],
        ] { try check(arguments) }
    }

    private func check(_ arguments: [String]) throws {
        for options in [[], ["--json"]] {
            // Options precede the arguments, because the last argument may be a list of words.
            let result = try NorrisTestSupport.run(Programs.norrisctl, options + arguments, environment: environment)
            expectClean(Array((result.output + result.errors).utf8), options + arguments)
            #expect(result.status < 128, "\(arguments)")
        }
        let terminal = try PseudoTerminal(
            Programs.norrisctl, ["--color", "always"] + arguments, environment: environment)
        #expect(terminal.waitForEnd() < 128, "\(arguments)")
        expectClean(terminal.transcript, arguments, isTerminal: true)
    }

    /// Runs `watch`, which never ends, until an event has been printed, and then terminates it.
    private func watch() throws {
        let files = [[], ["--json"]].enumerated().map { (folder("watch\($0)"), $1) }
        let children = try files.map { file, options in
            try ChildProcess(
                Programs.norrisctl, options + ["watch"], environment: environment, output: file, errors: file)
        }
        let terminal = try PseudoTerminal(Programs.norrisctl, ["--color", "always", "watch"], environment: environment)
        // The first run may end before the processes have subscribed.
        for _ in 0..<60 where terminal.transcript.isEmpty {
            _ = try NorrisTestSupport.run(Programs.norrisctl, ["refresh", "--wait"], environment: environment)
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
    _ bytes: [UInt8], _ name: [String], isTerminal: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
) {
    let faults = TerminalScanner.faults(in: bytes, isTerminal: isTerminal)
    let name = name.joined(separator: " ").unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    let output = isTerminal ? "at a terminal" : "to a pipe"
    #expect(faults.isEmpty, "\(name), \(output): \(faults.prefix(3))", sourceLocation: sourceLocation)
}

/// Finds invalid bytes in the output of norrisctl. A control sequence that norrisctl itself does not use is a fault.
struct TerminalScanner {
    /// Whether the bytes come from a terminal, where more sequences are allowed and CR LF represents a newline.
    let isTerminal: Bool

    private enum State {
        case text
        case escape
        /// A control sequence, after `ESC [`.
        case control(parameters: String)
        /// An operating system command, after `ESC ]`.
        case command(text: String)
        /// An ESC in an operating system command. Only a backslash may follow.
        case commandEnd(text: String)
    }

    /// Returns each fault with the text before the fault. The list is empty if the bytes are clean.
    static func faults(in bytes: [UInt8], isTerminal: Bool) -> [String] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return ["There are bytes that are no UTF-8."] }
        var scanner = TerminalScanner(isTerminal: isTerminal)
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            guard let fault = scanner.take(scalar) else { continue }
            let context = scalars[max(0, index - 60)...index].map { $0.escaped(asASCII: true) }.joined()
            scanner.faults.append("\(fault) after: \(context)")
        }
        if case .text = scanner.state {} else { scanner.faults.append("The last sequence has no end.") }
        return scanner.faults
    }

    private var state = State.text
    private var faults: [String] = []

    private init(isTerminal: Bool) { self.isTerminal = isTerminal }

    private mutating func take(_ scalar: Unicode.Scalar) -> String? {
        switch state {
        case .text:
            if isTerminal, scalar == "\u{1B}" {
                state = .escape
                return nil
            }
            return isAllowed(scalar) ? nil : "U+\(String(scalar.value, radix: 16))"
        case .escape:
            state = scalar == "[" ? .control(parameters: "") : scalar == "]" ? .command(text: "") : .text
            return scalar == "[" || scalar == "]" ? nil : "An escape sequence of another kind"
        case .control(let parameters):
            if scalar == ";" || "0"..."9" ~= scalar {
                state = .control(parameters: parameters + String(scalar))
                return nil
            }
            state = .text
            // SGR, and EL, which clears the line or its rest.
            return scalar == "m" || scalar == "K" ? nil : "CSI \(parameters)\(scalar)"
        case .command(let text):
            state = scalar == "\u{1B}" ? .commandEnd(text: text) : .command(text: text + String(scalar))
            // The address of a hyperlink consists of visible ASCII characters.
            guard scalar == "\u{1B}" || "!"..."~" ~= scalar else {
                state = .text
                return "U+\(String(scalar.value, radix: 16)) in OSC \(text)"
            }
            return nil
        case .commandEnd(let text):
            state = .text
            let isLink = text == "8;;" || text.hasPrefix("8;;http://") || text.hasPrefix("8;;https://")
            return scalar == "\\" && isLink ? nil : "OSC \(text)"
        }
    }

    /// Allows newlines, tabs between fields, and visible characters; at a terminal also CR, which begins a line.
    private func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: true
        case 0x09: true
        case 0x0D: isTerminal
        case ..<0x20, 0x7F..<0xA0: false
        // Bidi controls, line and paragraph separators, the byte order mark, the replacement character of a decoder.
        case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFFD: false
        default: true
        }
    }
}
