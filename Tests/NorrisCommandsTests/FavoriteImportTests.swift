import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTestSupport
import Testing

struct FavoriteImportTests {
    private static func line(_ id: String, title: String = "T", more: String = "") -> String {
        #"{"kind":"fact","id":"\#(id)","title":"\#(title)","added_at":"2026-11-21T10:00:00Z"\#(more)}"#
    }

    private static func fact(_ id: String, bytes: Int) -> String {
        let text = String(repeating: "x", count: bytes)
        return line(id, more: #","fact":{"id":"\#(id)","text":"\#(text)","categories":[],"source":"s"}"#)
    }

    private func machine(_ lines: [String], results: String...) -> Machine {
        let machine = Machine(results: results)
        machine.input = Array(lines.joined(separator: "\n").utf8)
        return machine
    }

    // MARK: Chunks

    @Test func sendsAsManyAtATimeAsFitIntoARequest() throws {
        let lines = (1...20).map { Self.fact("\($0)", bytes: 10_000) }
        let machine = machine(
            lines, results: #"{"added":2,"known":0}"#, #"{"added":5,"known":1}"#, #"{"added":6,"known":0}"#,
            #"{"added":6,"known":0}"#)
        #expect(machine.run("favorite", "import") == Outcome(output: "19 added, 1 already there\n"))
        #expect(machine.requests.allSatisfy { $0.jsonBytes.count <= LineSplitter.maximumRequest })
        #expect(try sentIDs(machine) == [19...20, 13...18, 7...12, 1...6].map { $0.map(String.init) })
    }

    @Test("A request is filled to its last byte", arguments: [(0, false), (1, true)])
    func knowsTheLimitToTheByte(excess: Int, isCut: Bool) {
        // The size of a request minus its text, measured with a request of one item.
        let probe = machine([Self.fact("a", bytes: 1)], results: #"{"added":1,"known":0}"#)
        _ = probe.run("favorite", "import")
        let room = LineSplitter.maximumRequest - (probe.requests.first?.jsonBytes.count ?? 0) + 1
        let machine = machine([Self.fact("a", bytes: room + excess)], results: #"{"added":1,"known":0}"#)
        let outcome = machine.run("favorite", "import")
        #expect(
            machine.requests.first?.jsonBytes.count
                == (isCut
                    ? probe.requests.first.map {
                        $0.jsonBytes.count - Self.fact("a", bytes: 1).utf8.count + Self.line("a").utf8.count
                    } : LineSplitter.maximumRequest))
        #expect(outcome.errors == (isCut ? "norrisctl: 1 item too large to send: added without content.\n" : ""))
        #expect(outcome.output == "1 added, 0 already there\n")
    }

    private func sentIDs(_ machine: Machine) throws -> [[String]] {
        try machine.requests.map { request in
            let params = try FavoriteImport.Parameters(json: request.objectValue()["params"] ?? .null)
            return params.items.map(\.id)
        }
    }

    // MARK: Errors

    @Test(arguments: [
        ("nonsense", "Invalid JSON at byte 1."),
        (#"{"kind":"fact","id":"a"}"#, "title is missing."),
        (#"{"kind":"cat","id":"a","title":"t","added_at":"2026-11-21T10:00:00Z"}"#, "kind must be fact, gif or post."),
        (line("a", more: #","fact":{"id":"a"}"#), "fact.text is missing."),
        (
            line("a", title: String(repeating: "x", count: 70_000)),
            "id and title are too long for a request of 65536 bytes."
        ),
    ]) func checksEveryLineBeforeAnythingIsSent(bad: String, message: String) {
        let machine = machine([Self.line("a"), "", bad, Self.line("b")])
        let outcome = machine.run("favorite", "import")
        #expect(outcome.status == .usage)
        #expect(
            outcome.errors == """
                norrisctl: Standard input, line 3: \(message)
                  Nothing was imported. Fix or remove the line.

                """)
        #expect(machine.requests.isEmpty)
    }

    @Test func refusesMoreThanCanBeKept() throws {
        let line = #"{"kind":"gif","id":"a","title":"","added_at":"2026-11-21T10:00:00Z"}"#
        let full = Machine(results: Array(repeating: #"{"added":1,"known":0}"#, count: FavoriteList.maximum))
        full.input = Array((String(repeating: line + "\n", count: FavoriteList.maximum) + "\n").utf8)
        #expect(full.run("favorite", "import").status == .done)
        #expect(try sentIDs(full).map(\.count).reduce(0, +) == FavoriteList.maximum)
        let machine = machine(Array(repeating: line, count: FavoriteList.maximum + 1))
        let outcome = machine.run("favorite", "import")
        #expect(outcome.status == .usage)
        #expect(outcome.errors.contains(" items, the limit for favorites."))
        #expect(machine.requests.isEmpty)
        machine.input = [UInt8](repeating: UInt8(ascii: "\n"), count: 64 << 20 + 1)
        #expect(machine.run("favorite", "import").errors.hasPrefix("norrisctl: Standard input is larger than 64 MiB."))
    }

    @Test func saysWhatIsInWhenALaterRequestFails() {
        let lines = (1...10).map { Self.fact("\($0)", bytes: 10_000) }
        let machine = Machine([
            Machine.reply(#"{"added":3,"known":1}"#),
            Machine.reply(.invalidParams("Item 2 is of no use.", parameter: "items")),
        ])
        machine.files["f"] = Array(lines.joined(separator: "\n").utf8)
        #expect(
            machine.run("favorite", "import", "f")
                == .failed(
                    .usage, "Item 2 is of no use.", "It happened at lines 1 to 6 of \"f\".",
                    "The 4 items after that were imported. It is safe to import the file again."))
    }
}
