import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// The program that shows what is longer than the screen, as git(1) has it: `$NORRISCTL_PAGER`, else `$PAGER`, else
/// `less -FRX`; none where the variable is empty.
struct Pager {
    /// A command line for a shell.
    private let command: String

    init?(_ environment: Environment) {
        command = environment["NORRISCTL_PAGER"] ?? environment["PAGER"] ?? "less -FRX"
        if command.allSatisfy(\.isWhitespace) || isDumbTerminal(environment) { return nil }
    }

    /// - Returns: whether it showed the text; else the text is still to be written.
    /// - Throws: where it showed the text, or some of it, and failed.
    func show(_ text: [UInt8], on system: System) throws(Failure) -> Bool {
        let isUTF8 = isUTF8Locale(system.environment)
        let text = isUTF8 ? text : Array(asciiText(String(decoding: text, as: UTF8.self)).utf8)
        // With the trap, the shell's status is the pager's also after Ctrl-C. Without the variables, less(1) shows
        // escape sequences as text, and stays where all fits on the screen.
        let script = "trap : INT QUIT; export LESS=\"${LESS-FRX}\" LV=\"${LV--c}\"; " + command
        var request = SubprocessRequest(program: "/bin/sh", arguments: ["-c", script], input: .bytes(text))
        request.output = .terminal(reset: [])
        // more(1) and vim(1) read keys from there.
        request.inheritsErrors = true
        request.keepsKeys = true
        switch system.run(request) {
        case .ended(status: 0, _): return true
        // It is not there, or cannot be run (POSIX, "Exit Status for Commands").
        case .ended(status: 126...127, _), .missing, .notStarted: return false
        case .ended(let status, _):
            throw Failure(
                .inputOutput, "The pager \(command.quotedForMessage) ended with status \(status).",
                hint: "Use --no-pager, or set NORRISCTL_PAGER.")
        case let outcome: throw .unfinished("The pager", outcome)
        }
    }
}
