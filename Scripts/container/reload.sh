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
    check "what was in force still is" says 'container number' as alice norrisctl search container
    check "norrisctl reload names line and key" complains 64 'config.yaml:1:.*levle' inside norrisctl reload
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
