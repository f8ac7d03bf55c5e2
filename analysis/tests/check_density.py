#!/usr/bin/env python3
"""Compares `cutline analyze -r launch_density` with the definition, computed here from the file.

check_density.py PROGRAM CAPTURE [ZONES-PER-THREAD...]; the numbers, where given, are known zones by
thread id.
"""
import bisect
import collections
import csv
import io
import re
import sqlite3
import statistics
import subprocess
import sys

RUN, QUEUE, BUSY, EVERY, HELD = 32, 20000, 0.8, 100000, 8
program, capture = sys.argv[1:3]
db = sqlite3.connect(f"file:{capture}?immutable=1", uri=True)
tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
gpu = {}
if "TARGET_INFO_CUDA_DEVICE" in tables:
    gpu = {(pid, cuda): number for number, cuda, pid in
           db.execute("SELECT gpuId, cudaId, pid FROM TARGET_INFO_CUDA_DEVICE")}
busy, launches = collections.defaultdict(list), collections.defaultdict(dict)
calls = {}
for begin, end, tid, correlation in db.execute(
        """SELECT start, end, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME
           WHERE eventClass IN (0, 1, 13, 26)"""):
    calls[tid & ~0xFFFFFF, correlation] = (begin, end, tid & 0xFFFFFF)
for kind in ("KERNEL", "GRAPH_TRACE", "MEMCPY", "MEMSET"):
    table = f"CUPTI_ACTIVITY_KIND_{kind}"
    if table not in tables:
        continue
    for begin, end, device, pid, correlation in db.execute(
            f"SELECT start, end, deviceId, globalPid, correlationId FROM {table}"):
        if begin == 0 and end == 0:
            continue
        device = gpu.get((pid >> 24 & 0xFFFFFF, device), device)
        busy[device].append((begin, end))
        call = calls.get((pid, correlation))
        if call and kind in ("KERNEL", "GRAPH_TRACE"):
            old = launches[call[2], device].get(call, (begin, end))
            launches[call[2], device][call] = (min(old[0], begin), max(old[1], end))


def waiting_calls():
    """(begin of the call) of each thread: calls that wait for the device."""
    strings = dict(db.execute("SELECT id, value FROM StringIds"))
    copies = {}
    if "CUPTI_ACTIVITY_KIND_MEMCPY" in tables:
        have = {row[1] for row in db.execute("PRAGMA table_info(CUPTI_ACTIVITY_KIND_MEMCPY)")}
        src, dst = (c if c in have else "NULL" for c in ("srcKind", "dstKind"))
        for pid, correlation, size, kind, a, b in db.execute(
                f"""SELECT globalPid, correlationId, bytes, copyKind, {src}, {dst}
                    FROM CUPTI_ACTIVITY_KIND_MEMCPY"""):
            copies.setdefault((pid, correlation), (size, kind, a, b))
    found = collections.defaultdict(list)
    for begin, tid, correlation, name in db.execute(
            """SELECT start, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME
               WHERE eventClass IN (0, 1, 13, 26)"""):
        name = strings.get(name, "")
        waits = "Synchronize" in name
        if re.match(r"cu(da)?_?Memcpy", name):
            copy = copies.get((tid & ~0xFFFFFF, correlation))
            waits = "Async" not in name or (copy is not None and 0 in copy[2:])
            if copy is not None and (copy[1] == 8 or (copy[1] == 1 and copy[0] <= 65536)):
                waits = False
        if waits:
            found[tid & 0xFFFFFF].append(begin)
    return found


def busy_time(device, begin, end):
    total, until = 0, begin
    for b, e in merged[device]:
        if e <= begin:
            continue
        if b >= end:
            break
        total += min(e, end) - max(b, until)
        until = max(until, min(e, end))
    return total


merged = {}
for device, ops in busy.items():
    merged[device] = []
    for b, e in sorted(ops):
        if merged[device] and b <= merged[device][-1][1]:
            merged[device][-1][1] = max(merged[device][-1][1], e)
        else:
            merged[device].append([b, e])


def held_launches(tid, series):
    """Is each launch the first after a call that waits?"""
    begins = [call[0] for call, _ in series]
    held = [False] * len(series)
    for begin in waits[tid]:
        at = bisect.bisect_left(begins, begin)
        if at < len(held):
            held[at] = True
    return held


def zones(tid, device, series):
    """Unions of launch-bound windows, as slices of the series."""
    queue = [op[0] - call[1] for call, op in series]
    held = held_launches(tid, series)
    found = []
    for i in range(len(series) - RUN + 1):
        if sum(q < QUEUE for q in queue[i:i + RUN]) * 2 <= RUN:
            continue
        if sum(held[i + 1:i + RUN]) * HELD > RUN or \
                (series[i + RUN - 1][0][1] - series[i][0][1]) // (RUN - 1) > EVERY:
            continue
        begin, end = series[i][1][0], max(op[1] for _, op in series[i:i + RUN])
        if end <= begin or busy_time(device, begin, end) >= BUSY * (end - begin):
            continue
        if found and i <= found[-1][1]:
            found[-1][1] = i + RUN
        else:
            found.append([i, i + RUN])
    for zone in found:
        while zone[1] - zone[0] > RUN and queue[zone[0]] >= QUEUE:
            zone[0] += 1
        while zone[1] - zone[0] > RUN and queue[zone[1] - 1] >= QUEUE:
            zone[1] -= 1
    return found


waits = waiting_calls()
want = {}
for (tid, device), of in launches.items():
    series = sorted(of.items())
    for first, end in zones(tid, device, series):
        part = series[first:end]
        begin = min(op[0] for _, op in part)
        last = max(op[1] for _, op in part)
        queue = statistics.median(op[0] - call[1] for call, op in part)
        want[tid, device, begin, last - begin] = (len(part), busy_time(device, begin, last), queue)
run = subprocess.run([program, "analyze", "-r", "launch_density", "-f", "csv", capture], text=True,
                     capture_output=True, check=True)
rows = list(csv.DictReader(io.StringIO(run.stdout)))
got = {(int(r["TID"]), int(r["Device ID"]), int(r["Start (ns)"]), int(r["Duration (ns)"])): r
       for r in rows}
assert got.keys() == want.keys(), (sorted(got), sorted(want))
for key, (count, busy_ns, queue) in want.items():
    row = got[key]
    assert int(row["Launches"]) == count, (row, count)
    assert int(row["Idle (ns)"]) == key[3] - busy_ns, (row, busy_ns)
    assert abs(int(row["Queue Med (ns)"]) - queue) <= 1, (row, queue)
per_thread = collections.Counter(int(r["TID"]) for r in rows)
for expected in sys.argv[3:]:
    tid, number = map(int, expected.split("="))
    assert per_thread[tid] == number, f"thread {tid}: {per_thread[tid]} zones, wanted {number}"
print(f"{capture.rsplit('/', 1)[-1]}: {len(rows)} zones agree")
