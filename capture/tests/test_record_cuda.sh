#!/usr/bin/env bash
# CUDA without a GPU, through cutline record: what the stand-in CUPTI delivers is what is in the
# capture, in the record layouts of all CUDA versions, in and out of order, from several threads; and
# each failure of CUPTI is said while the command goes on.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh
build=$CUTLINE_BUILD
export STANDIN_CUDA=$build/tests/standin/libcuda.so.1
export STANDIN_CUPTI_PATH=$build/tests/standin/libcupti.so.13

# record SETTINGS ARG...: client_cuda under cutline record, to cap.sqlite; MORE: options of it.
record() {
    local status=0
    STANDIN_CUPTI=$1 "$CUTLINE" record -f -o cap --cupti "$STANDIN_CUPTI_PATH" --cuda-flush-interval 20 ${MORE-} \
        "$build/tests/client_cuda" "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" -eq 0 ] || fail "$*: status $status"
    [ -z "$(ls -A "$TMPDIR")" ] || fail "$*: left $(ls -A "$TMPDIR")"
}

# compare: every kind has as many rows as were delivered, and the rows are in order.
cat >compare.py <<'END'
import collections, re, sqlite3, sys
delivered = collections.Counter()
for kind, count in re.findall(r"^delivered (\d+) (\d+)$", open("out").read(), re.M):
    delivered[int(kind)] += int(count)
db = sqlite3.connect("cap.sqlite")
have = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}

def rows(table):
    return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] if table in have else 0

A = "CUPTI_ACTIVITY_KIND_"
pairs = [
    (delivered[1] + delivered[22], rows(A + "MEMCPY")),
    (delivered[2], rows(A + "MEMSET")),
    (delivered[5], rows(A + "RUNTIME")),
    (delivered[10], rows(A + "KERNEL")),
    (delivered[17], rows("PROFILER_OVERHEAD") + rows(A + "OVERHEAD")),
    (delivered[36], rows(A + "CUDA_EVENT")),
    (delivered[38], rows(A + "SYNCHRONIZATION")),
    (delivered[51], rows(A + "GRAPH_TRACE")),
    (delivered[8], rows("TARGET_INFO_CUDA_DEVICE")),
    (delivered[9], rows("TARGET_INFO_CUDA_CONTEXT_INFO")),
    (delivered[37], rows("TARGET_INFO_CUDA_STREAM")),
]
assert all(a == b for a, b in pairs), (sys.argv, pairs)
assert sum(delivered.values()) > 0
for table in have & {A + name for name in ("KERNEL", "RUNTIME", "MEMCPY", "MEMSET", "SYNCHRONIZATION")}:
    starts = [row[0] for row in db.execute(f"SELECT start FROM {table} ORDER BY rowid")]
    assert starts == sorted(starts), table
    late = db.execute(f'SELECT count(*) FROM {table} WHERE "end" < start').fetchone()[0]
    assert late == 0, table
start, end = db.execute("SELECT min(start), max(\"end\") FROM NVTX_EVENTS WHERE eventType = 59").fetchone()
assert 0 < start < end < db.execute("SELECT duration FROM ANALYSIS_DETAILS").fetchone()[0]
END

for layout in 11.4 11.6 12.1 12.6 13.0 13.4; do
    record "layout=$layout" records 300
    python3 compare.py "$layout"
done
MORE="--cuda-event-trace=false" record layout=13.0 records 300
python3 compare.py "no events"
! grep -q '^delivered 36 ' out || fail "--cuda-event-trace=false leaves CUDA events on"
record layout=12.6 backwards 300
python3 compare.py backwards
MORE="--buffers-max 8M" record layout=13.0,per_thread=1 crowd 300
python3 compare.py crowd
! grep -q 'lost or not' err || fail "a crowd of threads lost something"
[ "$(sqlite3 cap.sqlite "SELECT value FROM CUTLINE_RECORDER WHERE name = 'buffers-max-bytes'")" = 8388608 ] ||
    fail "--buffers-max is not in the capture"
record layout=13.0,per_thread=1 threads
python3 compare.py threads
record layout=13.0 names
names=$(sqlite3 cap.sqlite 'SELECT value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON
    s.id = demangledName GROUP BY 1 ORDER BY 1' | tr '\n' ' ')
[ "$names" = "<unknown kernel>|2 first text|1 second text|2 " ] || fail "names: $names"
record layout=13.0 times
times=$(sqlite3 cap.sqlite 'SELECT reason, count(*) FROM CUTLINE_BAD_TIME GROUP BY 1 ORDER BY 1' | tr '\n' ' ')
[ "$times" = "no timestamp|2 not of this clock|2 " ] || fail "times: $times"
grep -q 'lost or not as it was: .* kernel (no timestamp)' err || fail "the summary does not tell of bad times"
record layout=13.0 bad
grep -q 'lost or not as it was' err || fail "nothing said of bad buffers"

# --- memory: allocations of each kind, and pools; the truth is what client_cuda plants
cat >memory.py <<'END'
import sqlite3, sys
pools = sys.argv[1:] == ["pools"]  # with sizes in use, which came with the records of CUDA 11.6
db = sqlite3.connect("cap.sqlite")
base = int(open("out").readline().split()[1])
rounds, want, at = 3, [], base
for turn in range(rounds):
    for kind in range(8):
        for operation in (0, 1) if turn + 1 < rounds else (0,):
            at += 1000
            # nsys: 0 pageable ... 6 managed static, 7 unknown; CUPTI: 0 unknown, 1 pageable ...
            want.append((at - base, kind % 2, 1 + kind % 2, 0x7F0000000000 + (turn << 20) + (kind << 12),
                         0xABC0 + 100 + kind, 1000 * (kind + 1), kind - 1 if kind else 7, operation,
                         "managed_table" if kind == 7 else None, 100 + kind, None, None, None, None, None, None, None))
at += 1000
for i in range(4):
    at += 1000
    pool = (0x900000, 4096, 1 << 20, 1 << 19, None, None) if i < 2 else (None,) * 4 + (0x900000, 4321)
    if i < 2 and not pools:
        pool = (0x900000, 4096, 1 << 20, 0, None, None)
    want.append((at - base, 1, 2, 0x900100, 0xABC0 + 150 + i, 5000, 2, i % 2, None, 150 + i, 13) + pool)
got = db.execute("""SELECT deviceId, contextId, address, pc, bytes, memKind, memoryOperationType, name, correlationId, streamId,
    localMemoryPoolAddress, localMemoryPoolReleaseThreshold, localMemoryPoolSize, localMemoryPoolUtilizedSize,
    importedMemoryPoolAddress, importedMemoryPoolProcessId FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start, rowid""").fetchall()
assert got == [row[1:] for row in want], "\n".join(map(str, (pair for pair in zip(got, want) if pair[0] != pair[1][1:])))
starts = [row[0] for row in db.execute("SELECT start FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start, rowid")]
assert [t - starts[0] for t in starts] == [row[0] - want[0][0] for row in want]
got = db.execute("""SELECT deviceId, address, operationType, poolType, correlationId, minBytesToKeep,
    localMemoryPoolReleaseThreshold, localMemoryPoolSize, localMemoryPoolUtilizedSize
    FROM CUDA_GPU_MEMORY_POOL_EVENTS ORDER BY start""").fetchall()
used = 1 << 19 if pools else 0
assert got == [(1, 0x900000, op, 1, 200 + op, 777, 4096, 1 << 20, used) for op in (1, 3, 2)], got
labels = dict(db.execute("SELECT id, label FROM ENUM_CUDA_MEM_KIND"))
assert [labels[i] for i in (0, 2, 7)] == ["Pageable", "Device", "Unknown"], labels
END
for layout in 11.4 11.6 12.6 13.4; do
    MORE=--cuda-memory-usage=true record "layout=$layout" memory 3
    if [ $layout = 11.4 ]; then python3 memory.py; else python3 memory.py pools; fi
done
"$CUTLINE" stats -q -r mem_usage -f csv cap.sqlite >stats.csv
grep -q ',1,Device,5,4,' stats.csv || fail "mem_usage: $(cat stats.csv)"
"$CUTLINE" view --dump --size 120x40 cap.sqlite | grep -q memory || fail "the timeline has no memory row"
record layout=13.0 memory 3
equal=$(sqlite3 cap.sqlite "SELECT count(*) FROM sqlite_master WHERE name LIKE 'CUDA_GPU_MEMORY%'")
[ "$equal" = 0 ] || fail "memory was recorded unasked"
MORE="--api=none --cuda-memory-usage=true" record layout=13.0 memory 1 # allocations alone are CUDA, too
! grep -q 'attached but no CUDA' err || fail "what was used is called unused"

# --- graphs: where they come from, and which one a launch is of, whichever id CUPTI gives
ask() { sqlite3 cap.sqlite "$1" | tr '\n' ' ' | sed 's/ $//'; }
graph_events="SELECT value || ':' || eventClass || ':' || graphId || ',' || coalesce(originalGraphId, '-') || ',' ||
    coalesce(graphExecId, '-') FROM CUDA_GRAPH_EVENTS JOIN StringIds ON id = nameId WHERE start = \"end\" ORDER BY start"
nodes="SELECT graphNodeId || ',' || coalesce(originalGraphNodeId, '-') FROM CUDA_GRAPH_NODE_EVENTS WHERE eventClass = 77 ORDER BY start"
record layout=13.0 graphs
[ "$(ask "$graph_events")" = "Graph Creation:95:1,-,- GraphExec Creation:94:1,-,2 Graph Clone:96:3,1,- \
GraphExec Creation:94:3,-,4 GraphExec Creation:94:3,-,5" ] || fail "graphs: $(ask "$graph_events")"
launches=$(ask 'SELECT graphId || "," || graphExecId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE ORDER BY start')
[ "$launches" = "1,2 1,2 3,4 3,5 3,3 9,9" ] || fail "launches of graphs: $launches"
[ "$(ask "SELECT count(*) FROM sqlite_master WHERE name = 'CUDA_GRAPH_NODE_EVENTS'")" = 0 ] || fail "nodes unasked"
[ "$(ask "SELECT count(DISTINCT globalTid) || ' ' || (globalTid / 0x1000000 * 0x1000000 = globalPid) FROM CUDA_GRAPH_EVENTS,
    CUTLINE_PROCESS")" = "1 1" ] || fail "the thread of a graph"
MORE=--cuda-graph-trace=node record layout=13.0 graphs
[ "$(ask "$nodes")" = "17,- 18,- 33,17 34,18" ] || fail "nodes: $(ask "$nodes")"

# --- limits and ranges: a ring does not say that it stopped, a small limit leaves room for buffers
MORE="--max-size 2M" record layout=13.0 records 5000
grep -q 'stopped at its --max-size' err || fail "the limit is not told"
[ "$(sqlite3 cap.sqlite 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" -gt 100 ] || fail "a small limit left nothing"
MORE="--ring 1M" record layout=13.0 records 20000
! grep -q -- '--max-size' err || fail "a ring stopped"
! grep -q 'device (overwritten' err || fail "devices are kept elsewhere"
MORE="-c cudaProfilerApi" record layout=13.0 records 10
grep -q 'CUDA was used, but not while it was recorded' err || fail "CUDA outside the range is not told"

# --- another profiler in the program takes CUPTI over: said with counts, whenever it comes
record layout=13.0 rival 100
grep -qE 'another profiler \(client_cuda\) took CUPTI at .*: 200 kernels and 0 API calls are from before; at least 70 kernel launches and 0 others after it are missing' err ||
    fail "the rival is not told"
grep -q 'lost or not as it was: 70 kernel (taken by another profiler)' err || fail "what the rival took is not counted"
[ "$(sqlite3 cap.sqlite "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName
    WHERE value NOT LIKE '<unknown%'")" = 200 ] || fail "names in buffers that the rival got"
record layout=13.0 rival 0
grep -q 'took CUPTI at .*: 0 kernels .* 70 kernel launches' err || fail "a rival at the start is not told"
! grep -q 'attached but no CUDA' err || fail "'attached but no CUDA' with a rival"
record layout=13.0,hidden=1 hidden-rival 100
grep -q 'another profiler took CUPTI before .*: 200 kernels' err || fail "a hidden rival is not told"

# says TEXT SETTINGS: the failure is named in the summary and in the capture.
says() {
    record "$2" records 5
    grep -qF -- "$1" err || fail "$2: no '$1'"
    sqlite3 cap.sqlite 'SELECT text FROM DIAGNOSTIC_EVENT' | grep -qF -- "$1" || fail "$2: not in the capture"
    [ "$(sqlite3 cap.sqlite "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'program'")" = 1 ] ||
        fail "$2: NVTX was not recorded"
}
says "another CUPTI client is active" layout=13.0,subscribe=39
says "no permission to record GPU activity (CUPTI result 35)" layout=13.0,subscribe=35
says "no usable CUDA driver" layout=13.0,subscribe=999
says "CUPTI is newer than the driver (result 15 of cuptiSubscribe)" layout=13.0,subscribe=15
record layout=13.0 records 0
grep -q 'attached but no CUDA' err || fail "no 'attached but no CUDA'"
echo ok
