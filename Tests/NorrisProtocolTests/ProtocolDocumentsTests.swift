import Foundation
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisProtocol

/// The list of methods between two marks in PROTOCOL.md, generated from the table of methods.
struct ProtocolMethodListTests {
    private static let begin = "<!-- methods: begin -->\n"
    private static let end = "<!-- methods: end -->\n"

    @Test("PROTOCOL.md lists the methods of the table; NORRIS_UPDATE_DOCUMENTS=1 writes them")
    func isUpToDate() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../PROTOCOL.md").standardized
        let document = try String(contentsOf: file, encoding: .utf8)
        let begin = try #require(document.range(of: Self.begin))
        let end = try #require(document.range(of: Self.end))
        var updated = document
        updated.replaceSubrange(begin.upperBound..<end.lowerBound, with: Self.list)
        if ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1", updated != document {
            try updated.write(to: file, atomically: true, encoding: .utf8)
            return
        }
        #expect(
            document[begin.upperBound..<end.lowerBound] == Self.list,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ProtocolMethodListTests brings the list up to date.")
    }

    private static var list: String {
        MethodTable.methods.map(section).joined(separator: "\n") + "\n" + "### Shared values\n\n"
            + SharedSchemas.all.map { "- `\($0.name)`: `\($0.schema)`\n" }.joined()
    }

    private static func section(_ method: MethodDescription) -> String {
        let parameters = method.parameters.map { parameter in
            "- `\(parameter.label)`: `\(parameter.schema)`. \(parameter.summary)\n"
        }
        return "### `\(method.name)`\n\n" + method.summary + (method.isAdministrative ? " Needs an administrator." : "")
            + "\n\n" + (parameters.isEmpty ? "No parameters." : parameters.joined()) + "\n"
            + (parameters.isEmpty ? "\n" : "") + "Result: `\(method.result)`\n"
    }
}

/// norrisd-protocol(7) lists all methods, errors, limits and events of the program.
struct ProtocolManualTests {
    private static let name = "norrisd-protocol.7"

    private let page: ManualPage

    init() throws { page = try ManualPage(Self.name) }

    @Test("norrisd-protocol(7) lists the methods of the table; NORRIS_UPDATE_DOCUMENTS=1 writes them")
    func isUpToDate() throws {
        let updated = page.replacing { $0 == "methods" ? Self.methods : Self.values }
        if try updated.updateDocument(Self.name) { return }
        #expect(
            page.lines == updated.lines,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ProtocolManualTests brings the list up to date.")
        #expect(page.section("METHODS").subsections.dropLast() == MethodTable.methods.map(\.name)[...])
    }

    @Test func errorsAreThoseOfTheProgram() {
        let all: [ResponseError] = [
            .parseError(JSONError(.unexpectedEnd, at: 0)), .invalidRequest(""), .unknownMethod(""), .invalidParams(""),
            .internalError(), .notFound(""), .nothingCached("", source: "", lastError: nil),
            .permissionDenied, .busy(""), .storage(""), .shuttingDown,
        ]
        var told = page.section("ERROR CODES").items
        #expect(told.contains("-32600 invalid_request, line_too_long"))
        told = told.map { $0.replacing(", line_too_long", with: "") }
        #expect(told == all.map { "\($0.code.rawValue) \($0.reason)" })
        #expect(ResponseError.lineTooLong(maximum: 1).code == .invalidRequest)
    }

    @Test func errorsAreThoseOfTheProtocolDocument() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../PROTOCOL.md").standardized
        let document = try String(contentsOf: file, encoding: .utf8)
        let rows = document.matches(of: #/(?m)^\| (-32\d+) \| ([^|]+) \|/#).map { row in
            "\(row.output.1) \(row.output.2.replacing("`", with: ""))"
        }
        #expect(page.section("ERROR CODES").items == rows)
    }

    @Test func limitsAreThoseOfTheProgram() {
        let text = page.lines.joined(separator: "\n")
        #expect(LineSplitter.maximumRequest == 65_536)
        #expect(text.contains("65,536 bytes"))
        #expect(text.contains("at most \(SocketPath.maximumBytes) bytes"))
        #expect(text.contains("at most \(JSON.maximumDepth) open brackets"))
        #expect(JSON.maximumInteger == 1 << 53)
        #expect(text.contains("2^53"))
        #expect(text.contains("Version \(ServerInfo.protocolVersion)."))
    }

    @Test func eventsAreThoseOfTheProgram() { #expect(page.section("EVENTS").items == Event.Topic.all.map(\.rawValue)) }

    private static var methods: String { MethodTable.methods.map(section).joined() }

    private static func section(_ method: MethodDescription) -> String {
        let parameters = method.parameters.map { parameter in
            ".It Cm \(parameter.label)\n" + sentences(parameter.summary)
                + "Takes \(ManualPage.escaped(parameter.schema.requirement)).\n"
        }
        return ".Ss \(method.name)\n" + sentences(method.summary)
            + (method.isAdministrative ? "Needs an administrator.\n" : "")
            + (parameters.isEmpty ? "" : ".Bl -tag -width Ds\n\(parameters.joined()).El\n")
            + ".Pp\nResult: \(shape(method.result))\n"
    }

    private static var values: String {
        ".Bl -tag -width Ds\n" + SharedSchemas.all.map { ".It \($0.name)\n\(shape($0.schema))\n" }.joined() + ".El\n"
    }

    /// The sentences of a text, each on its line, as mdoc(7) requires.
    private static func sentences(_ text: String) -> String {
        ManualPage.escaped(text).replacing(". ", with: ".\n") + "\n"
    }

    /// The short form of a schema, with possible line breaks and without hyphenation.
    private static func shape(_ schema: Schema) -> String {
        ManualPage.escaped("\(schema)".replacing(",", with: ", ").replacing(":", with: ": "))
            .replacing("|", with: "|\\:")
            .split(separator: " ").map { "\\%\($0)" }.joined(separator: " ")
    }
}
