#!/usr/bin/env bash
# The command `stats`: names of files, triples, units, errors, help; and two hand-made captures.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
demo=$CUTLINE_BUILD/demo.sqlite

fail() { echo "$*"; exit 1; }
# expect STATUS TEXT ARG...: the status, and the text on stdout or stderr.
expect() {
    local status=0
    "$CUTLINE" stats "${@:3}" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "stats ${*:3}: status $status, not $1: $(cat "$work/stderr")"
    grep -qF -- "$2" "$work/stdout" "$work/stderr" || fail "stats ${*:3}: no '$2'"
}

# Every report is in the help, in the manual page, and runs; its arguments are in the page too.
"$CUTLINE" stats --help-reports | sed 's/ .*//' >"$work/names"
[ "$(wc -l <"$work/names")" -ge 26 ] || fail "too few reports"
while read -r name; do
    grep -q "^\.It Cm .*$name\b" man/cutline-stats.1 || fail "the manual page lacks $name"
    "$CUTLINE" stats "--help-reports=$name" | sed -n 's/^    :\([a-z-]*\).*/\1/p' >"$work/args"
    while read -r arg; do
        grep -q "Cm $arg\b" man/cutline-stats.1 || fail "the manual page lacks $name:$arg"
    done <"$work/args"
    # Alone it reads only the tables that it needs; beside a report with nvtx-name, all of them.
    for file in "$demo" "$CUTLINE_BUILD/cases/graphs.sqlite" "$CUTLINE_BUILD/cases/unified-memory.sqlite"; do
        "$CUTLINE" stats -q -r "$name" -f json "$file" >"$work/some"
        "$CUTLINE" stats -q -r "$name,cuda_gpu_kern_sum:nvtx-name" -f json "$file" >"$work/all"
        python3 - "$work/some" "$work/all" <<'PY' || fail "$name of $file differs when it is alone"
import json, sys
some = json.load(open(sys.argv[1]))
both = json.load(open(sys.argv[2]))
assert len(some["tables"]) == 1 and len(both["tables"]) == 2
assert some["tables"][0] == both["tables"][0], (some["tables"][0], both["tables"][0])
PY
    done
done <"$work/names"
[ "$("$CUTLINE" stats --help-reports=ALL | grep -c -- ' -- ')" -eq "$(wc -l <"$work/names")" ] ||
    fail "--help-reports=ALL differs"

# Six reports, in the order of nsys, where none is named; SKIPPED goes on.
"$CUTLINE" stats "$CUTLINE_BUILD/cases/api-only.sqlite" >"$work/out"
[ "$(grep -c '^Processing' "$work/out")" -eq 6 ] || fail "not six reports"
[ "$(grep -c '^SKIPPED: .*api-only.sqlite does not contain .*data\.$' "$work/out")" -eq 5 ] ||
    fail "not five skipped"

# The same columns without rows, and without the data; what is said goes to stderr.
full=$("$CUTLINE" stats -r nvtx_sum -f csv "$demo" 2>/dev/null | head -1)
none=$("$CUTLINE" stats -r nvtx_sum -f csv --filter-name '^no such$' "$demo" 2>"$work/err")
[ "$full" = "$none" ] || fail "other columns without rows: $none"
none=$("$CUTLINE" stats -r nvtx_sum -f csv "$CUTLINE_BUILD/cases/empty.sqlite" 2>"$work/err")
[ "$full" = "$none" ] || fail "other columns without data: $none"
grep -q '^SKIPPED: ' "$work/err" || fail "no SKIPPED on stderr"
"$CUTLINE" stats -q -r nvtx_sum -f json "$CUTLINE_BUILD/cases/empty.sqlite" >"$work/out"
python3 - "$work/out" "$full" <<'PY' || fail "a table without data is not the same without rows"
import csv, json, sys
table, = json.load(open(sys.argv[1]))["tables"]
assert table["rows"] == [] and table["missing"] == "NV Tools Extension (NVTX) data", table
assert table["columns"] == next(csv.reader([sys.argv[2]])), table
PY

# No control byte reaches a terminal, whatever the names hold.
for form in column table; do
    "$CUTLINE" stats -f "$form" -r cuda_gpu_kern_sum,cuda_gpu_trace,nvtx_sum,nvtx_pushpop_trace,nvtx_kern_sum,nvtx_pace \
        "$CUTLINE_BUILD/cases/names.sqlite" >"$work/out"
    python3 - "$work/out" <<'PY' || fail "$form: unsafe text"
import sys
text = open(sys.argv[1], "rb").read().decode()
bad = [c for c in text if c != "\n" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or 0x202a <= ord(c) <= 0x202e)]
assert not bad and text.count("\n") > 50, bad
PY
done

# Triples and file names.
cp "$demo" "$work/in.put.sqlite"
(
    cd "$work"
    "$CUTLINE" stats -q -r cuda_api_sum,cuda_gpu_kern_sum:nvtx-name:base -f csv,json,tsv -o out,. in.put.sqlite
    "$CUTLINE" stats -q -r nvtx_sum --filter-nvtx forward -o out in.put.sqlite
    ls
) >"$work/list"
for file in out_cuda_api_sum.csv in.put_cuda_gpu_kern_sum_nvtx-name_base.json \
    in.put_cuda_gpu_kern_sum_nvtx-name_base.tsv out_nvtx_sum_nvtx=forward.csv; do
    grep -qxF "$file" "$work/list" || fail "no file $file: $(cat "$work/list")"
done
expect 1 "is there already; --force-overwrite" -r cuda_api_sum -o "$work/out" "$demo"
expect 0 "" --force-overwrite -r cuda_api_sum -o "$work/out" "$demo"
"$CUTLINE" stats -q -r cuda_api_sum -f csv -o "@wc -l" "$demo" >"$work/lines"
[ "$(cat "$work/lines")" -eq "$(wc -l <"$work/out_cuda_api_sum.csv")" ] || fail "@COMMAND"
"$CUTLINE" stats -q -r cuda_api_sum,nvtx_sum -f csv "$demo" | awk 'BEGIN { RS = "" } END { exit NR != 2 }' ||
    fail "two csv tables have no empty line between them"

# Units.
for unit in us:us usec:us ms:ms s:s seconds:s nsec:ns; do
    "$CUTLINE" stats -q -r cuda_api_sum -f csv --timeunit "${unit%:*}" "$demo" | head -1 |
        grep -qF "Total Time (${unit#*:})" || fail "--timeunit ${unit%:*}"
done
python3 - "$CUTLINE" "$demo" <<'PY'
import csv, subprocess, sys
def total(unit):
    text = subprocess.run([sys.argv[1], "stats", "-q", "-r", "cuda_api_sum", "-f", "csv", "--timeunit", unit,
                           sys.argv[2]], check=True, capture_output=True, text=True).stdout
    return [row[1] for row in csv.reader(text.splitlines())][1:]
ns = [int(v) for v in total("ns")]
for unit, scale, digits in (("us", 10**3, 3), ("ms", 10**6, 6), ("s", 10**9, 9)):
    want = [f"{v // scale}.{v % scale:0{digits}}" for v in ns]
    assert total(unit) == want, (unit, total(unit)[:3], want[:3])
PY

# Wrong usage: one line that says what there is.
expect 2 "no report 'kern_sum'" -r kern_sum "$demo"
expect 2 "no argument 'bse'; there are: nvtx-name, base, mangled" -r cuda_gpu_kern_sum:bse "$demo"
expect 2 "rows=x: not a number" -r um_sum:rows=x "$demo"
expect 2 "no format 'xml'" -f xml "$demo"
expect 2 "--timeunit min" --timeunit min "$demo"
expect 2 "--filter-time" --filter-time 5 "$demo"
expect 2 "ends before it begins" --filter-time 2s/1s "$demo"
expect 2 "no format 'column:nohdr'" -f column:nohdr "$demo"
expect 2 "not a" --filter-time x/5 "$demo"
expect 2 "name a capture"
expect 1 "bad regular expression" --filter-name '(' "$demo"
expect 1 "no NVTX range 'nowhere'" -r nvtx_sum --filter-nvtx nowhere "$demo"
expect 1 "instances, numbered from 0" -r nvtx_sum --filter-nvtx forward/100000 "$demo"
expect 1 "no process 7 in this capture; it has: " --process 7 -r cuda_api_sum "$demo"
expect 1 "no work on a device 9 in this capture; devices with work: 0, 1" --device 9 -r cuda_gpu_sum "$demo"
expect 1 "no NVTX range or kernel 'nowhere'" -r nvtx_pace:nowhere "$demo"
# One report fails, the rest is printed.
expect 1 "CUDA API Summary" -r nvtx_pace:nowhere,cuda_api_sum "$demo"
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "more than one line of error"

# Memory: two processes with the same address, a free from before, one never freed.
sqlite3 "$work/memory.sqlite" <<'SQL'
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER,
  address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, name TEXT, correlationId INTEGER);
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES
  (400, (1 << 48) + (7 << 24), 0, 1, 4096, 0, 0, 2, 1, NULL, 0),
  (100, (1 << 48) + (7 << 24), 0, 1, 4096, 0, 3000000, 2, 0, NULL, 0),
  (200, (1 << 48) + (7 << 24), 0, 1, 8192, 0, 2000000, 2, 0, NULL, 0),
  (300, (1 << 48) + (8 << 24), 0, 1, 4096, 0, 9000000, 2, 0, NULL, 0),
  (500, (1 << 48) + (7 << 24), 0, 1, 65536, 0, 1000000, 2, 1, NULL, 0),
  (600, (1 << 48) + (7 << 24), 0, 1, 4096, 0, 500000, 4, 0, NULL, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
  dstKind INTEGER, migrationCause INTEGER, virtualAddress INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
  (100, 200, 0, 0, 0, 0, (1 << 48) + (7 << 24), 1000000, 11, 7, 7, 2, 65536),
  (300, 500, 0, 0, 0, 0, (1 << 48) + (7 << 24), 500000, 12, 7, 7, 2, 65536),
  (600, 700, 0, 0, 0, 0, (1 << 48) + (7 << 24), 2000000, 11, 7, 7, 2, 131072);
CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER, address INTEGER);
INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (1, (1 << 48) + (7 << 24), 65536), (2, (1 << 48) + (7 << 24), 65536),
  (3, (1 << 48) + (7 << 24), 310974);
CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER,
  address INTEGER, numberOfPageFaults INTEGER);
INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (5, 9, (1 << 48) + (7 << 24), 0, 131072, 40);
SQL
# check REPORT LINE...: the csv rows after the header.
check() {
    local report=$1
    shift
    "$CUTLINE" stats -q -r "$report" -f csv "$work/memory.sqlite" | tail -n +2 >"$work/got"
    printf '%s\n' "$@" | diff - "$work/got" || fail "$report differs"
}
check um_sum "0x20000,2.000,0.000,0,40,20000000.000" "0x10000,1.000,0.500,2,0,5000000.000" "0x4BEBE,0.000,0.000,1,0,"
check um_sum:1 "0x20000,2.000,0.000,0,40,20000000.000"
check um_sum:rows=-1 "0x20000,2.000,0.000,0,40,20000000.000" "0x10000,1.000,0.500,2,0,5000000.000" "0x4BEBE,0.000,0.000,1,0,"
"$CUTLINE" stats -q -r um_total_sum -f csv "$work/memory.sqlite" | head -1 | diff - <(echo "Total HtoD Migration Size (MB),
Total DtoH Migration Size (MB),Total CPU Page Faults,Total GPU PageFaults,Minimum Virtual Address,
Maximum Virtual Address" | sed -z 's/,\n/,/g') || fail "the header of um_total_sum"
check um_total_sum "3.000,0.500,3,40,0x10000,0x4BEBE"
"$CUTLINE" stats -q -r mem_usage -f csv "$work/memory.sqlite" | cut -d, -f1-12 | tail -n +2 >"$work/got"
diff - "$work/got" <<'CSV' || fail "mem_usage differs"
8,0,Device,1,0,9.000,0.000,9.000,300,9.000,1,0
7,0,Device,2,2,5.000,3.000,5.000,200,2.000,1,1
7,0,Managed,1,0,0.500,0.000,0.500,600,0.500,1,0
CSV
# Without API calls nothing says which kernel a range or a thread launched: SKIPPED, not an empty table.
"$CUTLINE_BUILD/generate" --no-api --steps 2 "$work/no-api.sqlite"
for name in cuda_kern_exec_sum cuda_kern_exec_trace nvtx_kern_sum nvtx_gpu_proj_sum nvtx_gpu_proj_trace; do
    "$CUTLINE" stats -r $name "$work/no-api.sqlite" | grep -q '^SKIPPED: .* does not contain CUDA API data\.$' ||
        fail "$name without API calls"
    [ "$("$CUTLINE" stats -q -r $name -f csv "$work/no-api.sqlite" 2>/dev/null | wc -l)" -le 1 ] || fail "$name has rows"
done
echo "ok"
