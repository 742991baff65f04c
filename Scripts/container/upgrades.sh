# Installation, upgrades and downgrades with apt, and their failures. Sourced by Scripts/upgrade-test.

# A Debian that is too old, with the repository's one package.
refused_by() {
    unpack_debian "$1" ""
    serve old
    check "Debian $1: apt names the libraries that are too old" complains 100 'Depends: libcurl4 \(>= 7.87.0\) but' \
        alone "mkdir -p /etc/apt/keyrings; $(install_key) && $(add_source) && apt-get update && apt-get install -y norrisd"
    stop_machine
}

# Two packages beyond the base of Debian are of the test: strace, which stops dpkg at a chosen system call, and an SSH
# server for autopkgtest.
upgrades_of() {
    unpack_debian "$1" ""
    chapter_without_systemd
    stop_machine
    unpack_debian "$1" systemd-sysv,dbus,openssh-server,strace
    start_systemd --resolv-conf=copy-host || { stop_machine; skip "no systemd boots in a container here"; }
    chapter_first_fact
    chapter_use
    chapter_upgrade
    chapter_downgrade
    chapter_failed_migration
    chapter_killed
    chapter_full_disk
    chapter_purge
    chapter_autopkgtest
    stop_machine
}

# check_timed TITLE SCRIPT…: checks that each succeeds in a shell of the container, and prints its seconds.
check_timed() {
    local title=$1 script begin all=$EPOCHREALTIME
    shift
    for script in "$@"; do
        begin=$EPOCHREALTIME
        check "$title: $script" inside sh -c "$script"
        printf '          %5.1f s\n' "$(seconds_since "$begin")"
    done
    printf '          %5.1f s in all\n' "$(seconds_since "$all")"
}
seconds_since() { awk -v begin="$1" -v end="$EPOCHREALTIME" 'BEGIN { print end - begin }'; }

install_key() { echo "/usr/lib/apt/apt-helper download-file $url/norrisd.asc /etc/apt/keyrings/norrisd.asc"; }
add_source() {
    echo "echo 'deb [signed-by=/etc/apt/keyrings/norrisd.asc] $url stable main' >/etc/apt/sources.list.d/norrisd.list"
}

# A container as images of Debian are: no init, no tools.
chapter_without_systemd() {
    local begin=$EPOCHREALTIME
    check "without systemd: apt installs norrisd" alone \
        "$(install_key) && $(add_source) && apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y norrisd"
    printf '          %5.1f s\n' "$(seconds_since "$begin")"
    check "without a daemon norrisctl says what to start" complains 69 'norrisd' alone norrisctl fact
    check "with norrisd in the background a fact appears" says 'Chuck Norris' alone \
        'norrisd & until [ -S /run/norrisd.sock ]; do sleep 0.1; done; norrisctl fact'
    check "apt removes it" alone apt-get purge -y norrisd
}

# alone SCRIPT: in a container that runs nothing else.
alone() {
    systemd-nspawn -q -D "$machine" --register=no --keep-unit --resolv-conf=copy-host --pipe --as-pid2 \
        sh -c "$*" </dev/null
}

chapter_first_fact() {
    serve old
    check_timed "from a bare Debian to the first fact" "$(install_key)" "$(add_source)" 'apt-get update' \
        'DEBIAN_FRONTEND=noninteractive apt-get install -y norrisd' 'norrisctl fact'
    check "the service runs" eventually 60 is_active
}

favorites() { as alice norrisctl favorite export; }
unread() { as alice norrisctl call post.sources | grep -oE '"unread":[0-9]+'; }
has_unread() { [ "$(unread)" = '"unread":2' ] || { as alice norrisctl call post.sources; return 1; }; }
has_version() { [ "$(inside norrisd --version)" = "norrisd $1" ] || { inside norrisd --version; return 1; }; }
database=/var/lib/private/norrisd/state.db

chapter_use() {
    local count
    inside useradd -m alice
    for count in 1 2 3; do
        as alice norrisctl fact >/dev/null
        check "alice saves fact $count" as alice norrisctl favorite add fact
    done
    check "root adds a feed" inside norrisctl feed add "$url/feed.xml"
    check "alice reads a post of it" eventually 30 says 'post' as alice norrisctl next
    check "two posts are unread" has_unread
    printf 'log:\n  level: debug\n' | inside tee -a /etc/norrisd/config.yaml >/dev/null
    check "root changes the configuration" inside systemctl reload norrisd
    saved=$(favorites)
    configuration=$(inside cksum /etc/norrisd/config.yaml)
    schema=$(sql 'PRAGMA user_version')
    check "there are three favorites" [ "$(grep -c Chuck <<<"$saved")" -ge 3 ]
}

# kept TITLE: checks alice's favorites and read marks, and the changed configuration.
kept() {
    check "$1: the favorites are there" [ "$(favorites)" = "$saved" ]
    check "$1: so are the read marks and the feed" has_unread
    check "$1: so is the changed configuration" [ "$(inside cksum /etc/norrisd/config.yaml)" = "$configuration" ]
}

apt() { inside env DEBIAN_FRONTEND=noninteractive apt-get -y "$@"; }
keeping_configuration=(-o Dpkg::Options::=--force-confold)
upgrade() { apt update && apt "${keeping_configuration[@]}" install norrisd; }
downgrade() { apt "${keeping_configuration[@]}" --allow-downgrades install "norrisd=$version"; }

chapter_upgrade() {
    serve new
    check "apt finds the next version" apt update
    check "without a terminal, apt stops at the changed configuration" \
        complains 100 'conffile prompt' apt upgrade
    kept "in the middle of an upgrade"
    check "dpkg --configure -a asks what to do, and finishes with the answer N" answer_no
    check "the next version runs" has_version "$next_version"
    check "it is active" eventually 60 is_active
    kept "after an upgrade"
    check "the copy of the state is there" inside test -s "$database.v$schema"
    check "the new configuration is beside the changed one" inside test -s /etc/norrisd/config.yaml.dpkg-dist
}

answer_no() {
    echo N | inside dpkg --configure -a >"$work/prompt.log" 2>&1 || { cat "$work/prompt.log"; return 1; }
    sed 's/^/          | /' "$work/prompt.log" >&3
    grep -q 'config.yaml' "$work/prompt.log"
}

# The steps of norrisd(8), UPGRADES.
restore_copy() {
    inside systemctl stop norrisd.socket norrisd.service
    inside sh -c "cd ${database%/*} && mkdir -p newer && mv state.db* newer/ && cp -p newer/state.db.v$schema state.db"
    inside systemctl start norrisd.socket norrisd.service
}

chapter_downgrade() {
    local mark
    mark=$(journal_mark)
    check_timed "back to this version" "apt-get -y ${keeping_configuration[*]} --allow-downgrades install norrisd=$version"
    check "this version refuses the newer state, and names the copy" \
        eventually 60 says "restore .*/state.db.v$schema, the copy" journal_since "$mark" -u norrisd -p err
    check "norrisctl says that norrisd does not answer, and where to look" \
        complains 69 'systemctl status norrisd|norrisctl doctor' as alice norrisctl fact --timeout 2s
    check "with the copy it starts" restore_copy
    check "it is active" eventually 60 is_active
    kept "after a downgrade"
    check_timed "forward again" "apt-get -y ${keeping_configuration[*]} install norrisd"
    check "the next version runs" has_version "$next_version"
    kept "after a second upgrade"
    go_back
}

# Installs this version and restores its state, before the next experiment.
go_back() {
    check "back to this version" downgrade
    check "with the copy it starts" restore_copy
    check "it is active" eventually 60 is_active
}

# sql STATEMENT: SQLite's answer from the state; the service must be stopped for a change.
sql() {
    python3 - "$machine$database" "$1" <<'PYTHON'
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=rw", uri=True, isolation_level=None)
for row in database.execute(sys.argv[2]): print(row[0])
PYTHON
}

chapter_failed_migration() {
    stop_service
    sql 'CREATE TABLE upgrade_probe (x)'
    check "a migration that fails: the upgrade succeeds" upgrade
    check "the service runs" eventually 60 is_active
    check "its status says what failed, and what to do" says \
        "update from schema $schema to $((schema + 1)) failed .*install the previous version" inside norrisctl status --plain
    as alice norrisctl fact >/dev/null
    check "nothing is said to be saved" exits 74 as alice norrisctl favorite add fact
    check "the copy is there" inside test -s "$database.v$schema"
    stop_service
    check "the file has its old schema" [ "$(sql 'PRAGMA user_version')" = "$schema" ]
    sql 'DROP TABLE upgrade_probe'
    check "back to the previous version" downgrade
    check "it is active" eventually 60 is_active
    kept "after a failed migration"
}

# killed_at CALL PATH: upgrades, and kills apt, dpkg and its scripts at a system call for the path. A script is stopped
# first, because dpkg would see its end. dpkg is killed at once, because apt continues a stopped dpkg.
killed_at() {
    local signal=STOP
    [ "$1" = execve ] || signal=KILL
    inside rm -f /run/strace.log
    inside systemd-run --quiet --unit=upgrade -p KillMode=control-group strace -f -o /run/strace.log \
        -P "$2" -e "trace=$1" -e "inject=$1:signal=$signal" \
        env DEBIAN_FRONTEND=noninteractive apt-get -y "${keeping_configuration[@]}" install norrisd || return
    eventually 120 has_stopped
    inside systemctl kill --signal=KILL upgrade 2>/dev/null
    inside systemctl reset-failed upgrade 2>/dev/null
    kill_service
    [ -n "$(inside dpkg --audit)" ] || { echo "dpkg was not killed at $1 $2"; return 1; }
}

# Whether the upgrade has ended, or strace has reported a stopped process.
has_stopped() {
    ! inside systemctl --quiet is-active upgrade || inside grep -q 'stopped by SIGSTOP' /run/strace.log
}

kill_service() { inside systemctl kill --signal=KILL norrisd.service 2>/dev/null; true; }

chapter_killed() {
    local place
    check "apt knows the next version" apt update
    for place in "execve /var/lib/dpkg/info/norrisd.prerm" "rename /usr/bin/norrisd.dpkg-new" \
        "rename /etc/norrisd/config.yaml.dpkg-new" "execve /var/lib/dpkg/info/norrisd.postinst" \
        "execve /usr/bin/deb-systemd-helper" "execve /usr/bin/deb-systemd-invoke"; do
        # shellcheck disable=SC2086
        check "killed at $place" killed_at $place
        printf '          dpkg: %s\n' "$(inside dpkg-query -W -f '${Status} ${Version}' norrisd)"
        check "killed there: dpkg and apt finish" finish_upgrade
        check "killed there: the next version runs" has_version "$next_version"
        check "killed there: dpkg has no complaint" silent inside dpkg --audit
        check "killed there: the service runs" eventually 60 is_active
        kept "killed there"
        go_back
    done
}

# dpkg finishes an upgrade whose files were unpacked. An upgrade that was killed before is begun again by apt, and dpkg may
# say that the package must be installed again.
finish_upgrade() {
    local finished="dpkg --configure -a" status=0
    inside dpkg --configure -a "${keeping_configuration[1]#*::=}" >"$work/configure.log" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
        grep -q 'reinstall it' "$work/configure.log" || { cat "$work/configure.log"; return 1; }
        finished="apt install --reinstall norrisd"
        apt "${keeping_configuration[@]}" --reinstall install norrisd || return
    elif ! has_version "$next_version" >/dev/null || [ -n "$(inside dpkg --audit)" ]; then
        finished="apt install norrisd"
        apt "${keeping_configuration[@]}" install norrisd || return
    fi
    printf '          finished by %s\n' "$finished" >&3
}

# leave_room KIB: limits the free space of the container's file system.
leave_room() { mount -o remount,size="$(($(df --output=used "$work" | tail -n 1) + $1))k" "$work"; }

chapter_full_disk() {
    check "the package is there" apt --download-only install norrisd
    leave_room 4096
    check "a full disk: apt says so" complains 100 'No space left|enough free space' upgrade
    mount -o remount,size=50% "$work"
    check "a full disk: this version still runs" eventually 60 is_active
    kept "after a full disk"
    check "with room again the upgrade finishes" finish_upgrade
    check "the next version runs" has_version "$next_version"
    kept "after the upgrade"
    go_back
}

chapter_purge() {
    check "purge" apt purge norrisd
    check "leaves no state" exits 1 inside test -e /var/lib/private/norrisd
}

# The tests of Scripts/debian/tests, in the machine, over SSH.
chapter_autopkgtest() {
    local port
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    printf 'Port %s\nListenAddress 127.0.0.1\n' "$port" >"$machine/etc/ssh/sshd_config.d/test.conf"
    [ -f "$test/ssh" ] || ssh-keygen -q -t ed25519 -N "" -f "$test/ssh"
    mkdir -p -m 700 "$machine/root/.ssh"
    cp "$test/ssh.pub" "$machine/root/.ssh/authorized_keys"
    inside systemctl restart ssh
    check "autopkgtest" autopkgtest --no-built-binaries --log-file "$test/autopkgtest.log" .build/dist/*.deb \
        .build/package/norrisd -- ssh --hostname 127.0.0.1 --port "$port" --login root --identity "$test/ssh" \
        --capability isolation-container
    sed -n '/@ summary$/,$ s/^[a-z-]* *\(PASS\|FAIL\|SKIP\)/          &/p' "$test/autopkgtest.log"
}
