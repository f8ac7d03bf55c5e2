#!/usr/bin/env python3
"""Time of each report of `cutline stats`, load included, beside that of the equivalent SQL in the
sqlite3 shell on the same file in the same run; the best of three rounds, one where it is long.

    bench_reports.py PROGRAM CAPTURE [REPORT...]

The SQL of a summary is given twice: with what SQLite's own functions give (sum, count, mean,
smallest, largest), and in full, with share, median and variance as the report has them. Projections
have no SQL beside them: joined by containment they are quadratic.
"""
import os
import sys

from rounds import best

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
API = "CUPTI_ACTIVITY_KIND_RUNTIME"
COPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
SET = "CUPTI_ACTIVITY_KIND_MEMSET"
CALL = f"""{API} r JOIN {KERNEL} k ON k.correlationId = r.correlationId
    AND k.globalPid = (r.globalTid & 0xFFFFFFFFFF000000)"""


def summary(rows, names="LEFT JOIN StringIds ON id = name", label="value"):
    """The summary of rows (name, v): what SQLite's own functions give, and all that is printed."""
    plain = f"""SELECT sum(v), count(*), avg(v), min(v), max(v), {label} FROM ({rows}) {names}
        GROUP BY name ORDER BY 1 DESC"""
    full = f"""SELECT 100.0 * t / sum(t) OVER (), t, c, a, m, low, high, var, {label} FROM (
        SELECT name, sum(v) t, count(*) c, avg(v) a,
            avg(CASE WHEN n IN ((o + 1) / 2, (o + 2) / 2) THEN v END) m, min(v) low, max(v) high,
            (sum(1.0 * v * v) - sum(1.0 * v) * sum(v) / count(*)) / max(count(*) - 1, 1) var
        FROM (SELECT name, v, row_number() OVER (PARTITION BY name ORDER BY v) n,
                  count(*) OVER (PARTITION BY name) o FROM ({rows})) GROUP BY name) {names}
        ORDER BY t DESC"""
    return plain, full


COPIES = f"""SELECT copyKind name, end - start v FROM {COPY} UNION ALL SELECT -1, end - start FROM {SET}"""
# Report -> one or two SQL texts.
SQL = {
    "cuda_gpu_kern_sum": summary(f"SELECT demangledName name, end - start v FROM {KERNEL}"),
    "cuda_gpu_kern_gb_sum": summary(
        f"""SELECT demangledName || ' ' || gridX || ' ' || gridY || ' ' || gridZ || ' ' || blockX
        || ' ' || blockY || ' ' || blockZ name, end - start v FROM {KERNEL}""", "", "name"),
    "cuda_api_sum": summary(f"""SELECT nameId name, end - start v FROM {API}
        WHERE eventClass IN (0, 1, 13, 26)"""),
    "osrt_sum": summary("SELECT nameId name, end - start v FROM OSRT_API WHERE eventClass = 27"),
    "nvtx_sum": summary("""SELECT coalesce(textId, text) name, end - start v FROM NVTX_EVENTS
        WHERE eventType IN (59, 60)"""),
    "cuda_gpu_mem_time_sum": summary(COPIES, "", "name"),
    "cuda_gpu_sum": summary(f"""SELECT demangledName name, end - start v FROM {KERNEL}
        UNION ALL SELECT -2 - name, v FROM ({COPIES})"""),
    "cuda_gpu_trace": (f"""SELECT start, end - start, correlationId, gridX, gridY, gridZ, blockX, blockY,
        blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, deviceId, contextId,
        streamId, value FROM {KERNEL} JOIN StringIds ON id = demangledName ORDER BY start""",),
    "cuda_api_trace": (f"""SELECT start, end - start, value, returnValue, correlationId,
        globalTid >> 24 & 0xFFFFFF, globalTid & 0xFFFFFF FROM {API} JOIN StringIds ON id = nameId
        ORDER BY start""",),
    "cuda_kern_exec_sum": (f"""SELECT r.globalTid, k.deviceId, r.nameId, k.demangledName, count(*),
        avg(max(r.end, k.end) - r.start), avg(r.end - r.start), avg(max(k.start - r.end, 0)),
        avg(k.end - k.start) FROM {CALL} GROUP BY 1, 2, 3, 4 ORDER BY 6 DESC""",),
    "cuda_kern_exec_trace": (f"""SELECT r.start, r.end - r.start, r.end, k.start - r.end, k.start,
        k.end - k.start, r.globalTid, k.deviceId, r.nameId, k.gridX, k.demangledName FROM {CALL}
        ORDER BY r.start""",),
    "nvtx_pushpop_trace": (),
    "nvtx_gpu_proj_sum": (),
    "nvtx_kern_sum": (),
    "occupancy": (),
    "overlap": (),
}


def main():
    program, capture = sys.argv[1], sys.argv[2]
    wanted = sys.argv[3:] or list(SQL)
    size = os.path.getsize(capture) / 1e6
    print(f"{os.path.basename(capture)}: {size:.0f} MB; seconds with the load")
    print(f"{'report':24} {'cutline':>8} {'SQL':>8} {'ratio':>6} {'full SQL':>9} {'ratio':>6}")
    for name in wanted:
        ours = best([program, "stats", "-q", "-r", name, "-f", "csv", capture])
        line = f"{name:24} {ours:8.2f}"
        for width, sql in zip((8, 9), SQL[name]):
            theirs = best(["sqlite3", "-csv", f"file:{capture}?immutable=1", sql])
            line += f" {theirs:{width}.2f} {ours / theirs:6.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
