import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// What is answered to a command line that runs no command: help, the version, or what is wrong with it.
struct Usage {
    let invocation: Invocation

    func report(_ error: any Error, of command: any SessionCommand.Type, system: System) -> Report {
        if command.exitCode(for: error) == .success {
            return help(error, command, system)
        }
        let message = command.message(for: error)
        let isSentence = message.utf8.last == UInt8(ascii: ".")
        let name = invocation.word.map { "norrisctl \($0)" } ?? "norrisctl"
        return Report(
            Failure(.usage, isSentence ? message : message + ".", hint: "\(name) --help shows what it takes."),
            json: false
        )
    }

    private func help(_ error: any Error, _ command: any SessionCommand.Type, _ system: System) -> Report {
        // Long lines are hard to read; help has no other reason to be wide.
        let columns = min(system.terminal.width(flag: nil, environment: system.environment), 100)
        let text = command.fullMessage(for: error, columns: columns)
        var report = Report()
        report.output = Array((text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n").utf8)
        return report
    }

    static func unknownCommand(_ word: String) -> Failure {
        let names = Norrisctl.commands.compactMap { $0.configuration.commandName } + ["help"]
        let nearest = names.filter { isNear(word, $0) }
        return Failure(
            .usage,
            "There is no command \(word.quotedForMessage).",
            hint: nearest.isEmpty
                ? "norrisctl --help lists them."
                : "Did you mean: " + nearest.map { "norrisctl \($0)" }.joined(separator: ", or ")
        )
    }
}
