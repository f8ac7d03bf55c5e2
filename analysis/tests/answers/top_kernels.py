"""What the launch shape of the largest kernel says."""
from capture import *


def one_thread(c):
    c.launch("add", 0, 20 * US, 25 * S, grid=(1, 1, 1), block=(1, 1, 1))
    c.api("cudaDeviceSynchronize_v3020", 11 * US, 25 * S + 10 * US)


def kernels(c, **shape):
    for i in range(100):
        c.launch("big_gemm_kernel", i * MS, i * MS + 10 * US, i * MS + 900 * US, **shape)
        c.launch("small_add_kernel", i * MS + 6 * US, i * MS + 905 * US, i * MS + 1005 * US)


def tail(c):  # 8 blocks of 256 threads a multiprocessor: 864 at once
    kernels(c, grid=(900, 1, 1), block=(256, 1, 1))


def registers(c):
    kernels(c, grid=(100000, 1, 1), block=(512, 1, 1), registers=255)


def spills(c):
    kernels(c, grid=(100000, 1, 1), block=(256, 1, 1), registers=255, local=512)


def full(c):
    kernels(c, grid=(86400, 1, 1), block=(256, 1, 1))


def communication(c):
    for i in range(100):
        c.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", i * MS, i * MS + 10 * US, i * MS + 900 * US, grid=(24, 1, 1))
        c.launch("gemm_kernel", i * MS + 6 * US, i * MS + 905 * US, i * MS + 995 * US, grid=(86400, 1, 1))


def far_apart(c):  # rows of the wanted kernels with thousands of others between them
    c.launch("first_kernel", 0, 10 * US, S, grid=(3, 1, 1))
    for i in range(9000):
        c.launch("filler_kernel", S + i * MS, S + i * MS + 10 * US, S + i * MS + 11 * US, grid=(5, 1, 1))
    c.launch("last_kernel", 10 * S, 10 * S + 10 * US, 12 * S, grid=(7, 1, 1))


CASES = [
    ("one thread", one_thread, "analyze",
     ["GPU 0: add is 100.0 % of its busy time", "1 launch, 25.000 s", "1 block of 1 thread on 108 SMs",
      "107 of 108 multiprocessors have nothing to do", "ncu "], ["No finding"]),
    ("tail", tail, "analyze",
     ["big_gemm_kernel is", "1.04 waves", "The last of 2 waves fills 4 % of the device", "multiple of 864 blocks"], []),
    ("registers", registers, "analyze", ["(limit: registers)", "fewer registers a thread"], ["tail"]),
    ("spills", spills, "analyze", ["512 bytes of local memory", "spill to local memory"], []),
    ("full", full, "analyze", ["Its shape fills the device"], ["nothing to do", "tail"]),
    ("communication is not judged by its blocks", communication, "analyze", ["gemm_kernel is 9.", "fills the device"],
     ["AllReduce_Sum_f32_RING_LL is", "84 of 108"]),
    ("rows that lie far apart", far_apart, "analyze -r top_kernels -f csv",
     [",1,999990000,3,256,", ",1,1999990000,7,256,", ",9000,1000,5,256,"], []),
    ("as a table", one_thread, "analyze -r top_kernels -f csv", [",1,1,108,", ",add"], []),
]
