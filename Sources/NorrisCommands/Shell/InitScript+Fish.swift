extension InitScript {
    /// For fish 3, which stores an invalid byte as the private use character U+F600 plus the byte, and writes the byte
    /// to the terminal again. Functions may replace the builtins `count`, `math`, `printf` and `random`. Command
    /// substitutions of builtins fork nothing, and split at newlines unless `IFS` is empty.
    var fish: String {
        #"""
        \#(heading(.fish))
        if status is-interactive

        if test "$__norris_shell" != $fish_pid
            set -gu __norris_shell $fish_pid
            set -g __norris_facts
            set -g __norris_asked ''
            set -g __norris_greeted ''
            set -g NORRIS_FACT ''
        end

        # Keeps the safe characters of the lines, and drops lines that are too long.
        function __norris_add
            set -l IFS \n
            # fish also decodes bytes to characters beyond the last one, U+10FFFF.
            set -l unsafe '[^ -\x{10FFFF}]|[\p{Cc}\p{Co}\p{Zl}\p{Zp}`$\\\\%!]'
            set unsafe $unsafe'|[\x{61C}\x{200E}\x{200F}\x{202A}-\x{202E}\x{2066}-\x{2069}]'
            set -l lines (string replace -ra -- $unsafe '' $argv)
            set -g __norris_facts (string match -r -- '^(?=.*\S).{1,\#(longest)}$' $lines)
        end

        function __norris_load
            set -l IFS \n
            for folder in $XDG_RUNTIME_DIR /run
                set -l path $folder/norrisd/prompt-facts
                if not set -q __norris_facts[1]; and test -f $path -a -r $path
                    # The read ends at a NUL.
                    set -l block
                    read -l -z -n 32768 block <$path 2>/dev/null
                    set -l lines (string split -- \n "$block")
                    __norris_add $lines[1..64]
                end
            end
            if not set -q __norris_facts[1]; and test -z "$__norris_asked"
                set -g __norris_asked 1
                if command -q norrisctl
                    set -l lines (command \#(fallback) </dev/null 2>/dev/null)
                    __norris_add "$lines[1]"
                end
            end
        end

        # __norris_next COLUMNS: sets NORRIS_FACT to another fact that fits into COLUMNS, if there is one.
        function __norris_next
            string match -qr '^[1-9][0-9]{0,4}$' -- "$argv[1]"; or set argv 10000
            set -q __norris_facts[1]; or __norris_load
            while set -q __norris_facts[1]
                set -l count (builtin count $__norris_facts)
                set -l pick (builtin math (builtin random) % $count + 1)
                if test "x$__norris_facts[$pick]" = "x$NORRIS_FACT"
                    set pick (builtin math $pick % $count + 1)
                end
                set -l fact $__norris_facts[$pick]
                set -e __norris_facts[$pick]
                if test (string length -- "$fact") -le $argv[1]
                    set -g NORRIS_FACT $fact
                    return
                end
            end
            if test (string length -- "$NORRIS_FACT") -gt $argv[1]
                set -g NORRIS_FACT ''
            end
        end
        \#(greets ? Self.fishGreeting : "")\#(prompts ? Self.fishPrompt : "")
        end

        """#
    }

    private static let fishGreeting = #"""

        if test -z "$__norris_greeted" -a -t 1
            set -g __norris_greeted 1
            __norris_next 10000
            if test -n "$NORRIS_FACT"
                set -l width \#(standardColumns)
                string match -qr '^[1-9][0-9]{0,2}$' -- "$COLUMNS"; and set width $COLUMNS
                # At spaces, and in a word that is longer than a line.
                string match -ar -- "(?=\S).{1,$width}(?= |\$)|\S{$width}" $NORRIS_FACT
            end
        end

        """#

    private static let fishPrompt = #"""

        function __norris_prompt --on-event fish_prompt
            set -q COLUMNS; or set -l COLUMNS \#(standardColumns)
            __norris_next $COLUMNS
        end

        """#
}
