#!/usr/bin/env python3
"""JSON traces open like captures: check_json_trace.py CUTLINE FOLDER.

Writes small traces as PyTorch, JAX and Chrome do, whole and damaged, and compares what cutline reads
with what was written.
"""
import csv
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys

cutline, folder = sys.argv[1], pathlib.Path(sys.argv[2])
BASE = 1_700_000_000_000_000  # us since 1970
number = 0


def run(*words, status=0):
    done = subprocess.run([cutline, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{words}: status {done.returncode}: {done.stderr}"
    return done


def rows(path, report):
    done = run("stats", "-r", report, "-f", "csv", path)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def info(path):
    return json.loads(run("info", "-f", "json", path).stdout)


def write(data, name="trace.json"):
    """A file of its own for each, as they are known by place, size and time."""
    global number
    number += 1
    path = folder / f"{number}-{name}"
    path.write_bytes(data)
    return path


def us(ns):
    return f"{BASE + ns // 1000}.{ns % 1000:03d}"


class Raw(str):
    """A number with the digits it has."""


def dump(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return json.dumps(value)


def slice_of(category, name, begin, end, pid, tid, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": Raw(us(begin)),
            "dur": Raw(f"{(end - begin) // 1000}.{(end - begin) % 1000:03d}"), "args": args}


KERNEL = "void at::native::gemm<float, (int)4>(float*, at::native::(anonymous namespace)::Op)"
events = []
for i in range(40):
    t = 10_000 + i * 100_001
    events += [
        slice_of("kernel", KERNEL, t + 20_000, t + 70_007 + i, 0, 7, device=0, context=1, stream=7,
                 correlation=100 + i, grid=[32, 2, 1], block=[256, 1, 1],
                 **{"External id": i, "registers per thread": 40, "shared memory": 4096}),
        slice_of("cuda_runtime", "cudaLaunchKernel", t, t + 5_003, 42, 43, correlation=100 + i, cbid=211),
        slice_of("cpu_op", "aten::mm", t - 2_000, t + 9_000, 42, 43, **{"External id": i}),
    ]
events += [
    slice_of("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 4_200_000, 4_300_500, 0, 7, device=0,
             context=1, stream=7, correlation=900, bytes=1_000_000),
    slice_of("gpu_memset", "Memset (Device)", 4_400_000, 4_401_000, 0, 7, device=0, context=1, stream=7,
             correlation=901, bytes=64),
    slice_of("cuda_driver", "cuMemcpyHtoDAsync", 4_100_000, 4_110_000, 42, 43, correlation=900),
    slice_of("user_annotation", "ProfilerStep#1", 0, 4_500_000, 42, 43),
    slice_of("python_function", "train.py(7): step", 1_000, 4_400_000, 42, 43),
    slice_of("cpu_op", "record_param_comms", 4_450_000, 4_460_000, 42, 44,
             **{"Collective name": "allreduce", "In msg nelems": 1024, "dtype": "Float"}),
    # Two slices of one thread that overlap: the second is in a lane below.
    slice_of("cpu_op", "left", 4_470_000, 4_480_000, 42, 45),
    slice_of("cpu_op", "right", 4_475_000, 4_490_000, 42, 45),
    slice_of("gpu_user_annotation", "ProfilerStep#1", 0, 4_500_000, 0, 7),
    slice_of("Trace", "PyTorch Profiler (0)", 0, 9_000_000, "Spans", "PyTorch Profiler"),
    {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": Raw(us(10**12))},
    {"ph": "M", "name": "process_name", "pid": 42, "tid": 0, "args": {"name": "python3 \u00e9\n"}},
    {"ph": "M", "name": "thread_name", "pid": 42, "tid": 43, "args": {"name": "main"}},
]
HEAD = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85_000_000_000,
                          "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
}
lines = ",\n  ".join(map(dump, events))
whole = f'{dump(HEAD)[:-1]},\n"traceEvents": [\n  {lines}\n],\n"traceName": "x.json"\n}}\n'.encode()
kernel_ns = sum(50_007 + i for i in range(40))


def check_whole(path):
    kernels = rows(path, "cuda_gpu_kern_sum")
    assert [(r["Name"], int(r["Total Time (ns)"]), int(r["Instances"])) for r in kernels] == \
        [(KERNEL, kernel_ns, 40)], kernels
    calls = {r["Name"]: (int(r["Total Time (ns)"]), int(r["Num Calls"])) for r in rows(path, "cuda_api_sum")}
    assert calls == {"cudaLaunchKernel": (40 * 5_003, 40), "cuMemcpyHtoDAsync": (10_000, 1)}, calls
    copies = rows(path, "cuda_gpu_mem_time_sum")
    assert sorted(int(r["Total Time (ns)"]) for r in copies) == [1_000, 100_500], copies
    assert [r["Total (MB)"] for r in rows(path, "cuda_gpu_mem_size_sum")] == ["1.000", "0.000"]
    ranges = {r["Range"].lstrip(":"): int(r["Instances"]) for r in rows(path, "nvtx_sum")}
    assert ranges == {"aten::mm": 40, "ProfilerStep#1": 1, "train.py(7): step": 1, "record_param_comms": 1,
                      "left": 1, "right": 1}, ranges
    trace = rows(path, "cuda_gpu_trace")
    kernel = next(r for r in trace if r["Name"] == KERNEL)
    assert (kernel["GrdX"], kernel["GrdY"], kernel["BlkX"], kernel["Reg/Trd"]) == ("32", "2", "256", "40")
    assert kernel["Strm"] == "7" and kernel["Device"].startswith("NVIDIA H100"), kernel
    # Exact: the first kernel begins 30,000 ns after the 0 of the trace, whose last hour began before.
    hour = (BASE * 1000) % 3_600_000_000_000
    assert int(trace[0]["Start (ns)"]) == hour + 30_000, trace[0]
    # A launch is known by its correlation, and projects the range that it lies in.
    launches = rows(path, "cuda_kern_exec_sum")
    assert sum(int(r["Count"]) for r in launches) == 40
    projected = {r["Range"].lstrip(":"): int(r["Range Instances"]) for r in rows(path, "nvtx_gpu_proj_sum")}
    assert projected["aten::mm"] == 40 and projected["ProfilerStep#1"] == 1, projected


def check_forms():
    minified = json.dumps(json.loads(whole), separators=(",", ":")).encode()
    half = len(whole) // 2
    for data, name in [(whole, "trace.json"), (minified, "minified.json"), (b"\xef\xbb\xbf" + whole, "bom.json"),
                       (gzip.compress(whole), "trace.json.gz"), (whole, "no-suffix"),
                       (gzip.compress(whole[:half]) + gzip.compress(whole[half:]), "members.pt.trace.json.gz")]:
        path = write(data, name)
        check_whole(path)
        assert run("info", path).stderr == ""
    array = f"[{lines}]".encode()
    for data in (array, array[:-1], array[:-1] + b",\n"):  # "The ] at the end is optional"
        assert run("stats", "-r", "cuda_gpu_kern_sum", write(data)).stderr == ""


def check_all_commands():
    path = write(gzip.compress(whole), "all.json.gz")
    before = path.read_bytes()
    assert "NVIDIA H100" in run("info", path).stdout
    assert str(path) in run("info", path).stdout  # the name that was given, not that of the cache
    assert "[ProfilerStep#1" in run("view", "--dump", "--size", "120x40", path).stdout
    run("analyze", path)
    run("diff", path, path)
    run("export", "--force", "-o", folder / "again.json", path)
    assert path.read_bytes() == before
    # What was made of it lies in the cache folder once, closed to others; a changed trace is read anew.
    made = list(pathlib.Path(os.environ["XDG_CACHE_HOME"], "cutline").glob("export-json*"))
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in made)
    path.write_bytes(gzip.compress(whole.replace(b"aten::mm", b"aten::bmm")))
    assert "aten::bmm" in run("stats", "-r", "nvtx_sum", path).stdout


def check_damaged():
    place = whole.index(b"aten::mm")
    cases = [
        (whole[:len(whole) * 2 // 3], "cut off", None),
        (gzip.compress(whole)[:-2000 if len(gzip.compress(whole)) > 4000 else -300], "compressed data", None),
        # A quote too many, and a name that never ends: the others are read.
        (whole[:place] + b'a"b' + whole[place:], "left out", 39),
        (whole[:place] + b'"' + whole[place:], "left out", 39),
        (whole.replace(b'"dur": 50.007', b'"dur": NaN', 1), "left out", None),
        (whole.replace(b'"ts": 17', b'"ts": "x17', 1), "left out", None),
    ]
    for data, words, ranges in cases:
        path = write(data)
        done = run("stats", "-r", "nvtx_sum", "-f", "csv", path)
        assert words in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)
        got = {r["Range"].lstrip(":"): int(r["Instances"]) for r in csv.DictReader(io.StringIO(done.stdout))}
        assert got.get("aten::mm", 0) >= 20, got
        assert ranges is None or got["aten::mm"] == ranges, got
        assert info(path)["losses"], "the losses are in the file"
    # One line without a line break in it, where a quote shifts all others: what follows is found again.
    minified = json.dumps(json.loads(whole), separators=(",", ":")).encode()
    place = minified.index(b"aten::mm")
    done = run("stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", write(minified[:place] + b'"' + minified[place:]))
    assert "left out" in done.stderr
    for data, words in [(b'{"a": 1}', "not a trace"), (b"[]", "not a trace"), (b'{"traceEvents": [{"ph"', "no event"),
                        (b"{" * 100_000, "not a trace"), (b"[" * 100_000, "not a trace"),
                        (gzip.compress(b"{}"), "not a trace")]:
        done = run("info", write(data), status=1)
        assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert info(write(b'{"traceEvents": []}'))


def check_jax():
    meta = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:2"}},
        {"ph": "M", "pid": 1, "tid": 13, "name": "thread_name", "args": {"name": "Stream #13(Compute)"}},
        {"ph": "M", "pid": 1, "tid": 9, "name": "thread_name", "args": {"name": "XLA Modules"}},
        {"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "M", "pid": 701, "tid": 140_234_567_890_123, "name": "thread_name", "args": {"name": "python"}},
    ]
    slices = [
        {"ph": "X", "pid": 1, "tid": 13, "ts": 10.5, "dur": 2.25, "name": "loop_add_fusion",
         "args": {"correlation_id": 5, "kernel_details": "regs:32 static_shared:0 grid:4,2,1 block:128,1,1"}},
        {"ph": "X", "pid": 1, "tid": 13, "ts": 20, "dur": 1, "name": "MemcpyD2H",
         "args": {"memcpy_details": "kind_src:device kind_dst:pinned size:4096 dest:0"}},
        {"ph": "X", "pid": 1, "tid": 9, "ts": 10, "dur": 12, "name": "jit_step"},
        {"ph": "X", "pid": 701, "tid": 140_234_567_890_123, "ts": 1, "dur": 30, "name": "PjitFunction(step)"},
    ]
    path = write(json.dumps({"displayTimeUnit": "ns", "traceEvents": meta + slices + [{}]}).encode())
    kernels = rows(path, "cuda_gpu_trace")
    assert [(r["Name"], r["Strm"], r["Start (ns)"], r["Duration (ns)"], r["GrdX"], r["GrdY"]) for r in kernels][0] == \
        ("loop_add_fusion", "13", "10500", "2250", "4", "2"), kernels
    assert kernels[1]["Bytes (MB)"] == "0.004" and "Device-to-Host" in kernels[1]["Name"], kernels
    assert {r["Range"].lstrip(":") for r in rows(path, "nvtx_sum")} == {"PjitFunction(step)"}


def check_chrome():
    spans = [
        {"ph": "B", "pid": 5, "tid": 6, "ts": 1, "name": "outer"}, {"ph": "B", "pid": 5, "tid": 6, "ts": 2, "name": "inner"},
        {"ph": "E", "pid": 5, "tid": 6, "ts": 3}, {"ph": "E", "pid": 5, "tid": 6, "ts": 7},
        {"ph": "b", "cat": "net", "id": "0x1", "pid": 5, "tid": 6, "ts": 2, "name": "request"},
        {"ph": "e", "cat": "net", "id": "0x1", "pid": 5, "tid": 7, "ts": 9, "name": "request"},
        {"ph": "E", "pid": 5, "tid": 8, "ts": 7}, {"ph": "i", "pid": 5, "tid": 6, "ts": 4, "name": "mark", "s": "t"},
        {"ph": "C", "pid": 5, "tid": 6, "ts": 4, "name": "counter", "args": {"x": 1}},
        {"ph": "X", "pid": "render", "tid": "main thread", "ts": 3, "dur": 2, "name": "\x1b[31mred"},
    ]
    path = write(json.dumps(spans).encode())
    got = {r["Range"].lstrip(":"): int(r["Total Time (ns)"]) for r in rows(path, "nvtx_sum")}
    assert got["outer"] == 6000 and got["inner"] == 1000 and got["request"] == 7000, got
    assert len(got) == 4 and "\x1b" not in run("stats", "-r", "nvtx_sum", path).stdout


check_forms()
check_all_commands()
check_damaged()
check_jax()
check_chrome()
print(f"{number} traces")
