# A user's daemon beside the system's daemon, for a user who has logged in.

chapter_user_service() {
    inside useradd -m dora
    check "the package enables nothing for users" \
        in_session dora '[ "$(systemctl --user is-enabled norrisd.socket)" = disabled ]'
    # One session for what needs the daemon to be the same one.
    check "systemctl --user start norrisd" in_session dora 'systemctl --user start norrisd'
    check "it runs and has a useful line" in_session dora '
        systemctl --user start norrisd
        systemctl --user status --no-pager norrisd | grep -E "active \(running\)|Status: \"[0-9]+ facts" | wc -l | grep -qx 2'
    check "norrisctl asks the user's own, before the system's" in_session dora '
        systemctl --user start norrisd
        norrisctl call server.info | grep -q "\"pid\":$(systemctl --user show -P MainPID norrisd)[,}]"'
    check "its places are those of the XDG specification" in_session dora '
        systemctl --user start norrisd && norrisctl fact &&
        ls -ld "$XDG_RUNTIME_DIR/norrisd.sock" ~/.local/state/norrisd/state.db ~/.cache/norrisd/cache.db \
            "$XDG_RUNTIME_DIR/norrisd/prompt-facts" && [ ! -e ~/.config/norrisd ]'
    check "its socket is the user's alone" in_session dora '
        systemctl --user start norrisd.socket && [ "$(stat -c %a "$XDG_RUNTIME_DIR/norrisd.sock")" = 600 ]'
    check "the user is its administrator" in_session dora 'systemctl --user start norrisd && norrisctl clear-cache'
    check "it is reloaded" in_session dora '
        systemctl --user start norrisd
        before=$(systemctl --user show -P MainPID norrisd)
        systemctl --user reload norrisd && [ "$(systemctl --user show -P MainPID norrisd)" = "$before" ]'
    check "and comes back after kill -9" in_session dora '
        systemctl --user start norrisd
        before=$(systemctl --user show -P MainPID norrisd)
        kill -9 "$before"
        norrisctl --socket "$XDG_RUNTIME_DIR/norrisd.sock" fact --timeout 60s &&
        [ "$(systemctl --user show -P MainPID norrisd)" != "$before" ]'
    check "the system's daemon is not concerned" says 'Chuck Norris' as alice norrisctl fact
}
