import NorrisArguments

enum ShellName: String, CaseIterable { case bash, zsh, fish }

extension CommandArguments {
    mutating func shell(_ value: inout ShellName?) {
        positional(.shell, "bash, zsh or fish.", choices: ShellName.words) { assign(&value, ShellName(rawValue: $0)) }
    }
}

/// The script that `norrisctl init` prints, and that a shell reads at its start: at most 40 lines of 120 columns.
///
/// The text depends only on these members, so users may store it in a file. The daemon has sanitized the facts; the
/// scripts drop lines with control characters, and with `` ` ``, `$`, `\`, `%` and `!`, which prompts expand. All
/// scripts have the same properties:
/// - Only builtins run, so a prompt starts no process. The user's options, aliases and functions have no effect.
/// - Each line of the file appears once, then the file is read again. A prompt shows facts that fit into one line of
///   the terminal, the limit of right prompts.
/// - Names begin with `__norris`, except `NORRIS_FACT`. Read twice, a script greets and prompts once. The process id
///   identifies the shell, because variables may be inherited.
/// - The first prompt after a greeting shows no fact. `__norris_said` has the greeting until the next prompt, which
///   shows it again if there is no other fact.
struct InitScript {
    let greets: Bool
    /// Whether the shell sets `NORRIS_FACT` before each prompt.
    let prompts: Bool
    /// The value of `--max-length`, in characters.
    let maxLength: Int?

    /// The longest fact to show, in characters. A line of `prompt-facts` has at most 100 columns.
    private var longest: Int { maxLength ?? 100 }

    /// The command that replaces a missing file.
    private var fallback: String { "norrisctl prompt" + (maxLength.map { " --max-length \($0)" } ?? "") }

    func text(for shell: ShellName) -> String {
        let title = "Facts of norrisd for new shells and prompts, read with builtins only: output of norrisctl init"
        let body =
            switch shell {
            case .bash: bash
            case .zsh: zsh
            case .fish: fish
            }
        return "# \(title) \(shell.rawValue).\n\(body)\n"
    }

    /// For bash 3.2 or newer. Other shells of the Bourne family read the script and do nothing.
    ///
    /// The command is added to `PROMPT_COMMAND`, or to its first element, on a separate line, because the old value may
    /// end with `;`, `&` or a comment. `printf` assigns, because a plain assignment to a readonly variable ends the
    /// script. A shell that inherits the variable lacks the function, so `case` checks the process id, and preserves
    /// `$?`. After `&&`, a status other than 0 neither runs the `ERR` trap again nor, with `errexit`, ends the shell.
    private var bash: String {
        let greeting = #"""

            if [[ -z $NORRIS_FACT$__norris_said && -t 1 ]]; then __norris_next 10000; __norris_said=$NORRIS_FACT
                [[ -z $NORRIS_FACT ]] || \builtin printf '%s\n' "$NORRIS_FACT"; fi
            """#
        let prompt = #"""

            __norris_prompt() { \builtin local status="$?"; if [[ -n $NORRIS_FACT && $NORRIS_FACT == "$__norris_said" ]]; then
                NORRIS_FACT=''; else NORRIS_FACT=${NORRIS_FACT:-$__norris_said} __norris_said=''; __norris_next "${COLUMNS:-60}"
                fi; \builtin return "$status"; }
            [[ ${PROMPT_COMMAND[*]-} == *' __norris_prompt '* ]] || \builtin printf -v PROMPT_COMMAND \
                "${PROMPT_COMMAND:+%s\n}"'case ${__norris_shell-} in $$) __norris_prompt && :;; esac' \
                "${PROMPT_COMMAND-}" 2>/dev/null || :
            """#
        return #"""
            if [ -n "${BASH_VERSION-}" ]; then case $- in *i*)
            if [[ ${__norris_shell-} != "$$" ]]; then
                __norris_shell=$$ __norris_left=0 __norris_asked= __norris_said= NORRIS_FACT=; \builtin export -n __norris_shell
            fi
            __norris_load() {
                \builtin local path line lines IFS=$'\n'; __norris_count=0
                for path in "${XDG_RUNTIME_DIR:-/run}/norrisd/prompt-facts" /run/norrisd/prompt-facts ''; do
                    if [[ -f $path && -r $path ]]; then
                        \builtin read -r -d '' -n 32768 -a lines <"$path" || :
                    elif [[ -z $path$__norris_asked ]] && \builtin type -P norrisctl; then
                        __norris_asked=1 lines[0]=$(\command \#(fallback) </dev/null) || :
                    fi
                    for line in ${lines[@]+"${lines[@]}"}; do
                        [[ ${#line} -le \#(longest) && $line == *[![:blank:]]* && $line != *[[:cntrl:]\`\$\\%!]* ]] || continue
                        __norris_facts[__norris_count]=$line __norris_count=$((__norris_count + 1))
                    done
                    [[ $__norris_count -eq 0 ]] || break
                done
                __norris_left=$__norris_count __norris_start=${RANDOM:-0}
            }
            # __norris_next COLUMNS: sets NORRIS_FACT to another fact that fits into COLUMNS, if there is one.
            __norris_next() {
                \builtin local fact; [[ $__norris_left -gt 0 ]] || __norris_load >/dev/null 2>&1
                while [[ $__norris_left -gt 0 ]]; do
                    __norris_left=$((__norris_left - 1))
                    fact=${__norris_facts[(__norris_left + __norris_start) % __norris_count]}
                    if [[ ${#fact} -le $1 && $fact != "$NORRIS_FACT" ]]; then NORRIS_FACT=$fact; \builtin return; fi
                done
                [[ ${#NORRIS_FACT} -le $1 ]] || NORRIS_FACT=''
            }\#(greets ? greeting : "")\#(prompts ? prompt : "")
            ;; esac; fi
            """#
    }

    /// For zsh 5. Builtins read one character per system call, but `sysread` of a module reads the file in one call.
    /// zsh restores `$?` for the next hook and the prompt.
    private var zsh: String {
        let greeting = #"""

            if [[ -z $NORRIS_FACT$__norris_said && -t 1 ]]; then __norris_next 10000; __norris_said=$NORRIS_FACT
                [[ -z $NORRIS_FACT ]] || \builtin printf '%s\n' "$NORRIS_FACT"; fi
            """#
        let prompt = #"""

            __norris_prompt() { if [[ -n $NORRIS_FACT && $NORRIS_FACT == "$__norris_said" ]]; then NORRIS_FACT=''; else
                NORRIS_FACT=${NORRIS_FACT:-$__norris_said} __norris_said=''; __norris_next "${COLUMNS:-60}"
                fi; }
            () { \builtin emulate -L zsh; [[ -n ${precmd_functions[(re)__norris_prompt]} ]] || precmd_functions+=(__norris_prompt) }
            """#
        return #"""
            if [[ -n ${ZSH_VERSION-} && -o interactive ]]; then
            if [[ ${__norris_shell-} != $$ ]]; then
                \builtin typeset -g __norris_shell=$$ __norris_asked='' NORRIS_FACT=''; \builtin typeset -g +x __norris_shell
                \builtin typeset -ga __norris_facts; __norris_facts=(); \builtin typeset -g __norris_said=''
            fi
            __norris_load() {
                \builtin local file block line
                \builtin zmodload -F zsh/system b:sysread || :
                for file in "${XDG_RUNTIME_DIR:-/run}/norrisd/prompt-facts" /run/norrisd/prompt-facts ''; do
                    block=''
                    if [[ -f $file && -r $file ]]; then
                        \builtin sysread -s 32768 block <$file || :
                    elif [[ -z $file$__norris_asked ]] && \builtin whence -p norrisctl; then
                        __norris_asked=1; block=$(\command \#(fallback) </dev/null) || :
                    fi
                    for line in "${(@f)block}"; do
                        [[ ${#line} -le \#(longest) && $line == *[![:blank:]]* && $line != *[[:cntrl:]\`\$\\%!]* ]] || continue
                        __norris_facts+=("$line")
                    done
                    [[ ${#__norris_facts} -eq 0 ]] || break
                done
            }
            # __norris_next COLUMNS: sets NORRIS_FACT to another fact that fits into COLUMNS, if there is one.
            __norris_next() {
                \builtin emulate -L zsh; \builtin local pick fact
                [[ ${#__norris_facts} -gt 0 ]] || __norris_load >/dev/null 2>&1
                while [[ ${#__norris_facts} -gt 0 ]]; do
                    pick=$((RANDOM % ${#__norris_facts} + 1)); fact=$__norris_facts[pick]; __norris_facts[pick]=()
                    if [[ ${#fact} -le $1 && $fact != "$NORRIS_FACT" ]]; then NORRIS_FACT=$fact; \builtin return; fi
                done
                [[ ${#NORRIS_FACT} -le $1 ]] || NORRIS_FACT=''
            }\#(greets ? greeting : "")\#(prompts ? prompt : "")
            fi
            """#
    }

    /// For fish 3. Functions may replace the builtins `count`, `math`, `printf` and `random`. Command substitutions of
    /// builtins fork nothing, and split at newlines unless `IFS` is empty.
    private var fish: String {
        let greeting = #"""

            if test -z "$NORRIS_FACT$__norris_said" -a -t 1; __norris_next 10000; set -g __norris_said "$NORRIS_FACT"
                test -z "$NORRIS_FACT"; or builtin printf '%s\n' $NORRIS_FACT; end
            """#
        let prompt = #"""

            function __norris_prompt --on-event fish_prompt
                set -q COLUMNS; or set -l COLUMNS 60
                if test -n "$NORRIS_FACT" -a "x$NORRIS_FACT" = "x$__norris_said"; set -g NORRIS_FACT ''; return; end
                test -n "$NORRIS_FACT"; or set -g NORRIS_FACT "$__norris_said"
                set -g __norris_said ''; __norris_next $COLUMNS
            end
            """#
        return #"""
            if status is-interactive
            if test "$__norris_shell" != $fish_pid
                set -gu __norris_shell $fish_pid
                set -g __norris_facts; set -g __norris_asked ''; set -g NORRIS_FACT ''; set -g __norris_said ''
            end
            function __norris_load
                set -l IFS \n; set -l block
                for file in $XDG_RUNTIME_DIR/norrisd/prompt-facts /run/norrisd/prompt-facts ''
                    if test -f "$file" -a -r "$file"
                        read -z -n 32768 block <$file
                    else if test -z "$file$__norris_asked"; and command -q norrisctl
                        set -g __norris_asked 1
                        set block (command \#(fallback) </dev/null 2>/dev/null)
                    end
                    set -g __norris_facts (string match -r -- '^(?=.*\S)[^\p{Cc}`$\\\\%!]{1,\#(longest)}$' (string split -- \n "$block"))
                    set -q __norris_facts[1]; and return
                end
            end
            # __norris_next COLUMNS: sets NORRIS_FACT to another fact that fits into COLUMNS, if there is one.
            function __norris_next
                set -q __norris_facts[1]; or __norris_load >/dev/null 2>&1
                while set -q __norris_facts[1]
                    set -l pick (builtin math (builtin random) % (builtin count $__norris_facts) + 1)
                    set -l fact $__norris_facts[$pick]; set -e __norris_facts[$pick]
                    if test (string length -- "$fact") -le $argv[1] -a "x$fact" != "x$NORRIS_FACT"
                        set -g NORRIS_FACT $fact; return
                    end
                end
                test (string length -- "$NORRIS_FACT") -le $argv[1]; or set -g NORRIS_FACT ''
            end\#(greets ? greeting : "")\#(prompts ? prompt : "")
            end
            """#
    }
}
