"""What is wrong with each of the real captures, judged by hand from the raw tables.

A judgement is the name of the capture, what a person finds in its tables, the SQL that shows it (each with the least
and the most that it may give), the words in which the first finding of the page must begin, and words that the page
must hold and must not hold. {ops} stands for all ops of device 0, {idle} for the gaps between them with their length.
"""

OPS = """(SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = {device}{memcpy}{memset}{graph})"""
IDLE = """(SELECT start, start - before AS ns FROM (SELECT start, max("end") OVER (ORDER BY start ROWS BETWEEN UNBOUNDED
PRECEDING AND 1 PRECEDING) AS before FROM {ops}) WHERE start > before)"""
SPAN = 'SELECT (max("end") - min(start)) / 1e6 FROM {ops}'
IDLE_MS = "SELECT sum(ns) / 1e6 FROM {idle}"
CALLS = """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE '%s'"""
KERNELS = 'SELECT count(*), sum("end" - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_KERNEL'
KERNEL_MS = """SELECT sum(k."end" - k.start) / 1e6 FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName
WHERE s.value = '%s'"""

JUDGEMENTS = [
    ("cloverleaf-4gpu",
     "The GPU is idle for 11 % of 342 ms. Each of 1,312 launches is followed by a cudaDeviceSynchronize, so that no "
     "launch runs ahead; 24 gaps hold 12 ms of write.",
     [(SPAN, 340, 344), (IDLE_MS, 37, 40), (CALLS % "cudaDeviceSynchronize%", 1312, 1312),
      (CALLS % "cudaLaunchKernel%", 1312, 1312),
      ("SELECT sum(g.ns) / 1e6 FROM {idle} g WHERE EXISTS (SELECT 1 FROM OSRT_API o JOIN StringIds s ON s.id = o.nameId "
       "WHERE s.value = 'write' AND o.start >= g.start - g.ns AND o.\"end\" <= g.start)", 11, 16)],
     "GPU 0 idle 6.0 % of its span: slow launch",
     ["launches only when cudaDeviceSynchronize has returned", "idle 4.0 % of its span: OS call", "most write"],
     ["too many small launches", "torch", ".item()"]),
    ("gemm",
     "Three API calls and no GPU table: there is nothing to judge.",
     [("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME", 3, 3),
      ("SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'", 0, 0)],
     None, ["No GPU work in this capture"], ["% of its span"]),
    ("gtls-23k-kernels",
     "Busy for 94 % of 2.35 s. One gap of 71 ms, in which the host makes no call, is the largest loss; the largest "
     "kernel is 65 % of the span.",
     [(SPAN, 2350, 2358), ("SELECT max(ns) / 1e6 FROM {idle}", 70, 72),
      (KERNEL_MS % "calcAllLowestResidualsGPU", 1525, 1537)],
     "GPU 0 idle 3.8 % of its span: cpu work: launching too slowly",
     ["longest 70.9 ms", "calcAllLowestResidualsGPU is 69.2 % of its busy time"], ["PyTorch", "num_workers"]),
    ("h100-2gpu-1s",
     "Both GPUs copy for 921 of 969 ms, from pinned memory; kernels take 42 ms of it. Copying beside them wins no more.",
     [(SPAN, 967, 971),
      ('SELECT sum("end" - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE deviceId = 0 AND copyKind = 1', 900, 930),
      ('SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1 AND srcKind = 0 AND "end" - start > 1000000',
       0, 0)],
     "GPU 1: 100 % of copy time is not hidden behind kernels 42.0 ms", ["100 % pinned memory", "Copy less"],
     ["from pinned memory", "pin_memory"]),
    ("jacobi-gh200",
     "Busy for 98.9 % of 2.1 s, nearly all of it one kernel of 2.07 s in 1,000 launches: only that kernel counts.",
     [(SPAN, 2103, 2107), (IDLE_MS, 20, 24), (KERNEL_MS % "jacobi_kernel", 2070, 2075)],
     "GPU 0: jacobi_kernel is 99.5 % of its busy time", ["ncu "], ["torch"]),
    ("lm-2.7b",
     "4.5 s of blocking copies to the device, as the model is made, then ten steps of 340 ms in which the GPU is 98 to 99.7 % "
     "busy, 88 % of it in one kernel. The host runs far ahead: all but 39 of 7,328 launches queue for 20 us or more, so "
     "there is no launch-bound zone. 31 s lie before the first op.",
     [(KERNELS.replace("count(*), ", ""), 3380, 3400),
      ("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) "
       "WHERE k.start - r.\"end\" < 20000", 30, 45),
      ("SELECT sum(ns) / 1e6 FROM {idle} WHERE start > 37267767968", 5, 15),
      ('SELECT sum("end" - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1', 4400, 4500),
      ("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE "
       "'cudaLaunchKernel%' AND r.\"end\" - r.start > 100000", 1000, 1200)],
     "GPU 0: ampere_sgemm_128x64_tn is 88.3 % of its busy time",
     ["Steady state", "Start-up before it", "98.3 % of the 3.441 s", "Before the first op: 31.363 s",
      "launch calls wait for room in the queue"], ["too many small launches"]),
    ("lm-2.7b-nvtx", "The same program with ranges: the same.",
     [(KERNELS.replace("count(*), ", ""), 3380, 3420),
      ('SELECT sum("end" - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1', 3100, 3200)],
     "GPU 0: ampere_sgemm_128x64_tn is 88.3 % of its busy time",
     ["Steady state", "98.3 % of the 3.459 s", "Start-up before it"], ["too many small launches"]),
    ("lm-2.7b-cudagraph",
     "Ten graph launches of 780 ms each, recorded as one block, fill the span: what is in them is not in the capture.",
     [("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 10, 10),
      ('SELECT sum("end" - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE', 7800, 7820)],
     "GPU 0: graph 4 hides its kernels, 100.0 % of the busy time", ["--cuda-graph-trace=node"], []),
    ("mfu-2gpu-before",
     "GPU 1 is idle for 10 % of 299 ms: launches of PyTorch modules come too late, 128 us each; 33 SendRecv with no "
     "compute beside them take 17 ms on GPU 0, which mostly waits for GPU 1.",
     [(SPAN.replace("{ops}", "{ops1}"), 297, 301), (IDLE_MS.replace("{idle}", "{idle1}"), 29, 33),
      ("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName "
       "WHERE s.value LIKE '%SendRecv%' AND deviceId = 0", 33, 33)],
     "GPU 1 idle 7.8 % of its span: cpu work: launching too slowly",
     ["GPU 0: exposed communication, 5.7 % of its span", "came last in 22 of 33", "torch.compile"], ["pin_memory"]),
    ("mfu-2gpu-after",
     "As before the change, with GPU 0 the later one: idle for 20 % of 299 ms.",
     [(SPAN, 297, 301), (IDLE_MS, 57, 62)],
     "GPU 0 idle 9.3 % of its span: cpu work: launching too slowly", ["GPU 1: exposed communication, 7.9 % of its span"],
     ["pin_memory"]),
    ("minimal-schema",
     "400 kernels of 1 ms with 10 us between them: 1 % idle; two kernels take half of the time each.",
     [(SPAN, 403, 405), (IDLE_MS, 3.9, 4.1), ('SELECT max("end" - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_KERNEL', 0.9, 1.1)],
     "GPU 0: elementwise_add is 50.0 % of its busy time", ["idle 1.0 % of its span"], ["PyTorch", "torch"]),
    ("no-cuda-tables", "No CUDA activity at all.",
     [("SELECT count(*) FROM sqlite_master WHERE name LIKE 'CUPTI_ACTIVITY_KIND_%'", 0, 0)],
     None, ["No GPU work in this capture"], ["% of its span"]),
    ("power-iteration",
     "44 gaps of 15 ms in the ranges IO, after a blocking copy: the host writes a file while the device is idle, 36.6 % "
     "of 1.79 s.",
     [(SPAN, 1789, 1793), (IDLE_MS, 655, 662), ("SELECT count(*) FROM {idle} WHERE ns > 5000000", 40, 50)],
     "GPU 0 idle 36.6 % of its span: cpu work: after a blocking call 656 ms",
     ["in range IO #", "do the work in another thread"], ["too many small launches"]),
    ("saxpy-mpi",
     "Four gaps of 145 to 196 ms of host work after a blocking cudaMemcpy are two thirds of 1.1 s; the kernel runs two "
     "blocks on 108 multiprocessors.",
     [(SPAN, 1095, 1099), (IDLE_MS, 722, 727), ("SELECT count(*) FROM {idle} WHERE ns > 100000000", 4, 4),
      ("SELECT max(gridX * gridY * gridZ) FROM CUPTI_ACTIVITY_KIND_KERNEL", 2, 2)],
     "GPU 0 idle 65.9 % of its span: cpu work: after a blocking call 724 ms",
     ["106 of 108 multiprocessors have nothing to do"], ["torch", "Python"]),
    ("schema-2020",
     "A program that loads tables: 5.9 of 6.5 s the device waits for getc and read; 33 s of getc follow the last op.",
     [(SPAN, 6510, 6518), ("SELECT sum(ns) / 1e6 FROM (SELECT ns FROM {idle} ORDER BY ns DESC LIMIT 2)", 5900, 5910),
      ("SELECT sum(o.\"end\" - o.start) / 1e9 FROM OSRT_API o JOIN StringIds s ON s.id = o.nameId WHERE s.value = 'getc'",
       30, 40)],
     "GPU 0 idle 90.7 % of its span: OS call", ["most getc", "After the last op: 32.946 s"], ["torch", "Python"]),
    ("tiny-2-kernels",
     "Two kernels; 18.3 ms pass in the first launch of the second one, which loads its code; then pinned memory is "
     "allocated for 3.5 ms.",
     [(SPAN, 22, 23), (KERNELS.split(",")[0] + " FROM CUPTI_ACTIVITY_KIND_KERNEL", 2, 2),
      ("SELECT max(r.\"end\" - r.start) / 1e6 FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId "
       "WHERE s.value LIKE 'cudaLaunchKernel%'", 17, 18)],
     "GPU 0 idle 81.3 % of its span: slow launch", ["warm up", "Pinning host memory (cudaHostAlloc)"], ["num_workers"]),
]
