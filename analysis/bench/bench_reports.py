#!/usr/bin/env python3
"""Time of each report of `cutline stats`, load included, beside that of the equivalent SQL in the
sqlite3 shell on the same file in the same run; the best of a few rounds each.

    bench_reports.py PROGRAM CAPTURE [REPORT...]

The SQL of a summary has sum, count, mean, smallest and largest; SQLite has no median and no
deviation, which the report prints too. Projections have no SQL beside them: joined by containment
they are quadratic.
"""
import os
import subprocess
import sys
import time

ROUNDS = 3
STATS = "sum(end - start), count(*), avg(end - start), min(end - start), max(end - start)"
KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
API = "CUPTI_ACTIVITY_KIND_RUNTIME"
CALL = f"""{API} r JOIN {KERNEL} k ON k.correlationId = r.correlationId
    AND k.globalPid = (r.globalTid & 0xFFFFFFFFFF000000)"""

SQL = {
    "cuda_gpu_kern_sum": f"""SELECT {STATS}, value FROM {KERNEL} JOIN StringIds ON id = demangledName
        GROUP BY demangledName ORDER BY 1 DESC""",
    "cuda_gpu_kern_gb_sum": f"""SELECT {STATS}, gridX, gridY, gridZ, blockX, blockY, blockZ, value
        FROM {KERNEL} JOIN StringIds ON id = demangledName
        GROUP BY demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ ORDER BY 1 DESC""",
    "cuda_api_sum": f"""SELECT {STATS}, value FROM {API} JOIN StringIds ON id = nameId
        WHERE eventClass IN (0, 1, 13, 26) GROUP BY nameId ORDER BY 1 DESC""",
    "osrt_sum": f"""SELECT {STATS}, value FROM OSRT_API JOIN StringIds ON id = nameId
        WHERE eventClass = 27 GROUP BY nameId ORDER BY 1 DESC""",
    "nvtx_sum": f"""SELECT {STATS}, coalesce(value, text) FROM NVTX_EVENTS
        LEFT JOIN StringIds ON id = textId WHERE eventType IN (59, 60) GROUP BY 6 ORDER BY 1 DESC""",
    "cuda_gpu_mem_time_sum": f"""SELECT {STATS}, copyKind FROM (
        SELECT start, end, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY
        UNION ALL SELECT start, end, -1 FROM CUPTI_ACTIVITY_KIND_MEMSET)
        GROUP BY copyKind ORDER BY 1 DESC""",
    "cuda_gpu_sum": f"""SELECT {STATS}, name FROM (
        SELECT start, end, demangledName AS name FROM {KERNEL}
        UNION ALL SELECT start, end, -copyKind - 2 FROM CUPTI_ACTIVITY_KIND_MEMCPY
        UNION ALL SELECT start, end, -1 FROM CUPTI_ACTIVITY_KIND_MEMSET)
        GROUP BY name ORDER BY 1 DESC""",
    "cuda_gpu_trace": f"""SELECT start, end - start, correlationId, gridX, gridY, gridZ, blockX, blockY,
        blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, deviceId, contextId,
        streamId, value FROM {KERNEL} JOIN StringIds ON id = demangledName ORDER BY start""",
    "cuda_api_trace": f"""SELECT start, end - start, value, returnValue, correlationId,
        globalTid >> 24 & 0xFFFFFF, globalTid & 0xFFFFFF FROM {API} JOIN StringIds ON id = nameId
        ORDER BY start""",
    "cuda_kern_exec_sum": f"""SELECT r.globalTid, k.deviceId, r.nameId, k.demangledName, count(*),
        avg(max(r.end, k.end) - r.start), avg(r.end - r.start), avg(max(k.start - r.end, 0)),
        avg(k.end - k.start) FROM {CALL} GROUP BY 1, 2, 3, 4 ORDER BY 6 DESC""",
    "cuda_kern_exec_trace": f"""SELECT r.start, r.end - r.start, r.end, k.start - r.end, k.start,
        k.end - k.start, r.globalTid, k.deviceId, r.nameId, k.gridX, k.demangledName FROM {CALL}
        ORDER BY r.start""",
    "nvtx_pushpop_trace": None,
    "nvtx_gpu_proj_sum": None,
    "nvtx_kern_sum": None,
    "occupancy": None,
    "overlap": None,
}


def best(command):
    times = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return min(times)


def main():
    program, capture = sys.argv[1], sys.argv[2]
    wanted = sys.argv[3:] or list(SQL)
    size = os.path.getsize(capture) / 1e6
    print(f"{os.path.basename(capture)}: {size:.0f} MB; seconds with the load, best of {ROUNDS}")
    print(f"{'report':24} {'cutline':>8} {'SQL':>8} {'ratio':>6}")
    for name in wanted:
        ours = best([program, "stats", "-q", "-r", name, "-f", "csv", capture])
        if SQL[name] is None:
            print(f"{name:24} {ours:8.2f}")
            continue
        sql = best(["sqlite3", "-csv", f"file:{capture}?immutable=1", SQL[name]])
        print(f"{name:24} {ours:8.2f} {sql:8.2f} {ours / sql:6.2f}", flush=True)


if __name__ == "__main__":
    main()
