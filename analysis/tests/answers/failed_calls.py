"""Calls that failed."""
from capture import *


def out_of_memory(c):
    for i in range(6):
        c.api("cudaMalloc_v3020", i * MS, i * MS + 200 * US, 2 if i == 5 else 0)


def launches_fail(c):
    c.copy(200 * US, 880 * US, c.api("cudaMemcpy_v3020", 0, 900 * US), HTOD, 4 << 20)
    for i in range(21):
        c.api("cudaLaunchKernel_v7000", MS + i * 10 * US, MS + i * 10 * US + 2 * US, 222)
    c.copy(31 * MS, 32 * MS, c.api("cudaMemcpy_v3020", 30 * MS, 33 * MS), DTOH, 4 << 20, DEVICE, PAGEABLE)


def context_lost(c):
    for i in range(10):
        c.launch("step_kernel", i * MS, i * MS + 10 * US, i * MS + 900 * US)
    for i in range(10, 14):
        c.api("cudaLaunchKernel_v7000", i * MS, i * MS + 2 * US, 700)
    c.api("cudaFree_v3020", 15 * MS, 15 * MS + 2 * US, 700)


def questions(c):
    for i in range(10):
        c.launch("step_kernel", i * MS, i * MS + 10 * US, i * MS + 990 * US)
        c.api("cudaEventQuery_v3020", i * MS + 100 * US, i * MS + 101 * US, 600)


CASES = [
    # name, capture, command, what is said, what is not
    ("out of memory", out_of_memory, "analyze",
     ["1. 1 of 6 cudaMalloc failed: cudaErrorMemoryAllocation (2)", "no room",
      "how much was asked for is not in the capture"], ["No finding"]),
    ("out of memory: info", out_of_memory, "info",
     ["API calls but no kernels: 1 of 6 cudaMalloc failed"], ["stopped early"]),
    ("launches fail", launches_fail, "analyze",
     ["1. 21 of 21 cudaLaunchKernel failed: cudaErrorUnsupportedPtxVersion (222)", "PTX"], []),
    ("launches fail: info", launches_fail, "info",
     ["no kernels: 21 of 21 cudaLaunchKernel failed"], ["only copies"]),
    ("context lost", context_lost, "analyze",
     ["1. 4 of 14 cudaLaunchKernel failed: cudaErrorIllegalAddress (700)", "4 failed calls after it",
      "compute-sanitizer"], []),
    ("context lost: the list of the timeline", context_lost, "view --dump --size 200x40 --script keys=D",
     ["Finding ? 4 of 14 cudaLaunchKernel failed"], []),
    ("a query is not ready", questions, "analyze", [], ["failed: cuda"]),
]
