import Glibc
import NorrisArguments
import NorrisSystem
import NorrisTerminal

/// norrisctl as a process.
package enum Program {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        openStandardDescriptors()
        // A reader that goes away is met at write(2), and is no error.
        signal(SIGPIPE, SIG_IGN)
        // So is the end of what a file may hold (setrlimit(2)), but that is one.
        signal(SIGXFSZ, SIG_IGN)
        let system = System()
        exit(finish(report(arguments: Array(CommandLine.arguments.dropFirst()), system: system), system))
    }

    /// The report of a command line on a machine; nothing is written.
    static func report(arguments: [String], system: System) -> Report {
        if arguments.first == Completion.request {
            return Completion(words: Array(arguments.dropFirst()), system: system).report()
        }
        var invocation = Invocation(arguments)
        do {
            try invocation.parse()
            if !invocation.arguments.wantsHelp, !invocation.arguments.wantsVersion { try invocation.check() }
        } catch {
            let failure = Failure(.usage, error.text(of: invocation.name), hint: "See '\(invocation.name) --help'.")
            var report = Report(failure, json: false)
            report.isForPrompt = invocation.command is PromptCommand
            return report
        }
        let session = Session(settings: invocation.settings, system: system)
        if invocation.arguments.wantsHelp { return Report(output: invocation.helpPage(session.layout)) }
        if invocation.arguments.wantsVersion { return Report(output: Norrisctl.version + "\n") }
        return Report(of: session, invocation.command.run)
    }

    /// Writes the report and returns the exit status.
    private static func finish(_ report: Report, _ system: System) -> Int32 {
        var report = report
        do throws(SystemError) {
            if !showInPager(&report, system) { try system.writeOutput(report.output) }
        } catch {
            guard !report.isForPrompt, !error.isClosedPipe else { return ExitStatus.done.rawValue }
            report.status = .inputOutput
            report.note(unwritable(error))
        }
        if !report.notes.isEmpty { system.writeError(Array(report.errorText(columns: system.errorColumns()).utf8)) }
        return report.status.rawValue
    }

    /// - Returns: false where the output is still to be written.
    private static func showInPager(_ report: inout Report, _ system: System) -> Bool {
        // The last line of the screen belongs to the shell's prompt.
        guard report.usesPager, let rows = system.terminal.rows,
            report.output.count(where: { $0 == UInt8(ascii: "\n") }) >= rows, let pager = Pager(system.environment)
        else { return false }
        do throws(Failure) { return try pager.show(report.output, on: system) } catch {
            // What a pager does says nothing about the command.
            let status = report.status
            report.add(error)
            report.status = status
            return true
        }
    }

    /// Opens standard input, output and error where the caller has closed them, so that no other descriptor, such as
    /// the socket, takes their number. They can be neither read nor written: the error is the same as without it.
    private static func openStandardDescriptors() {
        for (descriptor, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) takes the lowest number there is, which is this one.
            _ = open("/dev/null", flags)
        }
    }
}
