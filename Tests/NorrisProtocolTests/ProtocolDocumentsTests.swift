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
        for method in MethodTable.methods {
            let heading = try #require(
                updated.range(of: "\n### `\(method.name)`\n"), "PROTOCOL.md has no heading ### `\(method.name)`")
            let rest = heading.upperBound..<updated.endIndex
            let result = try #require(updated.range(of: "\nResult: ", range: rest)).upperBound
            let end = updated[result...].firstIndex(of: "\n") ?? updated.endIndex
            updated.replaceSubrange(heading.lowerBound..<end, with: "\n" + Self.section(method))
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

    @Test func everyMethodHasOneSection() {
        let headings = document.matches(of: #/(?m)^### `([a-z_.]+)`$/#).map { String($0.output.1) }
        #expect(headings.sorted() == MethodTable.methods.map(\.name).sorted())
    }

    /// The table with the resource that each method waits for, and whether a client may repeat the method.
    @Test func everyMethodIsInTheTableForClients() throws {
        let start = try #require(document.range(of: "\n| method | waits for |")).upperBound
        let rows = document[start...].prefix { $0 != "#" }.split(separator: "\n").filter { $0.hasPrefix("| `") }
        var administrative: [String: Bool] = [:]
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 4, "\(row)")
            for name in cells[0].matches(of: #/`([a-z_.]+)`/#).map({ String($0.output.1) }) {
                #expect(administrative.updateValue(cells[3] == "yes", forKey: name) == nil, "\(name) is there twice")
            }
        }
        #expect(
            administrative
                == Dictionary(uniqueKeysWithValues: MethodTable.methods.map { ($0.name, $0.isAdministrative) }))
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

    private static func section(_ method: MethodDescription) -> String {
        var parameters = method.parameters.filter { !listParameters.contains($0.name) }
            .map { "- `\($0.label)`: `\($0.schema)`. \($0.summary)\n" }
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
