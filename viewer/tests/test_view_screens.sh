#!/usr/bin/env bash
# Screens: each screens/NAME.keys is played on the demo capture, and the frame is compared with
# screens/NAME.screen as text, in ASCII, and as roles; with a line "# colour" also as text with the
# blanks that bars are in colour. A hash of every cell's character, colours and attributes stands for
# {UTF-8, ASCII} x {256, 16, 8, mono}. The script is played once. The first line of a .keys file is "# SIZE: what it shows";
# "# captures: 2" opens two; `UPDATE=1` writes the expected frames.
set -euo pipefail
cd "${CUTLINE_SOURCE:-.}/viewer/tests/screens"
capture=$CUTLINE_BUILD/demo.sqlite
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
export LC_ALL=C.UTF-8 CUTLINE_CONFIG=/dev/null
unset NO_COLOR
failed=0

frame() {
    local keys=$1 size=$2 captures=("$capture")
    shift 2
    if grep -q '^# captures: 2' "$keys"; then captures+=("$capture"); fi
    "$CUTLINE" view --size "$size" --script "$keys" "$@" "${captures[@]}"
}

for keys in *.keys; do
    name=${keys%.keys}
    size=$(sed -n '1s/^# \([0-9]*x[0-9]*\):.*/\1/p' "$keys")
    if [ -z "$size" ]; then
        echo "$keys: the first line must be '# WxH: what it shows'" >&2
        exit 1
    fi
    frame "$keys" "$size" --dump=forms |
        if grep -q '^# colour' "$keys"; then cat; else sed '/^== colour/,/^== roles/{/^== roles/!d}'; fi \
            >"$new/$name.screen"
    if [ "${UPDATE:-}" = 1 ]; then
        cp "$new/$name.screen" "$name.screen"
    elif ! diff -u "$name.screen" "$new/$name.screen" >"$new/diff" 2>&1; then
        echo "screen $name differs:"
        head -60 "$new/diff"
        failed=$((failed + 1))
    fi
done

# Every action is pressed in some screen.
"$CUTLINE" config | sed -n 's/^#key \([a-z-]*\) = .*/\1/p' | sort -u >"$new/actions"
sed -n 's/^# covers: //p' -- *.keys | tr ' ' '\n' | sort -u >"$new/covered"
missing=$(comm -23 "$new/actions" "$new/covered" | tr '\n' ' ')
if [ -n "$missing" ]; then
    echo "no screen covers: $missing"
    failed=$((failed + 1))
fi
unknown=$(comm -13 "$new/actions" "$new/covered" | tr '\n' ' ')
if [ -n "$unknown" ]; then
    echo "screens cover unknown actions: $unknown"
    failed=$((failed + 1))
fi
if [ "$failed" -gt 0 ]; then
    echo "where the new frames are right: UPDATE=1 CUTLINE=$CUTLINE CUTLINE_BUILD=$CUTLINE_BUILD" \
        "bash viewer/tests/test_view_screens.sh"
    exit 1
fi
