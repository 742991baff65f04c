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

    /// Returns the command lines to try. Commands that remove content are last.
    private func lines() throws -> [[String]] {
        let text = Hostile.argument
        let file = try folder.write("{\"kind\":\(Hostile.json),\"id\":\(Hostile.json)}\n\(text)\n", to: "favorites")
        // `watch` does not end, and cards are drawn below.
        let common = try commands().filter { !["card", "clear-cache", "watch"].contains($0) }
        let cards = [
            ["-o", folder("card.png")], ["--alt"], ["--today", "--alt"], ["--id", fact, "-o", folder("card.png")], [],
            ["--style", "poster", "-o", folder("card.png")], ["-c", "dev", "--name", text, "--alt"],
            ["--id", text, "--alt"], ["--text", text, "--alt"], ["--text", text, "-o", folder(text)],
            ["--text", "a", "-o", folder("\(text)/\(text)")],
        ]
        var lines = common.flatMap { [[$0], [$0, text], [$0, "1"], [$0, "--id", text], [$0, "--limit", text]] }
        lines += [
            ["fact", "--count", "100"], ["fact", "--today"], ["fact", "--id", fact], ["fact", "--category", text],
            ["fact", "--name", text], ["fact", "--count", text], ["search", "norris", "--limit", "100"],
            ["search", "norris", "--in", "posts"], ["search", text, "--in", "posts", "--source", text],
            ["search", text, "--in", "favorites"], ["gif", "--trending"], ["gif", "cats"], ["gif", "--random"],
            ["gif", "--random", text], ["gif", "--id", gif], ["gif", "--url"], ["gif", "--markdown"],
            ["gif", "--rendition", text], ["gif", "999"], ["feed", "--full"], ["feed", "--unread", "--limit", "100"],
            ["feed", "--source", text], ["feed", "--author", text], ["feed", "--page", "2"], ["feed", "sources"],
            ["feed", "export"], ["feed", "add", text], ["feed", "add", "https://127.0.0.1:1/\(text)"],
            ["feed", "remove", text], ["feed", "import", file], ["feed", "import", text], ["post", post],
            ["post"], ["post", "--\(text)"], ["post", "999"], ["unread", post],
            ["next", "--source", text], ["mute", text], ["mute"], ["mute", "--remove", "1"],
            ["feed", "--count"], ["feed", "--since", "2h", "--muted"], ["read", post],
            ["read", "--all", "--source", text], ["read", "--all"],
            ["favorite", "add", "fact", fact], ["favorite", "add", "gif", gif], ["favorite", "add", "post", post],
            ["favorite", "add", "fact"], ["favorite", "add", "fact", text], ["favorite", "add", text],
            ["favorite", "add"], ["favorite", "add", "1"], ["favorite", "list"], ["favorite", "list", "--kind", text],
            ["favorite", "export"], ["favorite", "import", file], ["favorite", "import", text], ["recent", "6"],
            ["status", "--metrics"], ["refresh", "--wait"], ["refresh", "--wait", text], ["config", "path"],
            ["config", "check"], ["call", "server.status"], ["call", "fact.random", #"{"count":100}"#],
            ["call", "post.list"], ["call", "gif.trending"], ["call", "author.list"], ["call", "favorite.list"],
            ["call", "recent.list"], ["call", "rpc.discover"], ["call", "fact.get", "{\"id\":\(Hostile.json)}"],
            ["call", "fact.get", text], ["prompt", "--max-length", "400"], ["prompt", "--max-length", text],
            ["init", "bash"], ["init", "zsh", "--greeting"], ["init", "fish", "--prompt"], ["completion", "bash"],
            ["completion", "zsh"], ["completion", "fish"], ["help"], ["help", "fact"], ["help", text],
        ]
        // Small pictures, because a debug build draws slowly.
        lines += cards.map { ["card", "--size", "256"] + $0 }
        lines += [
            ["card", "--size", text, "--alt"], ["card", text], [], [text], ["--\(text)"], ["--color", text, "fact"],
            ["-\u{1B}"], ["fact", "--timeout", text], ["favorite", "remove", "fact", text],
            ["favorite", "remove", "post", post], ["favorite", "remove", text], ["favorite", "remove", "1"],
            ["favorite", "remove"], ["recent", "--clear"], ["clear-cache", text], ["clear-cache", "--yes"],
        ]
        return lines
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
        #expect(try commands().count >= 16, "The help lists the commands")
        for line in try lines() where !skipped.contains(line.first ?? "") { try check(line) }
        try watch()
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
            if scalar == ";" || scalar == "?" && parameters.isEmpty || "0"..."9" ~= scalar {
                state = .control(parameters: parameters + String(scalar))
                return nil
            }
            state = .text
            // SGR, and EL, which clears the line or its rest; DECTCEM, by which chafa hides the cursor while it draws.
            let allowed = parameters == "?25" ? "hl" : parameters.hasPrefix("?") ? "" : "mK"
            return allowed.unicodeScalars.contains(scalar) ? nil : "CSI \(parameters)\(scalar)"
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
