import Foundation
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisTestSupport
import Testing

/// The requests, output and exit status of commands, compared with files below `Golden/Transcripts`.
struct TranscriptTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Golden/Transcripts")

    @Test(arguments: try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted())
    func commandsDoWhatTheyDid(file: String) throws {
        let url = Self.folder.appending(path: file)
        let golden = try String(contentsOf: url, encoding: .utf8)
        var names = ["version": NorrisVersion.current]
        let shown = try golden.components(separatedBy: "\n\n").map { block in
            guard block.hasPrefix("let ") else { return try Transcript(block, names: names).text() }
            for line in block.components(separatedBy: "\n") {
                let parts = line.dropFirst(4).split(separator: " = ", maxSplits: 1).map(String.init)
                guard line.hasPrefix("let "), parts.count == 2 else { throw Transcript.Invalid(line: line) }
                names[parts[0]] = Transcript.replacing(names, in: parts[1])
            }
            return block
        }.joined(separator: "\n\n")
        try checkGolden("Transcripts/\(file)", shown + "\n")
    }

    /// Messages for users. The output of `call` and `--json` is part of the protocol instead.
    @Test(arguments: try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted())
    func adviceNamesCommandsOnlyAndEndsNothingByItsName(file: String) throws {
        let golden = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
        for block in golden.components(separatedBy: "\n\n") {
            let lines = block.components(separatedBy: "\n")
            let command = lines.first { $0.hasPrefix("$ ") } ?? ""
            if command.contains("norrisctl call") || command.contains("--json") { continue }
            let isDoctor = command.contains("norrisctl doctor")
            for line in lines where line.hasPrefix("!") || isDoctor && line.hasPrefix("|") {
                let words = ["pkill", "killall"] + MethodTable.methods.map(\.name)
                #expect(!words.contains { line.contains($0) }, "\(line)")
            }
        }
    }
}

/// A command line, the replies of the daemon and the result, one item a line:
///
///     let fresh = {"origin":…}    a name at the head of a file, used as «fresh»; «version» is norrisctl's version
///
///     # a title
///     terminal 80                 a setting of the machine, see ``set(_:_:)``
///     $ norrisctl fact --count 2  a word with special characters is in single quotes
///     < {"items":[]}              the result of a call; `<error` an error; `<raw` a line; `<failed` a connection
///     ~ {"jsonrpc":"2.0"}         a line of a followed connection; after `~restart` a line of the next one
///     > fact.random {"count":2}   a request
///     | standard output
///     ! standard error
///     = 64                        the exit status, unless it is 0
///
/// The lines before `>` are written by hand. A run with `NORRIS_UPDATE_DOCUMENTS=1` writes the others.
struct Transcript {
    private var inputs: [String] = []
    private var arguments: [String]?
    private let names: [String: String]
    private let machine = Machine()

    fileprivate struct Invalid: Error { let line: String }

    init(_ block: String, names: [String: String]) throws {
        self.names = names
        for line in block.split(separator: "\n").map(String.init) {
            let name = line.prefix { $0 != " " }
            if [">", "|", "!", "="].contains(name) { continue }
            inputs.append(line)
            let value = Self.replacing(names, in: String(line.dropFirst(name.count + 1)))
            if name != "#", try !set(String(name), value) { throw Invalid(line: line) }
        }
    }

    static func replacing(_ names: [String: String], in text: String) -> String {
        names.reduce(text) { $0.replacing("«\($1.key)»", with: $1.value) }
    }

    /// - Returns: false if `name` is not a setting.
    private mutating func set(_ name: String, _ value: String) throws -> Bool {
        func text(_ json: some StringProtocol) throws -> [UInt8] {
            guard case .string(let text) = try JSON.parse(Array(json.utf8)) else { throw Invalid(line: value) }
            return Array(text.utf8)
        }
        let first = String(value.prefix { $0 != " " })
        switch name {
        case "$": arguments = ShellExample.runs(of: "norrisctl", in: value.replacing("␛", with: "\u{1B}")).first
        case "<": machine.reply(Machine.reply(value))
        case "<error": machine.reply(.success(Array(#"{"jsonrpc":"2.0","id":1,"error":\#(value)}"#.utf8)))
        case "<raw": machine.reply(.success(Array(value.utf8)))
        case "<failed": machine.reply(.failure(try failure(value)))
        case "~", "~restart": machine.stream.append(value)
        case "~failed": machine.streamEnd = try failure(value)
        case "terminal", "color":
            guard let columns = Int(value) else { throw Invalid(line: "terminal \(value)") }
            _ = machine.onTerminal(columns: columns)
            if name == "color" { machine.environment = ["TERM": "xterm"] }
        case "listener": machine.listener = Int(value)
        case "error-terminal":
            machine.isErrorTerminal = true
            machine.errorColumns = Int(value) ?? 80
        case "input-terminal": machine.isInputTerminal = true
        case "answer": machine.answers.append(value)
        case "env":
            let name = value.prefix { $0 != "=" }
            machine.environment[String(name)] = String(value.dropFirst(name.count + 1))
        case "stdin": machine.input = value == "none" ? nil : try text(value)
        case "file": machine.files[first] = try text(value.dropFirst(first.count + 1))
        case "delay":
            guard let delay = Timeout(value) else { throw Invalid(line: "delay \(value)") }
            machine.delay = delay.duration
        case "full-disk": machine.outputError = SystemError("write", code: ENOSPC)
        case "closed-pipe": machine.outputError = SystemError("write", code: EPIPE)
        default: return false
        }
        return true
    }

    private func failure(_ text: String) throws -> ClientError {
        let words = ShellExample.runs(of: "failed", in: "failed \(text)").first ?? []
        let path = words.count > 1 ? words[1] : ""
        switch words.first {
        case "noSocket": return .noSocket(paths: Array(words.dropFirst()))
        case "refused": return .refused(path: path)
        case "notPermitted": return .notPermitted(path: path)
        case "notASocket": return .notASocket(path: path)
        case "pathTooLong": return .pathTooLong(path: path)
        case "timedOut": return .timedOut(path: path.isEmpty ? nil : path)
        case "closed": return .closed(path: path)
        case "malformedReply": return .malformedReply(path: path, detail: words.last ?? "")
        case "system": return .system(path: path, errno: Int32(words.last ?? "") ?? 0)
        default: throw Invalid(line: text)
        }
    }

    func text() throws -> String {
        guard let arguments else { throw Invalid(line: "a transcript without $: \(inputs.first ?? "")") }
        let outcome = machine.run(arguments)
        #expect(!machine.hasUnusedReplies, "\(inputs.joined(separator: "\n"))")
        return
            (inputs + machine.sentLines + lines("|", outcome.output) + lines("!", outcome.errors)
            + (outcome.status == .done ? [] : ["= \(outcome.status.rawValue)"])).joined(separator: "\n")
    }

    private func lines(_ mark: String, _ text: String) -> [String] {
        guard !text.isEmpty else { return [] }
        let lines = text.replacing("\u{1B}", with: "␛").replacing("\r", with: "␍")
            .replacing("norrisctl \(NorrisVersion.current)", with: "norrisctl «version»")
            .replacing("norrisd \(NorrisVersion.current)", with: "norrisd «version»").components(separatedBy: "\n")
        // `␃` marks a missing final newline.
        let whole = lines.last == "" ? lines.dropLast() : lines.dropLast() + [(lines.last ?? "") + "␃"]
        return whole.map { $0.isEmpty ? mark : "\(mark) \($0)" }
    }
}

extension Machine {
    /// The requests, unusual sockets and timeouts, and the timeouts of followed lines.
    fileprivate var sentLines: [String] {
        var lines: [String] = []
        for (index, (method, parameters)) in zip(methods, parameters).enumerated() {
            lines.append("> " + method + (parameters.isEmpty ? "" : " " + parameters))
            if index < sockets.count, sockets[index] != [SocketPath.system] {
                lines.append("> at " + sockets[index].joined(separator: ", "))
            }
            if index < timeouts.count, timeouts[index] != .seconds(5) { lines.append("> within \(timeouts[index])") }
        }
        let changes = waits.indices.filter { $0 == 0 || waits[$0] != waits[$0 - 1] }
        let texts = changes.map { index in waits[index].map { "\($0)" } ?? "for ever" }
        return texts.isEmpty ? lines : lines + ["> waits " + texts.joined(separator: ", ")]
    }
}

/// Compares a text with a file below `Golden/`. `NORRIS_UPDATE_DOCUMENTS=1` writes the file, for review.
func checkGolden(_ name: String, _ shown: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
    if ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1" {
        return try shown.write(to: file, atomically: true, encoding: .utf8)
    }
    let golden = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let isSame = golden.utf8.elementsEqual(shown.utf8)
    let (old, new) = (golden.components(separatedBy: "\n"), shown.components(separatedBy: "\n"))
    let line = old.indices.first { $0 >= new.count || !old[$0].utf8.elementsEqual(new[$0].utf8) } ?? old.count
    func text(_ lines: [String]) -> String { line < lines.count ? lines[line] : "(nothing)" }
    #expect(
        isSame,
        """
        Line \(line + 1) of \(name) is
        \(text(new))
        and was
        \(text(old))
        NORRIS_UPDATE_DOCUMENTS=1 swift test --filter NorrisCommandsTests brings it up to date.
        """, sourceLocation: sourceLocation)
}
