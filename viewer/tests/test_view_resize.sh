#!/usr/bin/env bash
# Sizes that come and go leave no trace: the same time and cursor, also after one cell by one cell.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
demo=$CUTLINE_BUILD/demo.sqlite

# frame KEYS: what is seen after them
frame() {
    printf '%s' "$1" >"$tmp/keys"
    "$CUTLINE" view --size 80x24 --script "$tmp/keys" --dump=text "$demo"
}

for keys in '' '+++' '++llll' '++g' '++hhh<Right><Right>' ']]+'; do
    frame "$keys" >"$tmp/still"
    for sizes in '<Resize:120,40>' '<Resize:1,1>' '<Resize:200,50><Resize:37,11><Resize:1,1><Resize:119,24>'; do
        way=$sizes'<Resize:80,24>'
        frame "$keys$way$way$way$way" >"$tmp/moved"
        if ! diff -u "$tmp/still" "$tmp/moved"; then
            echo "after '$keys' and $sizes four times the frame is another" >&2
            exit 1
        fi
    done
done
