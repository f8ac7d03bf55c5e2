"""Captures with one planted cause each, of random size and names, clean or with noise.

A plant is a function (c, r) that writes a capture; r is a Random with `noise`, the share by which times vary. Its line
in PLANTS has the labels that must be found, those that may be, and how the capture is made.
"""
import random

from capture import *

KERNEL_NAMES = ["gemm", "void fft_radix<float, 4>(float*)", "stencil_3d", "reduce_sum", "spmv_csr", "md_forces", "attention"]


class Random(random.Random):
    def __init__(self, seed, noise):
        super().__init__(seed)
        self.noise = noise
        self.name = self.choice(KERNEL_NAMES)
        self.op = self.log(150 * US, 3 * MS)  # a kernel
        self.stall = self.log(120 * US, 8 * MS)  # a gap
        self.steps = self.randint(40, 120)
        self.pid = self.randint(200, 60000)
        self.stream = self.choice((7, 13, 20, 31))
        self.driver = self.random() < 0.5

    def log(self, low, high):
        return int(low * (high / low) ** self.random())

    def time(self, ns):
        """The time with noise."""
        return max(1000, int(ns * (1 + self.noise * self.uniform(-1, 1))))

    def call(self, runtime, driver):
        return driver if self.driver else runtime + "_v3020"

    def launch_call(self):
        return self.call("cudaLaunchKernel", "cuLaunchKernel")


def launch(c, r, t, begin, ns, name=None, **more):
    call = c.api(r.launch_call(), t, t + 4 * US, pid=r.pid)
    c.kernel(name or r.name, begin, begin + ns, call, stream=more.pop("stream", r.stream), pid=r.pid,
             grid=more.pop("grid", (86400, 1, 1)), **more)


def distract(c, r, begin, end):
    """Noise alone: what other threads do, queries, ranges; nothing that explains the gap."""
    if r.noise == 0 or end - begin < 20 * US:
        return
    c.osrt("poll", begin - 5 * MS, end, pid=r.pid, tid=r.pid + 1)
    if r.random() < 0.3:
        c.push(r.choice(("tick", "epoch", "log")), begin - 10 * US, end - 3 * US, pid=r.pid, tid=r.pid + 1)
    if r.random() < 0.3:
        c.api("cudaGetDevice_v3020", begin + US, begin + 2 * US, pid=r.pid)


def steps(stall):
    """Kernels with a gap after each, in which stall(c, r, begin, end) says what the thread does."""
    def write(c, r):
        t = MS
        for _ in range(r.steps):
            ns = r.time(r.op)
            launch(c, r, t, t + 6 * US, ns)
            gap = r.time(r.stall)
            end = t + 6 * US + ns
            distract(c, r, end, end + gap)
            stall(c, r, end, end + gap - 6 * US, t + 5 * US)
            t = end + gap - 6 * US
        launch(c, r, t, t + 6 * US, r.op)
    return write


def covered(c, r, name, begin, end, put=None):
    """Calls of one name that cover nine tenths of a time, in one to four pieces."""
    count = r.randint(1, 4)
    length = (end - begin) * 9 // 10 // count
    for k in range(count):
        at = begin + (end - begin) // 20 + k * (length + (end - begin) // 50)
        (put or c.api)(name, at, at + length, pid=r.pid)


def allocation(c, r, begin, end, _):
    covered(c, r, r.choice((r.call("cudaMalloc", "cuMemAlloc_v2"), r.call("cudaFree", "cuMemFree_v2"))), begin, end)


def module(c, r, begin, end, _):
    covered(c, r, r.choice(("cuModuleLoadDataEx", "cuLibraryLoadData")), begin, end)


def reading(c, r, begin, end, _):
    covered(c, r, r.choice(("read", "fread", "pread64")), begin, end, c.osrt)


def locked(c, r, begin, end, _):
    covered(c, r, r.choice(("pthread_mutex_lock", "pthread_cond_wait", "sem_wait")), begin, end, c.osrt)


def sleeping(c, r, begin, end, _):
    covered(c, r, r.choice(("usleep", "nanosleep")), begin, end, c.osrt)


def waited(c, r, begin, end, after):
    c.api(r.choice((r.call("cudaStreamSynchronize", "cuStreamSynchronize"),
                    r.call("cudaDeviceSynchronize", "cuCtxSynchronize"),
                    r.call("cudaEventSynchronize", "cuEventSynchronize"))), after, begin + 2 * US, pid=r.pid)
    c.osrt("read", begin - 20 * MS, begin - 19 * MS, pid=r.pid, tid=r.pid + 2)


def computing(c, r, begin, end, _):
    c.osrt("read", begin - 20 * MS, begin - 19 * MS, pid=r.pid, tid=r.pid + 2)


def long_sync(c, r, begin, end, after):
    """A synchronisation that ends long after the work: of another device."""
    c.api(r.call("cudaDeviceSynchronize", "cuCtxSynchronize"), after, begin + (end - begin) * 9 // 10, pid=r.pid)


def blocking_copy(c, r, begin, end, _):
    """A copy of a few bytes whose call takes the gap."""
    call = c.api(r.call("cudaMemcpy", "cuMemcpyDtoH_v2"), begin + 2 * US, end - US, pid=r.pid)
    middle = (begin + end) // 2
    c.copy(middle, middle + US, call, DTOH, 4, DEVICE, PAGEABLE, stream=r.stream, pid=r.pid)


def graph_start(c, r):
    t = MS
    for _ in range(r.steps):
        call = c.api(r.call("cudaGraphLaunch", "cuGraphLaunch"), t, t + 20 * US, pid=r.pid)
        k = t + 20 * US + r.time(r.stall)
        for _ in range(5):
            c.kernel(r.name, k, k + r.op // 5, call, stream=r.stream, pid=r.pid, grid=(86400, 1, 1))
            k += r.op // 5
        c.api(r.call("cudaStreamSynchronize", "cuStreamSynchronize"), t + 21 * US, k + 2 * US, pid=r.pid)
        t = k + 3 * US


def event_wait(c, r):
    """Stream B of GPU 1 waits for work of stream A of GPU 0, which it was told to."""
    t, free = MS, MS
    for i in range(r.steps):
        ns = r.time(r.op + r.stall)
        launch(c, r, t - 500 * US if i else 0, t, ns, stream=7)
        record = c.api("cudaEventRecord_v3020", t - 400 * US, t - 399 * US, pid=r.pid)
        c.rows("CUPTI_ACTIVITY_KIND_CUDA_EVENT", (0, 1, 7, record, global_pid(r.pid), 50, 1000 + i))
        wait = c.api("cudaStreamWaitEvent_v3020", free + 2 * US, free + 4 * US, pid=r.pid)
        c.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
               (free + 2500, free + 3500, 1, 2, 9, wait, global_pid(r.pid), 2, 50, 1000 + i))
        k = t + ns + 5 * US
        call = c.api("cudaLaunchKernel_v7000", free + 5 * US, free + 9 * US, pid=r.pid)
        c.kernel("consumer", k, k + ns // 4, call, stream=9, device=1, context=2, pid=r.pid, grid=(86400, 1, 1))
        free = k + ns // 4
        t += ns + 2 * US


def process_turns(c, r):
    """Each op was launched while the one of the other process ran."""
    t, at = MS, 500 * US
    for i in range(2 * r.steps):
        r.pid = 300 + i % 2
        ns = r.time(r.op)
        launch(c, r, at, t, ns)
        at = t + ns // 2
        t += ns + r.time(r.stall)


def small_launches(c, r):
    t, op, every = MS, r.log(2 * US, 5 * US), r.log(12 * US, 40 * US)
    for _ in range(600):
        launch(c, r, t, t + 6 * US, r.time(op))
        t += r.time(every)


def full_queue(c, r):
    ns, ends, k, t = r.log(30 * US, 200 * US), [], MS, MS
    for i in range(3000):
        start = max(k, t + 6 * US)
        k = start + r.time(ns)
        ends.append(k)
        end = max(t + r.time(4 * US), ends[i - 1024] if i >= 1024 else 0)
        c.kernel(r.name, start, k, c.api(r.launch_call(), t, end, pid=r.pid), pid=r.pid, grid=(86400, 1, 1))
        t = end + US


def migrations(c, r):
    t = MS
    for _ in range(r.steps):
        launch(c, r, t, t + 6 * US, r.time(r.op))
        t += 6 * US + r.op * 2
        for _ in range(10):
            ns = r.time(r.op / 20)
            c.copy(t, t + ns, 0, UM_HTOD, 65536 * r.randint(1, 8), PAGEABLE, DEVICE, stream=0, pid=r.pid)
            t += ns + 2 * US


def exposed_copies(c, r):
    t, src = MS, r.choice((PAGEABLE, PINNED))
    for _ in range(r.steps):
        copy = c.api(r.choice(("cudaMemcpyAsync_v3020", "cudaMemcpy_v3020")), t, t + 8 * US, pid=r.pid)
        ns = r.time(r.op // 2)
        c.copy(t + 10 * US, t + 10 * US + ns, copy, HTOD, 1 << 26, src, DEVICE, stream=14, pid=r.pid)
        k = t + 12 * US + ns
        ns = r.time(r.op)
        launch(c, r, t + 9 * US, k, ns)
        t = k + ns - 8 * US


def straggler(c, r):
    t = MS
    late = r.randint(0, 1)
    for _ in range(r.steps):
        arrive = [r.time(r.op * (3 if rank == late else 1)) for rank in range(2)]
        end = max(arrive) + 100 * US
        for rank in range(2):
            r.pid = 400 + rank
            launch(c, r, max(0, t - 900 * US), t, arrive[rank], device=rank)
            launch(c, r, max(0, t - 890 * US), t + arrive[rank] + US, end - arrive[rank], device=rank,
                   name="ncclDevKernel_AllReduce_Sum_f32_RING_LL", grid=(24, 1, 1))
        t += end + 2 * US


def failing(c, r):
    code = r.choice((222, 209, 700, 2))
    for i in range(r.steps):
        c.api(r.launch_call(), MS + i * 20 * US, MS + i * 20 * US + 2 * US, code, pid=r.pid)


def few_blocks(c, r):
    t = MS
    for _ in range(r.steps):
        ns = r.time(r.op)
        launch(c, r, t - 900 * US, t, ns, grid=(r.randint(1, 60), 1, 1))
        t += ns + US


def opaque_graph(c, r):
    t = MS
    for _ in range(r.steps):
        call = c.api("cudaGraphLaunch_v10000", t - 900 * US, t - 880 * US, pid=r.pid)
        ns = r.time(r.op)
        c.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", (t, t + ns, 0, 1, 7, call, global_pid(r.pid), 3, 3))
        t += ns + US


def start_up(c, r):
    launch(c, r, MS, MS + 6 * US, 20 * US, name="init")
    t = r.log(2 * S, 60 * S)
    for _ in range(r.steps):
        ns = r.time(r.op)
        launch(c, r, t, t + 6 * US, ns)
        gap = r.time(r.op / 2)
        c.osrt("read", t + ns + 10 * US, t + ns + gap - 2 * US, pid=r.pid)
        t += ns + gap


def healthy(c, r):
    """Kernels that are queued and follow each other at once."""
    t = 2 * MS
    for i in range(r.steps):
        ns = r.time(r.op)
        launch(c, r, MS + i * 6 * US, t, ns)
        t += ns + US
    c.api("cudaDeviceSynchronize_v3020", MS + r.steps * 7 * US, t + 3 * US, pid=r.pid)


TWO = {"gpus": ((0, "GPU zero"), (1, "GPU one"))}
PLANTS = [
    # name, how it is written, labels that must be found, labels that may be, options of the capture
    ("allocation", steps(allocation), {"idle: allocation or free"}, set(), {}),
    ("module load", steps(module), {"idle: module load"}, set(), {}),
    ("reading", steps(reading), {"idle: OS call"}, set(), {}),
    ("lock", steps(locked), {"idle: OS call"}, set(), {}),
    ("sleep", steps(sleeping), {"idle: OS call"}, set(), {}),
    ("after a wait", steps(waited), {"idle: cpu work: after a blocking call"}, set(), {}),
    ("computing", steps(computing), {"idle: cpu work: launching too slowly"}, set(), {}),
    ("synchronisation", steps(long_sync), {"idle: synchronising call"}, set(), {}),
    ("blocking copy", steps(blocking_copy), {"idle: blocking copy"},
     {"idle: slow launch", "idle: cpu work: after a blocking call"}, {}),
    ("graph start", graph_start, {"idle: launched, waits: graph start"}, set(), {}),
    ("event", event_wait, {"idle: launched, waits: for an event"}, set(), TWO),
    ("processes in turns", process_turns, {"idle: launched, waits: another process"}, set(), {}),
    ("small launches", small_launches, {"small launches"}, set(), {}),
    ("full queue", full_queue, {"full queue"}, set(), {}),
    ("migrations", migrations, {"migrations"},
     {"idle: page migration", "idle: cpu work: launching too slowly", "idle: cpu work: after a blocking call"}, {}),
    ("exposed copies", exposed_copies, {"exposed copies"}, set(), {}),
    ("straggler", straggler, {"exposed communication", "who is late"}, set(), TWO),
    ("failing calls", failing, {"failed calls"}, set(), {}),
    ("few blocks", few_blocks, {"few blocks"}, set(), {}),
    ("opaque graph", opaque_graph, {"opaque graph"}, set(), {}),
    ("start-up", start_up, {"steady state", "idle: OS call"}, set(), {}),
    ("healthy", healthy, set(), set(), {}),
]
