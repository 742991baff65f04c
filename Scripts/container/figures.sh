# The metrics for a monitoring system, and the timer that writes them for node_exporter.

textfiles=/var/lib/prometheus/node-exporter
has_line() { inside grep -Eq -- "$1" "$textfiles/norrisd.prom" || { inside cat "$textfiles/norrisd.prom"; return 1; }; }

chapter_figures() {
    check "every user may read them" says '^norrisd_requests_total' as bob norrisctl status --metrics

    inside mkdir -p "$textfiles"
    inside sh -c 'cp /usr/share/norrisd/integrations/node-exporter/norrisd-metrics.* /etc/systemd/system/'
    inside systemctl daemon-reload
    check "the timer starts" inside systemctl start norrisd-metrics.timer
    check "its service leaves a file" inside systemctl start norrisd-metrics.service
    check "which says that norrisd is up" has_line '^norrisd_up 1$'
    check "and how its source is" has_line '^norrisd_source_items\{.*source="facts".*\} [0-9]+$'
    check "for everybody" mode_of 644 "$textfiles/norrisd.prom"

    inside systemctl stop norrisd.socket norrisd.service
    check "without norrisd it does not fail" inside systemctl start norrisd-metrics.service
    check "and says so" has_line '^norrisd_up 0$'
    check "with no old figure beside it" says_not '^norrisd_source' inside cat "$textfiles/norrisd.prom"
    inside systemctl start norrisd.service

    inside systemctl stop norrisd-metrics.timer
    inside sh -c "rm -r ${textfiles%/*} /etc/systemd/system/norrisd-metrics.*"
    inside systemctl daemon-reload
}
