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
    check "they are there" says 'contains container number' as alice norrisctl search container
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
