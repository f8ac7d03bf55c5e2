#!/usr/bin/env python3
"""Compares `cutline info -f json` with counts made here with SQL, and the total of the idle gaps
with a sweep made here over all GPU rows.

    check_info.py PROGRAM CAPTURE...
"""
import json
import sqlite3
import subprocess
import sys

GPU = {
    "kernels": "CUPTI_ACTIVITY_KIND_KERNEL",
    "memcpys": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "memsets": "CUPTI_ACTIVITY_KIND_MEMSET",
    "graph_launches": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}
API = "CUPTI_ACTIVITY_KIND_RUNTIME"
OVERHEAD = ("PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD")


class Capture:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.db.text_factory = bytes

    def columns(self, table):
        return [row[1].decode() for row in self.db.execute(f"PRAGMA table_info('{table}')")]

    def rows(self, table, columns, where="1"):
        """Rows of the columns, NULL for those that the table lacks; none without the table."""
        there = self.columns(table)
        if not there:
            return []
        wanted = [f'"{c}"' if c in there else "NULL" for c in columns]
        return self.db.execute(f'SELECT {", ".join(wanted)} FROM "{table}" WHERE {where}').fetchall()

    def where_class(self, table, classes):
        return f"eventClass IN ({classes})" if "eventClass" in self.columns(table) else "1"

    def hosts(self):
        """(kind, start, end, globalTid) of all rows of threads that are drawn or counted."""
        for row in self.rows(API, ("start", "end", "globalTid"), self.where_class(API, "0,1,13,26")):
            yield ("api", *row)
        for row in self.rows("OSRT_API", ("start", "end", "globalTid"),
                             self.where_class("OSRT_API", "27")):
            yield ("osrt", *row)
        for table in OVERHEAD:
            for row in self.rows(table, ("start", "end", "globalTid")):
                yield ("overhead", *row)
        everything = self.rows("NVTX_EVENTS", ("start", "end"))
        latest = max((t for row in everything for t in row if t is not None), default=0)
        for start, end, tid, kind in self.rows(
                "NVTX_EVENTS", ("start", "end", "globalTid", "eventType"),
                "eventType IN (34, 59, 60, 70, 71)"):
            if kind == 34:
                yield ("mark", start, start, tid)
            else:
                yield ("range", start, latest if end is None else end, tid)


def expected(path):
    capture = Capture(path)
    out = {}
    host = list(capture.hosts())
    times = [(start, end) for _, start, end, _ in host if end >= start]
    processes = {tid & ~0xFFFFFF for _, _, _, tid in host}
    lone = processes if len(processes) == 1 else {0}
    physical = {(pid, cuda): gpu for gpu, cuda, pid in capture.rows(
        "TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")) if gpu is not None}
    ops = {}
    untimed = 0
    for key, table in GPU.items():
        rows = capture.rows(table, ("start", "end", "deviceId", "globalPid"))
        out[key] = len(rows)
        for start, end, device, process in rows:
            process = next(iter(lone)) if process is None else process
            processes.add(process)
            if start == 0 and end == 0:
                untimed += 1
            elif end >= start:
                gpu = physical.get((process >> 24 & 0xFFFFFF, device), device)
                ops.setdefault(gpu, []).append((start, end))
                times.append((start, end))
    for key, kind in (("api_calls", "api"), ("nvtx_ranges", "range"), ("nvtx_marks", "mark"),
                      ("osrt_calls", "osrt")):
        out[key] = sum(1 for row in host if row[0] == kind)
    out["devices"] = len(ops)
    out["processes"] = len(processes)
    out["span_ns"] = max(e for _, e in times) - min(s for s, _ in times) if times else 0
    out["untimed"] = untimed
    span = idle = 0
    for intervals in ops.values():
        intervals.sort()
        until = intervals[0][0]
        for start, end in intervals:
            idle += max(0, start - until)
            until = max(until, end)
        span += until - intervals[0][0]
    out["busy_ns"] = span - idle
    if out["kernels"] + out["graph_launches"] > 0:
        out["verdict"] = "has GPU work"
    elif out["memcpys"] + out["memsets"] > 0:
        out["verdict"] = "has GPU work, but no kernels"
    elif out["api_calls"] > 0:
        out["verdict"] = "API calls but no kernels"
    else:
        out["verdict"] = "no CUDA activity"
    return out


def main():
    program = sys.argv[1]
    bad = 0
    for path in sys.argv[2:]:
        run = subprocess.run([program, "info", "-f", "json", path], capture_output=True, check=False)
        if run.returncode != 0:
            print(f"{path}: exit status {run.returncode}: {run.stderr.decode()}")
            bad += 1
            continue
        got = json.loads(run.stdout)
        for key, want in expected(path).items():
            same = got[key].startswith(want) if key == "verdict" else got[key] == want
            if not same:
                print(f"{path}: {key}: {got[key]!r}, SQL says {want!r}")
                bad += 1
    print(f"{len(sys.argv) - 2} captures compared, {bad} differences")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
