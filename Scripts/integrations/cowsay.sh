# norrissay: a fact, told by a cow. Takes the options of cowsay.
#
# Use:   in ~/.bashrc, ~/.zshrc or ~/.profile:  . /usr/local/share/norrisd/integrations/cowsay.sh
# Undo:  delete that line; in a shell that has read it:  unset -f norrissay
#
# norrissay -f tux       another animal; cowsay -l lists them
# norrissay -W 70        wrapped later than at 40 columns
# norrissay -n           not wrapped at all

norrissay() (
    fact=$(norrisctl fact --color never) || exit
    # norrisctl writes UTF-8 in every locale; cowsay has to know, or it cuts between the bytes of a character.
    printf '%s\n' "$fact" | LC_ALL=C.UTF-8 cowsay "$@"
)
