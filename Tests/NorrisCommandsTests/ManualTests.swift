import NorrisArguments
import NorrisClient
@testable import NorrisCommands
import NorrisTestSupport
import NorrisText
import Testing

/// The options, commands and exit statuses of norrisctl(1) follow from the declarations of the commands.
struct ManualTests {
    private typealias Option = NorrisArguments.Description

    private let page: ManualPage

    init() throws { page = try ManualPage("norrisctl.1") }

    /// The commands by their full names. `feed` is a command by itself and has subcommands.
    private static let commands: [(name: String, type: any SessionCommand.Type)] = Norrisctl.commands.flatMap {
        command in
        [(command.name, command)] + command.commands.map { ("\(command.name) \($0.name)", $0) }
    }

    @Test("norrisctl(1) is up to date; NORRIS_UPDATE_DOCUMENTS=1 writes it") func isUpToDate() throws {
        let updated = try page.replacing { title in
            switch title {
            case "OPTIONS": Self.list(try Self.options("").map(Self.item))
            case "EXIT STATUS": Self.list(ExitStatus.allCases.map { ".It \($0.rawValue)\n\($0.meaning)\n" })
            default: try Self.describedCommands()
            }
        }
        if try updated.updateDocument("norrisctl.1") { return }
        #expect(
            page.lines == updated.lines,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter ManualTests updates the page.")
    }

    @Test func examplesCanBeTyped() {
        let help = ([Norrisctl.self] + Self.commands.map(\.type)).flatMap { $0.help.examples }
        let runs = (help + page.displays).flatMap { ShellExample.runs(of: "norrisctl", in: $0) }
        #expect(runs.count > 80)
        for arguments in runs {
            let machine = Machine(Array(repeating: .failure(.noSocket(paths: ["/s"])), count: 40))
            // A picture on standard output needs a pipe.
            if !arguments.contains("-") { _ = machine.onTerminal() }
            machine.input = nil
            let outcome = machine.run(arguments)
            #expect(outcome.status != .usage, "norrisctl \(arguments.joined(separator: " ")): \(outcome.errors)")
        }
    }

    // MARK: The generated parts

    private static func options(_ name: String) throws -> [Option] {
        var invocation = Invocation(name.split(separator: " ").map(String.init), isLenient: true)
        try invocation.parse()
        return invocation.descriptions
    }

    private static func describedCommands() throws -> String {
        let described = try commands.map { (name: $0.name, help: $0.type.help, items: try options($0.name)) }
        let uses = Dictionary(grouping: described.flatMap(\.items).filter(\.isOption), by: item).filter { $1.count > 2 }
        let shared = uses.keys.sorted()
        let parts = try described.map { name, help, items in
            let own = items.filter { uses[item($0)] == nil }
            let names = items.filter { uses[item($0)] != nil }.map { "--\($0.name)" }
            let also = names.isEmpty ? [] : ["Also takes \(names.joined(separator: ", ")); see above."]
            return try title(name) + text([help.abstract] + help.prose + also) + list(own.map(item))
        }
        return ".Ss Options of several commands\n" + list(shared) + parts.joined()
    }

    /// The heading of a command, such as `read [id ...]`.
    private static func title(_ name: String) throws -> String {
        let aliases = commands.first { $0.name == name }?.type.aliases ?? []
        let arguments = try options(name).filter { !$0.isOption }.map { item in
            item.isOptional ? "[\(item.signature)]" : item.signature
        }
        return ".Ss \(([([name] + aliases).joined(separator: ", ")] + arguments).joined(separator: " "))\n"
    }

    private static func list(_ items: [String]) -> String {
        items.isEmpty ? "" : ".Bl -tag -width Ds\n\(items.joined()).El\n"
    }

    /// An option or argument, with the values that it takes.
    private static func item(_ option: Option) -> String {
        let value = option.takesValue ? ["Ar \(option.kind.name)"] : []
        let names = option.isOption ? ["Fl \(option.short.map { "\($0) , " } ?? "")-\(option.name)"] : []
        let numbers = option.rule.split(separator: " ").filter { Int($0) != nil }.map(String.init)
        let isTold = (option.choices.isEmpty ? numbers : option.choices).allSatisfy(option.summary.contains)
        let rule = option.rule.replacing("a whole number from ", with: "")
        let more = option.isRepeating && !option.isOption ? ["..."] : []
        return ".It \((names + value + more).joined(separator: " "))\n"
            + text([option.summary + (isTold ? "" : " It takes \(rule).")])
    }

    /// Lines of help, with each sentence on a separate line.
    private static func text(_ lines: [String]) -> String {
        lines.split(separator: "").map { paragraph in
            let prose = paragraph.prefix { !$0.hasPrefix(" ") }
            let example = paragraph.dropFirst(prose.count).map { "\(ManualPage.escaped(String($0.dropFirst(2))))\n" }
                .joined()
            let sentences = prose.joined(separator: " ").replacing(#/\.\ (?!\()/#, with: ".\n")
            return wrapped(sentences, width: 110).map { ManualPage.escaped($0) + "\n" }.joined()
                + (example.isEmpty ? "" : ".Bd -literal -offset indent\n\(example).Ed\n")
        }.joined()
    }
}
