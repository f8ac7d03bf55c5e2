#!/usr/bin/env bash
# What programs read: one JSON document for any number of tables, each document with the name and
# version of its schema; csv and tsv whose texts no spreadsheet takes for formulas.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
demo=$CUTLINE_BUILD/demo.sqlite
empty=$CUTLINE_BUILD/cases/empty.sqlite

fail() { echo "$*"; exit 1; }

# check SCHEMA [PYTHON...]: stdin is one document of that schema, for which the assertions hold.
check() {
    python3 -c '
import json, sys
d = json.load(sys.stdin)
assert (d["schema"], d["version"]) == (sys.argv[1], 1), (d["schema"], d["version"])
assert d["producer"].startswith("cutline "), d["producer"]
names = [t["name"] for t in d.get("tables", [])]
for t in d.get("tables", []):
    assert list(t) == ["name", "title", "time_unit", "missing", "columns", "rows"], list(t)
    assert all(list(row) == t["columns"] for row in t["rows"]), t["name"]
for line in sys.argv[2:]:
    assert eval(line), (line, names)
' "$@" || fail "$*"
}

"$CUTLINE" stats -f json "$demo" 2>/dev/null |
    check cutline-tables 'names[:3] == ["nvtx_sum", "osrt_sum", "cuda_api_sum"]' 'len(names) == 6'
"$CUTLINE" stats -f json "$empty" 2>/dev/null |
    check cutline-tables 'len(names) == 6' 'all(t["missing"] and not t["rows"] for t in d["tables"])'
"$CUTLINE" stats -q -f json -r cuda_api_sum,um_sum:rows=3 --timeunit us "$demo" |
    check cutline-tables 'names == ["cuda_api_sum", "um_sum:rows=3"]' 'd["tables"][0]["time_unit"] == "us"' \
        'd["tables"][0]["missing"] is None' '"Total Time (us)" in d["tables"][0]["columns"]'
"$CUTLINE" analyze -q -r all -f json "$demo" | check cutline-tables 'len(names) >= 12' 'names[-1] == "graph_opaque"'
"$CUTLINE" analyze -q -f json "$demo" | check cutline-tables 'names == ["findings"]' 'd["tables"][0]["rows"]'
"$CUTLINE" diff -q -f json "$demo" "$demo" | check cutline-tables 'names == ["diff"]'
for table in gpu nvtx cuda_api_sum idle_gaps; do
    "$CUTLINE" export -t json -r $table "$demo" | check cutline-tables "names == ['$table']"
done
"$CUTLINE" export -t json -r um_sum "$demo" | check cutline-tables 'd["tables"][0]["missing"]'
"$CUTLINE" export "$demo" | check cutline-chrome 'len(d["traceEvents"]) > 100'
"$CUTLINE" info -f json "$demo" | check cutline-info 'd["kernels"] > 0'
if "$CUTLINE" doctor --help >/dev/null 2>&1; then
    { "$CUTLINE" doctor -f json || true; } | check cutline-doctor 'd["checks"]'
fi
# A file each; a report that fails leaves a document that parses.
"$CUTLINE" stats -q -f json -r cuda_api_sum,nvtx_sum -o "$work/out" "$demo"
check cutline-tables 'names == ["cuda_api_sum"]' <"$work/out_cuda_api_sum.json"
check cutline-tables 'names == ["nvtx_sum"]' <"$work/out_nvtx_sum.json"
status=0
"$CUTLINE" stats -q -f json -r cuda_api_sum,nvtx_pace:nowhere,nvtx_sum "$demo" >"$work/some" 2>/dev/null || status=$?
[ "$status" -eq 1 ] || fail "a report that failed: status $status"
check cutline-tables 'names == ["cuda_api_sum", "nvtx_sum"]' <"$work/some"
# A format that follows closes it.
"$CUTLINE" stats -q -r cuda_api_sum,nvtx_sum,cuda_gpu_kern_sum -f json,json,csv "$demo" >"$work/mixed"
sed '/^$/,$d' "$work/mixed" | check cutline-tables 'names == ["cuda_api_sum", "nvtx_sum"]'
sed '1,/^$/d' "$work/mixed" | grep '^Time (%),' >/dev/null || fail "no csv after the document"

# Formulas.
cp "$demo" "$work/formula.sqlite"
sqlite3 "$work/formula.sqlite" "UPDATE StringIds SET value = '=HYPERLINK(\"http://x\",1)'
    WHERE id = (SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1);
    UPDATE StringIds SET value = '@SUM(1+1)' WHERE id = (SELECT nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1);
    UPDATE NVTX_EVENTS SET text = '-2+3', textId = NULL WHERE rowid = (SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 59);"
for command in "stats -q -r cuda_gpu_kern_sum:base,cuda_api_sum,nvtx_sum" "analyze -q -r cuda_api_sync" "export -r gpu -t" "export -r api -t" \
    "export -r nvtx -t" "diff -q $work/formula.sqlite"; do
    for form in csv tsv; do
        case $command in export*) words="$command $form" ;; *) words="$command -f $form" ;; esac
        "$CUTLINE" $words "$work/formula.sqlite" >"$work/plain.$form"
        "$CUTLINE" $words --spreadsheet "$work/formula.sqlite" >"$work/safe.$form"
        python3 - "$work/plain.$form" "$work/safe.$form" <<'PY' || fail "$words"
import csv, sys
def read(path):
    tab = path.endswith("tsv")
    return [row for row in csv.reader(open(path, newline="", encoding="utf-8"), delimiter="\t" if tab else ",")]
def number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True
plain, safe = read(sys.argv[1]), read(sys.argv[2])
assert len(plain) == len(safe) > 0
for a, b in zip(plain, safe):
    for x, y in zip(a, b):
        formula = x[:1] in ("=", "+", "-", "@") and x and not number(x)
        assert y == ("'" + x if formula else x), (x, y)
PY
    done
done
"$CUTLINE" stats -q -r cuda_gpu_kern_sum:base -f csv --spreadsheet "$work/formula.sqlite" | grep -F "\"'=HYPERLINK(" >/dev/null ||
    fail "no formula was met"
"$CUTLINE" stats -q -r cuda_gpu_kern_sum:base -f json --spreadsheet "$work/formula.sqlite" | grep -F '"=HYPERLINK(' >/dev/null ||
    fail "json is for programs: no quote is put there"
echo "ok"
