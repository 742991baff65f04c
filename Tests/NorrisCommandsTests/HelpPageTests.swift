import Foundation
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct HelpPageTests {
    /// All commands; the empty list is the program.
    static let commands: [[String]] =
        [[]]
        + Norrisctl.commands.flatMap { command -> [[String]] in
            [[command.name]] + command.commands.map { [command.name, $0.name] }
        }

    @Test(arguments: commands) func pagesReadAsTheyDid(command: [String]) throws {
        let name = (["norrisctl"] + command).joined(separator: "-")
        let outcome = Machine().run(command + ["--help"])
        #expect(outcome.status == .done)
        try checkGolden("help/\(name).txt", outcome.output)
    }

    @Test func thereIsNoPageOfACommandThatIsGone() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/help")
        let names = Self.commands.map { (["norrisctl"] + $0).joined(separator: "-") + ".txt" }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names.sorted())
    }

    @Test func everyCommandStandsInOneGroup() {
        let top = Machine().run("--help").output
        for command in Norrisctl.commands {
            let line = "\n  \(command.name) "
            #expect(top.ranges(of: line).count == 1, "\(line)")
        }
        var groups: [String] = []
        Norrisctl.visitCommands { title, _ in if groups.last != title { groups.append(title) } }
        #expect(groups == ["READ", "KEEP AND SHARE", "DAEMON", "SHELL"])
    }
}

/// User-visible text names commands, never methods or fields of the protocol.
struct WordingTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized
    private static let methods = MethodTable.methods.map(\.name)
    /// Field names of the protocol that contain an underscore.
    private static let fields = Set(
        MethodTable.methods.flatMap { method in method.parameters.map(\.name) + names(in: method.result) }
            + SharedSchemas.all.flatMap { names(in: $0.schema) }
    ).filter { $0.contains("_") }

    private static func names(in schema: Schema) -> [String] {
        guard case .object(let members) = schema else { return [] }
        return members.flatMap { [$0.name] + names(in: $0.schema) }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func found(_ names: some Collection<String>, in text: String) -> [String] {
        let words = Set(text.matches(of: #/[A-Za-z_]+(\.[A-Za-z_]+)*/#).map { String($0.output.0) })
        return names.filter(words.contains)
    }

    /// The string literals with a space in the source files below some folders.
    private static func sentences(in folders: [String]) throws -> [String] {
        try folders.flatMap { folder -> [String] in
            let url = root.appending(path: "Sources/\(folder)")
            let files = try #require(FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil))
            return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.flatMap { file in
                var isInside = false
                return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").flatMap { line in
                    let line = line.trimmingCharacters(in: .whitespaces)
                    defer { if line.ranges(of: "\"\"\"").count == 1 { isInside.toggle() } }
                    if isInside { return [line] }
                    if line.hasPrefix("//") || line.hasPrefix("package static let summary") { return [] }
                    return line.matches(of: #/"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"/#).map { String($0.output.1) }
                }
            }
        }
    }

    @Test func messagesNameNoMethod() throws {
        let modules = [
            "NorrisClient", "NorrisCommands", "NorrisDaemon", "NorrisPrefetch", "NorrisProtocol/Messages",
            "NorrisServer", "NorrisStore", "NorrisTerminal", "NorrisFetch",
        ]
        let sentences = try Self.sentences(in: modules)
        #expect(sentences.count > 500)
        for sentence in sentences where !sentence.contains("norrisctl call") {
            // The help of `call` and the reply to an unknown method may name a method.
            if sentence.contains("rpc.discover lists") { continue }
            #expect(Self.found(Self.methods, in: sentence).isEmpty, "\(sentence)")
        }
    }

    @Test func messagesNameNoFieldOfTheProtocol() throws {
        #expect(Self.fields.contains("fetched_at") && Self.fields.contains("max_length"))
        let folders = ["NorrisClient", "NorrisCommands", "NorrisDaemon/Handlers", "NorrisTerminal"]
        for sentence in try Self.sentences(in: folders) {
            #expect(Self.found(Self.fields, in: sentence).isEmpty, "\(sentence)")
        }
    }

    @Test func noAdviceEndsDaemonsByTheirName() throws {
        let folders = ["NorrisClient", "NorrisCommands", "NorrisDaemon", "NorrisTerminal"]
        for sentence in try Self.sentences(in: folders) {
            #expect(Self.found(["pkill", "killall"], in: sentence).isEmpty, "\(sentence)")
        }
    }

    @Test func helpNamesNothingOfTheProtocol() {
        for command in HelpPageTests.commands where command != ["call"] {
            let page = Machine().run(command + ["--help"]).output
            #expect(Self.found(Self.methods + Self.fields + ["pkill"], in: page).isEmpty, "\(command)")
        }
    }

    @Test(arguments: ["norrisctl.1", "norrisd.8", "norrisd.conf.5"])
    func manualsNameNothingOfTheProtocol(page: String) throws {
        var isAboutCall = false
        for line in try Self.text("Scripts/man/\(page)").components(separatedBy: "\n") {
            if line.hasPrefix(".S") { isAboutCall = line == ".Ss call" }
            if isAboutCall || line.contains("norrisctl call") { continue }
            #expect(Self.found(Self.methods + ["pkill"], in: line).isEmpty, "\(line)")
        }
    }

    @Test func oneSpellingIsUsed() throws {
        let pages = ["norrisctl.1", "norrisd.8", "norrisd.conf.5", "norrisd-protocol.7"].map { "Scripts/man/\($0)" }
        for path in pages + ["README.md"] {
            // The British spelling is an alias.
            let text = try Self.text(path).replacing(".Cm favourite\n", with: "").lowercased()
            for word in ["favourite", "colour", "behaviour"] { #expect(!text.contains(word), "\(path): \(word)") }
        }
    }
}
