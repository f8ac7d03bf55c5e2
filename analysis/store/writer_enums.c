/* The constant rows of the ENUM_* tables; writer_enums.h says what they are. */
#include "analysis/store/writer_enums.h"

/* clang-format off */
static const struct store_enum_row nsys_event_type[] = {
    {0, "Unknown", "Unknown"},
    {31, "Composite", "Composite"},
    {32, "NvtxEvents", "NvtxEvents"},
    {33, "NvtxCategory", "NvtxCategory"},
    {34, "NvtxMark", "NvtxMark"},
    {35, "NvtxPushRange", "NvtxPushRange"},
    {36, "NvtxPopRange", "NvtxPopRange"},
    {37, "NvtxStartRange", "NvtxStartRange"},
    {38, "NvtxEndRange", "NvtxEndRange"},
    {39, "NvtxThread", "NvtxThread"},
    {41, "Sched", "Sched"},
    {45, "Cuda", "Cuda"},
    {46, "CudaDevice", "CudaDevice"},
    {47, "TraceProcess", "TraceProcess"},
    {59, "NvtxPushPopRange", "NvtxPushPopRange"},
    {60, "NvtxStartEndRange", "NvtxStartEndRange"},
    {64, "NvtxtCategory", "NvtxtCategory"},
    {65, "NvtxtMark", "NvtxtMark"},
    {66, "NvtxtPushRange", "NvtxtPushRange"},
    {67, "NvtxtPopRange", "NvtxtPopRange"},
    {68, "NvtxtStartRange", "NvtxtStartRange"},
    {69, "NvtxtEndRange", "NvtxtEndRange"},
    {70, "NvtxtPushPopRange", "NvtxtPushPopRange"},
    {71, "NvtxtStartEndRange", "NvtxtStartEndRange"},
    {72, "NvtxtMetaThread", "NvtxtMetaThread"},
    {73, "NvtxtMetaProcess", "NvtxtMetaProcess"},
    {74, "NvtxtMetaFileDisplay", "NvtxtMetaFileDisplay"},
    {75, "NvtxDomainCreate", "NvtxDomainCreate"},
    {76, "NvtxDomainDestroy", "NvtxDomainDestroy"},
    {79, "CudaDeviceKernel", "CudaDeviceKernel"},
    {80, "CudaDeviceMemory", "CudaDeviceMemory"},
    {85, "OS runtime libraries", "OS runtime libraries"},
    {97, "NvtxNameCudaDevice", "NvtxNameCudaDevice"},
    {98, "NvtxNameCudaContext", "NvtxNameCudaContext"},
    {99, "NvtxNameCudaStream", "NvtxNameCudaStream"},
    {106, "CudaSyncEvent", "CudaSyncEvent"},
    {108, "CudaBacktrace", "CudaBacktrace"},
    {113, "CudaGraphNodeCreation", "CudaGraphNodeCreation"},
    {117, "CudaDeviceMemoryUsage", "CudaDeviceMemoryUsage"},
    {127, "CudaEventRecord", "CudaEventRecord"},
    {129, "CudaDeviceMemoryPool", "CudaDeviceMemoryPool"},
    {130, "CudaDeviceGraph", "CudaDeviceGraph"},
    {131, "CudaGraphExecCreation", "CudaGraphExecCreation"},
    {132, "CudaGraphCreation", "CudaGraphCreation"},
    {133, "CudaGraphClone", "CudaGraphClone"},
    {138, "GenericEvent", "GenericEvent"},
    {142, "CudaDeviceMemcpy", "CudaDeviceMemcpy"},
    {147, "Syscall", "Syscall"},
    {149, "CudaGraphExecNodeSetParams", "CudaGraphExecNodeSetParams"},
    {151, "CudaHostFunc", "CudaHostFunc"},
    {152, "CudaApi", "CudaApi"},
    {153, "Overhead", "Overhead"},
    {154, "CudaOverhead", "CudaOverhead"},
};

static const struct store_enum_row nsys_event_class[] = {
    {0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
    {1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
    {2, "TRACE_PROCESS_EVENT_GL", "GL"},
    {3, "TRACE_PROCESS_EVENT_TSP_OVERHEAD", "TSP overhead"},
    {6, "TRACE_PROCESS_EVENT_NVTX_START", "NVTX start"},
    {7, "TRACE_PROCESS_EVENT_NVTX_FINISH", "NVTX finish"},
    {10, "TRACE_PROCESS_EVENT_CUDA_START", "CUDA start"},
    {11, "TRACE_PROCESS_EVENT_CUDA_FINISH", "CUDA finish"},
    {12, "TRACE_PROCESS_EVENT_CUDA_INIT_ERROR", "CUDA init error"},
    {13, "TRACE_PROCESS_EVENT_CUDA_EGL_DRIVER", "CUDA EGL driver"},
    {26, "TRACE_PROCESS_EVENT_CUDA_API", "CUDA API"},
    {27, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime"},
    {28, "TRACE_PROCESS_EVENT_CUDNN", "cuDNN"},
    {29, "TRACE_PROCESS_EVENT_CUBLAS", "cuBLAS"},
    {37, "TRACE_PROCESS_EVENT_THREAD_BLOCK", "Thread block"},
    {48, "TRACE_PROCESS_EVENT_OPENACC", "OpenACC"},
    {57, "TRACE_PROCESS_EVENT_SYSTEM_EVENT", "System event"},
    {58, "TRACE_PROCESS_EVENT_GPU_MEMORY", "GPU memory"},
    {67, "TRACE_PROCESS_EVENT_CUDABACKTRACE", "CUDA backtrace"},
    {77, "TRACE_PROCESS_EVENT_CUDA_GRAPH_NODE_CREATION", "CUDA graph node creation"},
    {78, "TRACE_PROCESS_EVENT_OPENMP", "OpenMP"},
    {94, "TRACE_PROCESS_EVENT_CUDA_GRAPHEXEC_CREATION", "CUDA graph exec creation"},
    {95, "TRACE_PROCESS_EVENT_CUDA_GRAPH_CREATION", "CUDA graph creation"},
    {96, "TRACE_PROCESS_EVENT_CUDA_GRAPH_CLONE", "CUDA graph clone"},
    {98, "TRACE_PROCESS_EVENT_OPENCL", "OpenCL event"},
    {102, "TRACE_PROCESS_EVENT_CUDA_JIT", "CUDA JIT"},
    {103, "TRACE_PROCESS_EVENT_CUDA_OVERHEAD", "CUDA overhead"},
    {107, "TRACE_PROCESS_EVENT_SYSCALL", "Syscall"},
    {111, "TRACE_PROCESS_EVENT_CUDA_GRAPH_EXEC_NODE_SET_PARAMS", "CUDA graph exec-node set params"},
};

static const struct store_enum_row cuda_memcpy_oper[] = {
    {0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
    {1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
    {2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
    {3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
    {4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
    {5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
    {6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
    {7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
    {8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
    {9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
    {10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
    {11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
    {12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
    {13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"},
};

static const struct store_enum_row cuda_mem_kind[] = {
    {0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    {1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    {2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    {3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    {4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    {5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    {6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    {7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};

static const struct store_enum_row cuda_mempool_type[] = {
    {0, "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID", "Invalid"},
    {1, "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL", "Local"},
    {2, "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED", "Imported"},
};

static const struct store_enum_row cuda_mempool_oper[] = {
    {0, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_INVALID", "Invalid"},
    {1, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED", "Created"},
    {2, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED", "Destroyed"},
    {3, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED", "Trimmed"},
};

static const struct store_enum_row cuda_dev_mem_event_oper[] = {
    {0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"},
    {1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"},
};

static const struct store_enum_row cuda_kernel_launch_type[] = {
    {0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
    {1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
    {2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
    {3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
};

static const struct store_enum_row cuda_shared_mem_limit_config[] = {
    {0, "CUDA_SHARED_MEM_LIMIT_DEFAULT", "Default"},
    {1, "CUDA_SHARED_MEM_LIMIT_OPTIN", "Opt in"},
};

static const struct store_enum_row cuda_unif_mem_migration[] = {
    {0, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_UNKNOWN", "Unknown"},
    {1, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_USER", "User prefetch"},
    {2, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE", "Page fault"},
    {3, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH", "Speculative prefecth"},
    {4, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION", "Eviction"},
    {5, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_ACCESS_COUNTERS", "Access counters"},
};

static const struct store_enum_row cuda_unif_mem_access_type[] = {
    {0, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_UNKNOWN", "Unknown"},
    {1, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ", "Read"},
    {2, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE", "Write"},
    {3, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_ATOMIC", "Atomic"},
    {4, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_PREFETCH", "Prefetch"},
};

static const struct store_enum_row cuda_func_cache_config[] = {
    {0, "CU_FUNC_CACHE_PREFER_NONE", "None"},
    {1, "CU_FUNC_CACHE_PREFER_SHARED", "Shared"},
    {2, "CU_FUNC_CACHE_PREFER_L1", "L1"},
    {3, "CU_FUNC_CACHE_PREFER_EQUAL", "Equal"},
};

static const struct store_enum_row cupti_stream_type[] = {
    {0, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN", "Unknown stream type"},
    {1, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT", "Default stream"},
    {2, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING", "Non-blocking stream"},
    {3, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL", "Null stream"},
};

static const struct store_enum_row cupti_sync_type[] = {
    {0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};

static const struct store_enum_row cupti_overhead_type[] = {
    {0, "OVERHEAD_UNDEFINED", "Undefined"},
    {1, "OVERHEAD_UNKNOWN", "Unknown"},
    {2, "OVERHEAD_DRIVER_COMPILER", "Driver JIT compiler (CUDA)"},
    {3, "OVERHEAD_CUPTI_BUFFER_FLUSH", "Buffer flush (Profiler)"},
    {4, "OVERHEAD_CUPTI_INSTRUMENTATION", "Instrumentation (Profiler)"},
    {5, "OVERHEAD_CUPTI_RESOURCE", "Resource creation/destruction (Profiler)"},
    {6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime module loading (CUDA)"},
    {7, "OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading (CUDA)"},
    {8, "OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full (CUDA)"},
};

static const struct store_enum_row diagnostic_severity_level[] = {
    {0, "UnknownLevel", "Unknown"},
    {1, "Info", "Info"},
    {2, "Warning", "Warning"},
    {3, "Error", "Error"},
    {4, "Verbose", "Verbose"},
};

static const struct store_enum_row diagnostic_source_type[] = {
    {0, "UnknownSource", "Unknown source"},
    {1, "Injection", "Injection"},
    {2, "Daemon", "Daemon"},
    {3, "Analysis", "Analysis"},
};

static const struct store_enum_row diagnostic_timestamp_source[] = {
    {0, "UnknownTimestamp", "Unknown timestamp"},
    {1, "TargetTimestamp", "Target timestamp"},
    {2, "HostTimestamp", "Host timestamp"},
};

#define ENUM_TABLE(name, rows) {name, (rows), sizeof(rows) / sizeof *(rows)}
const struct store_enum_table store_enum_tables[] = {
    ENUM_TABLE("ENUM_NSYS_EVENT_TYPE", nsys_event_type),
    ENUM_TABLE("ENUM_NSYS_EVENT_CLASS", nsys_event_class),
    ENUM_TABLE("ENUM_CUDA_MEMCPY_OPER", cuda_memcpy_oper),
    ENUM_TABLE("ENUM_CUDA_MEM_KIND", cuda_mem_kind),
    ENUM_TABLE("ENUM_CUDA_MEMPOOL_TYPE", cuda_mempool_type),
    ENUM_TABLE("ENUM_CUDA_MEMPOOL_OPER", cuda_mempool_oper),
    ENUM_TABLE("ENUM_CUDA_DEV_MEM_EVENT_OPER", cuda_dev_mem_event_oper),
    ENUM_TABLE("ENUM_CUDA_KERNEL_LAUNCH_TYPE", cuda_kernel_launch_type),
    ENUM_TABLE("ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", cuda_shared_mem_limit_config),
    ENUM_TABLE("ENUM_CUDA_UNIF_MEM_MIGRATION", cuda_unif_mem_migration),
    ENUM_TABLE("ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", cuda_unif_mem_access_type),
    ENUM_TABLE("ENUM_CUDA_FUNC_CACHE_CONFIG", cuda_func_cache_config),
    ENUM_TABLE("ENUM_CUPTI_STREAM_TYPE", cupti_stream_type),
    ENUM_TABLE("ENUM_CUPTI_SYNC_TYPE", cupti_sync_type),
    ENUM_TABLE("ENUM_CUPTI_OVERHEAD_TYPE", cupti_overhead_type),
    ENUM_TABLE("ENUM_DIAGNOSTIC_SEVERITY_LEVEL", diagnostic_severity_level),
    ENUM_TABLE("ENUM_DIAGNOSTIC_SOURCE_TYPE", diagnostic_source_type),
    ENUM_TABLE("ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", diagnostic_timestamp_source),
};
/* clang-format on */

const size_t store_enum_tables_n = sizeof store_enum_tables / sizeof *store_enum_tables;
