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
