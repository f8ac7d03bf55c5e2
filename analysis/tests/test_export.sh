#!/usr/bin/env bash
# export: Chrome traces against the rows of the capture, gzip, and tables that parse.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }

chrome() {
    "$CUTLINE" export -o "$work/trace.json.gz" --force-overwrite "$1"
    gzip -t "$work/trace.json.gz"
    python3 analysis/tests/check_chrome.py "$work/trace.json.gz" "$1"
}

"$CUTLINE_BUILD/generate" --steps 6 --devices 2 "$work/two.sqlite"
"$CUTLINE_BUILD/generate" --steps 6 --graphs node "$work/node.sqlite"
chrome "$work/two.sqlite"
chrome "$work/node.sqlite"

# Plain and packed are the same; - is the standard output.
"$CUTLINE" export "$work/two.sqlite" >"$work/plain.json"
"$CUTLINE" export -o "$work/packed.json.gz" "$work/two.sqlite"
cmp "$work/plain.json" <(gzip -dc "$work/packed.json.gz") || fail "gzip changes the text"
"$CUTLINE" export -o "$work/packed.json.gz" "$work/two.sqlite" 2>"$work/err" && fail "replaced a file"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "$(cat "$work/err")"
"$CUTLINE" export --no-flows --no-counters "$work/two.sqlite" >"$work/bare.json"
grep -qE '"ph":"[sfC]"' "$work/bare.json" && fail "arrows or counters in spite of the options"

# Names with quotes, commas, newlines, control bytes and bytes that are no UTF-8 parse in all forms.
cp "$work/two.sqlite" "$work/dirty.sqlite"
sqlite3 "$work/dirty.sqlite" "UPDATE StringIds SET value = value || ' \"q\", a' || char(10, 9, 27, 92)
    || CAST(x'ff80c3' AS TEXT) WHERE id IN (SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL
    UNION SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL)"
"$CUTLINE" export "$work/dirty.sqlite" >"$work/dirty.json"
python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' "$work/dirty.json"
for table in gpu api nvtx osrt overhead cuda_gpu_kern_sum idle_gaps launch_density; do
    for type in csv tsv json; do
        "$CUTLINE" export -t $type -r $table "$work/dirty.sqlite" >"$work/table.$type"
    done
    python3 - "$work" <<'EOF' || fail "$table"
import csv, json, sys
work = sys.argv[1]
read = lambda name: open(f"{work}/table.{name}", encoding="utf-8", newline="")
rows = list(csv.DictReader(read("csv")))
table, = json.load(read("json"))["tables"]
objects = table["rows"]
assert table["columns"] == next(csv.reader(read("csv")))
assert len(rows) == len(objects) == sum(1 for _ in csv.reader(read("tsv"), delimiter="\t")) - 1
assert not objects or list(objects[0]) == list(rows[0])
EOF
done
rows=$("$CUTLINE" export -t csv -r gpu "$work/two.sqlite" | tail -n +2 | wc -l)
want=$(sqlite3 "$work/two.sqlite" "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL) +
    (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY) + (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET)")
[ "$rows" -eq "$want" ] || fail "$rows ops, wanted $want"

# A reader that goes away is no error; a full device is.
"$CUTLINE" export "$work/two.sqlite" | head -c 100 >/dev/null
if [ -w /dev/full ]; then
    "$CUTLINE" export "$work/two.sqlite" >/dev/full 2>"$work/err" && fail "a full device is no error"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$(cat "$work/err")"
fi

if [ -d "$CUTLINE_CAPTURES" ]; then
    for name in h100-2gpu-1s lm-2.7b-cudagraph lm-2.7b-nvtx power-iteration saxpy-mpi; do
        chrome "$CUTLINE_CAPTURES/$name.sqlite"
    done
else
    echo "skipped: no real captures"
fi
