# Failures of real machines: clear state, a clear line in the journal, and as much service as possible.

credential=/etc/credstore/giphy-api-key

errors_since() { journal_since "$1" -u norrisd -p err; }
# tries_again MARK: the service has been restarted twice since.
tries_again() { [ "$(journal_since "$1" -u norrisd | grep -c 'Scheduled restart job')" -ge 2 ]; }

chapter_bad_days() {
    bad_credentials
    bad_configurations
    full_disk
    two_instances
    newer_schema
    no_socket_unit
}

bad_credentials() {
    configure 'gifs: {base_url: "http://giphy.test"}'
    inside systemctl restart norrisd.service
    check "no credential: the service runs" is_active
    check "and says whose key is missing" eventually 60 says 'key' inside norrisctl status --plain

    inside mkdir -p -m 700 "${credential%/*}"
    inside install -m 600 /dev/null "$credential"
    inside systemctl restart norrisd.service
    check "an empty credential: the service runs" is_active
    check "and says which file is empty" eventually 60 says 'giphy-api-key is empty' inside norrisctl status --plain

    echo key-of-the-container | inside tee "$credential" >/dev/null
    inside systemctl restart norrisd.service
    check "a credential is used" eventually 60 grep -q 'api_key=key-of-the-container' "$work/upstream.log"
    check "and written to no file" exits 1 inside grep -r key-of-the-container \
        /var/lib/private/norrisd /var/cache/private/norrisd /run/norrisd
    check "nor to the journal" says_not key-of-the-container inside journalctl --no-pager -o verbose -u norrisd
    inside rm -r "${credential%/*}"
}

# starts_not TITLE PATTERN: the service does not start, and says why, until the caller mends it.
starts_not() {
    local mark
    mark=$(journal_mark)
    inside systemctl restart --no-block norrisd.service
    check "$1: the service tries again and again" eventually 60 tries_again "$mark"
    check "$1: the journal has it as an error" eventually 60 says "$2" errors_since "$mark"
    check "$1: so has systemctl status" eventually 60 says "$2" status_text
    check "$1: the socket is alive" is_active norrisd.socket
}

bad_configurations() {
    configure 'facts: {refesh: 1h}'
    starts_not "a broken configuration" 'config.yaml:1:.*refesh'
    configure 'facts: {base_url: "http://facts.test"}'
    check "mended, it comes back without a hand" eventually 60 is_active

    inside chmod 000 /etc/norrisd/config.yaml
    starts_not "an unreadable configuration" 'config.yaml'
    inside chmod 644 /etc/norrisd/config.yaml
    check "readable again, it comes back without a hand" eventually 60 is_active
}

full_disk() {
    local mark
    stop_service
    mark=$(journal_mark)
    inside mount -t tmpfs -o size=64k none /var/lib/private/norrisd || fail "no disk can be mounted in the container"
    inside dd if=/dev/zero of=/var/lib/private/norrisd/ballast bs=4k count=32 2>/dev/null
    inside systemctl start norrisd.service
    check "a full disk: the service runs" is_active
    check "a full disk: it answers" says 'Chuck Norris' as alice norrisctl fact
    check "a full disk: nothing is said to be kept" exits 74 as alice norrisctl favorite add fact
    check "a full disk: the status says so" says 'degraded' inside norrisctl status --plain
    check "a full disk: the journal has it as an error" says 'disk is full.*state.db' errors_since "$mark"
    stop_service
    inside umount /var/lib/private/norrisd
    inside systemctl start norrisd.service
    check "with room again, what was kept is there" says 'Chuck Norris' as alice norrisctl favorite list
}

two_instances() {
    second() { inside norrisd --state-dir /var/lib/private/norrisd --cache-dir /tmp/cache --socket /tmp/second.sock; }
    check "a second daemon on the same state gives way, and names the first" complains 75 "process id $(main_pid)" second
    check "which goes on" says 'Chuck Norris' as bob norrisctl fact
}

newer_schema() {
    local state=$machine/var/lib/private/norrisd/state.db version before
    stop_service
    version=$(schema "$state" 'PRAGMA user_version')
    schema "$state" 'PRAGMA user_version = 999'
    before=$(cksum <"$state")
    starts_not "a newer schema" 'newer'
    check "a newer schema: the database is as it was" [ "$(cksum <"$state")" = "$before" ]
    stop_service
    schema "$state" "PRAGMA user_version = $version"
    inside systemctl start norrisd.service
    check "with the right schema, what was kept is there" says 'Chuck Norris' as alice norrisctl favorite list
}

# schema FILE STATEMENT: SQLite's answer, from outside, because the container has no tool for SQLite.
schema() {
    python3 - "$@" <<'PYTHON'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for row in database.execute(sys.argv[2]): print(row[0])
PYTHON
}

no_socket_unit() {
    inside systemctl stop norrisd.socket norrisd.service
    inside systemctl mask --runtime norrisd.socket 2>/dev/null
    check "without its socket unit the service does not start, and systemctl says why" \
        complains 1 'norrisd.socket is masked' inside systemctl start norrisd.service
    inside systemctl unmask --runtime norrisd.socket 2>/dev/null
    check "with it, it does" inside systemctl start norrisd.service
}
