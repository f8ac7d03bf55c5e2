#!/usr/bin/env bash
# The command line that Y copies opens the same view: rows, marks, what is selected. Each script is
# played, and its frame compared with that of the command that it copies.
set -euo pipefail
capture=$CUTLINE_BUILD/demo.sqlite
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 CUTLINE_CONFIG=/dev/null
unset NO_COLOR

frame() { "$CUTLINE" view --dump=roles --size 100x40 "$@"; }

number=0
while IFS= read -r keys; do
    number=$((number + 1))
    printf '%s\n' "$keys" >"$work/keys"
    printf '%s Y\n' "$keys" >"$work/keys-y"
    frame --script "$work/keys" "$capture" >"$work/want"
    command=$("$CUTLINE" view --dump=taken --size 100x40 --script "$work/keys-y" "$capture")
    eval "words=(${command#cutline view })"
    frame "${words[@]}" >"$work/got"
    # The cursor and the line of keys and messages are not of the view.
    for file in want got; do
        sed -e '$d' -e '3d' "$work/$file" >"$work/$file.view"
    done
    if ! cmp -s "$work/want.view" "$work/got.view"; then
        echo "'$keys' is not opened again by: $command"
        diff "$work/want.view" "$work/got.view" | head -20
        exit 1
    fi
    if [ "$number" -gt 1 ] && [[ $command != *--state* ]]; then
        echo "'$keys': nothing of it is in: $command"
        exit 1
    fi
done <<'KEYS'
++ll
<Space>
jjj x jj p
jw m www m
+++ jw
]
E
C
jjjjj
KEYS
echo "$number views"
