import Foundation
import NorrisArguments
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTestSupport
import Testing

/// norrisctl(1) describes exactly the options and commands of the program.
struct ManualTests {
    private let page: ManualPage

    init() throws { page = try ManualPage("norrisctl.1") }

    /// The commands without subcommands, by their full names.
    private let commands: [(name: String, type: any SessionCommand.Type)] = Norrisctl.commands.flatMap { command in
        // `feed` is a command by itself and has subcommands.
        (command is any CommandGroup.Type ? [] : [(command.name, command)])
            + command.commands.map { ("\(command.name) \($0.name)", $0) }
    }

    private func signatures(_ name: String) throws -> [String] {
        var invocation = Invocation(name.split(separator: " ").map(String.init), isLenient: true)
        try invocation.parse()
        return invocation.descriptions.map(\.signature)
    }

    @Test func everyCommandStandsThereWithItsOptionsAndArguments() throws {
        let taken = try commands.flatMap { name, _ in [name] + (try signatures(name)).map { "\(name) \($0)" } }
        let section = page.section("COMMANDS")
        let told = section.subsections.flatMap { name in [name] + section.subsection(name).items.map { "\(name) \($0)" }
        }
        #expect(told.sorted() == taken.sorted())
        #expect(told.count > 60)
    }

    @Test func usageNamesEveryOptionAndArgument() throws {
        let section = page.section("COMMANDS")
        for name in section.subsections {
            let command = section.subsection(name)
            #expect(command.usage.hasPrefix("\(name)"), "\(name): \(command.usage)")
            for item in command.items {
                #expect(spellings(of: item).contains(where: command.usage.contains), "\(name) takes \(item)")
            }
            let flags = command.usage.matches(of: #/--[a-z-]+/#).map { String($0.output) }
            let known = Set(command.items.flatMap(spellings).map { $0.prefix { $0 != " " } }.map(String.init))
            #expect(Set(flags).isSubset(of: known), "\(name): \(command.usage)")
        }
    }

    /// Expands `-o, --output file` to `-o file` and `--output file`.
    private func spellings(of item: String) -> [String] {
        let names = item.components(separatedBy: ", ")
        let value = names.last?.drop { $0 != " " } ?? ""
        return names.map { "\($0.prefix { $0 != " " })\(value)" }
    }

    @Test func optionsOfEveryCommandStandThere() throws {
        #expect(page.section("OPTIONS").items == (try signatures("")))
    }

    @Test func exitStatusesAreThoseOfTheProgram() {
        let statuses = (0...255).compactMap { ExitStatus(rawValue: $0) }.map { "\($0.rawValue)" }
        #expect(page.section("EXIT STATUS").items == statuses)
        let help = Machine().run("--help").output
        #expect(help.matches(of: #/(?m)^  (\d+) /#).map { String($0.output.1) } == statuses)
    }

    @Test func variablesAreThoseThatTheProgramLooksAt() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources").standardized
        var read: Set<String> = []
        for room in ["NorrisClient", "NorrisCommands", "NorrisProtocol", "NorrisTerminal"] {
            let room = folder.appending(path: room)
            let files = try #require(FileManager.default.enumerator(at: room, includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                where ["environment", "getenv", "name"].contains(where: line.contains) {
                    read.formUnion(line.matches(of: #/"([A-Z][A-Z_]+)"/#).map { String($0.output.1) })
                }
            }
        }
        let told = page.section("ENVIRONMENT").items.flatMap { $0.components(separatedBy: ", ") }
        // NORRIS_FACT is not read by norrisctl. The script of `norrisctl init` sets it for prompts.
        #expect(told.sorted() == (read + ["NORRIS_FACT"]).sorted())
    }

    @Test func everyHelpHasExamples() {
        #expect(!Norrisctl.help.examples.isEmpty)
        for (name, command) in commands {
            #expect(command.help.examples.contains { $0.contains("norrisctl \(name)") }, "norrisctl \(name) --help")
        }
    }

    @Test func examplesOfHelpCanBeTyped() {
        let types: [any SessionCommand.Type] = [Norrisctl.self] + Norrisctl.commands + commands.map { $0.type }
        let help = types.flatMap { $0.help.examples }.joined(separator: "\n")
        let runs = ShellExample.runs(of: "norrisctl", in: help)
        #expect(runs.count > 40)
        for arguments in runs { expectIsNoUsageError(arguments) }
    }

    @Test func examplesOfThePageCanBeTyped() {
        let runs = page.displays.flatMap { ShellExample.runs(of: "norrisctl", in: $0) }
        #expect(runs.count > 15)
        for arguments in runs { expectIsNoUsageError(arguments) }
    }

    @Test func diagnosticsAreWhatIsSaid() {
        let path = "/run/norrisd.sock"
        let machines = [
            Machine(failure: .noSocket(paths: [path])), Machine(failure: .refused(path: path)),
            Machine(failure: .notPermitted(path: path)), Machine(failure: .timedOut(path: path)),
            Machine(error: .unknownMethod("server.status")),
        ]
        let told = page.section("DIAGNOSTICS").items
        #expect(told.count == machines.count)
        for (title, machine) in zip(told, machines) {
            let message = machine.run("status").errors
            for part in title.components(separatedBy: " ...") where !part.isEmpty {
                #expect(message.contains(part), "\(title)")
            }
        }
    }

    /// Runs a command line without a daemon and without standard input.
    private func expectIsNoUsageError(_ arguments: [String]) {
        let machine = Machine(Array(repeating: .failure(.noSocket(paths: ["/s"])), count: 40))
        // A picture on standard output needs a pipe.
        if !arguments.contains("-") { _ = machine.onTerminal() }
        machine.input = nil
        let outcome = machine.run(arguments)
        let line = "norrisctl \(arguments.joined(separator: " "))"
        #expect(outcome.status != .usage, "\(line): \(outcome.errors)")
        #expect(!outcome.errors.contains("--help"), "\(line): \(outcome.errors)")
    }
}
