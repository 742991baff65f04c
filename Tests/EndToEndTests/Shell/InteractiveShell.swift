import NorrisTestSupport

/// A shell that a test types to, in a home that lives as long.
final class InteractiveShell {
    private let terminal: PseudoTerminal
    private let home: ShellHome

    init(_ terminal: PseudoTerminal, in home: ShellHome) {
        self.terminal = terminal
        self.home = home
    }

    func type(_ line: String) {
        terminal.type(line + "\r")
    }

    @discardableResult
    func wait(for text: String) -> String? {
        terminal.wait(for: text)
    }

    /// Waits for the next prompt.
    ///
    /// - Returns: its status and fact, as in `0:fact`; nil where no prompt comes. The fact may hold brackets, but none
    ///   with a number and a colon behind it.
    func nextPrompt() -> String? {
        guard let text = terminal.wait(for: "]> "), let start = text.matches(of: /\[[0-9]+:/).last else { return nil }
        return String(text[text.index(after: start.startIndex)...].dropLast(3))
    }

    /// Runs a line, and waits for the prompt behind it.
    func run(_ line: String) -> String? {
        type(line)
        return nextPrompt()
    }

    /// The facts of so many prompts, the first of them already due.
    func facts(ofPrompts count: Int) -> [String] {
        var facts: [String] = []
        for number in 0..<count {
            guard let prompt = number == 0 ? nextPrompt() : run("") else { break }
            facts.append(String(prompt.drop { $0 != ":" }.dropFirst()))
        }
        return facts
    }

    /// Ends the shell, and gives all that the terminal was sent.
    @discardableResult
    func transcriptToTheEnd() -> String {
        type("exit")
        terminal.waitForEnd()
        return String(decoding: terminal.transcript, as: UTF8.self)
    }

    /// Ends the shell, and says whether it ever complained: a message names a function or a file of the script's.
    func endsWithoutComplaint() -> Bool {
        let transcript = transcriptToTheEnd()
        return !["__norris", "prompt-facts", "/script"].contains { transcript.contains($0) }
    }
}
