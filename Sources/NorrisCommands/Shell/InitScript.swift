import NorrisArguments

enum ShellName: String, CaseIterable { case bash, zsh, fish }

extension CommandArguments {
    mutating func shell(_ value: inout ShellName?) {
        positional(.shell, "bash, zsh or fish.", choices: ShellName.words) { assign(&value, ShellName(rawValue: $0)) }
    }
}

/// The script that `norrisctl init` prints, and that a shell reads at its start.
///
/// The text depends only on these members, so users may store it in a file. All scripts have the same properties:
/// - Only builtins run, so a prompt starts no process. The user's options, aliases and functions have no effect.
/// - The scripts ignore a folder, a pipe or a device at the path of the file, and read at most 32 KiB: 64 lines of 100
///   characters of any length in UTF-8.
/// - A greeting is wrapped at spaces to the width of the terminal, or to 60 columns if the width is unknown. A prompt
///   shows only facts that fit into one line of the terminal, the limit of right prompts.
/// - The lines appear in random order, each once. Then the script reads the file again, about once in 64 prompts.
/// - Names begin with `__norris`, except `NORRIS_FACT`. Nothing runs twice in a shell. The process id identifies the
///   shell, because variables may be inherited.
/// - In a locale without UTF-8, only ASCII is kept, because part of a longer character may be a control character.
///   fish treats every terminal as UTF-8.
struct InitScript {
    let greets: Bool
    /// Whether the shell sets `NORRIS_FACT` before each prompt.
    let prompts: Bool
    /// The value of `--max-length`, in characters.
    let maxLength: Int?
    /// The default of `--max-length`. A line of `prompt-facts` has at most 100 columns.
    static let standardLength = 100
    /// The wrap width if the terminal's width is unknown.
    static let standardColumns = 60

    /// The longest fact to show, in characters.
    var longest: Int { maxLength ?? Self.standardLength }

    /// The command that replaces a missing file.
    var fallback: String { "norrisctl prompt" + (maxLength.map { " --max-length \($0)" } ?? "") }

    func text(for shell: ShellName) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    func heading(_ shell: ShellName) -> String {
        """
        # Facts of norrisd for the start of a shell and for its prompts, read with builtins only.
        # This text is the static output of "norrisctl init \(shell.rawValue)", and may be stored in a file.
        """
    }
}

extension InitScript {
    /// `__norris_clean` of bash and zsh, which count bytes while it runs: bash in the C locale, zsh without
    /// `multibyte`. In any other locale, an invalid byte would change the matches of their patterns.
    ///
    /// Control characters, `$`, `\`, `%`, `!` and backquotes are removed first, because the bytes around them may form
    /// a character. After that, the removal of whole characters keeps valid UTF-8 valid, as defined in table 3-7 of the
    /// Unicode standard.
    ///
    /// zsh needs time quadratic in the length, so a line of more than 8 bytes per allowed character is dropped: 4 bytes
    /// for the longest character, and 4 bytes for removed ones.
    var cleaning: String {
        #"""
        # __norris_clean WIDTH: keeps the safe characters of $line, or nothing if they are too long.
        # WIDTH is 1 where the terminal takes UTF-8.
        __norris_clean() {
            \builtin local rest
            if [[ ${#line} -gt \#(8 * longest) ]]; then
                line=''
            fi
            line=${line//[[:cntrl:]\`\$\\%!]/}
            rest=$line
            if [[ $line == *[$'\x80'-$'\xff']* ]]; then
                # Every character of valid UTF-8 becomes a space, so a byte that is left is invalid.
                case $line in
                    (*[$'\xc0\xc1\xf5'-$'\xff']* | *$'\xe0'[$'\x80'-$'\x9f']* | *$'\xed'[$'\xa0'-$'\xbf']* | \
                        *$'\xf0'[$'\x80'-$'\x8f']* | *$'\xf4'[$'\x90'-$'\xbf']*) ;;
                    (*)
                        rest=${rest//[$'\xc2'-$'\xdf'][$'\x80'-$'\xbf']/ }
                        rest=${rest//[$'\xe0'-$'\xef'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf']/ }
                        rest=${rest//[$'\xf0'-$'\xf4'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf']/ } ;;
                esac
                if [[ $1 != 1 || $rest == *[$'\x80'-$'\xff']* ]]; then
                    line=${line//[$'\x80'-$'\xff']/}
                    rest=$line
                else
                    # U+0080-009F, U+061C, U+200E, U+200F, U+2028-202E, U+2066-2069.
                    line=${line//$'\xc2'[$'\x80'-$'\x9f']/}
                    line=${line//$'\xd8\x9c'/}
                    line=${line//$'\xe2\x80'[$'\x8e\x8f\xa8'-$'\xae']/}
                    line=${line//$'\xe2\x81'[$'\xa6'-$'\xa9']/}
                fi
            fi
            if [[ $line != *[![:blank:]]* || ${#rest} -gt \#(longest) ]]; then
                line=''
            fi
        }
        """#
    }

    /// `__norris_wrap` of bash and zsh. Older versions of bash do not know the width before the first prompt.
    var wrapping: String {
        #"""
        # __norris_wrap TEXT: prints it in lines as wide as the terminal, or of \#(Self.standardColumns) columns.
        __norris_wrap() {
            \builtin local rest line width
            rest=$1
            width=\#(Self.standardColumns)
            case ${COLUMNS-} in
                ([1-9] | [1-9][0-9] | [1-9][0-9][0-9]) width=$COLUMNS ;;
            esac
            while [[ ${#rest} -gt $width ]]; do
                line=${rest:0:$((width + 1))}
                if [[ $line == [!' ']*' '* ]]; then
                    line=${line% *}
                else
                    line=${rest:0:$width}
                fi
                \builtin printf '%s\n' "$line"
                rest=${rest:${#line}}
                rest=${rest# }
            done
            \builtin printf '%s\n' "$rest"
        }
        """#
    }
}
