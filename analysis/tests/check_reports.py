#!/usr/bin/env python3
"""Compares the reports of `cutline stats` with the same computed here from the file's rows.

    check_reports.py PROGRAM CAPTURE...

Nothing is shared with the program: rows come by SQL, and ranges are matched by other algorithms.
"""
import collections
import csv
import functools
import heapq
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import unicodedata

LOW = 0xFFFFFF
DOMAIN_PID = 0xFFFFFF000000
MEM_KINDS = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static",
             "Unknown"]
MEMCPY = ["Unknown", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host",
          "Array-to-Array", "Array-to-Device", "Device-to-Array", "Device-to-Device",
          "Host-to-Host", "Peer-to-Peer", "Unified Host-to-Device", "Unified Device-to-Host",
          "Unified Device-to-Device"]
MEMCPY_2020 = ["Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH",
               "PtoP"]


def label_of(api):
    """An API name as nsys prints it."""
    return api[:-6] if api[-6:-4] == "_v" and api[-4:].isdigit() and len(api) > 6 else api


class Capture:
    """The rows of a file, as plain tuples."""

    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.db.text_factory = lambda b: b.decode("utf-8", "surrogateescape")
        self.strings = dict(self.rows("StringIds", ("id", "value")))
        self.kernels = self.ops("CUPTI_ACTIVITY_KIND_KERNEL", (
            "demangledName", "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX",
            "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"))
        self.copies = self.ops("CUPTI_ACTIVITY_KIND_MEMCPY",
                               ("bytes", "srcKind", "dstKind", "copyKind", "virtualAddress"))
        self.sets = self.ops("CUPTI_ACTIVITY_KIND_MEMSET", ("bytes", "memKind"))
        self.graphs = self.ops("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", ("graphId",))
        self.copy_labels = self.enum("ENUM_CUDA_MEMCPY_OPER")
        self.kind_labels = self.enum("ENUM_CUDA_MEM_KIND")
        self.calls = self.host("CUPTI_ACTIVITY_KIND_RUNTIME", (0, 1, 13, 26),
                               ("correlationId", "returnValue"))
        self.osrt = self.host("OSRT_API", (27,), ())
        self.ranges = self.nvtx()
        self.by_correlation = {}
        for call in self.calls:
            key = (call["tid"] & ~LOW, call["correlationId"])
            self.by_correlation.setdefault(key, call)
        for op in self.kernels + self.copies + self.sets + self.graphs:
            op["call"] = self.by_correlation.get((op["pid"], op["correlationId"])) \
                if op["correlationId"] else None

    def columns(self, table):
        return [row[1] for row in self.db.execute(f"PRAGMA table_info('{table}')")]

    def rows(self, table, columns, where="1"):
        there = self.columns(table)
        if not there:
            return []
        wanted = [f'"{c}"' if c in there else "NULL" for c in columns]
        found = self.db.execute(f'SELECT {", ".join(wanted)} FROM "{table}" WHERE {where}')
        return [tuple(int(v) if isinstance(v, float) else v for v in row) for row in found]

    def enum(self, name):
        for table in (name, name.replace("CUDA_MEMCPY_OPER", "CUDA_MEMCPY_OPER_TYPE")):
            found = dict(self.rows(table, ("id", "label")))
            if found:
                return found
        return None

    def ops(self, table, more):
        names = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                 "greenContextId") + more
        out = []
        for row in self.rows(table, names):
            op = dict(zip(names, row))
            op["pid"] = (op["globalPid"] or 0) & ~LOW
            if (op["start"], op["end"]) != (0, 0) and op["end"] >= op["start"]:
                out.append(op)
        return out

    def host(self, table, classes, more):
        names = ("start", "end", "globalTid", "nameId") + more
        where = "1"
        if "eventClass" in self.columns(table):
            where = f"eventClass IN ({','.join(map(str, classes))})"
        out = []
        for row in self.rows(table, names, where):
            event = dict(zip(names, row))
            event["tid"] = event["globalTid"] or 0
            event["name"] = label_of(self.strings.get(event["nameId"], ""))
            if event["end"] is not None and event["end"] >= event["start"]:
                out.append(event)
        return out

    def nvtx(self):
        names = ("start", "end", "eventType", "text", "textId", "globalTid", "endGlobalTid",
                 "domainId", "rowid")
        rows = self.nvtx_rows(names)
        times = [t for row in rows for t in (row["start"], row["end"]) if t is not None]
        last = max(times, default=0)
        domains = {}
        for row in sorted((r for r in rows if r["eventType"] == 75), key=lambda r: r["start"]):
            domains.setdefault((row["globalTid"] & DOMAIN_PID, row["domainId"]), self.text(row))
        out = []
        for row in rows:
            if row["eventType"] not in (59, 60, 70, 71):
                continue
            row["tid"] = row["globalTid"] or 0
            row["end"] = last if row["end"] is None else row["end"]
            row["style"] = "PushPop" if row["eventType"] in (59, 70) else "StartEnd"
            domain = domains.get((row["tid"] & DOMAIN_PID, row["domainId"]), "") \
                if row["domainId"] else ""
            row["domain"] = domain
            row["range"] = self.text(row)
            row["label"] = f"{domain}:{self.text(row)}"
            row["crossed"] = row["style"] == "StartEnd" and row["endGlobalTid"] not in (
                None, row["globalTid"])
            if row["end"] >= row["start"]:
                out.append(row)
        return out

    def nvtx_rows(self, names):
        there = self.columns("NVTX_EVENTS")
        if not there:
            return []
        wanted = [f'"{c}"' if c in there or c == "rowid" else "NULL" for c in names]
        found = self.db.execute(f'SELECT {", ".join(wanted)} FROM NVTX_EVENTS').fetchall()
        return [dict(zip(names, row)) for row in found]

    def text(self, row):
        if row["textId"] is not None and row["textId"] in self.strings:
            return self.strings[row["textId"]]
        if row["text"] is not None:
            return row["text"]
        return f"textId:{row['textId']}" if row["textId"] is not None else ""

    def kernel(self, op, column="demangledName"):
        for name in (column, "demangledName", "shortName"):
            if op[name] is not None and op[name] in self.strings:
                return self.strings[op[name]]
        return f"kernel name:{op['demangledName']}"

    def memcpy_names(self):
        """For files without a table of labels: long ones since the exports know their version."""
        named = self.columns("META_DATA_EXPORT") or self.columns("EXPORT_META_DATA")
        return MEMCPY if named else MEMCPY_2020

    def memop(self, op):
        if "copyKind" not in op:
            return "[CUDA memset]"
        label = (self.copy_labels or dict(enumerate(self.memcpy_names()))).get(op["copyKind"])
        return f"[CUDA memcpy {label}]"


def mega(value):
    return None if value is None else value / 1e6


def duration(event):
    return event["end"] - event["start"]


def statistic(values):
    """Avg, Med, Min, Max, StdDev."""
    return [sum(values) / len(values), statistics.median(values), min(values), max(values),
            statistics.stdev(values) if len(values) > 1 else 0.0]


def sums(pairs, percent=True):
    """Rows of a summary from (texts, value)."""
    groups = collections.defaultdict(list)
    for texts, value in pairs:
        groups[texts].append(value)
    total = sum(map(sum, groups.values()))
    rows = []
    for texts, values in groups.items():
        head = [100.0 * sum(values) / total if total else 0.0] if percent else []
        rows.append(head + [sum(values), len(values)] + statistic(values) + list(texts))
    return rows


def containing(ranges, calls, scope):
    """Pairs (range, call), call within range, same scope: a sweep with a heap of ends."""
    groups = collections.defaultdict(lambda: ([], []))
    for r in ranges:
        groups[scope(r)][0].append(r)
    for c in calls:
        groups[scope(c)][1].append(c)
    for opened, asked in groups.values():
        opened.sort(key=lambda r: r["start"])
        live, at, serial = [], 0, 0
        for call in sorted(asked, key=lambda c: c["start"]):
            while at < len(opened) and opened[at]["start"] <= call["start"]:
                heapq.heappush(live, (opened[at]["end"], serial, opened[at]))
                serial += 1
                at += 1
            while live and live[0][0] < call["start"]:
                heapq.heappop(live)
            for _, _, r in live:
                if r["end"] >= call["end"]:
                    yield r, call


def nest(ranges):
    """Gives each range its parent: the tightest of its thread that encloses it."""
    threads = collections.defaultdict(list)
    for r in ranges:
        threads[r["tid"]].append(r)
    for members in threads.values():
        members.sort(key=lambda r: (r["start"], -r["end"], r["rowid"]))
        for i, r in enumerate(members):
            r["parent"], r["children"] = None, []
        live = []
        for r in members:
            live = [o for o in live if o["end"] >= r["start"]]
            around = [o for o in live if o["end"] >= r["end"]]
            if around:
                tightest = min(duration(o) for o in around)
                r["parent"] = [o for o in around if duration(o) == tightest][-1]
                r["parent"]["children"].append(r)
            live.append(r)
    for r in ranges:
        r["level"], at = 0, r["parent"]
        while at is not None:
            r["level"], at = r["level"] + 1, at["parent"]


def pid_of(event):
    return event["tid"] >> 24 & LOW


def xyz(op, name):
    sizes = [op[name + axis] for axis in "XYZ"]
    return "" if None in sizes else "%4d %4d %4d" % tuple(sizes)


class Truth:
    """What each report should hold: name -> (rows, compared columns)."""

    def __init__(self, capture, process_scope=False):
        self.c = capture
        self.scope = (lambda e: e["tid"] & ~LOW) if process_scope else (lambda e: e["tid"])
        self.whole = [r for r in capture.ranges if not r["crossed"]]
        launching = {id(op["call"]): op["call"] for op in self.busy() if op["call"]}
        self.launching = list(launching.values())
        self.ops_of = collections.defaultdict(list)
        for op in self.busy():
            if op["call"]:
                self.ops_of[id(op["call"])].append(op)
        self.pairs = list(containing(self.whole, self.launching, self.scope))

    def busy(self):
        return self.c.kernels + self.c.copies + self.c.sets + self.c.graphs

    def memops(self):
        return self.c.copies + self.c.sets

    def kernel_sum(self, column="demangledName", nvtx=False):
        return sums(((self.ranged(k, column, nvtx),), duration(k)) for k in self.c.kernels)

    def ranged(self, op, column, nvtx):
        name = self.c.kernel(op, column)
        if not nvtx or not op["call"]:
            return name
        best = self.innermost.get(id(op["call"]))
        if best is None:
            return name
        return f"{best['domain']}:{best['range']}/{name}" if best["domain"] else \
            f"{best['range']}/{name}"

    @property
    def innermost(self):
        if not hasattr(self, "_innermost"):
            self._innermost = {}
            for r, call in self.pairs:
                have = self._innermost.get(id(call))
                if have is None or (r["start"], -r["end"], r["rowid"]) > (
                        have["start"], -have["end"], have["rowid"]):
                    self._innermost[id(call)] = r
        return self._innermost

    def memory_time(self):
        return sums(((self.c.memop(m),), duration(m)) for m in self.memops())

    def memory_size(self):
        rows = sums((((self.c.memop(m),), m["bytes"]) for m in self.memops()), percent=False)
        return [[v / 1e6 if i not in (1, 7) else v for i, v in enumerate(row)] for row in rows]

    def gpu_pairs(self):
        for k in self.c.kernels:
            yield ("CUDA_KERNEL", self.c.kernel(k)), duration(k)
        for m in self.memops():
            yield ("MEMORY_OPER", self.c.memop(m)), duration(m)

    def gpu_sum(self):
        return sums(self.gpu_pairs())

    def api_gpu_sum(self):
        calls = ((("CUDA_API", c["name"]), duration(c)) for c in self.c.calls)
        return sums(list(self.gpu_pairs()) + list(calls))

    def api_sum(self):
        return sums(((c["name"],), duration(c)) for c in self.c.calls)

    def osrt_sum(self):
        return sums(((c["name"],), duration(c)) for c in self.c.osrt)

    def gb_sum(self):
        return sums(((xyz(k, "grid"), xyz(k, "block"), self.c.kernel(k)), duration(k))
                    for k in self.c.kernels)

    def nvtx_sum(self, style=None):
        wanted = [r for r in self.c.ranges if style in (None, r["style"])]
        if style:
            return sums(((r["label"],), duration(r)) for r in wanted)
        return sums(((r["style"], r["label"]), duration(r)) for r in wanted)

    def api_trace(self):
        return [[c["start"], duration(c), c["name"], c["returnValue"], c["correlationId"],
                 pid_of(c), c["tid"] & LOW] for c in self.c.calls]

    def gpu_trace(self):
        rows = []
        for k in self.c.kernels:
            rows.append([k["start"], duration(k), k["correlationId"]]
                        + [k[n + a] for n in ("grid", "block") for a in "XYZ"]
                        + [k["registersPerThread"], mega(k["staticSharedMemory"]),
                           mega(k["dynamicSharedMemory"]), None, None, None, None, k["contextId"] or 0,
                           k["greenContextId"] or None, k["streamId"] or 0, self.c.kernel(k)])
        for m in self.memops():
            # "SrcMemKd: memcpy source memory kind or memset memory kind" (Nsight Systems documentation)
            kinds = [m.get("srcKind") if "copyKind" in m else m.get("memKind"), m.get("dstKind")]
            rows.append([m["start"], duration(m), m["correlationId"]] + [None] * 9
                        + [mega(m["bytes"]),
                           m["bytes"] * 1e3 / duration(m) if duration(m) else None]
                        + [None if k is None else (self.c.kind_labels or {}).get(k, MEM_KINDS[k])
                           for k in kinds]
                        + [m["contextId"] or 0, m["greenContextId"] or None, m["streamId"] or 0,
                           self.c.memop(m)])
        return rows

    def exec_times(self):
        for k in self.c.kernels:
            call = k["call"]
            if call:
                queue = k["start"] - call["end"]
                yield (k, call, queue if queue >= 0 else None,
                       max(call["end"], k["end"]) - call["start"])

    def exec_trace(self):
        return [[a["start"], duration(a), a["end"] if q is not None else None, q, k["start"],
                 duration(k), t, pid_of(a), a["tid"] & LOW, k["deviceId"], a["name"],
                 xyz(k, "grid"), xyz(k, "block"), self.c.kernel(k)]
                for k, a, q, t in self.exec_times()]

    def exec_sum(self):
        groups = collections.defaultdict(list)
        for k, a, q, t in self.exec_times():
            key = (pid_of(a), a["tid"] & LOW, k["deviceId"], a["name"], self.c.kernel(k))
            groups[key].append((t, duration(a), q, duration(k)))
        rows = []
        for key, members in groups.items():
            queued = [m[2] for m in members if m[2] is not None]
            row = list(key[:3]) + [len(members), len(queued)]
            for values in ([m[0] for m in members], [m[1] for m in members], queued,
                           [m[3] for m in members]):
                row += statistic(values) if values else [None] * 5
            rows.append(row + list(key[3:]))
        return rows

    def pushpop_trace(self):
        ranges = [r for r in self.c.ranges if r["style"] == "PushPop"]
        nest(ranges)
        rows = []
        for r in ranges:
            inner = sum(map(duration, r["children"]))
            parent = r["parent"]
            rows.append([r["start"], r["end"], duration(r), inner, duration(r) - inner, r["label"],
                         pid_of(r), r["tid"] & LOW, r["level"], len(r["children"]),
                         parent["label"] if parent else None,
                         "--" * r["level"] + r["label"]])
        return rows

    def projections(self):
        extents = {}
        for r, call in self.pairs:
            ops = self.ops_of[id(call)]
            have = extents.setdefault(id(r), [r, [], set()])
            have[1].extend(ops)
            have[2].add(id(call))
        for r, ops, calls in extents.values():
            begin = min(op["start"] for op in ops)
            yield r, begin, max(op["end"] for op in ops) - begin, len(calls)

    def proj_trace(self):
        nest(self.whole)
        return [[r["label"], begin, length, r["start"], duration(r), r["style"], pid_of(r),
                 r["tid"] & LOW, calls, r["level"], len(r["children"])]
                for r, begin, length, calls in self.projections()]

    def proj_sum(self):
        nest(self.whole)
        groups = collections.defaultdict(list)
        for r, begin, length, calls in self.projections():
            groups[(r["label"], r["style"])].append((length, duration(r), calls, r["level"],
                                                     len(r["children"])))
        rows = []
        for key, members in groups.items():
            column = list(zip(*members))
            n = len(members)
            rows.append(list(key) + [sum(column[0]), sum(column[1]), n] + statistic(column[0])
                        + [sum(column[2])] + [sum(column[i]) / n for i in (2, 3, 4)])
        return rows

    def kern_sum(self):
        groups = collections.defaultdict(lambda: (set(), []))
        for r, call in self.pairs:
            for op in self.ops_of[id(call)]:
                if "demangledName" in op:
                    key = (r["label"], r["style"], pid_of(r), r["tid"] & LOW, self.c.kernel(op))
                    groups[key][0].add(id(r))
                    groups[key][1].append(duration(op))
        return [list(key[:4]) + [len(inst), len(values), sum(values)] + statistic(values)
                + [key[4]] for key, (inst, values) in groups.items()]


# Report with its arguments -> rows, and what of our columns is compared (None = all).
REPORTS = {
    "cuda_gpu_kern_sum": (Truth.kernel_sum, None),
    "cuda_gpu_kern_sum:base": (lambda t: t.kernel_sum("shortName"), None),
    "cuda_gpu_kern_sum:mangled": (lambda t: t.kernel_sum("mangledName"), None),
    "cuda_gpu_kern_sum:nvtx-name": (lambda t: t.kernel_sum(nvtx=True), None),
    "cuda_gpu_kern_sum:nvtx-name:base": (lambda t: t.kernel_sum("shortName", True), None),
    "cuda_gpu_kern_gb_sum": (Truth.gb_sum, None),
    "cuda_gpu_mem_time_sum": (Truth.memory_time, None),
    "cuda_gpu_mem_size_sum": (Truth.memory_size, None),
    "cuda_gpu_sum": (Truth.gpu_sum, None),
    "cuda_api_gpu_sum": (Truth.api_gpu_sum, None),
    "cuda_api_sum": (Truth.api_sum, None),
    "osrt_sum": (Truth.osrt_sum, None),
    "nvtx_sum": (Truth.nvtx_sum, None),
    "nvtx_pushpop_sum": (lambda t: t.nvtx_sum("PushPop"), None),
    "nvtx_startend_sum": (lambda t: t.nvtx_sum("StartEnd"), None),
    "cuda_api_trace": (Truth.api_trace, range(7)),
    "cuda_gpu_trace": (Truth.gpu_trace, [i for i in range(21) if i != 16]),
    "cuda_kern_exec_sum": (Truth.exec_sum, None),
    "cuda_kern_exec_trace": (Truth.exec_trace, None),
    "nvtx_pushpop_trace": (Truth.pushpop_trace, list(range(10)) + [11, 13]),
    "nvtx_gpu_proj_trace": (Truth.proj_trace, range(11)),
    "nvtx_gpu_proj_sum": (Truth.proj_sum, None),
    "nvtx_kern_sum": (Truth.kern_sum, None),
}
# Column and direction of the order of the rows.
ORDER = {"cuda_api_trace": (0, 1), "cuda_gpu_trace": (0, 1), "cuda_kern_exec_trace": (0, 1),
         "cuda_kern_exec_sum": (5, -1), "nvtx_pushpop_trace": (0, 1), "nvtx_gpu_proj_trace": (1, 1),
         "nvtx_gpu_proj_sum": (2, -1), "cuda_gpu_mem_size_sum": (0, -1)}


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


@functools.lru_cache(maxsize=None)
def shown(text):
    """Bytes that are no UTF-8 come out as U+FFFD each."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text)


def is_same(got, want):
    """Is the printed text the value, to the printed decimals?"""
    if got == str(want):
        return True
    if want is None:
        return got == ""
    if isinstance(want, str):
        return got == shown(want)
    value = number(got)
    decimals = len(got.partition(".")[2])
    return value is not None and abs(value - want) <= 0.5001 * 10.0 ** -decimals + abs(want) * 1e-12


def sort_key(row):
    """Texts and whole numbers first tell rows apart; rounded ones only order equals."""
    return [str(v) if isinstance(v, (str, int)) else "" for v in row] + \
        [v for v in row if isinstance(v, float)]


def parent_names(rows, header):
    """ParentId as the parent's name; checks RangeStack on the way."""
    name, rid, parent = (header.index(n) for n in ("Name", "RangeId", "ParentId"))
    stack = header.index("RangeStack")
    by_id = {row[rid]: row for row in rows}
    out = []
    for row in rows:
        above = by_id.get(row[parent])
        assert row[stack] == (above[stack] if above else "") + ":" + row[rid], row
        out.append(row[:parent] + [above[name] if above else ""] + row[parent + 1:])
    return out


def compare(name, rows, want, compared):
    header, rows = rows[0], rows[1:]
    assert len(rows) == len(want), f"{len(rows)} rows, not {len(want)}"
    if not rows:
        return
    order, sign = ORDER.get(name.partition(":")[0], (1, -1))
    if name != "nvtx_kern_sum":
        keys = [sign * float(row[order]) for row in rows]
        assert keys == sorted(keys), "not in order"
    if name == "nvtx_pushpop_trace":
        rows = parent_names(rows, header)
    if compared is not None:
        rows = [[row[i] for i in compared] for row in rows]
    kinds = [next((type(w[i]) for w in want if w[i] is not None), str)
             for i in range(len(want[0]))] if want else []
    typed = []
    for row in rows:
        assert len(row) == len(kinds), (row, want[0])
        typed.append(([int(v) if kind is int and v.lstrip("-").isdigit() else
                       v if kind is str else number(v) for v, kind in zip(row, kinds)], row))
    exact = [i for i, kind in enumerate(kinds) if kind in (int, str)]
    typed.sort(key=lambda pair: [str(pair[0][i]) for i in exact])
    want = sorted(want, key=lambda row: ["" if row[i] is None else shown(str(row[i]))
                                         for i in exact])
    for (_, row), expected in zip(typed, want):
        for i, (got, value) in enumerate(zip(row, expected)):
            assert is_same(got, value), \
                f"column {i}: {got!r}, not {value!r}\n  got  {row}\n  want {expected}"


FORMATS = ("json", "csv", "tsv")


def run(program, capture, base, specs, *options):
    """Each report in each format, to files."""
    specs = list(specs)
    subprocess.run([program, "stats", "-q", "-o", base,
                    "-r", ",".join(specs * len(FORMATS)),
                    "-f", ",".join(form for form in FORMATS for _ in specs), *options, capture],
                   check=True)


def file_of(base, spec, form):
    return f"{base}_{spec.replace(':', '_')}.{form}"


def read_json(path):
    """The header and the rows; numbers as they are printed, null as ""."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_int=str, parse_float=str)
    assert (document["schema"], document["version"]) == ("cutline-tables", "1"), document["schema"]
    table, = document["tables"]
    objects = table["rows"]
    header = list(objects[0]) if objects else []
    assert not objects or header == table["columns"], (header, table["columns"])
    return [header] + [["" if v is None else v for v in o.values()] for o in objects]


@functools.lru_cache(maxsize=None)
def plain(text):
    """Text without what csv and tsv may not hold as it is."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if c == "\ufffd" or unicodedata.category(c) in
                   ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else c for c in text)


def compare_text(path, form, rows):
    """The csv or tsv file holds the same cells as the json one."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file, delimiter="\t" if form == "tsv" else ","))
    with open(path, "rb") as file:
        data = file.read()
    assert not any(c in data for c in (b"\x1b", b"\x00", b"\r", b"\x7f")), f"{form}: controls"
    assert len(lines) == data.count(b"\n"), f"{form}: a row is more than one line"
    assert len(lines) == max(len(rows), 1), f"{form}: {len(lines)} lines"
    assert all(len(line) == len(lines[0]) for line in lines), f"{form}: ragged"
    for line, row in zip(lines[:1000], rows if rows[0] else []):
        assert [plain(v) for v in line] == [plain(v) for v in row], f"{form}: {line} {row}"


def check(program, capture):
    truth = Truth(Capture(capture))
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "out")
        run(program, capture, base, REPORTS)
        for spec, (make, compared) in REPORTS.items():
            rows = read_json(file_of(base, spec, "json"))
            want = make(truth)
            try:
                if rows is None:
                    assert not want, "no file"
                    continue
                compare(spec, rows, want, compared)
                compare_text(file_of(base, spec, "csv"), "csv", rows)
                compare_text(file_of(base, spec, "tsv"), "tsv", rows)
            except AssertionError as error:
                print(f"{os.path.basename(capture)}: {spec}: {error}")
                bad += 1
    return bad


def main():
    program, captures = sys.argv[1], sys.argv[2:]
    csv.field_size_limit(1 << 24)
    bad = sum(check(program, capture) for capture in captures)
    print(f"{len(captures)} captures, {len(REPORTS)} reports each, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
