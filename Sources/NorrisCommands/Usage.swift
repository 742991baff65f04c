import ArgumentParser
import NorrisProtocol
import NorrisTerminal
import NorrisText

/// What is answered to a command line that runs no command: help, the version, or what is wrong with it.
struct Usage {
    let invocation: Invocation

    func report(_ error: any Error, of command: any SessionCommand.Type, system: System) -> Report {
        if command.exitCode(for: error) == .success {
            return help(error, command, system)
        }
        let message = command.message(for: error)
        let isSentence = message.utf8.last == UInt8(ascii: ".")
        let name = (["norrisctl"] + invocation.words).joined(separator: " ")
        return Report(
            Failure(.usage, isSentence ? message : message + ".", hint: "\(name) --help shows what it takes."),
            json: false
        )
    }

    private func help(_ error: any Error, _ command: any SessionCommand.Type, _ system: System) -> Report {
        // Long lines are hard to read, and ArgumentParser has no room for its text beside the options below some 30.
        let columns = max(40, min(system.terminal.width(flag: nil, environment: system.environment), 100))
        let text = command.fullMessage(for: error, columns: columns)
        var report = Report()
        report.output = Array((text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n").utf8)
        return report
    }

    /// - Parameter words: the command as typed: the last one is unknown, any before it is a group of commands.
    static func unknownCommand(_ words: [String]) -> Failure {
        let groups = Array(words.dropLast())
        let group = groups.isEmpty ? nil : Invocation(groups).command
        let names = (group?.subcommands ?? Norrisctl.commands).compactMap { $0.configuration.commandName }
        let nearest = (names + (groups.isEmpty ? ["help"] : [])).filter { isNear(words.last ?? "", $0) }
        let program = (["norrisctl"] + groups).joined(separator: " ")
        return Failure(
            .usage,
            "There is no command \(words.joined(separator: " ").quotedForMessage).",
            hint: nearest.isEmpty
                ? "\(program) --help lists them."
                : "Did you mean: \(nearest.map { "\(program) \($0)" }.joined(separator: ", or "))"
        )
    }
}
