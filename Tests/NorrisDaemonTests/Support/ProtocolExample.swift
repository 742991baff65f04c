import Foundation
import NorrisTestSupport

/// One fenced block of PROTOCOL.md: what a client sends on one connection, and what comes back.
///
/// `--> ` begins a line that is sent and `<-- ` one that must come; an indented line goes on with the one before it. In
/// a line that must come `…` stands for any text, and `‹name›` for any text without quotation mark, which stands in
/// place of `‹name›` in what is sent later.
struct ProtocolExample: Sendable {
    enum Step: Equatable {
        case send(String)
        case receive(String)
    }

    struct Fault: Error, CustomStringConvertible { let description: String }

    /// Of the block's first line in the document, counted from 1.
    let line: Int
    /// What the fence says after `jsonrpc`: who sends this; an administrator where it says nothing.
    let caller: String
    let steps: [Step]

    /// The document at the top of the checkout.
    static func document() throws -> String {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        return try String(contentsOf: root.appending(path: "PROTOCOL.md"), encoding: .utf8)
    }

    /// All blocks that are fenced as `jsonrpc`.
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

    /// Sends what is to be sent on a connection and compares what comes.
    ///
    /// The client's side ends with the last line it sends, so a reply that never comes ends in the server's closing.
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

/// A line with places that may hold any text: `…` any at all, `‹name›` one without quotation mark, which is kept.
struct ReplyPattern {
    private enum Token {
        case text([UInt8])
        case name(String)
    }

    /// What stands between the `…`.
    private let runs: [[Token]]

    init(_ pattern: String) { runs = pattern.components(separatedBy: "…").map(ReplyPattern.tokens) }

    /// The texts of the named places, if the whole line matches, byte for byte.
    func match(_ line: String) -> [String: String]? {
        let bytes = Array(line.utf8)
        var names: [String: String] = [:]
        var position = 0
        for (index, run) in runs.enumerated() {
            let isLast = index == runs.count - 1
            // The first run stands at the very start, the last at the very end, the others as early as they can.
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
