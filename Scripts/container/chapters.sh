# The life of the service, in chapters, each of which finds the machine as those before have left it. Sourced by
# Scripts/container-test.

# Installed, running, not root, as tight as it claims to be.

runs_without_root() { [ "$(inside stat -c %u "/proc/$(main_pid)")" -ne 0 ]; }
exposure() { inside systemd-analyze security --no-pager --threshold=12 norrisd.service; }
mode_of() { [ "$(inside stat -c %a "$2")" = "$1" ] || { inside stat "$2"; return 1; }; }
install_package() { inside dpkg -i /root/norrisd.deb; }

chapter_install() {
    # All files except those that the kernel and the running system create.
    files >"$work/files.before"
    check "dpkg installs the package" install_package
    [ $checks_failed -eq 0 ] || fail "nothing else can be looked at"
    check "the socket is enabled and listens" is_active norrisd.socket
    check "the service is enabled" inside systemctl is-enabled norrisd.service
    check "the package has started it" is_active
    check "systemctl start" inside systemctl start norrisd
    check "systemctl status says active (running)" says 'active \(running\)' inside systemctl status --no-pager norrisd
    check "and has a useful line" says 'Status: "[0-9]+ facts' inside systemctl status --no-pager norrisd
    check "the process is not root's" runs_without_root
    check "the exposure is 1.2 at most" exposure
    check "systemd-analyze verify is silent" \
        silent inside systemd-analyze --man=no verify norrisd.service norrisd.socket
    check "also about the units of users" \
        silent inside env XDG_RUNTIME_DIR=/run systemd-analyze --man=no --user verify /usr/lib/systemd/user/norrisd.service
    check "the socket is for everybody" mode_of 666 /run/norrisd.sock
    check "prompt-facts is for everybody" mode_of 644 /run/norrisd/prompt-facts
    check "state is not" mode_of 700 /var/lib/private/norrisd
    check "cache is not" mode_of 700 /var/cache/private/norrisd
    check "the journal has readiness as an event of its own" \
        says 'facts=' inside journalctl -u norrisd NORRISD_EVENT=server.ready --no-pager -o cat
    check "and nothing that norrisd did not write" only_own_lines
}

# Libraries write to standard error or to syslog, norrisd to neither.
only_own_lines() {
    silent inside journalctl -q --no-pager -o cat _SYSTEMD_UNIT=norrisd.service _TRANSPORT=stdout _TRANSPORT=syslog
}

# The users of one daemon: their separate data, and the permissions of administrators.

recents() { as "$1" norrisctl recent; }

chapter_users() {
    inside useradd -m alice
    inside useradd -m bob
    inside groupadd keepers
    inside useradd -m -G keepers carol
    inside useradd -m -G sudo dave

    check "an ordinary user gets a fact" says 'Chuck Norris' as alice norrisctl fact --category dev
    check "alice searches" as alice norrisctl search kernel
    check "bob searches" as bob norrisctl search handshake
    check "alice sees her search" says kernel recents alice
    check "and not bob's" says_not handshake recents alice
    check "bob sees his" says handshake recents bob

    check "an ordinary user may not clear the cache" exits 77 as alice norrisctl clear-cache
    check "root may" inside norrisctl clear-cache
    check "and a member of sudo, by default" as dave norrisctl clear-cache
    check "carol may not yet" exits 77 as carol norrisctl clear-cache
    configure 'admin_groups: [keepers]'
    check "a reload makes her group one of administrators" inside systemctl reload norrisd
    check "now she may" eventually 60 as carol norrisctl clear-cache
    check "alice still may not" exits 77 as alice norrisctl clear-cache

    check "alice keeps a fact" says 'Chuck Norris' as alice norrisctl favorite add fact
    check "a cleaned cache is no harm" clean_cache
    check "alice still has her favorite" says 'Chuck Norris' as alice norrisctl favorite list
    check "bob has none" exits 1 as bob norrisctl favorite list
}

# configure YAML: the configuration, whole; a reload or a restart makes norrisd read it.
configure() { printf '%s\n' "$1" | inside tee /etc/norrisd/config.yaml >/dev/null; }

clean_cache() {
    stop_service &&
        inside systemctl clean --what=cache norrisd.service &&
        inside test ! -e /var/cache/private/norrisd &&
        inside systemctl start norrisd.service &&
        says 'Chuck Norris' as alice norrisctl fact
}

# Without a network at boot, and then with one, whose name server has a private address.

chapter_network() {
    configure 'facts: {base_url: "http://facts.test"}'
    inside systemctl restart norrisd.service
    check "without a network it runs" is_active
    check "and answers" says 'Chuck Norris' as alice norrisctl fact
    check "and says what is wrong, as an event of the source" eventually 60 \
        says 'cannot be resolved' \
        inside journalctl -u norrisd NORRISD_SOURCE=facts NORRISD_EVENT=source.failed --no-pager -o cat

    start_upstream
    check "a network comes" eventually 60 upstream_is_ready
    check "names are resolved inside the unit, and facts fetched" inside norrisctl refresh facts --wait
    check "they are there" says 'upgrades [0-9]+ machines' as alice norrisctl search machines
    check "the status has no error" eventually 60 says_not 'offline' inside norrisctl status --plain

    # Tries, as the service's user and in its unit, what a decoder that was taken over could do.
    inside mv /usr/bin/norris-fetch /usr/bin/norris-fetch.kept
    install -m 0755 "$probe" "$machine/usr/bin/norris-fetch"
    inside norrisctl refresh facts
    check "norris-fetch may neither read nor write the state, nor start programs, nor signal" eventually 60 \
        says 'left: thread internet system\.' inside norrisctl status --plain
    inside mv /usr/bin/norris-fetch.kept /usr/bin/norris-fetch
    check "the real one fetches" inside norrisctl refresh facts --wait
    check "the status line tells the next fetch" eventually 60 says 'next fetch' status_text
    check "the failure is over in the journal" eventually 60 \
        says 'source.recovered' inside journalctl -u norrisd NORRISD_EVENT=source.recovered --no-pager -o cat
}

# Reloads, good and bad: the process stays, and so do connections.

# reloads_heard NUMBER: how many reloads the watching client has been told of, at least.
reloads_heard() { [ "$(grep -c reloaded "$work/watch.log")" -ge "$1" ] || { cat "$work/watch.log"; return 1; }; }
watcher() { inside sh -c "kill -$1 \$(cat /tmp/watch.pid)"; }
refused_in_journal() { journal_since "$1" -u norrisd NORRISD_EVENT=configuration.refused PRIORITY=3; }

chapter_reload() {
    local pid mark heard
    pid=$(main_pid)
    inside sh -c 'echo $$ >/tmp/watch.pid; exec norrisctl watch --plain' >"$work/watch.log" 2>&1 &
    check "a client follows events" eventually 60 watch_sees 'reloaded'

    heard=$(grep -c reloaded "$work/watch.log")
    configure 'log: {level: debug}'
    check "a reload with a good file" inside systemctl reload norrisd
    check "is applied" eventually 60 reloads_heard $((heard + 1))
    check "the process stays" [ "$(main_pid)" = "$pid" ]
    mark=$(journal_mark)
    configure 'log: {levle: debug}'
    check "a reload with a bad file ends" inside systemctl reload norrisd
    check "the process still stays" [ "$(main_pid)" = "$pid" ]
    check "STATUS says what is wrong" eventually 60 says 'config.yaml:1:.*levle' status_text
    check "so does the journal, as an error" eventually 60 says 'config.yaml:1:.*levle' refused_in_journal "$mark"
    check "norrisctl says that it is degraded" says 'degraded' inside norrisctl status --plain
    check "what was in force still is" says 'upgrades [0-9]+ machines' as alice norrisctl search machines
    check "norrisctl reload names line and key" complains 78 'config.yaml:1:.*levle' inside norrisctl reload
    configure 'facts: {base_url: "http://facts.test"}'
    check "a reload with a mended file" inside systemctl reload norrisd
    check "is applied too, on the same connection" eventually 60 reloads_heard $((heard + 2))
    check "and STATUS is as it was" eventually 60 status_is_good
    check "the client is still there" watcher 0
    watcher TERM
}

status_is_good() { says '^[0-9]+ facts' status_text && says_not levle status_text; }

watch_sees() {
    inside systemctl reload norrisd
    grep -q "$1" "$work/watch.log"
}

# After any end the daemon restarts by itself, and no client is refused in the meantime.

# The shell's own kill: the program is in a package that a minimal Debian does not have.
kill_daemon() { inside sh -c "kill -$1 $(main_pid)"; }

# calls_across COMMAND…: while it runs, and 200 times at least, norrisctl is called, and must succeed every time.
calls_across() {
    local call=0 failures=0 command said
    "$@" >"$work/command.log" 2>&1 &
    command=$!
    while [ $call -lt 200 ] || kill -0 $command 2>/dev/null; do
        call=$((call + 1))
        said=$(as alice norrisctl fact --timeout 30s 2>&1) || {
            failures=$((failures + 1))
            echo "call $call: $said"
        }
    done
    wait $command || { cat "$work/command.log"; return 1; }
    [ $failures -eq 0 ]
}

three_restarts() {
    local restart pid
    for restart in 1 2 3; do
        pid=$(main_pid)
        inside systemctl restart norrisd.service && eventually 60 runs_anew "$pid" || return 1
    done
}

ten_crashes() {
    local crash pid
    for crash in $(seq 10); do
        pid=$(main_pid)
        kill_daemon KILL || return 1
        # Every other one while a client is waiting at the socket.
        [ $((crash % 2)) -eq 0 ] || inside timeout 60 norrisctl fact --timeout 50s >/dev/null || return 1
        eventually 60 runs_anew "$pid" || return 1
    done
}

seven_starts_of_the_socket() {
    local start
    for start in $(seq 7); do inside systemctl restart norrisd.socket || { echo "start $start"; return 1; }; done
}

starts_since() { journal_since "$1" -u norrisd NORRISD_EVENT=server.ready | grep -c facts=; }

# hurry: for this chapter the watchdog is quicker, and so is what starts the service again.
hurry() {
    inside mkdir -p /run/systemd/system/norrisd.service.d
    printf '[Service]\nRestartSec=100ms\nWatchdogSec=15s\n' |
        inside tee /run/systemd/system/norrisd.service.d/hurry.conf >/dev/null
    inside systemctl daemon-reload
}

chapter_restarts() {
    local pid mark
    check "the watchdog's time is the unit's" [ "$(property WatchdogUSec)" = 30s ]
    hurry
    check "the socket starts the service, and answers its first request" first_request

    pid=$(main_pid)
    kill_daemon KILL
    check "kill -9: it comes back" eventually 60 runs_anew "$pid"

    pid=$(main_pid)
    kill_daemon STOP
    check "kill -STOP: the watchdog ends it, and it comes back" eventually 90 runs_anew "$pid"
    check "the journal says so" says 'Watchdog timeout' inside journalctl -u norrisd --no-pager -o cat

    mark=$(journal_mark)
    check "200 calls over three restarts all succeed" calls_across three_restarts
    check "there were three" [ "$(starts_since "$mark")" -eq 3 ]
    check "10 crashes in a row" ten_crashes
    check "7 starts of the socket in a row" seven_starts_of_the_socket
    check "the socket is alive" is_active norrisd.socket
    check "and answers" says 'Chuck Norris' as bob norrisctl fact
    inside rm -r /run/systemd/system/norrisd.service.d
    inside systemctl daemon-reload
}

first_request() {
    stop_service && is_inactive && as alice norrisctl fact --timeout 60s && eventually 60 is_active
}

# Failures of real machines: clear state, a clear line in the journal, and as much service as possible.

credential=/etc/credstore/giphy-api-key

errors_since() { journal_since "$1" -u norrisd -p err; }
# tries_again MARK: the service has been restarted twice since.
tries_again() { [ "$(journal_since "$1" -u norrisd | grep -c 'Scheduled restart job')" -ge 2 ]; }

chapter_bad_days() {
    bad_credentials
    bad_configurations
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

no_socket_unit() {
    inside systemctl stop norrisd.socket norrisd.service
    inside systemctl mask --runtime norrisd.socket 2>/dev/null
    check "without its socket unit the service does not start, and systemctl says why" \
        complains 1 'norrisd.socket is masked' inside systemctl start norrisd.service
    inside systemctl unmask --runtime norrisd.socket 2>/dev/null
    check "with it, it does" inside systemctl start norrisd.service
}

# Upgrade, downgrade of the administrator's wishes, removal, and back again.

socket_identity() { property ActiveEnterTimestampMonotonic norrisd.socket; inside stat -c %i /run/norrisd.sock; }

chapter_packages() {
    local pid socket configuration
    pid=$(main_pid)
    socket=$(socket_identity)
    configuration=$(inside cksum /etc/norrisd/config.yaml)
    check "an upgrade, while clients ask" calls_across install_package
    check "has restarted the service" eventually 60 runs_anew "$pid"
    check "and has not touched the socket" [ "$(socket_identity)" = "$socket" ]
    check "nor the configuration" [ "$(inside cksum /etc/norrisd/config.yaml)" = "$configuration" ]

    inside systemctl disable --quiet norrisd.service norrisd.socket
    check "an upgrade of what an administrator has disabled" install_package
    check "leaves the service disabled" complains 1 '^disabled$' inside systemctl is-enabled norrisd.service
    check "and the socket" complains 1 '^disabled$' inside systemctl is-enabled norrisd.socket
    inside systemctl enable --quiet norrisd.service norrisd.socket
    inside systemctl start norrisd.service

    check "removal" inside dpkg -r norrisd
    check "stops the service" is_inactive
    check "and the socket" is_inactive norrisd.socket
    check "takes the socket away" exits 1 inside test -e /run/norrisd.sock
    check "keeps the state" inside test -e /var/lib/private/norrisd/state.db
    check "keeps the configuration" inside test -e /etc/norrisd/config.yaml
    check "installed again" install_package
    check "alice has her favorite" says 'Chuck Norris' as alice norrisctl favorite list
}

# A user's daemon beside the system's daemon, for a user who has logged in.

chapter_user_service() {
    inside useradd -m dora
    check "the package enables nothing for users" \
        in_session dora '[ "$(systemctl --user is-enabled norrisd.socket)" = disabled ]'
    # One session for what needs the daemon to be the same one.
    check "systemctl --user start norrisd" in_session dora 'systemctl --user start norrisd'
    check "it runs and has a useful line" in_session dora '
        systemctl --user start norrisd
        systemctl --user status --no-pager norrisd | grep -E "active \(running\)|Status: \"[0-9]+ facts" | wc -l | grep -qx 2'
    check "norrisctl asks the user's own, before the system's" in_session dora '
        systemctl --user start norrisd
        norrisctl call server.info | grep -q "\"pid\":$(systemctl --user show -P MainPID norrisd)[,}]"'
    check "its places are those of the XDG specification" in_session dora '
        systemctl --user start norrisd && norrisctl fact &&
        ls -ld "$XDG_RUNTIME_DIR/norrisd.sock" ~/.local/state/norrisd/state.db ~/.cache/norrisd/cache.db \
            "$XDG_RUNTIME_DIR/norrisd/prompt-facts" && [ ! -e ~/.config/norrisd ]'
    check "its socket is the user's alone" in_session dora '
        systemctl --user start norrisd.socket && [ "$(stat -c %a "$XDG_RUNTIME_DIR/norrisd.sock")" = 600 ]'
    check "the user is its administrator" in_session dora 'systemctl --user start norrisd && norrisctl clear-cache'
    check "it is reloaded" in_session dora '
        systemctl --user start norrisd
        before=$(systemctl --user show -P MainPID norrisd)
        systemctl --user reload norrisd && [ "$(systemctl --user show -P MainPID norrisd)" = "$before" ]'
    check "and comes back after kill -9" in_session dora '
        systemctl --user start norrisd
        before=$(systemctl --user show -P MainPID norrisd)
        kill -9 "$before"
        norrisctl --socket "$XDG_RUNTIME_DIR/norrisd.sock" fact --timeout 60s &&
        [ "$(systemctl --user show -P MainPID norrisd)" != "$before" ]'
    check "the system's daemon is not concerned" says 'Chuck Norris' as alice norrisctl fact
}

# Picture cards: missed with good advice, installed, drawn by an ordinary user.

# is_card FILE: whether the file is a complete PNG of the default size (PNG specification, section 11.2.2).
is_card() {
    inside cat "$1" | python3 -c 'import struct, sys
png = sys.stdin.buffer.read()
if png[:8] != b"\x89PNG\r\n\x1a\n" or png[-8:-4] != b"IEND" or struct.unpack(">II", png[16:24]) != (1080, 1080):
    sys.exit(f"no such card: {len(png)} bytes, {png[:24]}")'
}

# files_of PACKAGE: the files of a package, without folders.
files_of() { inside sh -c "dpkg -L $1 | while read -r path; do [ -d \"\$path\" ] || echo \"\$path\"; done" | sort; }

chapter_cards() {
    check "without norris-card, norrisctl says what to install" \
        complains 69 'apt install norris-card' in_session alice 'norrisctl card --today -o today.png'
    check "and leaves no file" exits 1 inside test -e /home/alice/today.png
    check "dpkg installs norris-card" inside dpkg -i /root/norris-card.deb
    check "which is one program and its papers" diff <(files_of norris-card) <(printf '%s\n' \
        /usr/libexec/norrisd/norris-card /usr/share/doc/norris-card/changelog.Debian.gz \
        /usr/share/doc/norris-card/changelog.gz /usr/share/doc/norris-card/copyright \
        /usr/share/lintian/overrides/norris-card)
    check "an ordinary user has today's fact drawn" in_session alice 'norrisctl card --today -o today.png'
    check "as a square picture" is_card /home/alice/today.png
    check "the same one again" in_session alice 'norrisctl card --today -o again.png && cmp today.png again.png'
    check "and in words" says 'Chuck Norris' in_session alice 'norrisctl card --today --alt'
}

# A purge leaves no file, but never takes anything out of a home.

# Every file except the files of the kernel, the running system, users and dpkg. systemd creates the folders named
# private for the first service with a dynamic user.
files() {
    inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/tmp \
        -o -path /home -o -path /var/lib/dpkg -o -path /var/log -o -path /var/mail \) -prune -o -print |
        grep -Ev '^/etc/(passwd|group|g?shadow|sub[ug]id|\.pwd\.lock)-?$|^/var/(lib|cache)/private$' | sort
}

chapter_purge() {
    check "purge" inside dpkg --purge norrisd norris-card
    files >"$work/files.after"
    check "leaves no file" diff "$work/files.before" "$work/files.after"
    check "nor anything in /run" silent inside find /run -path '/run/user' -prune -o -name '*norris*' -print
    check "nor a unit" [ -z "$(inside systemctl list-unit-files --no-legend 'norrisd*')" ]
    check "but what is in a home" inside test -e /home/dora/.local/state/norrisd/state.db
    check "dpkg is content" silent inside dpkg --audit
}
