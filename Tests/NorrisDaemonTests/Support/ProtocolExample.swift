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

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

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
