import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisProtocol

/// The sections of methods and the shared values in PROTOCOL.md, generated from the table of methods. A section begins
/// with its heading and ends with the line of the result; the text after that line is written by hand.
struct ProtocolMethodListTests {
    private static let begin = "<!-- values: begin -->\n"
    private static let end = "<!-- values: end -->\n"
    private static let file = URL(filePath: #filePath).appending(path: "../../../PROTOCOL.md").standardized

    private let document: String

    init() throws { document = try String(contentsOf: Self.file, encoding: .utf8) }

    @Test("PROTOCOL.md describes the methods of the table; NORRIS_UPDATE_DOCUMENTS=1 writes them")
    func isUpToDate() throws {
        var updated = document
        let methods = Dictionary(uniqueKeysWithValues: MethodTable.methods.map { ($0.name, $0) })
        // The method that describes a parameter, by the line with its description.
        var described: [String: String] = [:]
        for name in headings {
            let method = try #require(methods[name], "There is no method \(name).")
            let heading = try #require(updated.range(of: "\n### `\(name)`\n"))
            let rest = heading.upperBound..<updated.endIndex
            let result = try #require(updated.range(of: "\nResult: ", range: rest)).upperBound
            let end = updated[result...].firstIndex(of: "\n") ?? updated.endIndex
            updated.replaceSubrange(heading.lowerBound..<end, with: "\n" + Self.section(method, &described))
        }
        let begin = try #require(updated.range(of: Self.begin))
        let end = try #require(updated.range(of: Self.end))
        updated.replaceSubrange(begin.upperBound..<end.lowerBound, with: Self.values)
        if ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1", updated != document {
            try updated.write(to: Self.file, atomically: true, encoding: .utf8)
            return
        }
        #expect(
            document == updated,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ProtocolMethodListTests updates the sections.")
    }

    private var headings: [String] {
        document.matches(of: #/(?m)^### `([a-z_.]+)`$/#).map { String($0.output.1) }
    }

    @Test func everyMethodHasOneSection() {
        #expect(headings.sorted() == MethodTable.methods.map(\.name).sorted())
    }

    @Test func everyMethodThatTheTextNamesExists() {
        let known = Set(MethodTable.methods.map(\.name))
        let words = Set(known.map { $0.prefix { $0 != "." } })
        let named = document.matches(of: #/`([a-z]+)\.([a-z_]+)`/#).filter { words.contains($0.output.1) }
        #expect(Set(named.map { "\($0.output.1).\($0.output.2)" }).subtracting(known) == [])
    }

    @Test func errorsAreThoseOfTheProgram() {
        let all: [ResponseError] = [
            .parseError(JSONError(.unexpectedEnd, at: 0)), .invalidRequest(""), .unknownMethod(""), .invalidParams(""),
            .internalError(), .notFound(""), .nothingCached("", source: "", lastError: nil),
            .permissionDenied, .busy(""), .storage(""), .shuttingDown,
        ]
        let rows = document.matches(of: #/(?m)^\| (-32\d+) \| ([^|]+) \|/#).map { row in
            "\(row.output.1) \(row.output.2.replacing("`", with: ""))"
        }
        #expect(rows.contains("-32600 invalid_request, line_too_long"))
        #expect(
            rows.map { $0.replacing(", line_too_long", with: "") } == all.map { "\($0.code.rawValue) \($0.reason)" })
        #expect(ResponseError.lineTooLong(maximum: 1).code == .invalidRequest)
    }

    @Test func eventsAreThoseOfTheProgram() {
        let row = #/(?m)^\| `([a-z]+)` \| .*`(?:source|phase|unread)`/#
        let rows = document.matches(of: row).map { String($0.output.1) }
        #expect(rows == Event.Topic.all.map(\.rawValue))
    }

    private static var values: String { SharedSchemas.all.map { "- `\($0.name)`: `\($0.schema)`\n" }.joined() }

    /// The parameters that PROTOCOL.md describes once for all lists.
    private static let listParameters: Set = ["cursor", "limit", "numbered"]

    /// Returns the section of a method. A parameter that an earlier section describes refers to that section.
    private static func section(_ method: MethodDescription, _ described: inout [String: String]) -> String {
        var lines: [(text: String, names: [String], method: String?)] = []
        for parameter in method.parameters where !listParameters.contains(parameter.name) {
            let name = "`\(parameter.label)`"
            let text = "- \(name): `\(parameter.schema)`. \(parameter.summary)\n"
            if let earlier = described[text] {
                if lines.last?.method == earlier {
                    lines[lines.count - 1].names.append(name)
                } else {
                    lines.append(("", [name], earlier))
                }
            } else {
                described[text] = method.name
                lines.append((text, [], nil))
            }
        }
        var parameters = lines.map { line in
            line.method.map { "- \(line.names.joined(separator: ", ")): as for `\($0)`.\n" } ?? line.text
        }
        let listed = method.parameters.filter { listParameters.contains($0.name) }
            .map { $0.name == "limit" ? "`\($0.label)` (`\($0.schema)`)" : "`\($0.label)`" }
        if !listed.isEmpty { parameters.append("- \(listed.joined(separator: ", ")): see [lists](#lists).\n") }
        return "### `\(method.name)`\n\n" + method.summary
            + (method.isAdministrative ? " Needs an administrator." : "") + "\n\n"
            + (parameters.isEmpty ? "" : parameters.joined() + "\n") + "Result: `\(method.result)`"
    }
}

/// norrisd-protocol(7) is one page, and refers to PROTOCOL.md.
struct ProtocolManualTests {
    @Test func pageNamesTheVersionAndTheDocument() throws {
        let text = try ManualPage("norrisd-protocol.7").section("DESCRIPTION").lines.joined(separator: "\n")
        #expect(text.contains("Version \(ServerInfo.protocolVersion):"))
        #expect(text.contains("/usr/share/doc/norrisd/PROTOCOL.md"))
    }
}
