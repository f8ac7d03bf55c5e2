#!/usr/bin/env bash
# A program that never closes its NVTX ranges: tables grow with the ranges, not with their square, and what is
# innermost is still right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
ranges=4000
sqlite3 "$work/open.sqlite" <<SQL
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'kernel'), (2, 'cudaLaunchKernel');
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $ranges)
INSERT INTO NVTX_EVENTS SELECT 100 * i, NULL, 59, 'open ' || i, (1 << 48) + (7 << 24) + 7 FROM n;
INSERT INTO NVTX_EVENTS VALUES (100000000, NULL, 34, 'the end', (1 << 48) + (7 << 24) + 7);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start + 10, start + 20, 0, globalTid, 1 + start / 100, 2, 0
  FROM NVTX_EVENTS WHERE eventType = 59;
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start + 20, start + 30, 0, 0, 7, correlationId, (1 << 48) + (7 << 24),
  1, 1, 1, 1, 1, 32, 1, 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME;
SQL
stats() { "$CUTLINE" stats -q -f csv -r "$1" "$work/open.sqlite"; }
stats nvtx_pushpop_trace >"$work/trace.csv"
stats nvtx_gpu_proj_trace >"$work/proj.csv"
stats cuda_gpu_kern_sum:nvtx-name >"$work/names.csv"
stats nvtx_kern_sum >"$work/kern.csv"
bytes=$(cat "$work"/*.csv | wc -c)
[ "$bytes" -lt $((ranges * 2500)) ] || fail "$ranges open ranges make $bytes bytes of tables"
python3 - "$work" $ranges <<'EOF' || fail "ranges that were never closed"
import csv, sys
work, n = sys.argv[1], int(sys.argv[2])
read = lambda name: list(csv.DictReader(open(f"{work}/{name}.csv")))
for i, row in enumerate(read("trace")):
    assert (row["Name"], int(row["Lvl"]), int(row["RangeId"])) == (f":open {i}", i, i + 1), row
    assert row["ParentId"] == (str(i) if i else ""), row
    inner = "".join(f":{k}" for k in range(max(1, i - 126), i + 2))
    assert row["RangeStack"] == (":..." if i >= 128 else "") + inner, row
    assert row["NameTree"] == "--" * min(i, 128) + f":open {i}", row
names = {row["Name"] for row in read("names")}
assert names == {f"open {i}/kernel" for i in range(n)}, sorted(names)[:3]
# A range has the kernels that were launched while it was among the last 512 that were open.
for table, key, count in (("proj", "Name", "NumGPUOps"), ("kern", "NVTX Range", "Kern Inst")):
    rows = {row[key]: int(row[count]) for row in read(table)}
    assert rows == {f":open {i}": min(512, n - i) for i in range(n)}, table
EOF
echo ok
