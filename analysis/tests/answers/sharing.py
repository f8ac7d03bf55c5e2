"""Instances of a GPU, and processes that share one."""
from capture import *


def instances(shares, physical=1):
    """Processes on instances (MIG) of GPU 0, each busy for its share of 100 ms."""
    def write(c):
        c.db.execute("DROP TABLE TARGET_INFO_CUDA_DEVICE")
        c.db.execute("CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT, uuid TEXT, "
                     "numMultiprocessors INT)")
        for r, share in enumerate(shares):
            pid = 100 + r
            c.rows("TARGET_INFO_CUDA_DEVICE", (0, 0, pid, f"MIG-{r}{r}{r}", 42))
            for i in range(100):
                t = MS + i * MS + 7 * US * r
                c.launch("gemm", t - 10 * US, t, t + share * 10 * US, pid=pid, grid=(86400, 1, 1))
        if physical > 1:
            c.rows("TARGET_INFO_CUDA_DEVICE", (1, 0, 900, "GPU-1234", 108))
            c.launch("other", MS, MS + 10 * US, 5 * MS, pid=900)
    return write


def two_on_one_gpu(c):
    """Two processes on the same instance: one row."""
    c.db.execute("DROP TABLE TARGET_INFO_CUDA_DEVICE")
    c.db.execute("CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT, uuid TEXT, numMultiprocessors INT)")
    for r in range(2):
        c.rows("TARGET_INFO_CUDA_DEVICE", (0, 0, 100 + r, "MIG-same", 42))
        for i in range(100):
            t = MS + i * MS + 500 * US * r
            c.launch("gemm", t - 10 * US, t, t + 300 * US, pid=100 + r)


def turns(switch_ns, count=200, op_ns=40 * US):
    """Two processes take turns; each op was launched before the other's had ended."""
    def write(c):
        for i in range(count):
            t = i * (op_ns + switch_ns)
            c.launch("work", max(0, t - op_ns - switch_ns + 10 * US), t + 20 * US, t + 20 * US + op_ns, pid=100 + i % 2)
    return write


def one_after_the_other(c):
    """A process ends, and another one begins: its first op waits after its launch."""
    for i in range(50):
        c.launch("work", i * MS, i * MS + 6 * US, i * MS + 990 * US, pid=100)
    for i in range(50):
        t = 50 * MS + i * MS
        c.launch("work", t, t + (900 * US if i == 0 else 6 * US), t + 990 * US, pid=101)


def side_by_side(c):
    """Under MPS: two processes at one time; gaps after the op of one, before that of the other."""
    for i in range(100):
        for r in range(2):
            t = i * MS + r * 200 * US
            c.launch("work", t - 300 * US if i else 0, t + 100 * US, t + 600 * US, pid=100 + r)


TURNS = "launched, waits: another process"

CASES = [
    ("two instances", instances((60, 60)), "analyze",
     ["GPU 0 GPU zero MIG-000 busy 60.", "GPU 1 GPU zero MIG-111 busy 60."], ["90.", "is shared"]),
    ("three instances, another GPU", instances((30, 50, 70), 2), "analyze",
     ["GPU 0 GPU zero MIG-000 busy 30.", "GPU 1 GPU one busy", "GPU 2 GPU zero MIG-111 busy 50.",
      "GPU 3 GPU zero MIG-222 busy 70."], []),
    ("the parts of instances", instances((60, 60)), "analyze -r top_kernels -f csv", [",42,"], [",108,"]),
    ("two processes on one instance", two_on_one_gpu, "analyze",
     ["GPU 0 GPU zero MIG-same busy 60.", "GPU 0 is shared: ./program-100 (100) keeps it busy for 30.", "(101) for 30.",
      "they take turns"], ["GPU 1 "]),
    ("taking turns", turns(160 * US), "analyze", [TURNS, "MPS", "GPU 0 is shared: ./program-100 (100) keeps it busy for 10.",
                                                   "they take turns"], []),
    ("taking turns, longer", turns(700 * US, 60, 300 * US), "analyze", [TURNS, "they take turns"], []),
    ("one after the other", one_after_the_other, "analyze", ["launched, waits: not started"], [TURNS]),
    ("side by side", side_by_side, "analyze", ["they run side by side"], [TURNS, "MPS"]),
]
CASES[1][1].options = {"gpus": ((0, "GPU zero"), (1, "GPU one"))}
