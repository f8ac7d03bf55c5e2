#!/usr/bin/env python3
"""Compares hidden_transfers, small_copies and low_utilisation with what the file says.

check_copies.py PROGRAM CAPTURE...: copies are grouped and measured here from the rows, and the low
seconds are looked for one by one at every ms.
"""
import bisect
import collections
import csv
import io
import sqlite3
import subprocess
import sys

KINDS = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"]
SECOND, STEP = 10**9, 10**6


def rule(program, spec, capture):
    run = subprocess.run([program, "analyze", "-q", "-r", spec, "-f", "csv", capture], text=True,
                         capture_output=True, check=True)
    return list(csv.DictReader(io.StringIO(run.stdout)))


def rows(db, table, columns):
    have = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
    if not have:
        return []
    return db.execute("SELECT " + ", ".join(c if c in have else "NULL" for c in columns)
                      + f" FROM {table} WHERE NOT (start = 0 AND end = 0) AND end >= start").fetchall()


class Union:
    """Disjoint intervals with running sums: the covered time of any window."""

    def __init__(self, intervals):
        self.begins, self.ends = [], []
        for begin, end in sorted(intervals):
            if self.ends and begin <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            elif end > begin:
                self.begins.append(begin)
                self.ends.append(end)
        self.sums = [0]
        for begin, end in zip(self.begins, self.ends):
            self.sums.append(self.sums[-1] + end - begin)

    def before(self, time):
        i = bisect.bisect_right(self.begins, time)
        return self.sums[i] - (max(self.ends[i - 1] - time, 0) if i else 0)

    def covered(self, begin, end):
        return self.before(end) - self.before(begin)


def check(program, capture):
    db = sqlite3.connect(f"file:{capture}?immutable=1", uri=True)
    gpu = {(pid, cuda): number for number, cuda, pid in
           rows_any(db, "TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid"))}
    work, every, copies = (collections.defaultdict(list) for _ in range(3))
    for table in ("KERNEL", "GRAPH_TRACE", "MEMSET", "MEMCPY"):
        for begin, end, device, pid, kind, size, src, dst in rows(
                db, f"CUPTI_ACTIVITY_KIND_{table}",
                ("start", "end", "deviceId", "globalPid", "copyKind", "bytes", "srcKind", "dstKind")):
            process = (pid or 0) >> 24 & 0xFFFFFF
            number = gpu.get((process, device), device)
            every[number].append((begin, end))
            if table in ("KERNEL", "GRAPH_TRACE"):
                work[number].append((begin, end))
            if table == "MEMCPY":
                copies[number].append((process, kind, src, dst, size, begin, end))
    check_copies(program, capture, work, copies)
    check_low(program, capture, every)
    print(f"{capture.rsplit('/', 1)[-1]}: copies and utilisation agree")


def rows_any(db, table, columns):
    have = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
    return db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall() if set(columns) <= have else []


def label(kind):
    return KINDS[kind] if kind is not None and 0 <= kind < len(KINDS) else ""


def check_copies(program, capture, work, copies):
    want = collections.defaultdict(lambda: [0, 0, 0, 0])
    small = collections.Counter()
    for device, of in copies.items():
        union = Union(work[device])
        for process, kind, src, dst, size, begin, end in of:
            group = want[device, process, kind, label(src), label(dst)]
            group[0] += 1
            group[1] += end - begin
            group[2] += union.covered(begin, end)
            group[3] += size
            small[device, process, kind, label(src), label(dst)] += size <= 65536
    # Rows do not name the kind by its number: compare them as sets.
    got = sorted((int(r["Device ID"]), r["Src Kind"], r["Dst Kind"], int(r["Count"]),
                  int(r["Total Time (ns)"]), int(r["Hidden Time (ns)"]),
                  float(r["Total Bytes (MB)"] or 0)) for r in rule(program, "hidden_transfers", capture))
    expected = sorted((k[0], k[3], k[4], v[0], v[1], v[2], round(v[3] / 1e6, 3)) for k, v in want.items())
    assert len(got) == len(expected), (capture, got, expected)
    for mine, other in zip(got, expected):
        assert mine[:6] == other[:6] and abs(mine[6] - other[6]) < 0.0011, (capture, mine, other)
    got = sorted((int(r["Device ID"]), r["Src Kind"], r["Dst Kind"], int(r["Count"]))
                 for r in rule(program, "small_copies", capture))
    expected = sorted((k[0], k[3], k[4], n) for k, n in small.items()
                      if n >= 16 and k[2] not in (11, 12, 13))  # migrations of unified memory are no copies
    assert got == expected, (capture, got, expected)


def check_low(program, capture, every):
    zones = collections.defaultdict(list)
    for row in rule(program, "low_utilisation", capture):
        zones[int(row["Device ID"])].append((int(row["Start (ns)"]), int(row["End (ns)"])))
    for device, ops in every.items():
        union = Union(ops)
        first, last = min(op[0] for op in ops), max(op[1] for op in ops)
        window = min(SECOND, last - first)
        for begin in range(first, last - window + 1, STEP if window == SECOND else window + 1):
            low = 100 * union.covered(begin, begin + window) < 80 * window
            inside = any(b <= begin and begin + window <= e for b, e in zones[device])
            assert not low or inside, f"{capture}: the second from {begin} is low and in no zone"
        for begin, end in zones[device]:
            assert 100 * union.covered(begin, begin + window) < 80 * window, (capture, begin)
            assert 100 * union.covered(end - window, end) < 80 * window, (capture, end)


for file in sys.argv[2:]:
    check(sys.argv[1], file)
