#!/usr/bin/env bash
# 30,000 processes, threads, streams or devices: what looks at each of them for each of them never ends.
# The limit is one of processor time, ten times and more what any command takes.
set -euo pipefail
export LC_ALL=C.UTF-8 CUTLINE_CONFIG=/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for kind in processes threads streams devices; do
    python3 - "$kind" 30000 "$work/$kind.sqlite" <<'END'
import sqlite3, sys
kind, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
db = sqlite3.connect(path, isolation_level=None)
db.executescript("""
pragma journal_mode = off; pragma synchronous = off; begin;
create table StringIds(id integer primary key, value);
insert into StringIds values (1, 'cudaLaunchKernel_v7000'), (2, 'gemm'), (3, 'softmax'), (4, 'read'), (5, 'flush'),
    (6, 'worker');
create table META_DATA_EXPORT(name, value);
create table PROCESSES(globalPid, pid, name);
create table ThreadNames(nameId, priority, globalTid);
create table TARGET_INFO_GPU(id, name, smCount, maxWarpsPerSm, threadsPerWarp);
create table TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid);
create table TARGET_INFO_GPU_METRICS(typeId, sourceId, typeName, metricId, metricName);
create table GPU_METRICS(timestamp, typeId, metricId, value);
create table CUDA_GPU_MEMORY_USAGE_EVENTS(start, globalPid, deviceId, contextId, address, bytes, memKind,
    memoryOperationType);
create table CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue);
create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid,
    demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ);
create table NVTX_EVENTS(start, end, eventType, text, globalTid);
create table OSRT_API(start, end, eventClass, globalTid, nameId);
create table PROFILER_OVERHEAD(start, end, globalTid, nameId);
""")
def pid(i): return 100 + (i if kind == "processes" else 0)
def tid(i): return pid(i) + (i if kind == "threads" else 0)
def gpid(i): return 1 << 48 | pid(i) << 24
def gtid(i): return gpid(i) | tid(i)
def device(i): return i if kind == "devices" else 0
def stream(i): return 7 + (i if kind == "streams" else 0)
tables = {
    "PROCESSES": lambda i, t: (gpid(i), pid(i), "worker") if i == 0 or kind == "processes" else None,
    "ThreadNames": lambda i, t: (6, 10, gtid(i)),
    "TARGET_INFO_GPU": lambda i, t: (device(i), "GPU", 108, 64, 32) if i == 0 or kind == "devices" else None,
    "TARGET_INFO_CUDA_DEVICE": lambda i, t: (device(i), device(i), pid(i)),
    "TARGET_INFO_GPU_METRICS": lambda i, t: (512 + i, 0, "GPU", 3, "SM Active") if kind == "devices" else None,
    "GPU_METRICS": lambda i, t: (t, 512 + device(i), 3, i % 100),
    "CUDA_GPU_MEMORY_USAGE_EVENTS": lambda i, t: (t, gpid(i), device(i), 1, i * 4096, 1000, 2, 0),
    "CUPTI_ACTIVITY_KIND_RUNTIME": lambda i, t: (t, t + 5000, 0, gtid(i), i + 1, 1, 0),
    "CUPTI_ACTIVITY_KIND_KERNEL": lambda i, t: (t + 6000, t + 9000, device(i), 1, stream(i), i + 1, gpid(i), 2 + i % 2,
                                                2 + i % 2, 100, 1, 1, 128, 1, 1),
    "NVTX_EVENTS": lambda i, t: (t, t + 9000, 59, "step", gtid(i)),
    "OSRT_API": lambda i, t: (t + 10000, t + 11000, 27, gtid(i), 4),
    "PROFILER_OVERHEAD": lambda i, t: (t + 7000, t + 7500, gtid(i), 5),
}
for table, row in tables.items():
    rows = [r for r in (row(i, i * 20000) for i in range(count)) if r is not None]
    if rows:
        db.executemany(f"insert into {table} values ({','.join('?' * len(rows[0]))})", rows)
db.execute("commit")
END
    for command in info stats analyze "view --dump --size 120x40" "export -t chrome -o $work/$kind.json" \
        "diff $work/$kind.sqlite"; do
        status=0
        # shellcheck disable=SC2086
        (ulimit -t 30 && exec "$CUTLINE" $command "$work/$kind.sqlite") >"$work/out" 2>"$work/err" </dev/null || status=$?
        [ "$status" -eq 0 ] || { echo "cutline $command with 30,000 $kind: status $status"; cat "$work/err"; exit 1; }
    done
    rm -f "$work/$kind".*
done
echo ok
