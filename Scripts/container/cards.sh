# Picture cards: missed with good advice, installed, drawn by an ordinary user.

# is_card FILE: whether the file is a complete PNG of the default size (PNG specification, section 11.2.2).
is_card() {
    inside cat "$1" | python3 -c 'import struct, sys
png = sys.stdin.buffer.read()
if png[:8] != b"\x89PNG\r\n\x1a\n" or png[-8:-4] != b"IEND" or struct.unpack(">II", png[16:24]) != (1080, 1080):
    sys.exit(f"no such card: {len(png)} bytes, {png[:24]}")'
}

# files_of PACKAGE: the files of a package, without folders.
files_of() { inside sh -c "dpkg -L $1 | while read -r path; do [ -d \"\$path\" ] || echo \"\$path\"; done" | sort; }

chapter_cards() {
    check "without norris-card, norrisctl says what to install" \
        complains 69 'apt install norris-card' in_session alice 'norrisctl card --today -o today.png'
    check "and leaves no file" exits 1 inside test -e /home/alice/today.png
    check "dpkg installs norris-card" inside dpkg -i /root/norris-card.deb
    check "which is one program and its papers" diff <(files_of norris-card) <(printf '%s\n' \
        /usr/libexec/norrisd/norris-card /usr/share/doc/norris-card/changelog.Debian.gz \
        /usr/share/doc/norris-card/changelog.gz /usr/share/doc/norris-card/copyright \
        /usr/share/lintian/overrides/norris-card)
    check "an ordinary user has today's fact drawn" in_session alice 'norrisctl card --today -o today.png'
    check "as a square picture" is_card /home/alice/today.png
    check "the same one again" in_session alice 'norrisctl card --today -o again.png && cmp today.png again.png'
    check "and in words" says 'Chuck Norris' in_session alice 'norrisctl card --today --alt'
}
