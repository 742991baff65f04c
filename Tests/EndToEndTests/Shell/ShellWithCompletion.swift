import Foundation
import NorrisTestSupport

/// A real shell at a terminal, with norrisctl's completion as an installation brings it.
///
/// What is typed is completed by the real norrisctl; when the line is run, its arguments are printed instead, each as
/// `<argument>`. There is a folder with the name of a category, which must not get in the way.
final class ShellWithCompletion {
    let terminal: PseudoTerminal
    /// Its home, which is its working folder as well.
    let home: TemporaryFolder

    private static let prompt = "READY> "
    /// Around what is printed; what is typed never holds these.
    private static let start = "ARGUMENTS:"
    private static let end = ":END"

    /// - Parameters:
    ///   - isSourced: whether the script is read at the start, in place of a file that is found on demand.
    init(_ shell: Shell, socket: String, isSourced: Bool = false) throws {
        home = TemporaryFolder()
        // Where the last one is missing, fish makes completions of all manual pages, and little else gets done.
        let folders = ["bin", "dev", "zsh", ".config/fish/completions", ".local/share/fish/generated_completions"]
        for folder in folders {
            try FileManager.default.createDirectory(atPath: home(folder), withIntermediateDirectories: true)
        }
        _ = try home.writeProgram(
            """
            test "$1" = ---complete && exec '\(Programs.norrisctl)' "$@"
            test "$1" = completion && exec '\(Programs.norrisctl)' "$@"
            printf '\(Self.start)'
            printf '<%s>' "$@"
            printf '\(Self.end)\\n'
            """, to: "bin/norrisctl")
        let script = try run(Programs.norrisctl, ["completion", shell.rawValue]).output
        let load: String
        switch shell {
        case .bash:
            load =
                isSourced ? "source <(norrisctl completion bash)" : "source '\(try home.write(script, to: "script"))'"
            _ = try home.write("PS1='\(Self.prompt)'; bind 'set bell-style none'; \(load)\n", to: ".bashrc")
        case .zsh:
            _ = isSourced ? "" : try home.write(script, to: "zsh/_norrisctl")
            load = isSourced ? "source <(norrisctl completion zsh)" : ""
            _ = try home.write(
                """
                fpath=(~/zsh $fpath)
                autoload -U compinit
                compinit -u -D
                setopt no_beep
                \(load)
                PS1='\(Self.prompt)'

                """, to: ".zshrc")
        case .fish:
            _ = isSourced ? "" : try home.write(script, to: ".config/fish/completions/norrisctl.fish")
            load = isSourced ? "norrisctl completion fish | source" : ""
            _ = try home.write(
                """
                function fish_greeting; end
                function fish_prompt; echo -n '\(Self.prompt)'; end
                \(load)

                """, to: ".config/fish/config.fish")
        }
        terminal = try PseudoTerminal(
            shell.rawValue, shell == .bash ? ["--rcfile", home(".bashrc"), "-i"] : ["-i"],
            environment: [
                "HOME": home.path, "PATH": home("bin") + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                "NORRISD_SOCKET": socket,
            ], columns: 120)
        terminal.wait(for: Self.prompt)
        execute("cd ~")
    }

    /// Runs a command to its end, whatever it prints.
    private func execute(_ command: String) {
        // So that what is typed is not what is waited for.
        terminal.type("\(command); echo do''ne\r")
        terminal.wait(for: "done")
        terminal.wait(for: Self.prompt)
    }

    /// Types a beginning, presses Tab and then Return.
    ///
    /// - Returns: the arguments of the line that was run, each as `<argument>`.
    func completing(_ line: String) -> String {
        terminal.type(line + "\t\r")
        let text = terminal.wait(for: Self.end) ?? ""
        terminal.wait(for: Self.prompt)
        return text.components(separatedBy: Self.start).last?.replacingOccurrences(of: Self.end, with: "") ?? ""
    }

    /// Does it again, as people do, until the arguments are those that an answer of the daemon makes of them: on a busy
    /// machine it may come later than completion waits.
    ///
    /// - Returns: what came last.
    func completing(_ line: String, until arguments: String) -> String {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let result = completing(line)
            if result == arguments || ContinuousClock.now > end { return result }
        }
    }

    /// Types a beginning, presses Tab twice, and waits for words that are shown, in the order of the screen; does it
    /// again where they do not come.
    ///
    /// - Returns: those that did not come.
    func missing(_ words: [String], behind line: String) -> [String] {
        var missing = words
        for _ in 0..<20 where !missing.isEmpty {
            terminal.type(line + "\t\t")
            missing = words.filter { terminal.wait(for: $0, within: 3) == nil }
            // Ctrl-U; Ctrl-C would also take away what is typed next.
            terminal.type("\u{15}")
        }
        return missing
    }
}
