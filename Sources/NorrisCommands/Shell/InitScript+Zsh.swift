extension InitScript {
    /// For zsh 5. Builtins read one character per system call, but `sysread` of a module reads the file in one call.
    var zsh: String {
        #"""
        \#(heading(.zsh))
        if [[ -n ${ZSH_VERSION-} && -o interactive ]]; then

        if [[ ${__norris_shell-} != $$ ]]; then
            \builtin typeset -g __norris_shell=$$ __norris_asked='' __norris_greeted='' NORRIS_FACT=''
            \builtin typeset -g +x __norris_shell
            \builtin typeset -ga __norris_facts
            __norris_facts=()
        fi

        \#(cleaning)

        __norris_add() {
            __norris_clean "$1"
            if [[ -n $line ]]; then
                __norris_facts+=("$line")
            fi
        }

        __norris_load() {
            \builtin local folder file width line block
            \builtin local -a lines
            line=$'\xc3\xa9'
            width=${#line}
            \builtin setopt no_multibyte
            \builtin zmodload -F zsh/system b:sysread 2>/dev/null || :
            for folder in "${XDG_RUNTIME_DIR:-/run}" /run; do
                file=$folder/norrisd/prompt-facts
                if [[ ${#__norris_facts} -eq 0 && -f $file && -r $file ]]; then
                    block=''
                    { \builtin sysread -s 32768 block <$file || :; } 2>/dev/null
                    lines=(${(f)block})
                    for line in "${(@)lines[1,64]}"; do
                        __norris_add "$width"
                    done
                fi
            done
            if [[ ${#__norris_facts} -eq 0 && -z $__norris_asked ]]; then
                __norris_asked=1
                if \builtin whence -p norrisctl >/dev/null; then
                    line=$(\command \#(fallback) </dev/null 2>/dev/null) || :
                    __norris_add "$width"
                fi
            fi
        }

        # __norris_next COLUMNS: sets NORRIS_FACT to another fact that fits into COLUMNS, if there is one.
        __norris_next() {
            \builtin emulate -L zsh
            \builtin local pick fact
            if [[ ${#__norris_facts} -eq 0 ]]; then
                __norris_load
            fi
            while [[ ${#__norris_facts} -gt 0 ]]; do
                pick=$((RANDOM % ${#__norris_facts} + 1))
                if [[ $__norris_facts[pick] == "$NORRIS_FACT" ]]; then
                    pick=$((pick % ${#__norris_facts} + 1))
                fi
                fact=$__norris_facts[pick]
                __norris_facts[pick]=()
                if [[ ${#fact} -le $1 ]]; then
                    NORRIS_FACT=$fact
                    \builtin return
                fi
            done
            if [[ ${#NORRIS_FACT} -gt $1 ]]; then
                NORRIS_FACT=''
            fi
        }
        \#(greets ? zshGreeting : "")\#(prompts ? Self.zshPrompt : "")
        fi

        """#
    }

    private var zshGreeting: String {
        #"""

        \#(wrapping)

        if [[ -z $__norris_greeted && -t 1 ]]; then
            __norris_greeted=1
            () {
                \builtin emulate -L zsh
                __norris_next 10000
                if [[ -n $NORRIS_FACT ]]; then
                    __norris_wrap "$NORRIS_FACT"
                fi
            }
        fi

        """#
    }

    /// zsh restores `$?` for the next hook and the prompt. A `return` with the status would run the `ZERR` trap again.
    private static let zshPrompt = #"""

        __norris_prompt() {
            __norris_next "${COLUMNS:-\#(standardColumns)}"
        }

        () {
            \builtin emulate -L zsh
            if [[ -z ${precmd_functions[(re)__norris_prompt]} ]]; then
                precmd_functions+=(__norris_prompt)
            fi
        }

        """#
}
