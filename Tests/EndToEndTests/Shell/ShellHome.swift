import Foundation
import NorrisTestSupport

/// The shells that `norrisctl init` supports.
enum Shell: String, CaseIterable {
    case bash, zsh, fish

    var path: String { "/usr/bin/\(rawValue)" }

    /// The setting for the prompt `[STATUS:FACT]> `.
    fileprivate var promptSetting: String {
        switch self {
        case .bash: "PS1='[$?:$NORRIS_FACT]> '"
        case .zsh: "setopt prompt_subst; PROMPT='[%?:$NORRIS_FACT]> '"
        case .fish: "function fish_prompt; builtin printf '[%s:%s]> ' $status \"$NORRIS_FACT\"; end; set fish_greeting"
        }
    }
}

/// The home of a user with a script of `norrisctl init`, and shells started there at a terminal.
///
/// `PATH` is the folder `bin` of the home, which contains only files that a test writes.
struct ShellHome {
    let shell: Shell
    let folder = TemporaryFolder()

    /// The file of facts below `$XDG_RUNTIME_DIR`.
    var factFile: String { folder("run/norrisd/prompt-facts") }

    /// The path of the output of `norrisctl init`.
    var script: String { folder("script") }

    init(_ shell: Shell, _ flags: [String] = []) throws {
        self.shell = shell
        // Without the last folder, fish creates completions from the manual pages.
        for name in ["bin", "run/norrisd", "config/fish", "data/fish/generated_completions"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        // Without .hushlogin, Debian's bash.bashrc may run groups(1).
        _ = try folder.write("", to: ".hushlogin")
        let outcome = try NorrisTestSupport.run(Programs.norrisctl, ["init", shell.rawValue] + flags)
        _ = try folder.write(outcome.output, to: "script")
        try configure()
    }

    func write(facts: [String]) throws {
        try write(facts: Data(facts.map { $0 + "\n" }.joined().utf8))
    }

    func write(facts: Data) throws { try facts.write(to: URL(fileURLWithPath: factFile)) }

    /// Writes the startup file of the shell: these lines, the prompt, the script, and further lines.
    func configure(before: String = "", sources: Int = 1, after: String = "") throws {
        let source = repeatElement(". \(script)", count: sources).joined(separator: "\n")
        let text = [before, shell.promptSetting, source, after].joined(separator: "\n") + "\n"
        let name =
            switch shell {
            case .bash: "bashrc"
            case .zsh: ".zshrc"
            case .fish: "config/fish/config.fish"
            }
        _ = try folder.write(text, to: name)
    }

    /// - Parameters:
    ///   - trace: the path of a trace of processes by strace(1).
    ///   - columns: the width of the terminal.
    func start(
        environment: [String: String] = [:], trace: String? = nil, columns: Int = 300
    ) throws -> InteractiveShell {
        var command = [shell.path]
        switch shell {
        case .bash: command += ["--noprofile", "--rcfile", folder("bashrc")]
        case .zsh: command += ["-d"]
        case .fish: break
        }
        if let trace {
            let calls = "trace=execve,execveat,fork,vfork,clone,clone3"
            command = ["/usr/bin/strace", "-f", "-o", trace, "-e", calls] + command
        }
        let terminal = try PseudoTerminal(
            command[0], Array(command.dropFirst()),
            environment: variables.merging(environment) { $1 }, columns: columns)
        return InteractiveShell(terminal, in: self)
    }

    /// Reads the script and runs a command in a shell that is not interactive.
    func run(_ command: String) throws -> ProgramResult {
        let flags =
            switch shell {
            case .bash: ["--norc"]
            case .zsh: ["-f"]
            case .fish: ["--no-config"]
            }
        return try NorrisTestSupport.run(shell.path, flags + ["-c", ". \(script); \(command)"], environment: variables)
    }

    private var variables: [String: String] {
        [
            "HOME": folder.path, "ZDOTDIR": folder.path, "XDG_CONFIG_HOME": folder("config"),
            "XDG_DATA_HOME": folder("data"), "XDG_RUNTIME_DIR": folder("run"), "PATH": folder("bin"),
            "LC_ALL": "C.UTF-8",
        ]
    }
}

/// A shell that a test types to. The object keeps the shell's home.
final class InteractiveShell {
    private let terminal: PseudoTerminal
    private let home: ShellHome

    init(_ terminal: PseudoTerminal, in home: ShellHome) {
        self.terminal = terminal
        self.home = home
    }

    func type(_ line: String) { terminal.type(line + "\r") }

    @discardableResult func wait(for text: String) -> String? { terminal.wait(for: text) }

    /// Waits for the next prompt and returns its status and fact, such as `0:fact`. Returns nil if no prompt arrives.
    /// The fact may contain brackets, but no `[` before a number and a colon.
    func nextPrompt() -> String? {
        guard let text = terminal.wait(for: "]> "), let start = text.matches(of: /\[[0-9]+:/).last else { return nil }
        return String(text[text.index(after: start.startIndex)...].dropLast(3))
    }

    func run(_ line: String) -> String? {
        type(line)
        return nextPrompt()
    }

    /// Returns the facts of the next prompts. The shell is already printing the first prompt.
    func facts(ofPrompts count: Int) -> [String] {
        var facts: [String] = []
        for number in 0..<count {
            guard let prompt = number == 0 ? nextPrompt() : run("") else { break }
            facts.append(String(prompt.drop { $0 != ":" }.dropFirst()))
        }
        return facts
    }

    /// Ends the shell and returns the output to the terminal.
    @discardableResult func transcriptToTheEnd() -> String {
        type("exit")
        terminal.waitForEnd()
        return String(decoding: terminal.transcript, as: UTF8.self)
    }

    /// Ends the shell and returns whether it printed no message with a name of the script's functions or files.
    func endsWithoutComplaint() -> Bool {
        let transcript = transcriptToTheEnd()
        return !["__norris", "prompt-facts", "/script"].contains { transcript.contains($0) }
    }
}
