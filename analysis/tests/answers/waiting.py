"""Why an op waits, and why a launching call is long."""
from capture import *


def full_queue(kernels, kernel_ns, limit=1024, early=100, call_ns=5 * US):
    """The host runs ahead until `limit` launches are queued; `early` kernels were launched before the capture."""
    def write(c):
        ends, k = [], MS
        for i in range(early):
            c.kernel("before", k, k + kernel_ns, 900000 + i)
            k += kernel_ns
        t = MS + 100 * US
        for i in range(kernels):
            start = max(k, t + 6 * US)
            k = start + kernel_ns
            ends.append(k)
            end = t + call_ns
            if i >= limit:
                end = max(end, ends[i - limit])
            c.kernel("work", start, k, c.api("cudaLaunchKernel_v7000", t, end), grid=(86400, 1, 1))
            t = end + US
        c.api("cudaDeviceSynchronize_v3020", t, k + 5 * US)
    return write


def slow_calls(c):
    """Every 40th launch takes 60 us, as something is loaded, but the queue is never full."""
    t, k = MS, MS
    for i in range(4000):
        ns = 60 * US if i % 40 == 39 else 5 * US
        start = max(k, t + ns + US)
        k = start + 8 * US
        c.kernel("work", start, k, c.api("cudaLaunchKernel_v7000", t, t + ns), grid=(86400, 1, 1))
        t += ns + US


def big_ops(c):
    """200 kernels of 5 ms, each followed by a wait and 2 ms of host work."""
    for i in range(200):
        t = i * 7010 * US
        c.kernel("big", t + 8 * US, t + 5008 * US, c.api("cuLaunchKernel", t, t + 5 * US))
        c.api("cuStreamSynchronize", t + 6 * US, t + 5010 * US)


def graph_replay(c):
    """A graph of 300 kernels over 100 streams, ten times."""
    for g in range(10):
        t = MS + g * MS
        call = c.api("cudaGraphLaunch_v10000", t, t + 50 * US)
        for n in range(300):
            at = t + 60 * US + n * 3 * US
            c.kernel(f"node{n % 9}", at, at + 12 * US, call, stream=20 + n % 100)


def blocked(other, stream, wait_ns, same=False, steps=10):
    """`gemm` is launched early on a stream, and waits while `other` fills the device."""
    def write(c):
        for i in range(steps):
            t = MS + i * (wait_ns + 10 * MS)
            end = t + 10 * US + wait_ns
            c.launch(other, t, t + 10 * US, end, stream=20 if same else stream)
            c.launch("gemm", t + 10 * US, end + 10 * US, end + 9 * MS, stream=20)
    return write


def waits_for_event(c):
    """A stream waits for an event of another one."""
    for i in range(5):
        t = MS + i * 20 * MS
        c.launch("producer", t, t + 10 * US, t + 8 * MS, stream=7)
        record = c.api("cudaEventRecord_v3020", t + 6 * US, t + 7 * US)
        c.rows("CUPTI_ACTIVITY_KIND_CUDA_EVENT", (0, 1, 7, record, global_pid(1000), 5, 100 + i))
        wait = c.api("cudaStreamWaitEvent_v3020", t + 8 * US, t + 10 * US)
        c.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
               (t + 8500, t + 9 * US, 0, 1, 20, wait, global_pid(1000), 2, 5, 100 + i))
        c.launch("gemm", t + 11 * US, t + 8 * MS + 3 * US, t + 15 * MS, stream=20)


GEMM = "view --dump --size 200x40 --script keys=/gemm<Enter>n"

CASES = [
    ("behind another stream", blocked("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 40, 30 * MS), GEMM,
     ["waited 30.0 ms: ncclDevKernel_AllReduce_Sum_f32_RING_LL on stream 40 ran for 30.0 ms of it"], ["behind"]),
    ("behind another stream, of other size", blocked("fft", 33, 700 * US), GEMM,
     ["waited 705 us: fft on stream 33 ran for 695 us of it"], []),
    ("behind its own stream", blocked("fft", 33, 700 * US, same=True), GEMM, ["waited 705 us on its stream behind fft"],
     ["ran for"]),
    ("for an event", waits_for_event, GEMM, ["its stream was told to wait for event 5 of stream 7"], ["ran for"]),
    ("a call in a full queue", full_queue(4000, 50 * US), "view --dump --size 200x40 --script keys=jjjwwww",
     ["1024 launches were queued as it began: the queue is full"], []),
    ("a full queue", full_queue(4000, 50 * US), "analyze",
     ["launch calls wait for room in the queue", "usual ones take 5.00 us; up to 1024 launches were queued",
      "busy for 100.0 %", "Launching is not slow"], ["slow launch", "too many small launches"]),
    ("a full queue: the calls", full_queue(4000, 50 * US), "analyze -r full_queue -f csv", [",5000,1024,100.0,1000,1000,0"],
     []),
    ("a full queue of other kernels", full_queue(3000, 200 * US, 1022, 0, 7 * US), "analyze",
     ["launch calls wait for room in the queue", "usual ones take 7.00 us; up to 1022 launches were queued"], []),
    ("slow calls, no full queue", slow_calls, "analyze", [], ["room in the queue"]),
    ("big ops and waits", big_ops, "analyze",
     ["1. GPU 0 idle 28.6 % of its span: cpu work: after a blocking call", "most after cuStreamSynchronize"],
     ["too many small launches", "room in the queue"]),
    ("graphs on many streams", graph_replay, "analyze", ["GPU 0 idle 8.", "launch"],
     ["too many small launches", "room in the queue"]),
]
