import Foundation
import NorrisProtocol
import Testing

/// The list of methods in PROTOCOL.md stands between two marks and is made from the table of methods.
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
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ProtocolMethodListTests brings the list up to date."
        )
    }

    private static var list: String {
        MethodTable.methods.map(section).joined(separator: "\n") + "\n"
            + "### Shared values\n\n"
            + SharedSchemas.all.map { "- `\($0.name)`: `\($0.schema)`\n" }.joined()
    }

    private static func section(_ method: MethodDescription) -> String {
        let parameters = method.parameters.map { parameter in
            "- `\(parameter.label)`: `\(parameter.schema)`. \(parameter.summary)\n"
        }
        return "### `\(method.name)`\n\n"
            + method.summary + (method.isAdministrative ? " Needs an administrator." : "") + "\n\n"
            + (parameters.isEmpty ? "No parameters." : parameters.joined()) + "\n"
            + (parameters.isEmpty ? "\n" : "")
            + "Result: `\(method.result)`\n"
    }
}
