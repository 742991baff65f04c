import Foundation
import NorrisTestSupport
import Testing

/// The user's settings still work and do not disturb the facts.
@Suite(.onTestThread) struct ShellSettingsTests {
    private func home(_ shell: Shell, _ flags: [String] = []) throws -> ShellHome {
        let home = try ShellHome(shell, flags)
        try home.write(facts: (10..<74).map { "fact \($0) of the file" })
        return home
    }

    private func isAFact(_ prompt: String?, status: Int = 0) -> Bool {
        prompt?.wholeMatch(of: /([0-9]+):fact [0-9]+ of the file/).map { $0.1 == "\(status)" } == true
    }

    /// A setting before the script, a setting after the script, and their output after `false`.
    private static let hooks: [(shell: Shell, before: String, after: String, marks: [String])] = [
        (.bash, "PROMPT_COMMAND='echo \"<a $?>\"; '", "", ["<a 1>"]),
        (.bash, "PROMPT_COMMAND='echo \"<a $?>\" # why'", "", ["<a 1>"]),
        (.bash, "PROMPT_COMMAND=('echo \"<a $?>\";' 'echo \"<b $?>\"')", "", ["<a 1>", "<b 1>"]),
        (.bash, "", "PROMPT_COMMAND+=';echo \"<c $?>\"'", ["<c 1>"]),
        (.bash, "", "PROMPT_COMMAND+=('echo \"<c $?>\"')", ["<c 1>"]),
        (.bash, "trap 'echo \"<d $?>\"' DEBUG", "", ["<d 0>", "<d 1>"]),
        (
            .zsh, "precmd() { echo \"<precmd $?>\" }; first() { echo \"<first $?>\" }; precmd_functions=(first)",
            "last() { echo \"<last $?>\" }; autoload -Uz add-zsh-hook; add-zsh-hook precmd last",
            ["<precmd 1>", "<first 1>", "<last 1>"]
        ),
        (
            .fish, "function first --on-event fish_prompt; echo \"<first $status>\"; end",
            "function last --on-event fish_prompt; echo \"<last $status>\"; end", ["<first 1>", "<last 1>"]
        ),
    ]

    @Test(arguments: hooks)
    func theHooksOfTheUserAreKept(shell: Shell, before: String, after: String, marks: [String]) throws {
        let home = try home(shell, ["--prompt"])
        try home.configure(before: before, after: after)
        let terminal = try home.start()
        #expect(isAFact(terminal.nextPrompt()))
        terminal.type("false")
        for mark in marks { #expect(terminal.wait(for: mark) != nil, "\(mark)") }
        #expect(isAFact(terminal.nextPrompt(), status: 1))
        #expect(before.contains("DEBUG") || terminal.endsWithoutComplaint())
    }

    @Test(arguments: Shell.allCases) func readTwiceItGreetsAndPromptsOnce(shell: Shell) throws {
        let home = try home(shell)
        let hooks =
            switch shell {
            case .bash: "echo \"<${PROMPT_COMMAND[*]}>\""
            case .zsh: "echo \"<$precmd_functions>\""
            case .fish: "echo '<'(functions --handlers | string match -r '__norris_.*')'>'"
            }
        try home.configure(sources: 2)
        let terminal = try home.start()
        let start = try #require(terminal.wait(for: "[0:"))
        #expect(start.components(separatedBy: "of the file").count == 2)
        terminal.type(hooks)
        let bash = "case ${__norris_shell-} in $$) __norris_prompt && :;; esac"
        #expect(terminal.wait(for: shell == .bash ? "<\(bash)>" : "<__norris_prompt>") != nil)
    }

    private static let settings: [(Shell, String)] = [
        (.bash, "set -u; set -e; set -o noglob; set -o noclobber; set -o posix; set -o pipefail; IFS=ac0"),
        (.bash, "alias read=false local=false printf=false type=false return=false builtin=false command=false"),
        (.bash, "read() { false; }; local() { false; }; printf() { echo no; }; type() { false; }; TMOUT=60"),
        (.zsh, "setopt ksh_arrays sh_word_split no_unset err_exit warn_create_global ksh_glob no_clobber"),
        (.zsh, "alias read=false local=false print=false typeset=false builtin=false command=false emulate=false"),
        (.zsh, "print() { false }; whence() { false }; sysread() { false }; IFS=ac0; setopt csh_null_glob prompt_bang"),
        (.fish, "function count; false; end; function math; false; end; set -g IFS ''"),
    ]

    @Test(arguments: settings) func noSettingDisturbsIt(shell: Shell, setting: String) throws {
        let home = try home(shell)
        for isFirst in [true, false] {
            try home.configure(before: isFirst ? setting : "", after: isFirst ? "" : setting)
            let terminal = try home.start()
            #expect(terminal.wait(for: "of the file\r\n") != nil)
            #expect(Set(terminal.facts(ofPrompts: 3)).count == 3)
            #expect(terminal.endsWithoutComplaint())
        }
    }

    @Test(arguments: Shell.allCases) func aShellThatIsNotInteractiveIsLeftAlone(shell: Shell) throws {
        let home = try home(shell)
        let names =
            switch shell {
            case .bash: "compgen -v | while read -r n; do case $n in *[nN][oO][rR][rR][iI][sS]*) echo $n;; esac; done"
            case .zsh: "print -l ${(Mk)parameters:#*(norris|NORRIS)*} ${(Mk)functions:#*norris*}"
            case .fish: "set -n | string match -i '*norris*'; functions -an | string match '*norris*'"
            }
        let outcome = try home.run("\(names); echo end")
        #expect(outcome.lines == ["end"] && outcome.errors.isEmpty, "\(outcome)")
    }

    @Test(arguments: Shell.allCases) func theGreetingIsForATerminalOnly(shell: Shell) throws {
        let home = try home(shell, ["--greeting"])
        let outcome = try NorrisTestSupport.run(
            shell.path, ["-i", "-c", ". \(home.script); echo end"],
            environment: ["HOME": home.folder.path, "XDG_RUNTIME_DIR": home.folder("run")])
        #expect(outcome.output == "end\n", "\(outcome)")
    }
}
