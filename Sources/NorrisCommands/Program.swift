import ArgumentParser
import Glibc
import NorrisTerminal

/// norrisctl as a process.
package enum Program {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        occupyStandardDescriptors()
        // A reader that goes away is met at write(2), and is no error.
        signal(SIGPIPE, SIG_IGN)
        // So is the end of what a file may hold (setrlimit(2)), but that is one.
        signal(SIGXFSZ, SIG_IGN)
        let system = System.real()
        exit(finish(report(arguments: Array(CommandLine.arguments.dropFirst()), system: system), system))
    }

    /// What a command line comes to on a machine; nothing is written.
    package static func report(arguments: [String], system: System) -> Report {
        if arguments.first == Completion.request {
            return Completion(words: Array(arguments.dropFirst()), system: system).report()
        }
        if let report = Report(plainly: arguments, system: system) {
            return report
        }
        let invocation = Invocation(arguments)
        if invocation.words.isEmpty {
            return report(Norrisctl.self, arguments, invocation, system)
        }
        if invocation.words == ["help"] {
            return report(arguments: Invocation(invocation.arguments).words + ["--help"], system: system)
        }
        guard let command = invocation.command else {
            return Report(Usage.unknownCommand(invocation.words), json: false)
        }
        var outcome = report(command, invocation.arguments, invocation, system)
        if command == PromptCommand.self {
            outcome.isForPrompt = true
        }
        return outcome
    }

    private static func report<Command: SessionCommand>(
        _ type: Command.Type,
        _ arguments: [String],
        _ invocation: Invocation,
        _ system: System
    ) -> Report {
        do {
            var parsed = try type.parseAsRoot(arguments)
            guard let command = parsed as? Command else {
                // ArgumentParser's own, which throws the help.
                try parsed.run()
                return Report()
            }
            return Report(of: Session(settings: command.globals.settings, system: system), command.run)
        } catch {
            return Usage(invocation: invocation).report(error, of: type, system: system)
        }
    }

    /// Writes the report and returns the exit status.
    private static func finish(_ report: Report, _ system: System) -> Int32 {
        var report = report
        do {
            try system.writeOutput(report.output)
        } catch {
            guard !report.isForPrompt, let message = error.message else { return ExitStatus.done.rawValue }
            report.status = .inputOutput
            report.note(message)
        }
        if !report.notes.isEmpty {
            system.writeError(Array(report.notes.map { $0 + "\n" }.joined().utf8))
        }
        return report.status.rawValue
    }
}
