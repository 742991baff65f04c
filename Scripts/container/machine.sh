# The container: made, booted, talked to, ended. Sourced by Scripts/container-test.

# The address of the container's name server and upstream: a private one, as most name servers have.
upstream_address=10.53.0.53

work=
spawner=
leader=
upstream=

# The Debian packages in the container, separated by commas: systemd, and the dependencies of norrisd's packages, which
# are named here so that the image can be made while those are built.
machine_packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,login,passwd
machine_packages+=,ca-certificates,fonts-inter,libcurl4,libpangocairo-1.0-0,libsqlite3-0,libyaml-0-2

# The Debian of this machine; Scripts/upgrade-test tries others.
this_debian() { (. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || skip "this is no Debian"; }

# make_machine PACKAGE…: a Debian with $machine_packages, and the files of the packages as /root/NAME.deb.
make_machine() {
    local release package
    release=$(this_debian) || exit
    unpack_debian "$release" "$machine_packages"
    for package in "$@"; do
        cp "$package" "$machine/root/$(dpkg-deb -f "$package" Package).deb" || fail "no room in $work"
    done
    echo "nameserver $upstream_address" >"$machine/etc/resolv.conf"
}

# unpack_debian RELEASE PACKAGES: a Debian with these packages, separated by commas, in $machine.
unpack_debian() {
    fetch_debian "$@"
    mkdir "$machine"
    tar -xf "$base" -C "$machine" || fail "no room in $work"
    echo container >"$machine/etc/hostname"
    # The journal must drop no entry, and must keep the entries after the service's user is removed.
    mkdir -p "$machine/etc/systemd/journald.conf.d"
    printf '[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\n' >"$machine/etc/systemd/journald.conf.d/test.conf"
}

# fetch_debian RELEASE PACKAGES: fetches such a Debian as a tar file, $base, unless it is there; mounts $work in memory.
fetch_debian() {
    # In memory: dpkg and databases wait for a disk after every file.
    work=$(mktemp -d)
    mount -t tmpfs -o mode=755 none "$work" || skip "no tmpfs can be mounted"
    machine=$work/machine
    base=$root/.build/$name/$1-$(printf %s "$2" | cksum | cut -d' ' -f1).tar
    if [ ! -f "$base" ]; then
        say "fetching Debian $1"
        mkdir -p "${base%/*}"
        find "${base%/*}" -name '*.tar' -mtime +30 -delete
        if ! TMPDIR=$work mmdebstrap --quiet --mode=root --format=tar --variant=minbase ${2:+--include="$2"} "$1" "$base.new" \
            >"$work/mmdebstrap.log" 2>&1; then
            tail -n 5 "$work/mmdebstrap.log" >&2
            ! grep -q "Unable to locate package" "$work/mmdebstrap.log" || fail "Debian $1 lacks a package"
            skip "Debian $1 cannot be fetched"
        fi
        mv "$base.new" "$base"
    fi
}

# Boots the container without a network but its own loopback.
boot_machine() {
    start_systemd --private-network --resolv-conf=off || return
    nsenter -t "$leader" -n ip address add "$upstream_address/32" dev lo
}

# start_systemd OPTION…: starts systemd in the container, with options of systemd-nspawn, and waits until it is up.
start_systemd() {
    # As on a real machine; by itself, systemd-nspawn refuses these calls.
    setsid systemd-nspawn -q -D "$machine" --register=no --keep-unit "$@" --console=passive \
        --system-call-filter='landlock_create_ruleset landlock_add_rule landlock_restrict_self' -b </dev/null \
        >"$work/console.log" 2>&1 &
    spawner=$!
    if ! eventually 60 booted_or_gone || ! booted; then
        tail -n 5 "$work/console.log" >&2
        return 1
    fi
}

booted_or_gone() { booted || ! kill -0 "$spawner" 2>/dev/null; }

booted() {
    leader=$(pgrep -P "$spawner" -x systemd) || return 1
    # "degraded" is up as well: some units of Debian's own want what a container has not.
    case $(inside systemctl is-system-running 2>&1) in running | degraded) ;; *) return 1 ;; esac
}

# inside COMMAND…: as root in the container.
inside() {
    nsenter -t "$leader" -a env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root "$@"
}

# as USER COMMAND…: in the container, without a session.
as() {
    local user=$1
    shift
    inside runuser -u "$user" -- "$@"
}

# in_session USER SCRIPT: in a session of logind's, as after a login.
in_session() {
    inside systemd-run --quiet --wait --pipe -p "User=$1" -p PAMName=login -p 'WorkingDirectory=~' bash -c "$2"
}

# Lets the container have a network: the name server and the upstream that answers under every name.
start_upstream() {
    nsenter -t "$leader" -n python3 "$root/Scripts/container/upstream.py" "$upstream_address" \
        >"$work/upstream.log" 2>&1 &
    upstream=$!
}

upstream_is_ready() { grep -q ready "$work/upstream.log"; }

stop_upstream() {
    [ -n "$upstream" ] || return 0
    kill "$upstream" && wait "$upstream" 2>/dev/null
    upstream=
}

stop_machine() {
    stop_upstream
    if [ -n "$spawner" ]; then
        # The container's init first: its processes go with it.
        [ -n "$leader" ] && kill -KILL "$leader" 2>/dev/null
        kill -KILL "$spawner" 2>/dev/null
        wait "$spawner" 2>/dev/null
    fi
    [ -z "$work" ] || { umount --lazy "$work" && rmdir "$work"; }
    spawner='' leader='' work=''
}
