#!/usr/bin/env python3
"""Compares the answer of the generator with what its file says: check_generator.py FILE KEY."""
import json
import sqlite3
import sys

path, key_path = sys.argv[1], sys.argv[2]
db = sqlite3.connect(path)
key = json.load(open(key_path))
tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}


def rows(table, columns):
    return db.execute(f"SELECT {columns} FROM {table}").fetchall() if table in tables else []


def count(table, where="1"):
    if table not in tables:
        return 0
    return db.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0]


def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def total(intervals):
    return sum(end - begin for begin, end in union(intervals))


def overlap(a, b):
    return total(a) + total(b) - total(a + b)


def expect(what, got, want):
    if got != want:
        sys.exit(f"{path}: {what}: the file says {got}, the key says {want}")


counts = {
    "kernels": count("CUPTI_ACTIVITY_KIND_KERNEL"),
    "memcpys": count("CUPTI_ACTIVITY_KIND_MEMCPY"),
    "memsets": count("CUPTI_ACTIVITY_KIND_MEMSET"),
    "graph_launches": count("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
    "api_calls": count("CUPTI_ACTIVITY_KIND_RUNTIME"),
    "nvtx_ranges": count("NVTX_EVENTS", "eventType = 59"),
    "nvtx_marks": count("NVTX_EVENTS", "eventType = 34"),
    "osrt_calls": count("OSRT_API"),
    "syncs": count("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
    "overheads": count("CUPTI_ACTIVITY_KIND_OVERHEAD") + count("PROFILER_OVERHEAD"),
    "memory_events": count("CUDA_GPU_MEMORY_USAGE_EVENTS"),
}
expect("counts", counts, key["counts"])

names = dict(rows("StringIds", "id, value"))
longest_unplanned = 0
for device in key["devices"]:
    number = device["device"]
    kernels = rows("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, demangledName, deviceId")
    compute = [(s, e) for s, e, n, d in kernels if d == number and not names[n].startswith("nccl")]
    comm = [(s, e) for s, e, n, d in kernels if d == number and names[n].startswith("nccl")]
    other = {t: [(s, e) for s, e, d in rows(t, "start, end, deviceId") if d == number]
             for t in ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_MEMCPY",
                       "CUPTI_ACTIVITY_KIND_MEMSET")}
    compute += other["CUPTI_ACTIVITY_KIND_GRAPH_TRACE"]
    copies = other["CUPTI_ACTIVITY_KIND_MEMCPY"]
    everything = compute + comm + copies + other["CUPTI_ACTIVITY_KIND_MEMSET"]
    busy = union(everything)
    expect("device", {
        "device": number, "first_ns": busy[0][0], "last_ns": busy[-1][1],
        "busy_ns": total(everything), "gaps": len(busy) - 1,
        "compute_ns": total(compute), "comm_ns": total(comm), "both_ns": overlap(compute, comm),
        "copy_ns": total(copies), "hidden_ns": overlap(copies, compute + comm),
        "copy_only_ns": total(everything) - total(compute + comm)}, device)
    gaps = {(a[1], b[0]) for a, b in zip(busy, busy[1:])}
    planted = {(g["begin_ns"], g["end_ns"]) for g in key["gaps"] if g["device"] == number}
    expect("planted gaps that are no gaps", sorted(planted - gaps), [])
    longest_unplanned = max([longest_unplanned] + [e - s for s, e in gaps - planted])
    shortest = min([e - s for s, e in planted], default=1 << 60)
    if len(sys.argv) <= 3 and shortest < 3 * longest_unplanned:
        sys.exit(f"{path}: a planted gap of {shortest} ns beside an unplanned one of "
                 f"{longest_unplanned} ns")

for zone in key["zones"]:
    inside = [1 for s, e, d in rows("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId")
              if d == zone["device"] and s >= zone["begin_ns"] and e <= zone["end_ns"]]
    expect("launches of a zone", len(inside), zone["launches"])

for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"):
    starts = [s for (s,) in rows(table, "start")]
    if sum(a > b for a, b in zip(starts, starts[1:])) > len(starts) / 100:
        sys.exit(f"{path}: {table} is not nearly sorted")
print(f"{path}: {sum(counts.values())} rows, {len(key['gaps'])} planted gaps, "
      f"longest unplanned {longest_unplanned} ns")
