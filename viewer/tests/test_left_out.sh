#!/usr/bin/env bash
# Rows whose times cannot be: every command answers for the rest, and says so; info names the rows.
set -euo pipefail
export LC_ALL=C.UTF-8 CUTLINE_CONFIG=/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$CUTLINE_BUILD/cases/bad-clock.sqlite
fail() { echo "$*"; exit 1; }

"$CUTLINE" info "$file" >"$work/info"
grep -q '^span *100 ms' "$work/info" || fail "info: $(grep ^span "$work/info")"
tr -s ' \n' ' ' <"$work/info" >"$work/line"
grep -q '3 rows are left out, .*: CUPTI_ACTIVITY_KIND_KERNEL row 1 at -99999.999 s, row ' "$work/line" ||
    fail "info does not name the rows: $(cat "$work/line")"
grep -q '20 ops begin before the call that launched them' "$work/line" || fail "info does not name early ops"
"$CUTLINE" info -f json "$file" | python3 -c '
import json, sys
info = json.load(sys.stdin)
assert info["misplaced"] == 3 and info["early"] == 20 and info["span_ns"] == 99990000, info
assert [row["table"] for row in info["left_out"]] == ["CUPTI_ACTIVITY_KIND_KERNEL"] * 3, info
assert all(row["begin_ns"] < -99e12 for row in info["left_out"]), info'

"$CUTLINE" view --dump --size 100x24 "$file" >"$work/view"
head -1 "$work/view" | grep -q '3 rows left out  20 early ops' || fail "header: $(head -1 "$work/view")"
head -1 "$work/view" | grep -q '+10[0-9] ms' || fail "does not open on the 0.1 s: $(head -1 "$work/view")"

for command in stats analyze "export -t csv -r cuda_gpu_kern_sum"; do
    # shellcheck disable=SC2086
    "$CUTLINE" $command "$file" >"$work/out" 2>"$work/err"
    grep -q '3 rows are left out' "$work/err" || fail "$command says nothing: $(cat "$work/err")"
done
"$CUTLINE" stats -q -f csv -r cuda_gpu_kern_sum "$file" 2>"$work/err" | grep -q '^100.0,79760000,997,' ||
    fail "stats counts rows that are left out"
"$CUTLINE" stats -q -f csv -r cuda_kern_exec_trace "$file" 2>"$work/err" | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
queued = [int(row["Queue Dur (ns)"]) for row in rows if row["Queue Dur (ns)"] != ""]
assert len(rows) == 997 and len(queued) == 977 and min(queued) >= 0, (len(rows), len(queued))'
echo ok
