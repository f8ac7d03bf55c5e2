"""Why a device is idle: the parts of gaps, what comes after the launch, short gaps."""
from capture import *


def two_kinds_of_allocation(c):
    """A gap of 4 short frees and 4 long allocations; one of the frees is the longest call of all."""
    t = 0
    for _ in range(20):
        c.launch("step", t, t + 6 * US, t + 100 * US)
        c.api("cudaDeviceSynchronize_v3020", t + 6 * US, t + 101 * US)
        at = t + 102 * US
        for ns in (170, 220, 230, 1080):
            c.api("cudaFree_v3020", at, at + ns * US)
            at += ns * US
        for ns in (1030, 1060, 1050, 1050):
            c.api("cudaMallocPitch_v3020", at, at + ns * US)
            at += ns * US
        t = at + 600 * US
    c.launch("step", t, t + 6 * US, t + 100 * US)


def range_of_most_of_a_gap(c):
    """The range that is open as the gap begins covers 1 % of it, the next one the rest."""
    t = 0
    for i in range(10):
        c.launch("step", t, t + 10 * US, t + MS)
        c.push(f"steps {i} to {i + 1}", t, t + 21 * MS)
        c.push(f"copy {i}", t + 900 * US, t + 1200 * US)
        c.push(f"write {i}", t + 1200 * US, t + 20900 * US)
        for k in range(22):
            c.osrt("write", t + 1300 * US + k * 800 * US, t + 2000 * US + k * 800 * US)
        t += 21 * MS
    c.launch("step", t, t + 10 * US, t + MS)


def graph_bubble(c):
    """The launch of a graph returns 2 ms before its first node begins."""
    t = 0
    for _ in range(20):
        call = c.api("cudaGraphLaunch_v10000", t + 100 * US, t + 300 * US)
        k = t + 2300 * US
        for n in range(10):
            c.kernel(f"node_{n}", k, k + 50 * US, call)
            k += 50 * US
        copy = c.api("cudaMemcpyAsync_v3020", t + 310 * US, t + 320 * US)
        c.copy(k, k + 5 * US, copy, DTOH, 4, DEVICE, PINNED)
        c.api("cudaStreamSynchronize_v3020", t + 321 * US, k + 10 * US)
        t = k + 10 * US


def peer_wait(c):
    """Each kernel of GPU 1 is launched 100 us after it went idle, and waits for one of GPU 0 by an event."""
    free = 0
    for i in range(10):
        k0 = 100 * US + i * 10 * MS
        c.launch("stage 0", i * 10 * US, k0, k0 + 9900 * US, context=1)
        record = c.api("cudaEventRecord_v3020", i * 10 * US + 6 * US, i * 10 * US + 7 * US)
        c.rows("CUPTI_ACTIVITY_KIND_CUDA_EVENT", (0, 1, 7, record, global_pid(1000), 50, 1000 + i))
        at = free + 100 * US
        wait = c.api("cudaStreamWaitEvent_v3020", at, at + 2 * US)
        c.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
               (at + 500, at + 1500, 1, 2, 9, wait, global_pid(1000), 2, 50, 1000 + i))
        k1 = k0 + 9905 * US
        c.launch("stage 1", at + 3 * US, k1, k1 + 4 * MS, device=1, stream=9, context=2)
        free = k1 + 4 * MS


peer_wait.options = {"gpus": ((0, "GPU zero"), (1, "GPU one"))}


def two_processes(c):
    """Two processes take turns: the work of each is queued, and begins 160 us after the other's ended."""
    for i in range(200):
        t = 200 * US * i
        c.launch("work", max(0, t - 150 * US), t + 10 * US, t + 50 * US, pid=1000 + i % 2)


def blocking_copies(gap):
    """A blocking copy of one flag before each launch, with gaps of so many us."""
    def write(c):
        t = 0
        for _ in range(200):
            c.launch("step", t, t + 8 * US, t + 38 * US)
            copy = c.api("cudaMemcpy_v3020", t + 6 * US, t + (24 + gap) * US)
            c.copy(t + 40 * US, t + 41500, copy, DTOH, 4, DEVICE, PAGEABLE)
            t += (30 + gap) * US
    return write


def sync_after_each_launch(c):
    """A synchronisation and a copy of an error word after each launch."""
    t = 0
    for _ in range(200):
        launch = c.api("cuLaunchKernelEx", t, t + 6 * US)
        k = t + 8 * US
        c.kernel("busy", k, k + 100 * US, launch)
        c.api("cuCtxSynchronize", t + 7 * US, k + 104 * US)
        copy = c.api("cuMemcpyDtoH_v2", k + 105 * US, k + 119 * US)
        c.copy(k + 113 * US, k + 115 * US, copy, DTOH, 4, DEVICE, PAGEABLE)
        t = k + 149 * US


def rare_launches(c):
    """One launch in 35 ms."""
    for i in range(52):
        t = i * 35 * MS
        launch = c.api("cuLaunchKernel", t, t + 8 * US)
        c.kernel("cluster", t + 10 * US, t + 177 * US, launch)
        c.api("cuEventSynchronize", t + 9 * US, t + 180 * US)


def small_launches(c):
    """Kernels of 3 us, one in 12 us, and nothing between the launches."""
    for i in range(200):
        t = i * 12 * US
        c.launch("tiny", t, t + 6 * US, t + 9 * US)


TOO_MANY = "too many small launches"
BLOCKING = ["blocking copy", "most cudaMemcpy", "199 gaps of 1 us and longer"]

CASES = [
    ("sums by name of call", two_kinds_of_allocation, "analyze",
     ["allocation or free", "most cudaMallocPitch (83.8 ms), cudaFree (34.0 ms)",
      "split: allocation 118 ms + cpu 12.0 ms"], []),
    ("evidence of one gap", two_kinds_of_allocation, "analyze -r idle_gaps:rows=1 -f csv",
     ["cudaMallocPitch 64 % of the gap (4 calls), cudaFree 26 % of the gap (4 calls); "
      "allocation 5.89 ms + cpu 601 us"], []),
    ("range of most of a gap", range_of_most_of_a_gap, "analyze", ["in range write #", "most write"], ["copy #"]),
    ("range of one gap", range_of_most_of_a_gap, "analyze -r idle_gaps:rows=1 -f csv",
     ["steps 0 to 1 > write 0", "write 77 % of the gap (22 calls)"], ["copy 0"]),
    ("graph start", graph_bubble, "analyze",
     ["launched, waits: graph start", "launched, waits 38.0 ms", "cudaGraphUpload"], ["cpu work"]),
    ("event of another device", peer_wait, "analyze",
     ["GPU 1 idle", "launched, waits: for an event", "stream 9 waited for event 50 of stream 7 on GPU 0"],
     ["cpu work"]),
    ("another process", two_processes, "analyze", ["launched, waits: another process", "MPS"],
     ["fewer events", TOO_MANY]),
    ("short gaps", blocking_copies(45), "analyze", BLOCKING, [TOO_MANY]),
    ("longer gaps", blocking_copies(55), "analyze", BLOCKING, [TOO_MANY]),
    ("sync after each launch", sync_after_each_launch, "analyze", ["most after cuCtxSynchronize"], [TOO_MANY]),
    ("rare launches", rare_launches, "analyze", ["most after cuEventSynchronize"], [TOO_MANY]),
    ("small launches", small_launches, "analyze", [TOO_MANY], []),
]
