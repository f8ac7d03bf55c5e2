#!/usr/bin/env python3
"""The options of `cutline stats`, the reports that nsys does not have, and the rules of `nsys
analyze`, against the same computed here from the file's rows.

    check_reports_more.py PROGRAM CAPTURE...
"""
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import check_reports
from check_reports import Capture, REPORTS, Truth, compare, duration, pid_of, plain, shown, xyz

# Reports whose rows all come from kept events; nvtx-name is left to check_reports.
FILTERED = [name for name in REPORTS if "nvtx-name" not in name]
OPS = ("kernels", "copies", "sets", "graphs")


def keep(capture, op=lambda e: True, host=lambda e: True):
    """Takes out what the filter does not keep; ops lose calls that are gone."""
    for name in OPS:
        setattr(capture, name, [e for e in getattr(capture, name) if op(e)])
    for name in ("calls", "osrt", "ranges"):
        setattr(capture, name, [e for e in getattr(capture, name) if host(e)])
    kept = {id(c) for c in capture.calls}
    for name in OPS:
        for e in getattr(capture, name):
            if id(e["call"]) not in kept:
                e["call"] = None
    return capture


def ops_of(capture):
    return [e for name in OPS for e in getattr(capture, name)]


def run_json(program, command, spec, capture, *options):
    out = subprocess.run([program, command, "-q", "-f", "json", "-r", spec, *options, capture],
                         check=True, capture_output=True).stdout
    return json.loads(out)["tables"][0]["rows"]


class Checker:
    def __init__(self, program, path):
        self.program, self.path = program, path
        self.name = os.path.basename(path)
        self.bad = 0
        self.done = 0

    def expect(self, what, good, note=""):
        self.done += 1
        if not good:
            print(f"{self.name}: {what}: {note}")
            self.bad += 1

    def compare(self, specs, truth, *options):
        with tempfile.TemporaryDirectory() as folder:
            base = os.path.join(folder, "out")
            suffix = "".join("_nvtx=" + re.sub("[/:]", "_", o.split("=", 1)[1]) for o in options
                             if o.startswith("--filter-nvtx="))
            subprocess.run([self.program, "stats", "-q", "-o", base, "-f", "json", "-r",
                            ",".join(specs), *options, self.path], check=True)
            for spec in specs:
                rows = check_reports.read_json(
                    f"{base}_{spec.replace(':', '_')}{suffix}.json")
                make, compared = REPORTS[spec]
                want = make(truth)
                try:
                    if rows is None:
                        assert not want, "no file"
                    else:
                        compare(spec, rows, want, compared)
                    self.done += 1
                except AssertionError as error:
                    self.expect(f"{spec} {' '.join(options)}", False, error)

    # ---- options ----

    def span(self):
        times = [t for e in ops_of(Capture(self.path)) for t in (e["start"], e["end"])]
        return (min(times), max(times)) if times else (0, 1000)

    def options(self):
        low, high = self.span()
        begin, end = low + (high - low) // 3, low + (high - low) // 2
        inside = lambda e: e["end"] >= begin and e["start"] <= end
        self.compare(FILTERED, Truth(keep(Capture(self.path), inside, inside)),
                     f"--filter-time={begin}/{end}")
        after = lambda e: e["end"] >= begin
        self.compare(["cuda_gpu_kern_sum", "nvtx_sum"],
                     Truth(keep(Capture(self.path), after, after)), f"--filter-time={begin}ns/")
        self.by_process()
        self.by_device()
        self.by_nvtx()
        self.by_name()
        self.compare(["nvtx_gpu_proj_trace", "nvtx_gpu_proj_sum", "nvtx_kern_sum"],
                     Truth(Capture(self.path), process_scope=True), "--nvtx-scope=process")

    def by_process(self):
        pids = sorted({e["pid"] >> 24 & 0xFFFFFF for e in ops_of(Capture(self.path))})
        for pid in pids[:2]:
            if pid:
                self.compare(FILTERED, Truth(keep(
                    Capture(self.path), lambda e, p=pid: e["pid"] >> 24 & 0xFFFFFF == p,
                    lambda e, p=pid: pid_of(e) == p)), f"--process={pid}")

    def by_device(self):
        capture = Capture(self.path)
        mapped = {(pid, cuda): gpu for gpu, cuda, pid in capture.rows(
            "TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid"))}
        number = lambda e: mapped.get((e["pid"] >> 24 & 0xFFFFFF, e["deviceId"]),
                                      e["deviceId"] or 0)
        for device in sorted({number(e) for e in ops_of(capture)})[:2]:
            self.compare(["cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_trace",
                          "nvtx_gpu_proj_sum", "nvtx_kern_sum"],
                         Truth(keep(Capture(self.path), lambda e, d=device: number(e) == d)),
                         f"--device={device}")

    def by_nvtx(self):
        ranges = sorted(Capture(self.path).ranges, key=lambda r: r["start"])
        if not ranges:
            return
        name = ranges[len(ranges) // 2]["range"]
        if "@" in name or "/" in name or not name:
            return
        domain = ranges[len(ranges) // 2]["domain"]
        same = [r for r in ranges if r["range"] == name and r["domain"] == domain]
        for index, option in ((0, f"{name}@{domain}" if domain else name),
                              (len(same) - 1, f"{name}@{domain}/{len(same) - 1}")):
            r = same[index]
            if [o["start"] for o in same].count(r["start"]) > 1:
                continue
            inside = lambda e, r=r: e["end"] >= r["start"] and e["start"] <= r["end"]
            host = lambda e, r=r: inside(e) and (
                e["tid"] == r["tid"] if r["style"] == "PushPop" else pid_of(e) == pid_of(r))
            op = lambda e, r=r: inside(e) and e["pid"] == r["tid"] & ~check_reports.LOW
            self.compare(FILTERED, Truth(keep(Capture(self.path), op, host)),
                         f"--filter-nvtx={option}")

    def by_name(self):
        capture = Capture(self.path)
        names = collections.Counter(capture.kernel(k, "shortName") for k in capture.kernels)
        if names:
            word = re.sub(r"\W.*", "", names.most_common(1)[0][0])[:6].lower()
            hit = lambda *texts: any(re.search(re.escape(word), t, re.I) for t in texts)
            capture.kernels = [k for k in capture.kernels
                               if hit(capture.kernel(k), capture.kernel(k, "shortName"))]
            self.compare(["cuda_gpu_kern_sum", "cuda_kern_exec_sum", "nvtx_kern_sum"],
                         Truth(capture), f"--filter-name={word}")
        capture = Capture(self.path)
        capture.calls = [c for c in capture.calls if "Launch" in c["name"]]
        capture.ranges = [r for r in capture.ranges if "Launch" in r["range"]]
        self.compare(["cuda_api_sum", "cuda_api_trace", "nvtx_sum"], Truth(capture),
                     "--filter-name=Launch")

    # ---- our reports ----

    def percentiles(self):
        capture = Capture(self.path)
        groups = collections.defaultdict(list)
        for k in capture.kernels:
            groups[shown(capture.kernel(k))].append(duration(k))
        rows = run_json(self.program, "stats", "cuda_gpu_kern_pct", self.path)
        self.expect("pct rows", len(rows) == len(groups), len(rows))
        for row in rows:
            values = sorted(groups[row["Name"]])
            rank = lambda p: values[max(math.ceil(p / 100 * len(values)), 1) - 1]
            want = [sum(values), len(values), values[0], rank(50), rank(90), rank(99), values[-1]]
            got = [row[c] for c in ("Total Time (ns)", "Instances", "Min (ns)", "P50 (ns)",
                                    "P90 (ns)", "P99 (ns)", "Max (ns)")]
            self.expect("pct " + row["Name"][:40], got == want, (got, want))

    def pace(self):
        capture = Capture(self.path)
        groups = collections.defaultdict(list)
        for r in capture.ranges:
            groups[r["label"]].append(r)
        for label, members in sorted(groups.items(), key=lambda g: -len(g[1]))[:2]:
            if any(c in label for c in "\\,") or label.count(":") > 1 or shown(label) != label:
                continue
            spec = "nvtx_pace:name=" + label.replace(":", "\\:")
            rows = run_json(self.program, "stats", spec, self.path)
            last, want = {}, []
            for r in sorted(members, key=lambda r: r["start"]):
                want.append((r["start"], duration(r), r["tid"] & 0xFFFFFF))
            got = [(row["Start (ns)"], row["Duration (ns)"], row["TID"]) for row in rows]
            self.expect(spec, sorted(got) == sorted(want), len(got))
            for row in rows:
                gap = row["Start (ns)"] - last[row["TID"]] if row["TID"] in last else None
                self.expect(spec + " start to start", row["Start to Start (ns)"] == gap, row)
                last[row["TID"]] = row["Start (ns)"]

    def overlap(self):
        capture = Capture(self.path)
        mapped = {(pid, cuda): gpu for gpu, cuda, pid in capture.rows(
            "TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid"))}
        changes = collections.defaultdict(list)
        for name in OPS:
            for e in getattr(capture, name):
                kind = 2 if name == "copies" else 0
                if name == "kernels" and capture.kernel(e, "shortName").lower()[:4] == "nccl":
                    kind = 1
                device = mapped.get((e["pid"] >> 24 & 0xFFFFFF, e["deviceId"]),
                                    e["deviceId"] or 0)
                changes[device] += [(e["start"], 1, kind), (e["end"], -1, kind)]
        want = {}
        for device, steps in changes.items():
            live, at, sums = [0, 0, 0], None, collections.Counter()
            for t, step, kind in sorted(steps):
                if at is not None:
                    compute, talk, copy = (n > 0 for n in live)
                    sums["compute and communication" if compute and talk else
                         "compute only" if compute else "communication only" if talk else
                         "copy only" if copy else "idle"] += t - at
                live[kind] += step
                at = t
            for activity in ("compute only", "communication only", "compute and communication",
                             "copy only", "idle"):
                want[(device, activity)] = sums[activity]
        rows = run_json(self.program, "stats", "overlap", self.path)
        got = {(r["Device ID"], r["Activity"]): r["Time (ns)"] for r in rows}
        want = {k: v for k, v in want.items() if k[0] in {d for d, _ in got} or v}
        self.expect("overlap", got == want, (got, want))

    def occupancy(self):
        """The occupancy again, by the published rules, for compute capability 7.0 and later."""
        capture = Capture(self.path)
        names = ("id", "computeMajor", "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm",
                 "maxShmemPerSm")
        devices = {row[0]: row[1:] for row in capture.rows("TARGET_INFO_GPU", names)}
        shapes = {(xyz(k, "grid"), xyz(k, "block"), k["registersPerThread"],
                   (k["staticSharedMemory"] or 0) + (k["dynamicSharedMemory"] or 0))
                  for k in capture.kernels}
        for row in run_json(self.program, "stats", "occupancy", self.path):
            key = (row["GridXYZ"], row["BlockXYZ"], row["Reg/Trd"], row["SMem (B)"] or 0)
            self.expect("occupancy shape", key in shapes, key)
            limits = devices.get(row["Device ID"])
            if limits is None or None in limits or limits[0] < 7 or not row["BlockXYZ"]:
                self.expect("occupancy unknown", row["Occupancy (%)"] is None or limits, row)
                continue
            major, warps, blocks, registers, memory = limits
            x, y, z = map(int, row["BlockXYZ"].split())
            per_block = -(-x * y * z // 32)
            fit = {"warps": warps // per_block}
            if blocks:
                fit["blocks"] = blocks
            if row["Reg/Trd"] and registers:
                per_warp = -(-row["Reg/Trd"] * 32 // 256) * 256
                fit["registers"] = (registers // per_warp // 4 * 4) // per_block
            bytes_used = (row["SMem (B)"] or 0) + (1024 if major >= 8 else 0)
            unit = 128 if major >= 8 else 256
            if bytes_used and memory:
                fit["shared memory"] = memory // (-(-bytes_used // unit) * unit)
            most = min(fit.values())
            want = 100.0 * most * per_block / warps
            self.expect("occupancy", abs(row["Occupancy (%)"] - want) < 0.051
                        and fit[row["Limiter"]] == most and row["Blocks/SM"] == most,
                        (row, fit))

    # ---- rules ----

    def call_rules(self):
        capture = Capture(self.path)
        name = lambda op: op["call"]["name"] if op["call"] else ""
        kinds = [("cuda_memcpy_async", capture.copies, lambda m: name(m).startswith("cudaMemcpy")
                  and "Async" in name(m) and 0 in (m["srcKind"], m["dstKind"])),
                 ("cuda_memcpy_sync", capture.copies, lambda m: name(m).startswith("cudaMemcpy")
                  and "Async" not in name(m) and m["copyKind"] != 8
                  and not (m["copyKind"] == 1 and m["bytes"] <= 65536)),
                 ("cuda_memset_sync", capture.sets, lambda m: name(m).startswith("cudaMemset")
                  and "Async" not in name(m) and m["memKind"] in (1, 4))]
        for rule, ops, wanted in kinds:
            rows = run_json(self.program, "analyze", rule + ":rows=-1", self.path)
            got = [(r["Duration (ns)"], r["Start (ns)"], r["Bytes"], r["Stream ID"], r["API Name"])
                   for r in rows]
            want = [(duration(m), m["start"], m["bytes"], m["streamId"], name(m))
                    for m in ops if wanted(m)]
            self.expect(rule, sorted(got) == sorted(want), (len(got), len(want)))
            self.expect(rule + " order", [g[0] for g in got] == sorted((g[0] for g in got),
                                                                       reverse=True))
            some = run_json(self.program, "analyze", rule + ":rows=3", self.path)
            self.expect(rule + " rows", some == rows[:3], some)
        rows = run_json(self.program, "analyze", "cuda_api_sync:rows=-1", self.path)
        got = [(r["Duration (ns)"], r["Start (ns)"], r["TID"], r["API Name"]) for r in rows]
        want = [(duration(c), c["start"], c["tid"] & 0xFFFFFF, c["name"]) for c in capture.calls
                if c["name"].startswith(("cudaDeviceSynchronize", "cudaStreamSynchronize"))]
        self.expect("cuda_api_sync", sorted(got) == sorted(want), (len(got), len(want)))

    def works(self, capture):
        groups = collections.defaultdict(list)
        for e in ops_of(capture):
            groups[(e["pid"] >> 24 & 0xFFFFFF, e["deviceId"] or 0)].append((e["start"], e["end"]))
        return groups

    def gaps(self):
        capture = Capture(self.path)
        overhead = [row for row in capture.rows("PROFILER_OVERHEAD", ("start", "end", "globalTid"))
                    if row[1] >= row[0]]
        want = []
        for (pid, device), ops in self.works(capture).items():
            low, high = min(o[0] for o in ops), max(o[1] for o in ops)
            busy = sorted(ops + [(b, e) for b, e, tid in overhead
                                 if (tid or 0) >> 24 & 0xFFFFFF == pid and b >= low and e <= high])
            end = busy[0][1]
            for b, e in busy:
                if b - end > 1000:
                    want.append((b - end, end, pid, device))
                end = max(end, e)
        rows = run_json(self.program, "analyze", "gpu_gaps:gap=1us:rows=-1", self.path)
        got = [(r["Duration (ns)"], r["Start (ns)"], r["PID"], r["Device ID"]) for r in rows]
        self.expect("gpu_gaps", sorted(got) == sorted(want), (len(got), len(want)))
        self.expect("gpu_gaps order", [g[0] for g in got] == sorted((g[0] for g in got),
                                                                    reverse=True))

    def utilisation(self):
        want = []
        for (pid, device), ops in self.works(Capture(self.path)).items():
            low, high = min(o[0] for o in ops), max(o[1] for o in ops)
            if high == low:
                continue
            chunk = -(-(high - low) // 30)
            run = []
            for begin in list(range(low, high, chunk)) + [None]:
                share = None
                if begin is not None:
                    end = min(begin + chunk, high)
                    used = sum(max(0, min(e, end) - max(b, begin)) for b, e in ops)
                    share = used if 100 * used < 60 * (end - begin) else None
                if share is not None:
                    run.append((begin, end, share))
                elif run:
                    length = run[-1][1] - run[0][0]
                    want.append((round(100 * sum(r[2] for r in run) / length, 1), length,
                                 run[0][0], pid, device))
                    run = []
        rows = run_json(self.program, "analyze", "gpu_time_util:threshold=60:rows=-1", self.path)
        got = [(r["In-Use (%)"], r["Duration (ns)"], r["Start (ns)"], r["PID"], r["Device ID"])
               for r in rows]
        same = len(got) == len(want) and all(
            abs(g[0] - w[0]) < 0.11 and g[1:] == w[1:]
            for g, w in zip(sorted(got, key=lambda g: g[1:]), sorted(want, key=lambda w: w[1:])))
        self.expect("gpu_time_util", same, (got[:3], want[:3]))
        self.expect("gpu_time_util order", [g[0] for g in got] == sorted(g[0] for g in got))
        self.expect("gpu_time_util union", all(
            r["Union (%)"] <= r["In-Use (%)"] + 0.1 and r["Union (%)"] <= 100 for r in rows))

    def all(self):
        self.options()
        self.percentiles()
        self.pace()
        self.overlap()
        self.occupancy()
        self.call_rules()
        self.gaps()
        self.utilisation()
        return self.bad


def main():
    program, captures = sys.argv[1], sys.argv[2:]
    bad = done = 0
    for path in captures:
        checker = Checker(program, path)
        bad += checker.all()
        done += checker.done
    print(f"{len(captures)} captures, {done} checks, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
