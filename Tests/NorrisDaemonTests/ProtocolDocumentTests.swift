import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct ProtocolDocumentTests {
    @Test("Every example of PROTOCOL.md runs as it is written", .timeLimit(.minutes(20)))
    func examplesRun() async throws {
        let examples = try ProtocolExample.examples(in: ProtocolExample.document())
        for fault in try await faults(of: examples) { Issue.record("\(fault)") }
    }

    /// Runs each example on a separate connection and returns the faults.
    private func faults(of examples: [ProtocolExample]) async throws -> [String] {
        var faults: [String] = []
        try await FakeUpstream.run { upstream in
            try await FetchingDaemon.run(
                upstream, clock: ManualClock(.now()), facts: ", enabled: false", others: SeededContent.configuration,
                fetches: false
            ) { daemon in
                try await SeededContent.put(into: daemon.core.stores, at: daemon.clock.now)
                // Closes the watch connection, because the examples count connections.
                daemon.watch.endInput()
                while try daemon.watch.receiveLine() != nil {}
                for example in examples {
                    let caller = try #require(FetchingDaemon.Caller(rawValue: example.caller), "Line \(example.line)")
                    do {
                        try example.run(try daemon.client(caller))
                    } catch {
                        faults.append("\(error)")
                    }
                }
            }
        }
        return faults
    }

    @Test("Every method has an example, and so has every error a client can provoke")
    func examplesAreComplete() throws {
        let steps = try ProtocolExample.examples(in: ProtocolExample.document()).flatMap(\.steps)
        let sent = steps.compactMap { step in if case .send(let line) = step { line } else { nil } }
        let received = steps.compactMap { step in if case .receive(let line) = step { line } else { nil } }
        for method in MethodTable.methods {
            #expect(sent.contains { $0.contains("\"\(method.name)\"") }, "\(method.name)")
        }
        for code in [-32700, -32600, -32601, -32602, -32001, -32003] {
            #expect(received.contains { $0.contains("\"code\":\(code),") }, "\(code)")
        }
    }
}

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
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
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
                guard let found = try Self.names(in: line, pattern) else {
                    throw Fault(description: "Line \(self.line):\n  must come \(pattern)\n  has come  \(line)")
                }
                names.merge(found) { $1 }
            }
        }
        if let line = try client.receiveLine() {
            throw Fault(description: "Line \(self.line): nothing more must come, but this has: \(line)")
        }
    }

    /// Returns the texts of the named placeholders if the whole line matches a pattern.
    private static func names(in line: String, _ pattern: String) throws -> [String: String]? {
        let expression = NSRegularExpression.escapedPattern(for: pattern)
            .replacing("…", with: ".*?").replacing(#/‹(\w+)›/#) { "(?<\($0.1)>[^\"]*)" }
        let match = try Regex(expression).matchingSemantics(.unicodeScalar).wholeMatch(in: line)
        return match.map { match in
            let named = match.output.compactMap { part in part.name.map { ($0, String(part.substring ?? "")) } }
            return Dictionary(uniqueKeysWithValues: named)
        }
    }
}
