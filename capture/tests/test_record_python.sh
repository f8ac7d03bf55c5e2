#!/usr/bin/env bash
# Programs of others, from PyPI, in a virtual environment of the test: the nvtx package is recorded
# exactly, and nsys-ai reads a capture of ours and counts the same. Skipped where pip fetches nothing.
set -euo pipefail
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; [ ! -s "$work/err" ] || cat "$work/err"; exit 1; }
if [ -n "${CUTLINE_SANITIZE:-}" ]; then
    echo "skipped: python cannot load a library with sanitizers"
    exit 77
fi

# The environment is kept in the build folder; what pip cannot fetch within a minute is not there.
venv=$CUTLINE_BUILD/tests/venv
fetch() {
    "$venv/bin/python" -c "import $2" 2>/dev/null && return 0
    [ -x "$venv/bin/python" ] || timeout 60 python3 -m venv "$venv" >/dev/null 2>&1 || return 1
    timeout 60 "$venv/bin/pip" install -q --retries 0 --timeout 10 "$1" >/dev/null 2>&1 || return 1
    "$venv/bin/python" -c "import $2" 2>/dev/null
}
done_any=
cd "$work"

if fetch nvtx nvtx; then
    done_any=1
    cat >ranges.py <<'END'
import threading, nvtx

@nvtx.annotate("decorated", color="green", domain="python", category="work")
def work(depth):
    if depth:
        with nvtx.annotate(f"level {depth}", payload=depth):
            work(depth - 1)

def many(name):
    for i in range(500):
        nvtx.push_range(f"{name} {i}")
        nvtx.pop_range()

work(3)
threads = [threading.Thread(target=many, args=(f"thread {i}",)) for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
handle = nvtx.start_range(message="start/end", color=0x123456)
nvtx.mark("a mark")
nvtx.end_range(handle)
print("python done")
END
    "$CUTLINE" record -o python "$venv/bin/python" ranges.py >out 2>err
    [ "$(cat out)" = "python done" ] || fail "output"
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("python.sqlite")
texts = "SELECT coalesce(text, value) AS t, n.* FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = textId"

def count(where):
    return db.execute(f"SELECT count(*) FROM ({texts}) WHERE {where}").fetchone()[0]

assert count("eventType = 59 AND t = 'decorated'") == 4
assert count("eventType = 59 AND t LIKE 'level %'") == 3
assert count("eventType = 59 AND t LIKE 'thread %'") == 1500
assert db.execute(f"SELECT count(DISTINCT globalTid) FROM ({texts}) WHERE t LIKE 'thread %'").fetchone()[0] == 3
assert count("eventType = 60 AND t = 'start/end' AND \"end\" >= start") == 1
assert count("eventType = 34 AND t = 'a mark'") == 1
assert count('eventType = 59 AND "end" IS NULL') == 0
domain = db.execute(f"SELECT domainId FROM ({texts}) WHERE eventType = 75 AND t = 'python'").fetchone()[0]
assert count(f"t = 'decorated' AND domainId = {domain} AND color IS NOT NULL AND category IS NOT NULL") == 4
payloads = [row[0] for row in db.execute(
    f"SELECT coalesce(int64Value, uint64Value) FROM ({texts}) WHERE t LIKE 'level %' ORDER BY start")]
assert payloads == [3, 2, 1], payloads
spans = [db.execute(f"SELECT start, \"end\" FROM ({texts}) WHERE t = 'level {i}'").fetchone() for i in (3, 2, 1)]
assert all(a[0] <= b[0] and b[1] <= a[1] for a, b in zip(spans, spans[1:])), spans
END
else
    echo "not tried: pip cannot fetch nvtx"
fi

if fetch nsys-ai nsys_ai; then
    done_any=1
    mkdir session
    "$CUTLINE_BUILD/tests/session_tool" session
    "$CUTLINE" record --recover session -o train 2>err || fail "the made-up session"
    ai=$venv/bin/nsys-ai
    # all at once, each on a copy: it looks for the network first, and writes indexes into the file
    for job in info report export; do cp train.sqlite "$job.sqlite"; done
    timeout 120 "$ai" info info.sqlite >info 2>err.info & info=$!
    timeout 120 "$ai" report report.sqlite --gpu 0 --trim 0 1 >report 2>err.report & report=$!
    timeout 120 "$ai" export export.sqlite --gpu 0 --trim 0 1 -o export >out 2>err.export & export=$!
    wait $info || { cat err.info; fail "nsys-ai info"; }
    wait $report || { cat err.report; fail "nsys-ai report"; }
    wait $export || { cat err.export; fail "nsys-ai export"; }
    grep -q 'Kernels: 800  |  NVTX: 40' info || { cat info; fail "nsys-ai counts otherwise"; }
    grep -q 'GPU 1: NVIDIA Made Up .*Kernels=400 | Streams=\[7, 13\]' info || { cat info; fail "devices"; }
    grep -q '×134 *saxpy' report || { cat report; fail "kernels by name"; }
    python3 - <<'END'
import glob, json
trace = json.load(open(glob.glob("export/*.json")[0]))
events = trace["traceEvents"] if isinstance(trace, dict) else trace
kernels = [e for e in events if e.get("ph") == "X" and any(n in e["name"] for n in ("saxpy", "sgemm", "flash_fwd"))]
assert len(kernels) >= 400, len(kernels)
END
else
    echo "not tried: pip cannot fetch nsys-ai"
fi
[ -n "$done_any" ] || { echo "skipped: pip fetches nothing here"; exit 77; }
echo ok
