"""Managed memory that moves on demand."""
from capture import *


def faults_of_the_host(c):
    c.api("cudaMallocManaged_v6000", 0, 100 * US)
    c.launch("add", 200 * US, 215 * US, 5 * MS)
    c.api("cudaDeviceSynchronize_v3020", 211 * US, 5 * MS + 10 * US)
    for i in range(300):
        c.copy(6 * MS + i * 500 * US, 6 * MS + i * 500 * US + 60 * US, 0, UM_DTOH, 174762, DEVICE, PAGEABLE, stream=0)


CASES = [
    ("migrations", faults_of_the_host, "analyze",
     ["300 page migrations of unified memory, 52.4 MB", "UM DtoH: 300 migrations", "cudaMemPrefetchAsync",
      "idle 85.3 % of its span: page migration"],
     ["small copies", "hidden behind kernels", "Record CUDA API calls", "unknown"]),
    ("migrations are not small copies", faults_of_the_host, "analyze -r small_copies", [], ["Unified"]),
    ("migrations as a table", faults_of_the_host, "analyze -r unified_memory -f csv", ["300,52428600,"], []),
]
