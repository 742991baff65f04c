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
}
