import NorrisArguments

struct CompletionCommand: SessionCommand {
    static let name = "completion"
    static let help = CommandHelp(
        "Print the completion script for a shell.",
        """
        The packages install it already. Tab also completes categories, sources and ids if norrisd answers within
        a tenth of a second.

        Examples:
          norrisctl completion bash >> ~/.bash_completion
          norrisctl completion zsh > ~/.zfunc/_norrisctl
          norrisctl completion fish > ~/.config/fish/completions/norrisctl.fish
        """)

    private var shell: ShellName?

    mutating func declare(_ arguments: inout CommandArguments) { arguments.shell(&shell) }
    static let hasFields = false

    func run(in session: Session) -> Report { Report(output: CompletionScript.text(for: shell ?? .bash)) }
}

/// The completion scripts, which ask norrisctl for the words at the cursor.
///
/// The scripts are static and contain no commands and options, so that they match every installed norrisctl. Shells
/// compare, cut and pass on the replies of norrisctl, but never expand them.
enum CompletionScript {
    static func text(for shell: ShellName) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// bash(1), "Programmable Completion". bash also splits words at `=` and `:`, and replaces only the last part.
    private static let bash = #"""
        # Completion of norrisctl for bash 4.3 or newer: norrisctl itself says which words there are.
        _norrisctl() {
            local line=${COMP_LINE:0:COMP_POINT} rest words=() word option= i
            # norrisctl expects text without blanks as one word, even with a colon or an equals sign.
            for ((i = 0; i <= COMP_CWORD; i++)); do
                rest=${line#"${line%%[![:space:]]*}"}
                if [[ $i -eq 0 || $rest != "$line" ]]; then
                    words+=('')
                fi
                # The last word may go on behind the cursor.
                word=${COMP_WORDS[i]}
                [[ $i -eq $COMP_CWORD ]] && word=$rest
                words[-1]+=$word
                line=${rest#"$word"}
            done
            local current=${words[-1]#[\"\']}
            [[ $current == --*=* ]] && option=${current%%=*}=
            while IFS= read -r word; do
                word=$option${word%%$'\t'*}
                if [[ $word == "$option/" ]]; then
                    compopt -o default
                elif [[ $word == "$current"* ]]; then
                    COMPREPLY+=("${word#"${current%"$2"}"}")
                fi
            done < <(command norrisctl ---complete "${words[@]}" 2>/dev/null </dev/null)
        }
        complete -F _norrisctl norrisctl

        """#

    /// zshcompsys(1): a colon without a preceding backslash separates a word from its description.
    private static let zsh = #"""
        #compdef norrisctl
        # Completion of norrisctl for zsh: norrisctl itself says which words there are.
        _norrisctl() {
            local line word tab=$'\t'
            local -a lines offers
            lines=("${(@f)$(command norrisctl ---complete "${(@Q)words[1,CURRENT]}" 2>/dev/null </dev/null)}")
            for line in $lines; do
                word=${line%%$tab*}
                offers+=("${word//:/\\:}${${${line#"$word"}/$tab/:}//\\/\\\\}")
            done
            compset -P '--[^=]#='
            if [[ $lines == / ]]; then
                _files
            elif (( $#offers )); then
                _describe -V 'norrisctl' offers
            fi
        }
        if [[ $funcstack[1] == _norrisctl ]]; then
            _norrisctl "$@"
        else
            compdef _norrisctl norrisctl
        fi

        """#

    /// complete(1) of fish, which accepts words with a tab and a description unchanged.
    private static let fish = #"""
        # Completion of norrisctl for fish 3.1 or newer: norrisctl itself says which words there are.
        function __norrisctl_complete
            set -l words (commandline -opc)
            # Variables before the command.
            while string match -q '*=*' -- $words[1]
                set -e words[1]
            end
            set -l current (commandline -ct)
            set -l option (string match -r -- '^--[a-z-]+=' "$current")
            set -l offers (command norrisctl ---complete $words "$current" 2>/dev/null </dev/null)
            if test "$offers" = /
                set offers (__fish_complete_path (string replace -- "$option" '' "$current"))
            end
            for offer in $offers
                printf '%s\n' "$option$offer"
            end
        end
        complete -c norrisctl -f -k -a '(__norrisctl_complete)'

        """#
}
