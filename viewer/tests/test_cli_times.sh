#!/usr/bin/env bash
# Times and limits at the command line: a range that ends before it begins is wrong usage in every
# command, one beside the capture is told, and a gate (--fail-on) never passes because there was
# nothing to judge.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
demo=$CUTLINE_BUILD/demo.sqlite
cases=$CUTLINE_BUILD/cases

fail() { echo "$*"; exit 1; }
# expect STATUS TEXT WORD...: the status, and one line on stderr that holds the text.
expect() {
    local status=0
    "$CUTLINE" "${@:3}" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "${*:3}: status $status, not $1: $(cat "$work/err")"
    [ -z "$2" ] || grep -qF -- "$2" "$work/err" || fail "${*:3}: no '$2' in: $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" -le 1 ] || fail "${*:3}: more than one line: $(cat "$work/err")"
}

for command in "stats" "stats -q -r cuda_api_sum" "analyze" "analyze -r idle_gaps" "export" "analyze --fail-on idle_gaps"; do
    for range in 36s/35s 2s/1s 1ns/0 0/-1 -1s/-2s 1h/59m; do
        expect 2 "--filter-time $range ends before it begins" $command "--filter-time=$range" "$demo"
        [ ! -s "$work/out" ] || fail "$command prints for $range"
    done
    for range in 5 "" 1s x/1s 1s/x 1s/2s/3s nan/ /inf 1x/; do
        expect 2 "--filter-time" $command "--filter-time=$range" "$demo"
    done
done
for side in base new; do
    expect 2 "--filter-time-$side 36s/35s ends before it begins" diff "--filter-time-$side=36s/35s" "$demo" "$demo"
done
expect 2 "the time to look at ends before it begins" analyze -r idle_gaps:start=2s:end=1s "$demo"
expect 1 "the time to look at ends before it begins" analyze -q --filter-time /1s -r idle_gaps:start=2s "$demo"

# A time beside the capture is told, on stderr alone.
expect 0 "--filter-time: no event is in that time; the events are from" stats -q -r cuda_api_sum -f csv --filter-time 36s/40s "$demo"
expect 0 "--filter-time: no event is in that time" analyze --filter-time 36s/ "$demo"
expect 0 "--filter-time: no event is in that time" export --filter-time /-1 "$demo"
expect 0 "--filter-time-new: no event is in that time" diff --filter-time-new 36s/ "$demo" "$demo"
expect 0 "" stats -q -r cuda_api_sum --filter-time / "$demo"
[ ! -s "$work/err" ] || fail "the whole time is no narrower time: $(cat "$work/err")"

# Gates: nothing to judge is a failure, no limit is beyond all numbers.
for file in "$cases/empty.sqlite" "$cases/api-only.sqlite"; do
    expect 1 "no GPU work to judge" analyze --fail-on idle_gaps "$file"
    expect 1 "no GPU work to judge" diff --fail-on-regression 5 "$file" "$demo"
    expect 1 "no GPU work to judge in NEW" diff --fail-on-regression 5 "$demo" "$file"
done
status=0
"$CUTLINE" analyze --fail-on idle_gaps --filter-time 36s/40s "$demo" >/dev/null 2>"$work/err" || status=$?
[ "$status" -eq 1 ] || fail "a gate over no time at all: status $status"
for limit in inf nan -1 1e999 x; do
    expect 2 "write a number" analyze --fail-on "idle_gaps:$limit" "$demo"
    expect 2 "write a number" diff "--fail-on-regression=$limit" "$demo" "$demo"
done

# "@" is the first sign of what was typed, not of the capture that "." stands for.
cp "$demo" "$work/@touch ran;.sqlite"
(cd "$work" && "$CUTLINE" stats -q -r cuda_api_sum -o . "@touch ran;.sqlite" && "$CUTLINE" analyze -q -r idle_gaps -o . "@touch ran;.sqlite")
[ -e "$work/@touch ran;_cuda_api_sum.csv" ] && [ -e "$work/@touch ran;_idle_gaps.csv" ] && [ ! -e "$work/ran" ] ||
    fail "a file's name was run: $(ls "$work")"
echo "ok"
