import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// The program that shows output longer than the screen. As in git(1), the program is `$NORRISCTL_PAGER`, else
/// `$PAGER`, else `less -FRX`, and an empty variable disables it.
struct Pager {
    /// A command line for a shell.
    let command: String

    init?(_ environment: Environment) {
        command = environment["NORRISCTL_PAGER"] ?? environment["PAGER"] ?? "less -FRX"
        if command.allSatisfy(\.isWhitespace) || isDumbTerminal(environment) { return nil }
    }

    /// - Returns: Whether the pager has shown the text. If not, the caller writes the text.
    /// - Throws: If the pager has shown some of the text and failed.
    func show(_ text: [UInt8], on system: System) throws(Failure) -> Bool {
        let isUTF8 = isUTF8Locale(system.environment)
        let text = isUTF8 ? text : Array(asciiText(String(decoding: text, as: UTF8.self)).utf8)
        // The trap preserves the pager's status after Ctrl-C. Without LESS, less(1) shows escape sequences as text, and
        // waits for a key even if the text fits on the screen.
        // A plain command replaces the shell, so that a signal for the program reaches it.
        let isPlain = command.utf8.allSatisfy { byte in
            let isLetterOrDigit = 0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte
            return isLetterOrDigit || " ./_+-".utf8.contains(byte)
        }
        let script =
            "trap : INT QUIT; export LESS=\"${LESS-FRX}\" LV=\"${LV--c}\"; " + (isPlain ? "exec " : "") + command
        var request = SubprocessRequest(program: "/bin/sh", arguments: ["-c", script], input: .bytes(text))
        request.output = .terminal(reset: [])
        // more(1) and vim(1) read keys from standard error.
        request.isInteractive = true
        switch system.run(request) {
        case .ended(status: 0, _): return true
        // The pager does not exist, or is not executable (POSIX, "Exit Status for Commands").
        case .ended(status: 126...127, _), .missing, .notStarted: return false
        case .ended(let status, _):
            throw Failure(
                .inputOutput, "The pager \(command.quotedForMessage) ended with status \(status).",
                hint: "Use --no-pager, or set NORRISCTL_PAGER.")
        case let outcome: throw .unfinished("The pager", outcome)
        }
    }
}
