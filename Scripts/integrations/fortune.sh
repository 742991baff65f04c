# fortune gives facts that have not been there yet, and the fortunes of old while norrisd is away.
#
# Use:   in ~/.bashrc, ~/.zshrc or ~/.profile:  . /usr/local/share/norrisd/integrations/fortune.sh
# Undo:  delete that line; in a shell that has read it:  unset -f fortune norris_fortune
#
# fortune -s          only short ones, -n says how short
# fortune art startrek  these categories; norrisd has Debian's fortunes if facts.fortunes in its configuration says so
# fortune -a -e -u    the same without: norrisd draws each fact once before any comes again
# The installed fortune handles all other options, and texts that norrisd does not have.

# An alias of that name would be expanded in the definition.
unalias fortune 2>/dev/null || :

fortune() (
    unset -f fortune
    if command -v fortune >/dev/null; then
        norris_fortune "$@" 2>/dev/null || command fortune "$@"
    else
        norris_fortune "$@"
    fi
)

# Prints the reply of norrisctl; fails if there is none.
norris_fortune() (
    short=no
    length=160
    OPTIND=1
    while getopts :aen:su option; do
        case $option in
            a | e | u) ;;
            n) length=$OPTARG ;;
            s) short=yes ;;
            *) echo "fortune: only -a, -e, -n, -s and -u work without the program fortune; install it" >&2; exit 64 ;;
        esac
    done
    shift $((OPTIND - 1))
    for category; do
        shift
        set -- "$@" --category "$category"
    done
    [ $short = no ] || set -- "$@" --max-length "$length"
    norrisctl fact --timeout 1s "$@"
)
