"""What lies around the work: before the first op, start-up, steady state, after it."""
import random

from capture import *


def steps(c, t, count, read_ns, label="step", jitter=0.0, seed=1, kernels=7, ranges=True):
    """Steps of `kernels` kernels of 1 ms, then a read; returns the end."""
    noise = random.Random(seed)
    for s in range(count):
        begin = t
        for i in range(kernels):
            ns = int(MS * (1 + jitter * noise.uniform(-1, 1)))
            c.launch(f"k{i}", t, t + 6 * US, t + ns)
            t += ns
        ns = int(read_ns * (1 + jitter * noise.uniform(-1, 1)))
        c.osrt("read", t + 10 * US, t + ns - 100 * US)
        t += ns
        if ranges:
            c.push(label.format(s), begin, t - 50 * US)
    return t


def compiles(seconds, count=300, **more):
    """One op at 1 s, compilation without GPU work, then steps."""
    def write(c):
        c.launch("init", S, S + 8 * US, S + 20 * US)
        steps(c, (1 + seconds) * S, count, 3 * MS, **more)
    return write


def slow_first_steps(c):
    """Three steps that compile for 4 s each, then fast ones; no ranges."""
    t = MS
    for _ in range(3):
        t = steps(c, t, 1, 3 * MS, ranges=False) + 4 * S
    steps(c, t, 200, 3 * MS, ranges=False)


def evaluates(c):
    """Compilation for 40 s, steps, and after every sixth one an evaluation of five steps' time."""
    c.launch("init", MS, MS + 8 * US, MS + 20 * US)
    t = 40 * S
    for i in range(30):
        t = steps(c, t, 6, 3 * MS, ranges=False)
        for k in range(50):
            c.launch("evaluate", t, t + 6 * US, t + 900 * US)
            t += MS


def gets_faster(c):
    """Steps that take 20, 8, 3 and 1 s before they take 10 ms."""
    t = MS
    for seconds in (20, 8, 3, 1):
        t = steps(c, t, 1, 3 * MS, ranges=False) + seconds * S
    steps(c, t, 200, 3 * MS, ranges=False)


def copies_first(c):
    """100 blocking copies to the device, as of a model, then steps; results are written at the end."""
    for i in range(100):
        copy = c.api("cudaMemcpy_v3020", i * 30 * MS, i * 30 * MS + 20 * MS)
        c.copy(i * 30 * MS + 100 * US, i * 30 * MS + 19 * MS, copy, HTOD, 100 << 20)
    t = steps(c, 3 * S, 250, 2 * MS)
    c.osrt("write", t + MS, t + 2 * S)
    copy = c.api("cudaMemcpy_v3020", t + 2 * S + MS, t + 2 * S + 3 * MS)
    c.copy(t + 2 * S + 2 * MS, t + 2 * S + 3 * MS - US, copy, DTOH, 1 << 20, src=DEVICE, dst=PAGEABLE)


def stall_in_the_middle(c):
    t = steps(c, MS, 150, 3 * MS)
    c.osrt("fsync", t, t + 2 * S)
    steps(c, t + 2 * S, 150, 3 * MS)


def another_phase(c):
    """Kernels that do not repeat fill the first half."""
    for i in range(200):
        c.launch(f"prepare_{i}", i * 10 * MS, i * 10 * MS + 10 * US, i * 10 * MS + 8 * MS)
    steps(c, 2 * S, 200, 3 * MS)


def late_start(name):
    def write(c):
        c.process(1000, name)
        for i in range(930):
            c.osrt("fread", i * 100 * MS, i * 100 * MS + 50 * MS)
        c.api("cuLibraryLoadData", 93 * S, 93500 * MS)
        c.api("cudaHostAlloc_v3020", 93500 * MS, 95 * S)
        c.api("cudaMalloc_v3020", 95 * S, 96 * S)
        for i in range(100):
            t = 96 * S + i * 80 * MS
            c.launch("knn", t, t + 10 * US, t + 79 * MS)
        c.api("cudaFree_v3020", 104 * S, 106 * S)
    return write


def at_once(c):
    steps(c, MS, 300, 3 * MS)


CASES = [
    ("compilation, then steps", compiles(60), "analyze",
     ["Steady state: 300 x step, one in 10.0 ms, from 61.000 s to 63.997 s", "69.6 % of the 2.997 s that count",
      "Start-up before it, from the first op on: 60.000 s: GPU 0 busy 0.0 % of it. Thread 1000: cpu 60.000 s",
      "See: cutline analyze --filter-time 1000008000/61000000000 ",
      "1. GPU 0 idle 30.0 % of the steady state: OS call 899 ms", "most read",
      "-r idle_gaps --device 0 --filter-time 61000000000/63997000000"], ["60.000 s in all"]),
    ("the whole of it", compiles(60), "analyze --whole", ["1. GPU 0 idle 95.2 % of its span"], ["Steady state", "Start-up"]),
    ("start-up alone", compiles(60), "analyze --filter-time 1000008000/61000000000", ["60.000 s"],
     ["Steady state", "most read"]),
    ("numbered steps, with noise", compiles(20, 150, label="iteration_{}", jitter=0.4, seed=7), "analyze",
     ["Steady state: 150 x iteration_#", "of the steady state: OS call", "most read"], ["20.000 s in all"]),
    ("without ranges", compiles(9, 120, ranges=False), "analyze",
     ["Steady state: 120 x k", "of the steady state: OS call", "most read"], ["9.000 s in all"]),
    ("without ranges, with noise", compiles(9, 120, ranges=False, jitter=0.3, seed=3), "analyze",
     ["Steady state: 120 x k", "of the steady state: OS call"], ["9.000 s in all"]),
    ("the first steps compile", slow_first_steps, "analyze",
     ["Steady state: 200 x k", "Start-up before it, from the first op on: 12.030 s", "of the steady state: OS call"],
     ["4.000 s in all"]),
    ("evaluations in between", evaluates, "analyze", ["Steady state: ", "Start-up before it, from the first op on: 39.999 s",
                                                      "of the steady state: OS call"], ["40.000 s in all"]),
    ("faster and faster", gets_faster, "analyze", ["Steady state: 200 x k", "Start-up before it, from the first op on: 32.0"],
     ["20.000 s in all"]),
    ("a model is copied first", copies_first, "analyze",
     ["Steady state: 250 x step", "Start-up before it, from the first op on: 3.000 s: GPU 0 busy 63.0 % of it",
      "copy", "After it, to the last op: 2.0", "1. GPU 0 idle 22.3 % of the steady state: OS call"],
     ["copy time is not hidden", "write ("]),
    ("a stall in the middle", stall_in_the_middle, "analyze", ["most fsync", "of its span"], ["Steady state"]),
    ("another phase", another_phase, "analyze", ["of its span"], ["Steady state"]),
    ("steps from the begin on", at_once, "analyze", ["1. GPU 0 idle 30.0 % of its span: OS call"],
     ["Steady state", "Before the first op"]),
    ("a late start", late_start("./knn"), "analyze",
     ["Before the first op: 96.000 s, 90.6 % of the capture. Thread 1000 until its first CUDA call, 93.000 s: "
      "OS calls 46.500 s (fread) + cpu 46.500 s; from it on, 3.000 s: module load 500 ms (cuLibraryLoadData) + "
      "pinned host memory 1.500 s (cudaHostAlloc) + allocation 1.000 s (cudaMalloc)",
      "After the last op: 2.001 s, 1.9 % of the capture. Thread 1000: allocation 2.000 s (cudaFree)"], ["Python"]),
    ("a late start of Python", late_start("python3"), "analyze", ["cpu, as importing Python modules 46.500 s"], []),
]
