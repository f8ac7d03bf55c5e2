#!/usr/bin/env python3
"""Compares `cutline analyze -r idle_gaps` with the definition, computed here from the file alone.

check_causes.py PROGRAM CAPTURE...: every gap of 50 us and longer, its cause, thread and NVTX path;
the totals over all gaps. Plain quadratic code, on purpose unlike the program's.
"""
import bisect
import csv
import io
import re
import sqlite3
import subprocess
import sys

MIN_NS = 50000
DEVICE, PID_MASK = {}, ~0xFFFFFF


class Capture:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
        self.db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self.tables = {row[0] for row in self.db.execute("SELECT name FROM sqlite_master")}
        self.strings = dict(self.rows("StringIds", "id", "value"))
        self.read_devices()
        self.read_host()
        self.read_ops()

    def rows(self, table, *columns, where="1"):
        """Rows of a table; NULL for columns that are not there, nothing for a missing table."""
        if table not in self.tables:
            return []
        have = {row[1] for row in self.db.execute(f"PRAGMA table_info({table})")}
        names = [f'"{c}"' if c in have else "NULL" for c in columns]
        return self.db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where}").fetchall()

    def read_devices(self):
        self.gpu = {}
        for gpu, cuda, pid in self.rows("TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId", "pid"):
            self.gpu[pid, cuda] = gpu

    def read_host(self):
        self.api = []
        self.by_correlation = {}
        for begin, end, tid, correlation, name, kind in self.rows(
                "CUPTI_ACTIVITY_KIND_RUNTIME", "start", "end", "globalTid", "correlationId",
                "nameId", "eventClass"):
            if kind in (0, 1, 13, 26) and end >= begin:
                call = (begin, end, tid or 0, self.strings.get(name, ""), correlation)
                self.api.append(call)
                if correlation:
                    self.by_correlation.setdefault(((tid or 0) & PID_MASK, correlation), call)
        self.osrt = [(b, e, t) for b, e, t, kind in self.rows(
            "OSRT_API", "start", "end", "globalTid", "eventClass") if kind == 27]
        self.profiler = self.rows("PROFILER_OVERHEAD", "start", "end", "globalTid")
        self.lazy = [(b, e, t) for b, e, t, name in self.rows(
            "CUPTI_ACTIVITY_KIND_OVERHEAD", "start", "end", "globalTid", "nameId")
            if "oading" in self.strings.get(name, "")]
        ends = [e for _, e in self.rows("NVTX_EVENTS", "start", "end") if e is not None]
        starts = [b for b, _ in self.rows("NVTX_EVENTS", "start", "end") if b is not None]
        last = max(ends + starts, default=0)
        self.ranges = {}
        domains = {}
        for tid, domain, text, text_id in self.rows("NVTX_EVENTS", "globalTid", "domainId", "text",
                                                    "textId", where="eventType = 75"):
            domains.setdefault(((tid or 0) & PID_MASK, domain), self.strings.get(text_id, text))
        for begin, end, tid, text, text_id, domain in self.rows(
                "NVTX_EVENTS", "start", "end", "globalTid", "text", "textId", "domainId",
                where="eventType IN (59, 70)"):
            name = self.strings.get(text_id, text) or ""
            label = domains.get(((tid or 0) & PID_MASK, domain)) if domain else None
            full = f"{label}:{name}" if label else name
            self.ranges.setdefault(tid, []).append((begin, last if end is None else end, full))

    def read_ops(self):
        """(begin, end, device, process, call, is_waiting_copy) of everything a device runs."""
        self.ops = []
        self.copies = {}
        for kind in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"):
            for begin, end, device, pid, correlation, bytes_, copy, src, dst in self.rows(
                    f"CUPTI_ACTIVITY_KIND_{kind}", "start", "end", "deviceId", "globalPid",
                    "correlationId", "bytes", "copyKind", "srcKind", "dstKind"):
                if (begin == 0 and end == 0) or end < begin:
                    continue
                call = self.by_correlation.get((pid or 0, correlation)) if correlation else None
                if pid is None and correlation and len({c[2] & PID_MASK for c in self.api}) == 1:
                    call = self.by_correlation.get((self.api[0][2] & PID_MASK, correlation))
                number = self.gpu.get(((pid or 0) >> 24 & 0xFFFFFF, device), device)
                self.ops.append((begin, end, number, pid or 0, call))
                if kind == "MEMCPY" and call:
                    self.copies.setdefault(call, (begin, bytes_, copy, src, dst))

    # What a call does, from its name.
    def is_sync(self, call):
        return "Synchronize" in call[3]

    def blocks(self, call):
        if not re.match(r"cu(da)?_?Memcpy", call[3]):
            return False
        copy = self.copies.get(call)
        return "Async" not in call[3] or (copy is not None and 0 in copy[3:5])

    def waits(self, call):
        if self.is_sync(call):
            return True
        if not self.blocks(call):
            return False
        copy = self.copies.get(call)
        if copy is None:
            return True
        _, bytes_, kind, _, _ = copy
        return kind != 8 and not (kind == 1 and bytes_ is not None and bytes_ <= 65536)

    def kinds(self, call):
        if self.is_sync(call):
            return "synchronising call"
        if self.blocks(call):
            return "blocking copy"
        name = call[3]
        if re.search(r"Malloc|HostAlloc|HostRegister|HostUnregister|^cudaFree|^cuMem(Alloc|Free|Host|Create|Release|Map|Unmap|AddressReserve|AddressFree|Pool)|^cudaMemPool", name):
            return "allocation or free"
        if re.search(r"Module(Load|Unload)|Library(Load|Unload|GetKernel)?|Link|CtxCreate|cuDevicePrimaryCtx", name) and \
                re.search(r"Load|Unload|Link|Create|Retain", name):
            return "module load"
        return None


def covered(intervals, begin, end):
    total, until = 0, begin
    for b, e in sorted((max(b, begin), min(e, end)) for b, e in intervals):
        if e > until:
            total += e - max(b, until)
            until = e
    return total


class Thread:
    """The calls of one thread, by begin, with the largest end so far for a backward search."""

    def __init__(self, capture, tid):
        self.calls = sorted(c for c in capture.api if c[2] == tid)
        self.osrt = sorted((b, e) for b, e, t in capture.osrt if t == tid)
        self.profiler = [(b, e) for b, e, t in capture.profiler if t == tid]
        self.lazy = [(b, e) for b, e, t in capture.lazy if t == tid]


def cause(capture, threads, gap, before_begins, call):
    g0, g1 = gap
    if call is None:
        return {"unknown", "page migration"}
    l0, l1, tid = call[:3]
    a, b = min(max(l0, g0), g1), min(max(l1, g0), g1)
    host, launch, wait = a - g0, b - a, g1 - b
    if launch and launch * 2 >= g1 - g0:
        return {"slow launch"}
    if wait * 2 >= g1 - g0:
        return {"launched, waits"}
    if launch > host and launch >= wait:
        return {"slow launch"}
    if wait > host:
        return {"launched, waits"}
    thread = threads.setdefault(tid, Thread(capture, tid))
    late = min(l0, g1)
    first = bisect.bisect_left(thread.calls, (late,))
    during = [c for c in thread.calls[:first] if c[1] > g0]
    for kind in ("synchronising call", "blocking copy", "allocation or free", "module load"):
        times = [c[:2] for c in during if capture.kinds(c) == kind]
        if kind == "module load":
            times += [(b, e) for b, e in thread.lazy if e > g0 and b < late]
        share = covered(times, g0, late)
        if share and share * 2 >= late - g0:
            return {kind}
    for kind, times in (("OS call", thread.osrt), ("profiler", thread.profiler)):
        share = covered([(b, e) for b, e in times if e > g0 and b < late], g0, late)
        if share and share * 2 >= late - g0:
            return {kind}
    answers = set()
    for begin in before_begins:
        waited = any(c[1] > begin and capture.waits(c) for c in thread.calls[:first])
        answers.add("cpu work: after a blocking call" if waited else "cpu work: launching too slowly")
    return answers


def path(capture, tid, gap):
    """The range that covers half of the gap and begins last, else most of it; those around it."""
    ranges = [(min(e, gap[1]) - max(b, gap[0]), b, e, name)
              for b, e, name in capture.ranges.get(tid, []) if b < gap[1] and e > gap[0]]
    if not ranges:
        return ""
    half = [r for r in ranges if r[0] * 2 >= gap[1] - gap[0]]
    best = max(half, key=lambda r: (r[1], -r[2])) if half else max(ranges, key=lambda r: (r[0], -r[1]))
    time = max(best[1], gap[0])
    around = sorted((r[1], -r[2], r[3]) for r in ranges if r[1] <= time < r[2])
    names = [name for _, _, name in around]
    return " > ".join(names[:names.index(best[3]) + 1])


def device_gaps(ops):
    gaps, end = [], None
    for op in sorted(ops, key=lambda op: op[:2]):
        if end is not None and op[0] > end:
            gaps.append((end, op[0]))
        end = op[1] if end is None else max(end, op[1])
    return gaps


def check(program, file):
    capture = Capture(file)
    run = subprocess.run([program, "analyze", "-r", "idle_gaps", "-f", "csv", file], text=True,
                         capture_output=True, check=True)
    got = {(int(r["Device ID"]), int(r["Start (ns)"]), int(r["End (ns)"])): r
           for r in csv.DictReader(io.StringIO(run.stdout))}
    threads, want, total, number, span = {}, 0, 0, 0, 0
    for device in sorted({op[2] for op in capture.ops}):
        ops = [op for op in capture.ops if op[2] == device]
        span += max(op[1] for op in ops) - min(op[0] for op in ops)
        gaps = device_gaps(ops)
        number += len(gaps)
        total += sum(e - b for b, e in gaps)
        for gap in gaps:
            if gap[1] - gap[0] < MIN_NS:
                continue
            want += 1
            row = got.get((device, *gap))
            assert row, f"{file}: no row for the gap {gap} of device {device}"
            before = {op[0] for op in ops if op[1] == gap[0]}
            calls = {op[4] for op in ops if op[0] == gap[1]}
            causes = set().union(*(cause(capture, threads, gap, before, c) for c in calls))
            got_cause = row["Cause"].partition(": ")[0] if row["Cause"].startswith("launched") else row["Cause"]
            assert got_cause in causes, f"{file}: {gap}: {row['Cause']}, wanted {causes}"
            tids = {c[2] for c in calls if c}
            if tids:
                assert int(row["TID"]) in {t & 0xFFFFFF for t in tids}, f"{file}: {gap}: thread"
                paths = {path(capture, t, gap) for t in tids}
                assert row["NVTX"] in paths, f"{file}: {gap}: path {row['NVTX']!r}, not {paths}"
    assert want == len(got), f"{file}: {len(got)} rows, wanted {want}"
    lengths = [int(r["Duration (ns)"]) for r in csv.DictReader(io.StringIO(run.stdout))]
    assert lengths == sorted(lengths, reverse=True), f"{file}: not longest first"
    if capture.ops:
        page = subprocess.run([program, "analyze", "-r", "idle_gaps", file], text=True,
                              capture_output=True, check=True).stdout
        line = next(l for l in page.splitlines() if re.match(r"\d+ gaps, total", l))
        share = 100.0 * total / span if span else 0.0
        assert line.startswith(f"{number} gaps, ") and f" {share:.1f} % of the span" in line, \
            f"{file}: {line!r}, wanted {number} gaps, {share:.1f} %"
    print(f"{file.rsplit('/', 1)[-1]}: {number} gaps, {total / 1e6:.1f} ms; {want} causes agree")


for capture_file in sys.argv[2:]:
    check(sys.argv[1], capture_file)
