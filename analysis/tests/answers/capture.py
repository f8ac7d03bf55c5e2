"""A small capture, written call by call: what the answers are asked of. Times in ns."""
import sqlite3

US, MS, S = 1000, 1000000, 1000000000
HTOD, DTOH, DTOD, PTOP, UM_HTOD, UM_DTOH = 1, 2, 8, 10, 11, 12
PAGEABLE, PINNED, DEVICE = 0, 1, 2

SCHEMA = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE ThreadNames (nameId INT, priority INT, globalTid INT);
CREATE TABLE TARGET_INFO_GPU (vmId INT, id INT, name TEXT, smCount INT, totalMemory INT, computeMajor INT,
  computeMinor INT, maxWarpsPerSm INT, maxBlocksPerSm INT, maxRegistersPerSm INT, maxShmemPerSm INT,
  threadsPerWarp INT, cuDevice INT, busLocation TEXT, uuid TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT, uuid TEXT);
CREATE TABLE PROCESSES (globalPid INT, pid INT, name TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT,
  nameId INT, returnValue INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, demangledName INT, shortName INT, mangledName INT, gridX INT, gridY INT,
  gridZ INT, blockX INT, blockY INT, blockZ INT, registersPerThread INT, staticSharedMemory INT,
  dynamicSharedMemory INT, localMemoryPerThread INT, localMemoryTotal INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, value INT, bytes INT, memKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, syncType INT, eventId INT, eventSyncId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, contextId INT, streamId INT, correlationId INT,
  globalPid INT, eventId INT, eventSyncId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, graphId INT, graphExecId INT);
CREATE TABLE OSRT_API (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT,
  returnValue INT, nestingLevel INT, callchainId INT);
CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, rangeId INT, category INT, color INT, text TEXT,
  globalTid INT, endGlobalTid INT, textId INT, domainId INT, uint64Value INT, int64Value INT, doubleValue INT);
"""


def global_pid(pid):
    return 1 << 48 | pid << 24


class Capture:
    def __init__(self, path, gpus=((0, "GPU zero"),), sms=108, version="2024.6.2.225"):
        self.db = sqlite3.connect(path)
        self.db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA)
        self.strings, self.correlation, self.pids, self.named = {}, 0, set(), set()
        self.rows("META_DATA_EXPORT", ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
                  ("EXPORT_PRODUCT_VERSION", version), ("EXPORT_SCHEMA_VERSION", "3.16.1"))
        for gpu, name in gpus:
            self.rows("TARGET_INFO_GPU", (0, gpu, name, sms, 40 * 10**9, 8, 0, 64, 32, 65536, 167936, 32, gpu,
                                          f"0000:{gpu:02d}:00.0", f"uuid-{gpu}"))

    def rows(self, table, *rows):
        for row in rows:
            self.db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)

    def text(self, value):
        if value not in self.strings:
            self.strings[value] = len(self.strings) + 1
            self.rows("StringIds", (self.strings[value], value))
        return self.strings[value]

    def tid(self, pid, tid):
        self.pids.add(pid)
        return global_pid(pid) | (pid if tid is None else tid)

    def api(self, name, begin, end, status=0, pid=1000, tid=None):
        """An API call; returns its correlation id."""
        self.correlation += 1
        self.rows("CUPTI_ACTIVITY_KIND_RUNTIME",
                  (begin, end, 0, self.tid(pid, tid), self.correlation, self.text(name), status))
        return self.correlation

    def kernel(self, name, begin, end, correlation, grid=(1000, 1, 1), block=(256, 1, 1), stream=7, device=0,
               pid=1000, registers=16, shared=0, local=0, context=1):
        self.pids.add(pid)
        n = self.text(name)
        self.rows("CUPTI_ACTIVITY_KIND_KERNEL", (begin, end, device, context, stream, correlation, global_pid(pid),
                                                 n, n, n, *grid, *block, registers, shared, 0, local, 0))

    def launch(self, name, at, begin, end, call_ns=5 * US, **more):
        """A kernel with its launching call, which begins at `at`."""
        host = {key: more.pop(key) for key in ("tid",) if key in more}
        call = self.api("cudaLaunchKernel_v7000", at, at + call_ns, pid=more.get("pid", 1000), **host)
        self.kernel(name, begin, end, call, **more)

    def copy(self, begin, end, correlation, kind, size, src=PAGEABLE, dst=DEVICE, stream=7, device=0, pid=1000):
        self.pids.add(pid)
        self.rows("CUPTI_ACTIVITY_KIND_MEMCPY",
                  (begin, end, device, 1, stream, correlation, global_pid(pid), size, kind, src, dst))

    def push(self, text, begin, end, pid=1000, tid=None):
        """An NVTX push/pop range."""
        self.rows("NVTX_EVENTS", (begin, end, 59, None, None, None, text, self.tid(pid, tid), None, None, 0, None,
                                  None, None))

    def osrt(self, name, begin, end, pid=1000, tid=None):
        self.rows("OSRT_API", (begin, end, 27, self.tid(pid, tid), 0, self.text(name), 0, 0, None))

    def process(self, pid, name):
        self.named.add(pid)
        self.rows("PROCESSES", (global_pid(pid), pid, name))

    def close(self):
        for pid in sorted(self.pids - self.named):
            self.rows("PROCESSES", (global_pid(pid), pid, f"./program-{pid}"))
        self.db.commit()
        self.db.close()
