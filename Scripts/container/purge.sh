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
