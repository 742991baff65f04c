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
