import Glibc
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

@testable import NorrisCommands
@testable import NorrisDaemon

/// A configuration, or the file of a source. Faults name a line of the file.
@Sendable func fuzzConfiguration(_ input: ArraySlice<UInt8>) {
    let loader = ConfigurationLoader(home: "/home/a", currentDirectory: "/")
    // YAML also breaks lines at CR, and at three characters that end with these bytes (YAML 1.1, section 4.2).
    let lines = input.count { [0x0A, 0x0D, 0x85, 0xA8, 0xA9].contains($0) } + 2
    do throws(ConfigurationError) {
        let loaded = try loader.parse(Array(input), file: "/etc/norrisd/config.yaml")
        for warning in loaded.warnings { requireSafe(warning.description) }
    } catch {
        require(!error.faults.isEmpty, "The configuration was refused without a fault")
        for fault in error.faults {
            requireSafe(fault.description)
            require((1...lines).contains(fault.line ?? 1), "The fault is in line \(fault.line ?? 0)")
        }
    }
}

/// The commands that show replies.
private let commands = [
    ["fact"], ["fact", "--today"], ["search", "a"], ["categories"], ["gif"], ["gif", "a"], ["feed"], ["post", "a"],
    ["recent"], ["favorite", "list"], ["favorite", "export"], ["status"], ["refresh"], ["prompt"], ["call", "a"],
    ["doctor"], ["feed", "sources"], ["---complete", "fact", "--category", ""], ["next"], ["watch"],
]

/// A line of a daemon that may be hostile, as norrisctl shows it on a terminal. The first byte selects the command, and
/// whether the line is a reply, a result or an event.
@Sendable func fuzzReplies(_ input: ArraySlice<UInt8>) {
    var input = input
    let selected = Int(input.takeByte())
    let isResult = selected >= 128
    let command = commands[selected % commands.count]
    let reply = isResult ? Array(#"{"jsonrpc":"2.0","id":1,"result":"#.utf8) + input + Array("}".utf8) : Array(input)
    // O_TMPFILE: a file without a name (open(2)).
    guard let output = try? openFile("/tmp", O_RDWR | 0o20200000) else { return }
    defer { close(output) }
    let system = System(
        environment: Environment(["NO_COLOR": "1", "TERM": "dumb"]), root: "/nonexistent", output: output,
        errors: output,
        sockets: Repeating(reply), now: Timestamp(seconds: 1_790_000_000))
    _ = Program.run(command, on: system)
    lseek(output, 0, SEEK_SET)
    requireSafeOutput((try? readAll(output)) ?? [])
}

/// A daemon that sends one line again and again.
private final class Repeating: Sockets {
    private let line: [UInt8]

    init(_ line: [UInt8]) { self.line = line }

    override func exchange(
        _ line: [UInt8], with paths: [String], within timeout: Duration, _ waiting: WaitingLine
    ) throws(ClientError) -> [UInt8] { self.line }

    override func follow(
        _ lines: [[UInt8]], with paths: [String], within timeout: Duration, _ waiting: WaitingLine, output: CInt,
        receive: ([UInt8]) -> FollowStep
    ) throws(ClientError) {
        for _ in 0..<3 { if receive(line) == .stop { return } }
        throw .closed(path: "/a")
    }

    override func listener(at path: String) -> Int? { nil }
}

/// Ends the process if bytes for a terminal contain an escape sequence or a control.
private func requireSafeOutput(_ bytes: [UInt8]) {
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
        switch scalar.value {
        case 0x09, 0x0A: continue
        case ..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
            fatalError("U+\(String(scalar.value, radix: 16)) in the output \(text(bytes[...]).debugDescription)")
        default: continue
        }
    }
}
