import NorrisArguments

/// The shells that there are scripts for.
enum ShellName: String, CaseIterable { case bash, zsh, fish }

extension CommandArguments {
    /// Declares the required name of a shell.
    mutating func shell(_ value: inout ShellName?) {
        positional(.shell, "bash, zsh or fish.", choices: ShellName.words) { assign(&value, ShellName(rawValue: $0)) }
    }
}

/// What `norrisctl init` prints: text that a shell reads at its start.
///
/// The text depends on nothing but these members, so it may be kept in a file. All scripts work alike:
/// - Only builtins run, so a prompt starts no process, in a shell with any options, aliases and functions of its user.
/// - A folder, a pipe or a device in the place of the file is left alone, and of a file at most 32 KiB are read:
///   64 lines of 100 characters, however long these are in UTF-8.
/// - A greeting is wrapped at spaces to the width of the terminal, or to 60 columns where that is not known. A prompt
///   shows only facts that fit into one line of the terminal: right prompts take no more.
/// - The lines come in random order, each once; then the file is read anew: once in 64 prompts, and new facts arrive.
/// - Names begin with `__norris`, but for `NORRIS_FACT`. Nothing is done twice in one shell, told by its process id:
///   variables may be inherited.
/// - Where the shell's locale is not of UTF-8, only ASCII is kept, for a part of a longer character may be a control
///   there. fish takes every terminal for one of UTF-8.
struct InitScript {
    /// Whether a fact is shown at the start.
    let greets: Bool
    /// Whether `NORRIS_FACT` is set before each prompt.
    let prompts: Bool
    /// `--max-length`, in characters.
    let maxLength: Int?
    /// As long as those of the file are.
    static let standardLength = 100
    /// Where the width of the terminal is not known.
    static let standardColumns = 60

    /// The longest fact that is shown, in characters.
    var longest: Int { maxLength ?? Self.standardLength }

    /// The command that stands in for the file.
    var fallback: String { "norrisctl prompt" + (maxLength.map { " --max-length \($0)" } ?? "") }

    func text(for shell: ShellName) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// The first lines of a script.
    func heading(_ shell: ShellName) -> String {
        """
        # Facts of norrisd for the start of a shell and for its prompts, read with builtins alone.
        # This text is static: it is what "norrisctl init \(shell.rawValue)" prints, and may be kept in a file.
        """
    }
}

extension InitScript {
    /// `__norris_clean` of bash and zsh, for both count in bytes while it runs: bash in the C locale, zsh without
    /// `multibyte`. In any other locale one invalid byte would change what their patterns match.
    ///
    /// Controls and the five characters go first, for what stood beside them may form a character. What is then valid
    /// UTF-8 stays valid when whole characters are taken out. Well-formed is what table 3-7 of the Unicode standard
    /// says.
    ///
    /// zsh needs time that grows with the square of a line, so what is far too long is not looked at. A character has
    /// at most four bytes; that many again may be taken out.
    var cleaning: String {
        #"""
        # __norris_clean WIDTH: leaves in $line what is safe of it, or nothing where that is too long.
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
