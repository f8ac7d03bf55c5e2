#!/usr/bin/env python3
"""Compares what `cutline analyze` finds with what the generator planted.

check_planted.py PROGRAM CAPTURE KEY [clean|jitter|no-osrt|no-api]

clean: precision and recall 1.0 for gaps (cause, evidence, thread) and zones, copies to the ns.
jitter: random delays add gaps and move the edges of planted ones; each planted gap is still there,
in one row that covers it, and at least 90 % keep their cause (a delay after the launch makes a short
gap one of launched work that waits). no-osrt: locks, I/O and sleeps cannot be told from computing and are called cpu
work, with a word about it. no-api: every cause is unknown, and says why.
"""
import csv
import io
import json
import subprocess
import sys

program, capture, key_file = sys.argv[1:4]
mode = sys.argv[4] if len(sys.argv) > 4 else "clean"
key = json.load(open(key_file))

CAUSES = {
    "device_wait": "launched, waits: for an event", "slow_launch": "slow launch", "sync": "synchronising call",
    "copy": "blocking copy", "alloc": "allocation or free", "module": "module load",
    "lock": "OS call", "io": "OS call", "sleep": "OS call", "profiler": "profiler",
    "after_blocking": "cpu work: after a blocking call",
    "slow_host": "cpu work: launching too slowly",
}
NO_OSRT = "OS calls were not recorded"


def rule(spec):
    run = subprocess.run([program, "analyze", "-r", spec, "-f", "csv", capture], text=True,
                         capture_output=True, check=True)
    return list(csv.DictReader(io.StringIO(run.stdout)))


def fail(text):
    sys.exit(f"{capture}: {text}")


def number(row, column):
    return int(row[column])


def overlap(a, b):
    return min(a[1], b[1]) - max(a[0], b[0])


def row_of(rows, gap):
    """The row that shares most time with a planted gap."""
    want = (gap["begin_ns"], gap["end_ns"])
    same = [r for r in rows if number(r, "Device ID") == gap["device"]]
    best = max(same, key=lambda r: overlap(want, (number(r, "Start (ns)"), number(r, "End (ns)"))))
    share = overlap(want, (number(best, "Start (ns)"), number(best, "End (ns)")))
    return best if share * 2 > want[1] - want[0] else None


def expected(gap):
    if mode == "no-api":
        return {"unknown"}
    if mode == "no-osrt" and gap["cause"] in ("lock", "io", "sleep"):
        return {CAUSES["after_blocking"], CAUSES["slow_host"]}
    return {CAUSES[gap["cause"]]}


def check_gap(gap, row):
    if row["Cause"] not in expected(gap):
        return False
    if mode == "no-api":
        if "no API calls" not in row["Why"]:
            fail(f"{gap}: does not say that there are no API calls")
        return True
    if number(row, "TID") != gap["tid"]:
        fail(f"{gap}: thread {row['TID']}")
    if row["Cause"].startswith("cpu work") and (NO_OSRT in row["Why"]) != (mode == "no-osrt"):
        fail(f"{gap}: {row['Why']}")
    if gap["evidence"] and not row["Cause"].startswith("cpu work: launching") and \
            row["Evidence"] != gap["evidence"] and row["Cause"] == CAUSES[gap["cause"]]:
        fail(f"{gap}: evidence {row['Evidence']}")
    return True


def check_gaps():
    rows = rule("idle_gaps")
    right = 0
    for gap in key["gaps"]:
        row = row_of(rows, gap)
        if row is None:
            fail(f"no row for {gap}")
        if mode in ("clean", "no-osrt") and (number(row, "Start (ns)") != gap["begin_ns"] or
                                             number(row, "End (ns)") != gap["end_ns"]):
            fail(f"{gap}: the row is {row['Start (ns)']}..{row['End (ns)']}")
        if check_gap(gap, row):
            right += 1
        elif mode != "jitter":
            fail(f"{gap}: cause {row['Cause']!r}, {row['Why']!r}")
    planted = len(key["gaps"])
    if mode != "jitter" and len(rows) != planted:
        fail(f"{len(rows)} gaps for {planted} planted ones")
    if right < 0.9 * planted:
        fail(f"only {right} of {planted} causes are right")
    return f"gaps: recall {right / max(planted, 1):.2f}, precision {planted / max(len(rows), 1):.2f}"


def check_zones():
    if mode == "no-api":
        if rule("launch_density"):
            fail("zones without API calls")
        return "no zones without API calls"
    rows = rule("launch_density")
    found = 0
    for zone in key["zones"]:
        want = (zone["begin_ns"], zone["end_ns"])
        for row in rows:
            got = (number(row, "Start (ns)"), number(row, "Start (ns)") + number(row, "Duration (ns)"))
            union = max(want[1], got[1]) - min(want[0], got[0])
            if overlap(want, got) >= 0.95 * union and number(row, "TID") == zone["tid"] and \
                    abs(number(row, "Launches") - zone["launches"]) <= 0.05 * zone["launches"]:
                found += 1
                break
    if mode != "jitter" and (found != len(key["zones"]) or len(rows) != found):
        fail(f"{found} of {len(key['zones'])} zones, {len(rows)} rows")
    if found < len(key["zones"]) * 0.5:
        fail(f"only {found} of {len(key['zones'])} zones")
    return f"zones: recall {found / max(len(key['zones']), 1):.2f}, {len(rows)} rows"


def check_copies():
    rows = rule("hidden_transfers")
    for index, device in enumerate(key["devices"]):
        mine = [r for r in rows if number(r, "Device ID") == index]
        exposed = sum(number(r, "Exposed Time (ns)") for r in mine)
        hidden = sum(number(r, "Hidden Time (ns)") for r in mine)
        if exposed != device["copy_ns"] - device["hidden_ns"] or hidden != device["hidden_ns"]:
            fail(f"device {index}: {hidden} ns hidden, {exposed} exposed, wanted {device}")
    return "copies agree"


print(capture.rsplit("/", 1)[-1], mode, check_gaps(), check_zones(), check_copies(), sep="; ")
