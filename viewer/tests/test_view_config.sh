#!/usr/bin/env bash
# The configuration file, what is taken away, and what is kept for a capture.
set -euo pipefail
capture=$CUTLINE_BUILD/demo.sqlite
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 CUTLINE_CONFIG=$work/config
unset NO_COLOR

fail() { echo "$*"; exit 1; }
view() { "$CUTLINE" view "$@" "$capture"; }
# taken KEYS: what the keys copied or saved.
taken() {
    printf '%s' "$1" >"$work/keys"
    view --dump=taken --script "$work/keys"
}

# The printed default is accepted, with and without its comment signs, and changes nothing.
"$CUTLINE" config >"$work/config"
view --dump >"$work/default"
sed 's/^#\([a-z]\)/\1/' "$work/config" >"$work/all"
CUTLINE_CONFIG=$work/all view --dump | cmp - "$work/default"
CUTLINE_CONFIG=$work/all view --keys | cmp - <(CUTLINE_CONFIG=/dev/null view --keys)

# A key that is given to an action is taken from the one that had it.
printf 'key top = g\nascii = yes\n' >"$work/config"
printf 'g' >"$work/keys"
view --dump --script "$work/keys" >"$work/frame"
grep -q 'GPU ops in view' "$work/frame" || fail "g does not open the list of ops"
LC_ALL=C grep -q '[^ -~]' "$work/frame" && fail "ascii = yes, but a frame that is not"
view --keys | grep -q '^  g  *top ' || fail "--keys does not show the configured key"

# Errors name the file and the line.
bad() {
    printf '%b' "$1" >"$work/config"
    if view --dump >"$work/out" 2>&1; then fail "accepted: $1"; fi
    grep -qF "$work/config: line $2: $3" "$work/out" || { cat "$work/out"; fail "no '$3'"; }
    [ "$(wc -l <"$work/out")" -eq 1 ] || fail "more than one line for: $1"
}
bad 'theme = pink\n' 1 'theme is one of'
bad '# x\n\ncolour = 256\n' 3 "no setting 'colour'"
bad 'key frobnicate = x\n' 1 "no action 'frobnicate'"
bad 'key top = <Nothing>\n' 1 'no key'
bad 'whatever\n' 1 'a line is'
: >"$work/config"

# The copied command line opens the same frame again.
taken '+++fgemm stream:7<Enter>Y' >"$work/command"
printf '+++fgemm stream:7<Enter>' >"$work/keys"
view --dump --script "$work/keys" >"$work/before"
eval "set -- $(cat "$work/command")"
shift
"$CUTLINE" "$@" --dump >"$work/after"
cmp "$work/before" "$work/after" || fail "the copied command line shows something else"

# Text is the frame; the picture is well-formed XML with all names in it; ncu knows the kernel.
taken 'y' | cmp - <(view --dump) || fail "the copied text is not the frame"
taken 'jw20wzS' >"$work/view.svg"
python3 - "$work/view.svg" <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
text = "".join("".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text"))
assert "layer_norm_fwd" in text, text[:400]
END
taken 'jw20wc' | grep -q "^ncu .*regex:^layer_norm_fwd\\$.* --launch-skip [0-9]* --launch-count 1" ||
    fail "no ncu command for the selected kernel"
echo ok
