"""Each share says of what, and nothing promises more than its own text."""
from capture import *


def side_by_side(c):
    """Instances of one kernel on four streams at one time, on a device that also copies within itself."""
    for i in range(100):
        for s in range(4):
            c.launch("gemm_kernel", i * MS + s * US, i * MS + 10 * US + s * 50 * US, i * MS + 700 * US + s * 50 * US,
                     stream=7 + s, call_ns=900)
        copy = c.api("cudaMemcpyAsync_v3020", i * MS + 5 * US, i * MS + 6 * US)
        c.copy(i * MS + 20 * US, i * MS + 900 * US, copy, DTOD, 4096, src=DEVICE, stream=20)


def graphs_side_by_side(c):
    for i in range(50):
        for s in range(2):
            call = c.api("cudaGraphLaunch_v10000", i * MS + s * 10 * US, i * MS + s * 10 * US + 9 * US)
            c.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", (i * MS + 30 * US, i * MS + 900 * US, 0, 1, 7 + s, call,
                                                       global_pid(1000), 3, 3))


def hides_no_more(c):
    """A copy of 8 ms and a kernel of 1 ms in each step of 10."""
    for i in range(20):
        t = i * 10 * MS
        copy = c.api("cudaMemcpy_v3020", t, t + 8 * MS)
        c.copy(t + 10 * US, t + 8 * MS - 10 * US, copy, HTOD, 1 << 28, src=PINNED)
        c.launch("sum", t + 8 * MS + 5 * US, t + 8 * MS + 15 * US, t + 9 * MS + 15 * US)
        c.api("cudaDeviceSynchronize_v3020", t + 8 * MS + 12 * US, t + 9 * MS + 20 * US)


def only_copies(c):
    for i in range(20):
        t = i * 10 * MS
        copy = c.api("cudaMemcpy_v3020", t, t + 10 * MS - US)
        c.copy(t + 10 * US, t + 10 * MS - 2 * US, copy, HTOD, 1 << 28, src=PAGEABLE)


def small_launches(queued):
    """Kernels of 3 us, one in 12; and, where asked, 100 that are queued and follow each other in 1.5 us."""
    def write(c):
        for i in range(400):
            t = i * 12 * US
            c.launch("tiny", t, t + 6 * US, t + 9 * US)
        t = 6 * MS
        for i in range(queued):
            c.launch("tiny", t + i * US, t + 300 * US + i * 4500, t + 303 * US + i * 4500, call_ns=900)
    return write


CASES = [
    ("a kernel on four streams", side_by_side, "analyze", ["gemm_kernel is 9"], ["gemm_kernel is 2", "gemm_kernel is 3"]),
    ("graphs on two streams", graphs_side_by_side, "analyze", ["hides its kernels, 100.0 % of the busy time"], ["200.0 %"]),
    ("copies beside little work", hides_no_more, "analyze",
     ["copy time is not hidden behind kernels 20.0 ms", "Other work takes 20.0 ms"], ["behind kernels 160 ms"]),
    ("copies beside nothing", only_copies, "analyze",
     ["1. GPU 0: 100 % of copy time is not hidden behind kernels 20 copies", "Other work takes 0 ns"], ["No finding"]),
    ("what a graph wins is not known", small_launches(0), "analyze",
     ["too many small launches 3.59 ms", "a graph wins at most the 3.59 ms"], ["queued ops follow"]),
    ("what a graph wins", small_launches(100), "analyze",
     ["too many small launches 2.99 ms", "queued ops follow each other in 1.50 us (median of 99)",
      "so a graph wins 2.99 ms: 3.59 ms less 399 gaps of that"], ["at most the"]),
]
