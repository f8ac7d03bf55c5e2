#!/usr/bin/env bash
# What is kept of a capture: every answer is the same from the capture, while it is kept, and from the
# cache; a file that was damaged, half written, or cannot be written changes nothing but the time.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 XDG_CACHE_HOME=$work/cache CUTLINE_CONFIG=$work/config
folder=$XDG_CACHE_HOME/cutline
printf 'cache-events = 1\n' >"$work/config"

fail() { echo "$*"; exit 1; }
# answers FILE [--no-cache]: everything that is said of a capture.
answers() {
    local file=$1
    shift
    "$CUTLINE" view --dump --size 160x60 "$@" "$file"
    "$CUTLINE" view --dump --script "$work/keys" "$@" "$file"
    "$CUTLINE" info "$@" "$file"
    "$CUTLINE" stats -q -f csv "${reports[@]}" "$@" "$file" || true
    "$CUTLINE" analyze "$@" "$file" || true
    "$CUTLINE" analyze -q -f csv -r all "$@" "$file"
    "$CUTLINE" diff -f csv "$@" "$file" "$file"
    "$CUTLINE" export "$@" "$file"
}
# kept KIND: the file that is kept.
kept() { ls "$folder/$1"-* 2>/dev/null; }

printf 'jjwt<Esc>g<Esc>+++' >"$work/keys"
reports=()
for name in $("$CUTLINE" stats --help-reports | sed -n 's/^\([a-z_]*\) -- .*/\1/p'); do
    reports+=(-r "$name")
done
[ ${#reports[@]} -gt 20 ] || fail "the reports are not listed: ${reports[*]}"

# same FILE: three times the same.
same() {
    answers "$1" --no-cache >"$work/want" 2>&1
    [ ! -e "$folder" ] || [ -z "$(kept trace)" ] || fail "$1: --no-cache keeps a file"
    answers "$1" >"$work/first" 2>&1
    cmp "$work/want" "$work/first" || fail "$1: other answers while it is kept"
    [ -n "$(kept trace)" ] || fail "$1: is not kept"
    answers "$1" >"$work/again" 2>&1
    cmp "$work/want" "$work/again" || fail "$1: other answers from the cache"
    rm -rf "$folder"
}
same "$CUTLINE_BUILD/demo.sqlite"
"$CUTLINE_BUILD/generate" --seed 7 --devices 3 --steps 3 --graphs node "$work/small.sqlite" ||
    "$CUTLINE_BUILD/generate" --seed 7 --devices 3 --steps 3 "$work/small.sqlite"
same "$work/small.sqlite"
for file in "$CUTLINE_BUILD"/cases/*.sqlite; do
    "$CUTLINE" info --no-cache "$file" >/dev/null 2>&1 || continue
    for command in "view --dump --size 120x50" "stats -q" "analyze"; do
        $CUTLINE $command --no-cache "$file" >"$work/want" 2>&1 || true
        $CUTLINE $command "$file" >"$work/first" 2>&1 || true
        $CUTLINE $command "$file" >"$work/again" 2>&1 || true
        cmp "$work/want" "$work/first" && cmp "$work/want" "$work/again" || fail "$file: $command"
    done
    rm -rf "$folder"
done

# What is kept is listed with its capture, whatever its name holds, and removed by name.
odd=$work/$(printf 'odd\033[31m name').sqlite
cp "$work/small.sqlite" "$odd"
"$CUTLINE" view --dump "$odd" >/dev/null
"$CUTLINE" view --dump "$work/small.sqlite" >/dev/null
"$CUTLINE" cache >"$work/list"
[ "$(grep -c '^capture .*sqlite$' "$work/list")" -eq 2 ] || { cat "$work/list"; fail "the list"; }
grep -q "small.sqlite$" "$work/list" || fail "the list has no name"
LC_ALL=C grep -q "$(printf '\033')" "$work/list" && fail "a control byte in the list"
"$CUTLINE" cache -f json | python3 -c 'import json, sys
found = json.load(sys.stdin)
assert found["schema"]["name"] == "cutline-cache" if isinstance(found["schema"], dict) else found["schema"], found
assert len(found["files"]) == 2 and all(file["state"] == "ready" for file in found["files"]), found
assert sum(file["bytes"] for file in found["files"]) == found["bytes"], found'
touch "$work/small.sqlite"
rm "$odd"
"$CUTLINE" cache >"$work/list"
grep -q '^capture .* changed .*small.sqlite$' "$work/list" && grep -q '^capture .* gone .*odd' "$work/list" ||
    { cat "$work/list"; fail "changed and gone captures"; }
"$CUTLINE" cache --remove "$work/small.sqlite" | grep -q '^1 removed' || fail "is not removed"
"$CUTLINE" cache | grep -q small && fail "is listed after it was removed"
"$CUTLINE" cache --trim-to 0 | grep -q '^0 removed' || fail "what was used just now is removed"
touch -d '-1 hour' "$folder"/*
"$CUTLINE" cache --trim-to 0 | grep -q '^[12] removed' || fail "nothing is trimmed"
[ -z "$(ls -A "$folder")" ] || { ls "$folder"; fail "a rest after trimming"; }
"$CUTLINE" view --dump "$work/small.sqlite" >/dev/null
"$CUTLINE" cache --remove-all >/dev/null
[ -z "$(ls -A "$folder")" ] || { ls "$folder"; fail "a rest after removing all"; }
for wrong in "--remove" "x.sqlite" "--trim --remove-all" "--trim-to x"; do
    status=0
    "$CUTLINE" cache $wrong >/dev/null 2>"$work/err" || status=$?
    [ "$status" -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "cache $wrong: status $status"
done

# A bit that is changed, with the file's time put back: read anew, and kept anew.
capture=$work/small.sqlite
frame() { "$CUTLINE" view --dump --size 160x60 "$@" "$capture"; }
frame --no-cache >"$work/want"
frame >/dev/null
for seed in $(seq 1 30); do
    python3 - "$(kept trace)" "$seed" <<'END'
import os, random, sys
path, random_ = sys.argv[1], random.Random(int(sys.argv[2]))
was = os.stat(path)
with open(path, "r+b") as file:
    at = random_.randrange(was.st_size if random_.random() < 0.5 else 4096)
    file.seek(at)
    byte = file.read(1)[0]
    file.seek(at)
    file.write(bytes([byte ^ 1 << random_.randrange(8)]))
os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
END
    cp "$(kept trace)" "$work/bad"
    frame 2>"$work/err" | cmp - "$work/want" || fail "seed $seed: a changed bit is shown"
    [ ! -s "$work/err" ] || fail "seed $seed: $(cat "$work/err")"
    ! cmp -s "$(kept trace)" "$work/bad" || fail "seed $seed: it is not kept anew"
done

# Killed while it is written: what lies there then is whole, or is not taken.
"$CUTLINE_BUILD/generate" --seed 3 --events 60000 "$work/long.sqlite"
capture=$work/long.sqlite
frame --no-cache >"$work/want"
for ms in $(seq 3 6 120); do
    rm -rf "$folder"
    timeout -s KILL "0.$(printf '%03d' "$ms")" "$CUTLINE" view --dump "$capture" >/dev/null 2>&1 || true
    frame 2>&1 | cmp - "$work/want" || fail "killed after $ms ms: another frame"
done

# Two at once, with nothing kept and with a file that is about to be replaced.
for _ in 1 2; do
    rm -rf "$folder"
    frame >"$work/a" & frame >"$work/b" & wait
    cmp "$work/a" "$work/want" && cmp "$work/b" "$work/want" || fail "two at once: another frame"
    printf 'x' | dd of="$(kept trace)" bs=1 seek=200 conv=notrunc 2>/dev/null
    frame >"$work/a" & frame >"$work/b" & wait
    cmp "$work/a" "$work/want" && cmp "$work/b" "$work/want" || fail "two at once: another frame"
    [ -z "$(kept part || true)" ] || fail "two at once: $(kept part)"
done

# Memory for less than the model: what is read goes to the file, and is read from there.
"$CUTLINE_BUILD/generate" --events 1200000 "$work/large.sqlite"
capture=$work/large.sqlite
small() { "$CUTLINE" view --dump --size 160x9 "$@" "$capture"; } # too low for what needs more
limit() { (ulimit -d 81920 && "$@"); }
if limit "$CUTLINE" --version >/dev/null 2>&1; then # not with a sanitizer
    small --no-cache >"$work/want"
    status=0
    limit small --no-cache >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q memory "$work/err" ||
        fail "the limit is none: status $status, $(cat "$work/err")"
    rm -rf "$folder"
    limit small 2>&1 | cmp - "$work/want" || fail "within 80 MiB: another frame"
    limit small 2>&1 | cmp - "$work/want" || fail "within 80 MiB, again: another frame"
fi
rm "$work/large.sqlite"
capture=$work/long.sqlite
frame --no-cache >"$work/want"

# No room, no folder: one line, the same frame, status 0.
one_line() {
    cmp "$work/out" "$work/want" || fail "$1: another frame"
    [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q 'nothing is kept' "$work/err" || fail "$1: $(cat "$work/err")"
    [ -z "$(kept trace || true)$(kept part || true)" ] || fail "$1: a rest"
}
rm -rf "$folder"
(ulimit -f 64 && frame) 2>"$work/err" | cat >"$work/out"
one_line "no room"
XDG_CACHE_HOME=/dev/null/x frame >"$work/out" 2>"$work/err"
one_line "no folder"
printf 'cache-mib = 0\n' >"$work/config"
frame 2>&1 | cmp - "$work/want"
[ -z "$(kept trace || true)" ] || fail "cache-mib = 0: something is kept"
echo ok
