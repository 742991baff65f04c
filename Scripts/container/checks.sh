# Assertions and their messages. Sourced by Scripts/container-test.

checks_passed=0
checks_failed=0

# check TITLE COMMAND…: passes if the command succeeds; else shows what it said, and the service's last words.
check() {
    local title=$1 said
    shift
    if said=$("$@" 2>&1); then
        checks_passed=$((checks_passed + 1))
        printf '  ok      %s\n' "$title"
    else
        checks_failed=$((checks_failed + 1))
        printf '  FAILED  %s\n' "$title"
        # A repeated attempt printed the same message each time.
        printf '%s\n' "$said" | awk '!seen[$0]++' | tail -n 20 | sed 's/^/          | /'
        inside journalctl -u norrisd -n 8 --no-pager -o cat 2>&1 | sed 's/^/          journal | /'
    fi
}

# eventually SECONDS COMMAND…: until it succeeds, looked at ten times a second.
eventually() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# exits STATUS COMMAND…: fails with the output of the command if the exit status differs.
exits() {
    local expected=$1 status=0
    shift
    "$@" || status=$?
    [ $status -eq "$expected" ] || { echo "exit status $status, expected $expected"; return 1; }
}

# says PATTERN COMMAND…: whether it succeeds, with a line in its output that matches (grep -E), standard error included.
says() { complains 0 "$@"; }

# complains STATUS PATTERN COMMAND…: whether it ends with that status and such a line.
complains() {
    local expected=$1 pattern=$2 status=0 said
    shift 2
    said=$("$@" 2>&1) || status=$?
    [ $status -eq "$expected" ] || { echo "exit status $status, expected $expected: $said"; return 1; }
    grep -Eq -- "$pattern" <<<"$said" || { echo "nothing like $pattern in:"; printf '%s\n' "$said"; return 1; }
}

# says_not PATTERN COMMAND…: whether it succeeds without such a line.
says_not() {
    local pattern=$1 said
    shift
    said=$("$@" 2>&1) || { echo "failed: $said"; return 1; }
    ! grep -E -- "$pattern" <<<"$said"
}

# silent COMMAND…: succeeds and says nothing.
silent() {
    local said
    said=$("$@" 2>&1) && [ -z "$said" ] || { printf '%s\n' "$said"; return 1; }
}

property() { inside systemctl show -P "$1" "${2:-norrisd.service}"; }
main_pid() { property MainPID; }
status_text() { property StatusText; }
state() { property ActiveState "${1:-norrisd.service}"; }
# systemctl warns that a call would start it again, which is so.
stop_service() { inside systemctl stop norrisd.service 2>/dev/null; }
is_active() { [ "$(state "${1:-norrisd.service}")" = active ]; }
is_inactive() { [ "$(state "${1:-norrisd.service}")" = inactive ]; }

# Begins a stretch of the journal, for journal_since. The entry is there to be the first: --after-cursor with matches
# would leave out the first of those.
journal_mark() {
    inside systemd-cat -t container-test echo "a stretch begins"
    inside journalctl --sync
    inside journalctl -t container-test -n 1 --show-cursor -o cat | sed -n 's/^-- cursor: //p'
}

# journal_since MARK FIELD=VALUE…
journal_since() {
    local mark=$1
    shift
    inside journalctl --cursor="$mark" -q --no-pager -o cat "$@"
}

# Whether the service runs in another process than PID, and answers.
runs_anew() {
    local pid
    pid=$(main_pid)
    [ "$pid" != "$1" ] && [ "$pid" != 0 ] && is_active && inside norrisctl fact >/dev/null 2>&1
}
