import ArgumentParser
import Glibc
import NorrisTerminal

/// norrisctl as a process.
package enum Program {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        // A reader that goes away is met at write(2), and is no error.
        signal(SIGPIPE, SIG_IGN)
        exit(finish(report(arguments: Array(CommandLine.arguments.dropFirst()), system: .real())))
    }

    /// What a command line comes to on a machine; nothing is written.
    package static func report(arguments: [String], system: System) -> Report {
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
        return report(command, invocation.arguments, invocation, system)
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
            return report(command, Session(settings: command.globals.settings, system: system))
        } catch {
            return Usage(invocation: invocation).report(error, of: type, system: system)
        }
    }

    private static func report(_ command: some SessionCommand, _ session: Session) -> Report {
        do {
            return try command.run(in: session)
        } catch {
            return Report(error, json: session.settings.json)
        }
    }

    /// Writes the report and returns the exit status.
    private static func finish(_ report: Report) -> Int32 {
        var report = report
        do {
            try writeAll(report.output, to: STDOUT_FILENO)
        } catch {
            guard let message = error.message else { return ExitStatus.done.rawValue }
            report.status = .inputOutput
            report.note(message)
        }
        let notes = report.notes.map { $0 + "\n" }.joined()
        // Where standard error cannot be written there is no one left to tell.
        try? writeAll(Array(notes.utf8), to: STDERR_FILENO)
        return report.status.rawValue
    }
}
