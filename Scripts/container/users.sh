# The users of one daemon: their separate data, and the permissions of administrators.

recents() { as "$1" norrisctl recent; }

chapter_users() {
    inside useradd -m alice
    inside useradd -m bob
    inside groupadd keepers
    inside useradd -m -G keepers carol

    check "an ordinary user gets a fact" says 'Chuck Norris' as alice norrisctl fact --category dev
    check "alice searches" as alice norrisctl search kernel
    check "bob searches" as bob norrisctl search handshake
    check "alice sees her search" says kernel recents alice
    check "and not bob's" says_not handshake recents alice
    check "bob sees his" says handshake recents bob

    check "an ordinary user may not clear the cache" exits 77 as alice norrisctl clear-cache
    check "root may" inside norrisctl clear-cache
    check "carol may not yet" exits 77 as carol norrisctl clear-cache
    configure 'admin_groups: [keepers]'
    check "a reload makes her group one of administrators" inside systemctl reload norrisd
    check "now she may" eventually 60 as carol norrisctl clear-cache
    check "alice still may not" exits 77 as alice norrisctl clear-cache

    check "alice keeps a fact" says 'Chuck Norris' as alice norrisctl favorite add fact
    check "a cleaned cache is no harm" clean_cache
    check "alice still has her favorite" says 'Chuck Norris' as alice norrisctl favorite list
    check "bob has none" exits 1 as bob norrisctl favorite list
}

# configure YAML: the configuration, whole; a reload or a restart makes norrisd read it.
configure() { printf '%s\n' "$1" | inside tee /etc/norrisd/config.yaml >/dev/null; }

clean_cache() {
    stop_service &&
        inside systemctl clean --what=cache norrisd.service &&
        inside test ! -e /var/cache/private/norrisd &&
        inside systemctl start norrisd.service &&
        says 'Chuck Norris' as alice norrisctl fact
}
