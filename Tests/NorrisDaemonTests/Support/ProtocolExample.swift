import Foundation
import NorrisTestSupport

/// A fenced block of PROTOCOL.md: the lines of a client on a connection and the expected replies.
///
/// `--> ` begins a sent line, `<-- ` an expected line, and an indented line continues the line before. In an expected
/// line `…` matches any text, and `‹name›` any text without a quotation mark. Later sent lines repeat that text.
struct ProtocolExample: Sendable {
    enum Step: Equatable {
        case send(String)
        case receive(String)
    }

    struct Fault: Error, CustomStringConvertible { let description: String }

    /// The line number of the block's first line in the document, counted from 1.
    let line: Int
    /// The text of the fence after `jsonrpc`: the role of the client. The default is an administrator.
    let caller: String
    let steps: [Step]

    static func document() throws -> String {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        return try String(contentsOf: root.appending(path: "PROTOCOL.md"), encoding: .utf8)
    }

    static func examples(in document: String) throws -> [ProtocolExample] {
        var examples: [ProtocolExample] = []
        var open: (line: Int, caller: String, steps: [Step])?
        for (index, text) in document.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let block = open {
                if text == "```" {
                    examples.append(ProtocolExample(line: block.line, caller: block.caller, steps: block.steps))
                    open = nil
                } else {
                    open?.steps = try steps(block.steps, and: text, line: index + 1)
                }
            } else if text.hasPrefix("```jsonrpc") {
                let caller = text.dropFirst("```jsonrpc".count).trimmingCharacters(in: .whitespaces)
                open = (index + 2, caller.isEmpty ? "administrator" : caller, [])
            }
        }
        guard open == nil else { throw Fault(description: "The last block has no end.") }
        return examples
    }

    private static func steps(_ steps: [Step], and text: Substring, line: Int) throws -> [Step] {
        if text.hasPrefix("--> ") { return steps + [.send(String(text.dropFirst(4)))] }
        if text.hasPrefix("<-- ") { return steps + [.receive(String(text.dropFirst(4)))] }
        let rest = text.trimmingCharacters(in: .whitespaces)
        guard text.hasPrefix("    "), let last = steps.last else {
            throw Fault(description: "Line \(line) begins with neither -->, <-- nor four spaces.")
        }
        switch last {
        case .send(let begun): return steps.dropLast() + [.send(begun + rest)]
        case .receive(let begun): return steps.dropLast() + [.receive(begun + rest)]
        }
    }

    /// Sends the lines of the example on a connection and compares the replies. The client ends its output with its
    /// last line, so that the connection ends if a reply is missing.
    func run(_ client: LineClient) throws {
        var names: [String: String] = [:]
        var unsent = steps.count { if case .send = $0 { true } else { false } }
        for step in steps {
            switch step {
            case .send(let line):
                try client.send(line: names.reduce(line) { $0.replacingOccurrences(of: "‹\($1.key)›", with: $1.value) })
                unsent -= 1
                if unsent == 0 { client.endInput() }
            case .receive(let pattern):
                guard let line = try client.receiveLine() else {
                    throw Fault(description: "Line \(self.line): the connection ended before \(pattern)")
                }
                guard let found = ReplyPattern(pattern).match(line) else {
                    throw Fault(description: "Line \(self.line):\n  must come \(pattern)\n  has come  \(line)")
                }
                names.merge(found) { $1 }
            }
        }
        if let line = try client.receiveLine() {
            throw Fault(description: "Line \(self.line): nothing more must come, but this has: \(line)")
        }
    }
}

/// A line with placeholders: `…` for any text, and `‹name›` for a named text without a quotation mark.
struct ReplyPattern {
    private enum Token {
        case text([UInt8])
        case name(String)
    }

    /// The parts between the `…`.
    private let runs: [[Token]]

    init(_ pattern: String) { runs = pattern.components(separatedBy: "…").map(ReplyPattern.tokens) }

    /// Returns the texts of the named placeholders if the whole line matches, byte for byte.
    func match(_ line: String) -> [String: String]? {
        let bytes = Array(line.utf8)
        var names: [String: String] = [:]
        var position = 0
        for (index, run) in runs.enumerated() {
            let isLast = index == runs.count - 1
            // The first run begins at the start, the last run ends at the end, and the others are as early as possible.
            let starts = index == 0 ? position...position : position...bytes.count
            let found = starts.lazy.compactMap { ReplyPattern.end(of: run, in: bytes, at: $0) }
                .first { !isLast || $0.end == bytes.count }
            guard let found else { return nil }
            position = found.end
            names.merge(found.names) { $1 }
        }
        return names
    }

    private static func end(of run: [Token], in bytes: [UInt8], at start: Int) -> (end: Int, names: [String: String])? {
        var position = start
        var names: [String: String] = [:]
        for token in run {
            switch token {
            case .text(let text):
                guard bytes[position...].starts(with: text) else { return nil }
                position += text.count
            case .name(let name):
                let end = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) ?? bytes.count
                names[name] = String(decoding: bytes[position..<end], as: UTF8.self)
                position = end
            }
        }
        return (position, names)
    }

    private static func tokens(_ run: String) -> [Token] {
        run.components(separatedBy: "‹").enumerated().flatMap { index, part -> [Token] in
            guard index > 0, let end = part.firstIndex(of: "›") else { return [.text(Array(part.utf8))] }
            return [.name(String(part[..<end])), .text(Array(part[part.index(after: end)...].utf8))]
        }
    }
}
