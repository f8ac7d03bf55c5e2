#!/usr/bin/env python3
"""Checks a Chrome trace of a capture: its form, each event once, both ends of every arrow.

check_chrome.py TRACE[.gz] CAPTURE
"""
import collections
import decimal
import gzip
import json
import sqlite3
import sys

trace_file, capture = sys.argv[1:3]
opener = gzip.open if trace_file.endswith(".gz") else open
with opener(trace_file, "rt", encoding="utf-8") as stream:
    trace = json.load(stream, parse_float=decimal.Decimal)
shift = trace["otherData"]["shift_ns"]
events = trace["traceEvents"]
db = sqlite3.connect(f"file:{capture}?immutable=1", uri=True)
tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}

# Form: what each phase must have.
REQUIRED = {
    "X": {"name": str, "cat": str, "ts": decimal.Decimal, "dur": decimal.Decimal, "args": dict},
    "b": {"name": str, "cat": str, "ts": decimal.Decimal, "id": str, "args": dict},
    "e": {"name": str, "cat": str, "ts": decimal.Decimal, "id": str},
    "i": {"name": str, "cat": str, "ts": decimal.Decimal, "s": str, "args": dict},
    "s": {"name": str, "cat": str, "ts": decimal.Decimal, "id": int},
    "f": {"name": str, "cat": str, "ts": decimal.Decimal, "id": int, "bp": str},
    "C": {"name": str, "ts": decimal.Decimal, "args": dict},
    "M": {"name": str, "args": dict},
}
for event in events:
    required = REQUIRED[event["ph"]]
    assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    for field, kind in required.items():
        assert isinstance(event[field], kind), (field, event)
    extra = set(event) - set(required) - {"ph", "pid", "tid"}
    assert not extra, (extra, event)
    if "ts" in event:
        assert event["ts"] >= 0 and event["ts"].as_tuple().exponent == -3, event


def ns(event, field="ts"):
    return int(event[field] * 1000) - (shift if field == "ts" else 0)


# Each event of the capture once, with its times.
seen = collections.Counter()
ends = {(e["pid"], e["id"]): e for e in events if e["ph"] == "e"}
for event in events:
    if event["ph"] not in "Xbi":
        continue
    end = ns(event)
    if event["ph"] == "X":
        end += ns(event, "dur")
    elif event["ph"] == "b":
        end = ns(ends.pop((event["pid"], event["id"])))
    seen[event["args"]["table"], event["args"]["row"], ns(event), end] += 1
assert not ends, "ends without a begin"
assert max(seen.values()) == 1, "an event is there twice"

WHERE = {
    "CUPTI_ACTIVITY_KIND_KERNEL": "", "CUPTI_ACTIVITY_KIND_MEMCPY": "",
    "CUPTI_ACTIVITY_KIND_MEMSET": "", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "AND eventClass IN (0, 1, 13, 26)",
    "NVTX_EVENTS": "AND eventType IN (34, 59, 60, 70, 71)", "OSRT_API": "AND eventClass = 27",
    "PROFILER_OVERHEAD": "", "CUPTI_ACTIVITY_KIND_OVERHEAD": "",
}
GPU = [t for t in WHERE if t.split("_")[-1] in ("KERNEL", "MEMCPY", "MEMSET", "TRACE")]
last = 0
if "NVTX_EVENTS" in tables:
    last = db.execute("SELECT max(max(start), max(coalesce(end, start))) FROM NVTX_EVENTS").fetchone()[0]
want = collections.Counter()
for table, where in WHERE.items():
    if table not in tables:
        continue
    kind = ", eventType" if table == "NVTX_EVENTS" else ", 0"
    for row, begin, end, event_type in db.execute(
            f"SELECT rowid, start, end {kind} FROM {table} WHERE 1 {where}"):
        if end is None:
            end = begin if event_type == 34 else last
        if end < begin or (table in GPU and begin == 0 and end == 0):
            continue
        want[table, row, begin, end] += 1
missing, surplus = want - seen, seen - want
assert not missing and not surplus, (list(missing)[:3], list(surplus)[:3], len(missing), len(surplus))

# Slices of a track nest.
tracks = collections.defaultdict(list)
for event in events:
    if event["ph"] == "X":
        tracks[event["pid"], event["tid"]].append((ns(event), -ns(event, "dur")))
for track, slices in tracks.items():
    stack = []
    for begin, length in sorted(slices):
        while stack and stack[-1] <= begin:
            stack.pop()
        assert not stack or begin - length <= stack[-1], f"slices of track {track} cross"
        stack.append(begin - length)
named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
assert set(tracks) <= named, "a track without a name"

# Arrows: one for each op with a launching call, from the call's begin to the op's begin.
starts = collections.Counter(e["id"] for e in events if e["ph"] == "s")
finishes = collections.Counter(e["id"] for e in events if e["ph"] == "f")
assert starts == finishes and max(starts.values(), default=1) == 1, "arrows with one end"
at = collections.defaultdict(set)
for event in events:
    if event["ph"] == "X":
        at[event["pid"], event["tid"]].add(ns(event))
for event in events:
    if event["ph"] in "sf":
        assert ns(event) in at[event["pid"], event["tid"]], f"an arrow hits nothing: {event}"
linked = set()
calls = collections.defaultdict(set)
if "CUPTI_ACTIVITY_KIND_RUNTIME" in tables:
    for tid, correlation in db.execute("""SELECT globalTid, correlationId
            FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass IN (0, 1, 13, 26) AND end >= start"""):
        calls[correlation].add((tid or 0) & ~0xFFFFFF)
for table in GPU:
    if table in tables:
        for pid, correlation in db.execute(f"""SELECT globalPid, correlationId FROM {table}
                WHERE NOT (start = 0 AND end = 0) AND end >= start"""):
            if correlation and pid in calls[correlation]:
                linked.add((table, pid, correlation, len(linked)))
assert len(linked) == len(starts), f"{len(starts)} arrows, {len(linked)} ops with a call"

counters = {e["name"] for e in events if e["ph"] == "C"}
assert not linked or counters == {"busy %", "launches/ms"}, counters
assert all(0 <= e["args"]["value"] <= 100 for e in events
           if e["ph"] == "C" and e["name"] == "busy %"), "busy beyond 100 %"
print(f"{capture.rsplit('/', 1)[-1]}: {len(seen)} events, {len(starts)} arrows, {len(tracks)} tracks")
