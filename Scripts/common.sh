# shellcheck shell=bash
# Shared by the scripts beside it; sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=$(basename "$0")

# The oldest Swift whose package manager reads Package.swift.
needed_swift=6.2

say() { printf '%s: %s\n' "$name" "$*" >&2; }
fail() { say "$@"; exit 1; }

# Prints the comment at the beginning of a script. Experiments have a separate help.
if [[ ${1:-} = -h || ${1:-} = --help ]] && ! grep -q '^experiments ' "$0"; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit
fi

# Runs a command as root: as it is, or through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "needs root for: $*   (run that as root, then $name again)"
    fi
}

# Installs the missing Debian packages, and asks for no password if no package is missing.
need_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null || fail "needs what Debian calls ${missing[*]}; install these, then run $name again"
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    # Once, also for the scripts that this one runs.
    [ -n "${NORRIS_LISTS_ARE_NEW:-}" ] || as_root apt-get -qq update >/dev/null ||
        say "apt-get update failed; trying with the lists there are"
    export NORRIS_LISTS_ARE_NEW=1
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends \
        "${missing[@]}" >/dev/null || fail "could not install ${missing[*]}; see what apt-get says above"
}

need_build_packages() {
    need_packages ca-certificates libcurl4-openssl-dev libpango1.0-dev libsqlite3-dev libsystemd-dev libyaml-dev pkg-config \
        zlib1g-dev
    # Swift's clang links with it if it is there; GNU ld would leave the relocations of Swift programs writable.
    command -v ld.gold >/dev/null || need_packages binutils-gold
    # CURLU_PUNYCODE, and tables that are STRICT.
    pkg-config --atleast-version=7.88 libcurl || fail "libcurl $(pkg-config --modversion libcurl) is too old; install 7.88"
    pkg-config --atleast-version=3.37 sqlite3 || fail "SQLite $(pkg-config --modversion sqlite3) is too old; install 3.37"
}

# Says what to install where Swift is missing or too old.
need_swift() {
    local how="get Swift $needed_swift or newer for this system from https://www.swift.org/install/linux/ and put its usr/bin into PATH"
    command -v swift >/dev/null || fail "Swift is not installed; $how"
    local found
    found=$(swift --version 2>&1) ||
        fail "swift does not start (${found##*$'\n'}); install the packages that the page for this system lists:" \
            "https://www.swift.org/install/linux/"
    found=$(grep -oE 'Swift version [0-9]+\.[0-9]+' <<<"$found" | head -n 1 | grep -oE '[0-9.]+$') ||
        fail "swift --version names no version; $how"
    [ "$(printf '%s\n%s\n' "$needed_swift" "$found" | sort -V | head -n 1)" = "$needed_swift" ] ||
        fail "Swift $found is too old; $how"
}

# experiments MAIN ARGUMENT…: installs the Debian packages that the named experiments need, and runs them.
experiments() {
    local main=$root/Scripts/$1 argument packages
    shift
    need_packages python3
    for argument in "$@"; do
        case $argument in -h | --help) exec python3 "$main" "$@" ;; esac
    done
    packages=$(python3 "$main" --packages "$@") || exit
    # shellcheck disable=SC2086
    need_packages $packages
    exec python3 "$main" "$@"
}
