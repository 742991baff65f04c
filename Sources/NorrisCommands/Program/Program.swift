import Glibc
import NorrisArguments
import NorrisSystem
import NorrisTerminal

package enum Program {
    /// Runs the command line and ends the process.
    package static func run() -> Never {
        // A pipe without a reader is no error.
        let arguments = ProcessStart.prepare("norrisctl", seesWriteErrors: true)
        let system = System()
        exit(finish(report(arguments: arguments, system: system), system))
    }

    /// Runs a command line and returns the report for `finish` to write.
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

    private static func finish(_ report: Report, _ system: System) -> Int32 {
        var report = report
        do throws(SystemError) {
            if !showInPager(&report, system) { try system.writeOutput(report.output) }
        } catch {
            guard !report.isForPrompt, !error.isClosedPipe else { return ExitStatus.done.rawValue }
            report.status = .inputOutput
            report.note("\(unwritable(error))")
        }
        if report.hasErrors { system.writeError(Array(report.errorText(columns: system.errorColumns()).utf8)) }
        return report.status.rawValue
    }

    /// - Returns: Whether the pager has shown the output.
    private static func showInPager(_ report: inout Report, _ system: System) -> Bool {
        // The last row of the screen is for the shell's prompt.
        guard report.usesPager, let rows = system.terminal.rows,
            report.output.count(where: { $0 == UInt8(ascii: "\n") }) >= rows, let pager = Pager(system.environment)
        else { return false }
        do throws(Failure) { return try pager.show(report.output, on: system) } catch {
            // A failure of the pager does not affect the status of the command.
            let status = report.status
            report.add(error)
            report.status = status
            return true
        }
    }
}
