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

thirty_crashes() {
    local crash pid
    for crash in $(seq 30); do
        pid=$(main_pid)
        kill_daemon KILL || return 1
        # Every other one while a client is waiting at the socket.
        [ $((crash % 2)) -eq 0 ] || inside timeout 60 norrisctl fact --timeout 50s >/dev/null || return 1
        eventually 60 runs_anew "$pid" || return 1
    done
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
    check "30 crashes in a row" thirty_crashes
    check "the socket is alive" is_active norrisd.socket
    check "and answers" says 'Chuck Norris' as bob norrisctl fact
    inside rm -r /run/systemd/system/norrisd.service.d
    inside systemctl daemon-reload
}

first_request() {
    stop_service && is_inactive && as alice norrisctl fact --timeout 60s && eventually 60 is_active
}
