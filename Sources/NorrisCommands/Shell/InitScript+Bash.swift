extension InitScript {
    /// For bash 3.2 or newer. Other shells of the Bourne family read the script and do nothing.
    var bash: String {
        #"""
        \#(heading(.bash))
        if [ -n "${BASH_VERSION-}" ]; then case $- in *i*)

        if [[ ${__norris_shell-} != "$$" ]]; then
            __norris_shell=$$ __norris_count=0 __norris_asked='' __norris_greeted='' NORRIS_FACT=''
            \builtin export -n __norris_shell
        fi

        \#(cleaning)

        __norris_add() {
            __norris_clean "$1"
            if [[ -n $line ]]; then
                __norris_facts[__norris_count]=$line
                __norris_count=$((__norris_count + 1))
            fi
        }

        __norris_load() {
            \builtin local folder path width line lines next IFS LC_ALL
            line=$'\xc3\xa9'
            width=${#line}
            LC_ALL=C
            IFS=$'\n'
            for folder in "${XDG_RUNTIME_DIR:-/run}" /run; do
                path=$folder/norrisd/prompt-facts
                if [[ $__norris_count -eq 0 && -f $path && -r $path ]]; then
                    # The read ends at a NUL, so that it skips no NUL without counting it.
                    \builtin read -r -d '' -n 32768 -a lines 2>/dev/null <"$path" || :
                    next=0
                    while [[ $next -lt ${#lines[@]} && $next -lt 64 ]]; do
                        line=${lines[next]}
                        __norris_add "$width"
                        next=$((next + 1))
                    done
                fi
            done
            if [[ $__norris_count -eq 0 && -z $__norris_asked ]]; then
                __norris_asked=1
                if \builtin type -P norrisctl >/dev/null; then
                    line=$(\command \#(fallback) </dev/null 2>/dev/null) || :
                    __norris_add "$width"
                fi
            fi
        }

        # __norris_next COLUMNS: sets NORRIS_FACT to another fact that fits into COLUMNS, if there is one.
        __norris_next() {
            \builtin local pick fact limit=10000
            case $1 in
                ([1-9] | [1-9][0-9] | [1-9][0-9][0-9]) limit=$1 ;;
            esac
            if [[ $__norris_count -eq 0 ]]; then
                # bash reports a missing locale each time the locale is set.
                __norris_load 2>/dev/null
            fi
            while [[ $__norris_count -gt 0 ]]; do
                pick=$((${RANDOM:-0} % __norris_count))
                if [[ ${__norris_facts[pick]} == "$NORRIS_FACT" ]]; then
                    pick=$(((pick + 1) % __norris_count))
                fi
                fact=${__norris_facts[pick]}
                __norris_count=$((__norris_count - 1))
                __norris_facts[pick]=${__norris_facts[__norris_count]}
                if [[ ${#fact} -le $limit ]]; then
                    NORRIS_FACT=$fact
                    \builtin return
                fi
            done
            if [[ ${#NORRIS_FACT} -gt $limit ]]; then
                NORRIS_FACT=''
            fi
        }
        \#(greets ? bashGreeting : "")\#(prompts ? Self.bashPrompt : "")
        ;; esac; fi

        """#
    }

    private var bashGreeting: String {
        #"""

        \#(wrapping)

        if [[ -z $__norris_greeted && -t 1 ]]; then
            __norris_greeted=1
            __norris_next ''
            if [[ -n $NORRIS_FACT ]]; then
                __norris_wrap "$NORRIS_FACT"
            fi
        fi

        """#
    }

    /// The command is added to `PROMPT_COMMAND`, or to its first element, on a separate line, because the old value may
    /// end with `;`, `&` or a comment. `printf` assigns, because a plain assignment to a readonly variable ends the
    /// script.
    ///
    /// A shell that inherits the variable lacks the function, so `case` checks the process id, and preserves `$?`.
    /// After `&&`, a status other than 0 neither runs the `ERR` trap again nor, with `errexit`, ends the shell.
    private static let bashPrompt = #"""

        __norris_prompt() {
            \builtin local status=$?
            __norris_next "${COLUMNS:-\#(standardColumns)}"
            \builtin return "$status"
        }

        if [[ ${PROMPT_COMMAND[*]-} != *' __norris_prompt '* ]]; then
            \builtin printf -v PROMPT_COMMAND \
                "${PROMPT_COMMAND:+%s\n}"'case ${__norris_shell-} in $$) __norris_prompt && :;; esac' \
                "${PROMPT_COMMAND-}" 2>/dev/null || :
        fi

        """#
}
