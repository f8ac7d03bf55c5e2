/*
 * The part of the CUPTI interface that cutline uses: numbers, function types, and the layout of
 * activity records.
 *
 * Own declarations, so that nothing of a CUDA toolkit is needed to build; capture/tests compares
 * them with the official headers wherever those are found. Source of numbers and offsets: the CUPTI
 * documentation and headers of CUDA 11.4 to 13.4.
 *
 * Record layouts are append-only in these versions: a field, once there, keeps its offset and size;
 * newer libraries emit longer records. So one table serves all: a field is there if it ends within
 * the record, and the size of a record is what the loaded library says (probed at run time, stored
 * in the spool), never what a version number suggests.
 */
#ifndef CUTLINE_CAPTURE_SPOOL_CUPTI_ABI_H
#define CUTLINE_CAPTURE_SPOOL_CUPTI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* CUpti_ActivityKind. X(name, number). */
#define CUPTI_KINDS(X) \
    X(MEMCPY, 1) \
    X(MEMSET, 2) \
    X(KERNEL, 3) \
    X(DRIVER, 4) \
    X(RUNTIME, 5) \
    X(DEVICE, 8) \
    X(CONTEXT, 9) \
    X(CONCURRENT_KERNEL, 10) \
    X(NAME, 11) \
    X(MARKER, 12) \
    X(MARKER_DATA, 13) \
    X(OVERHEAD, 17) \
    X(MEMCPY2, 22) \
    X(UNIFIED_MEMORY_COUNTER, 25) \
    X(FUNCTION, 26) \
    X(MODULE, 27) \
    X(DEVICE_ATTRIBUTE, 28) \
    X(CUDA_EVENT, 36) \
    X(STREAM, 37) \
    X(SYNCHRONIZATION, 38) \
    X(EXTERNAL_CORRELATION, 39) \
    X(MEMORY, 45) \
    X(INTERNAL_LAUNCH_API, 48) \
    X(MEMORY2, 49) \
    X(MEMORY_POOL, 50) \
    X(GRAPH_TRACE, 51) \
    X(JIT, 52) \
    X(DEVICE_GRAPH_TRACE, 53) \
    X(MEM_DECOMPRESS, 54)

enum cupti_kind {
#define CUPTI_KIND_ENUM(name, number) CUPTI_KIND_##name = (number),
    CUPTI_KINDS(CUPTI_KIND_ENUM)
#undef CUPTI_KIND_ENUM
};

/* Results of CUPTI calls that are treated in a way of their own. */
enum cupti_result {
    CUPTI_RESULT_SUCCESS = 0,
    CUPTI_RESULT_INVALID_PARAMETER = 1,
    CUPTI_RESULT_MAX_LIMIT_REACHED = 12,
    CUPTI_RESULT_NOT_INITIALIZED = 15,
    CUPTI_RESULT_INVALID_KIND = 21,
    CUPTI_RESULT_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_RESULT_MULTIPLE_SUBSCRIBERS = 39,
    CUPTI_RESULT_VIRTUALIZED_INSUFFICIENT_PRIVILEGES = 40,
    CUPTI_RESULT_UNKNOWN = 999
};

/* Callback domains, and the callback ids that we enable. */
enum cupti_domain {
    CUPTI_DOMAIN_DRIVER_API = 1,
    CUPTI_DOMAIN_RUNTIME_API = 2,
    CUPTI_DOMAIN_RESOURCE = 3,
    CUPTI_DOMAIN_STATE = 6
};

enum cupti_cbid {
    CUPTI_ID_RESOURCE_CONTEXT_CREATED = 1,
    CUPTI_ID_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
    CUPTI_ID_RESOURCE_CU_INIT_FINISHED = 5,
    CUPTI_ID_RESOURCE_GRAPH_CREATED = 9,
    CUPTI_ID_RESOURCE_GRAPH_CLONED = 11,
    CUPTI_ID_RESOURCE_GRAPH_NODE_CREATED = 13,
    CUPTI_ID_RESOURCE_GRAPH_EXEC_CREATED = 18,
    CUPTI_ID_RESOURCE_GRAPH_NODE_CLONED = 20,
    CUPTI_ID_STATE_FATAL_ERROR = 1,
    CUPTI_ID_STATE_ERROR = 2,
    CUPTI_ID_STATE_WARNING = 3,
    CUPTI_ID_DRIVER_LAUNCH_KERNEL = 307,
    CUPTI_ID_DRIVER_PROFILER_START = 308,
    CUPTI_ID_DRIVER_PROFILER_STOP = 309
};

enum cupti_site {
    CUPTI_SITE_ENTER = 0,
    CUPTI_SITE_EXIT = 1
};

/* CUpti_ActivityAttribute, CUpti_ActivityThreadIdType, flags of cuptiActivityFlushAll. */
enum cupti_attribute {
    CUPTI_ATTRIBUTE_DEVICE_BUFFER_SIZE = 0,
    CUPTI_ATTRIBUTE_DEVICE_BUFFER_POOL_LIMIT = 2,
    CUPTI_ATTRIBUTE_ZEROED_OUT_BUFFER = 5,
    CUPTI_ATTRIBUTE_PER_THREAD_BUFFER = 9
};
enum cupti_thread_id_type {
    CUPTI_THREAD_ID_SYSTEM = 1
};
enum cupti_flush {
    CUPTI_FLUSH_COMPLETED = 0,
    CUPTI_FLUSH_FORCED = 1
};

/* Head of CUpti_CallbackData; more fields follow that are not used. */
struct cupti_callback_data {
    int site; /* enum cupti_site */
    const char *function_name;
    const void *function_params;
    void *function_return_value;
    const char *symbol_name;
    void *context;
    uint32_t context_uid;
};

/* CUpti_ResourceData. */
struct cupti_resource_data {
    void *context;
    void *handle;
    void *descriptor;
};

/* CUpti_GraphData, to which the descriptor of the callbacks about graphs points. */
struct cupti_graph_data {
    void *graph;
    void *original_graph;
    void *node;
    void *original_node;
    int node_kind;
    void *dependency;
    void *graph_exec;
};

/* CUpti_StateData. */
struct cupti_state_data {
    int result;
    const char *message;
};

/* CUpti_SubscriberParams (13.0). */
struct cupti_subscriber {
    size_t struct_size;
    const char *name;
    char *old_name; /* out: who holds the slot */
    size_t old_name_bytes;
};

typedef void (*cupti_callback_fn)(void *user, int domain, uint32_t cbid, const void *data);
typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                  size_t valid);

/* CUpti_ActivityUnifiedMemoryCounterConfig. */
struct cupti_um_config {
    uint32_t scope;
    uint32_t kind;
    uint32_t device;
    uint32_t enable;
};

/* The functions that are looked up. X(member, symbol, parameters): all return int. */
#define CUPTI_FUNCTIONS(X) \
    X(get_version, cuptiGetVersion, (uint32_t * version)) \
    X(get_timestamp, cuptiGetTimestamp, (uint64_t * now_ns)) \
    X(subscribe, cuptiSubscribe, (void **subscriber, cupti_callback_fn callback, void *user)) \
    X(subscribe_named, cuptiSubscribe_v2, \
      (void **subscriber, cupti_callback_fn callback, void *user, struct cupti_subscriber *named)) \
    X(unsubscribe, cuptiUnsubscribe, (void *subscriber)) \
    X(enable_callback, cuptiEnableCallback, \
      (uint32_t enable, void *subscriber, int domain, uint32_t cbid)) \
    X(set_thread_id_type, cuptiSetThreadIdType, (int type)) \
    X(get_attribute, cuptiActivityGetAttribute, (int attribute, size_t *size, void *value)) \
    X(set_attribute, cuptiActivitySetAttribute, (int attribute, size_t *size, void *value)) \
    X(register_callbacks, cuptiActivityRegisterCallbacks, \
      (cupti_request_fn request, cupti_complete_fn complete)) \
    X(enable, cuptiActivityEnable, (int kind)) \
    X(enable_device_graph, cuptiActivityEnableDeviceGraph, (uint8_t enable)) \
    X(enable_event_times, cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable)) \
    X(configure_um, cuptiActivityConfigureUnifiedMemoryCounter, \
      (struct cupti_um_config * config, uint32_t count)) \
    X(enable_runtime_api, cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t enable)) \
    X(enable_driver_api, cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t enable)) \
    X(flush_all, cuptiActivityFlushAll, (uint32_t flag)) \
    X(get_next_record, cuptiActivityGetNextRecord, \
      (uint8_t * buffer, size_t valid, void **record)) \
    X(get_dropped, cuptiActivityGetNumDroppedRecords, \
      (void *context, uint32_t stream, size_t *dropped)) \
    X(get_context_id, cuptiGetContextId, (void *context, uint32_t *id)) \
    X(get_stream_id, cuptiGetStreamIdEx, \
      (void *context, void *stream, uint8_t per_thread, uint32_t *id)) \
    X(get_device_id, cuptiGetDeviceId, (void *context, uint32_t *id)) \
    X(get_graph_id, cuptiGetGraphId, (void *graph, uint32_t *id)) \
    X(get_graph_exec_id, cuptiGetGraphExecId, (void *exec, uint32_t *id)) \
    X(get_graph_node_id, cuptiGetGraphNodeId, (void *node, uint64_t *id))

struct cupti_functions {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the parameters bring their own */
#define CUPTI_FUNCTION_MEMBER(member, symbol, parameters) int(*member) parameters;
    CUPTI_FUNCTIONS(CUPTI_FUNCTION_MEMBER)
#undef CUPTI_FUNCTION_MEMBER
};

/*
 * Fields of activity records. X(name, struct, field, offset, bytes): `struct` is the official
 * CUpti_Activity<struct> in which the field first appears, `field` its official name. Every record
 * begins with its kind (uint32_t at 0). KERNEL stands for kinds 3 and 10, API for 4, 5 and 48.
 */
#define CUPTI_FIELDS(X) \
    /* kind 10 */ \
    X(CUPTI_KERNEL_CACHE_CONFIG, Kernel4, cacheConfig, 4, 1) \
    X(CUPTI_KERNEL_SHARED_MEMORY_CONFIG, Kernel4, sharedMemoryConfig, 5, 1) \
    X(CUPTI_KERNEL_REGISTERS_PER_THREAD, Kernel4, registersPerThread, 6, 2) \
    X(CUPTI_KERNEL_PARTITIONED_GLOBAL_CACHE_REQUESTED, Kernel4, partitionedGlobalCacheRequested, \
      8, 4) \
    X(CUPTI_KERNEL_PARTITIONED_GLOBAL_CACHE_EXECUTED, Kernel4, partitionedGlobalCacheExecuted, 12, \
      4) \
    X(CUPTI_KERNEL_START, Kernel4, start, 16, 8) \
    X(CUPTI_KERNEL_END, Kernel4, end, 24, 8) \
    X(CUPTI_KERNEL_COMPLETED, Kernel4, completed, 32, 8) \
    X(CUPTI_KERNEL_DEVICE_ID, Kernel4, deviceId, 40, 4) \
    X(CUPTI_KERNEL_CONTEXT_ID, Kernel4, contextId, 44, 4) \
    X(CUPTI_KERNEL_STREAM_ID, Kernel4, streamId, 48, 4) \
    X(CUPTI_KERNEL_GRID_X, Kernel4, gridX, 52, 4) \
    X(CUPTI_KERNEL_GRID_Y, Kernel4, gridY, 56, 4) \
    X(CUPTI_KERNEL_GRID_Z, Kernel4, gridZ, 60, 4) \
    X(CUPTI_KERNEL_BLOCK_X, Kernel4, blockX, 64, 4) \
    X(CUPTI_KERNEL_BLOCK_Y, Kernel4, blockY, 68, 4) \
    X(CUPTI_KERNEL_BLOCK_Z, Kernel4, blockZ, 72, 4) \
    X(CUPTI_KERNEL_STATIC_SHARED_MEMORY, Kernel4, staticSharedMemory, 76, 4) \
    X(CUPTI_KERNEL_DYNAMIC_SHARED_MEMORY, Kernel4, dynamicSharedMemory, 80, 4) \
    X(CUPTI_KERNEL_LOCAL_MEMORY_PER_THREAD, Kernel4, localMemoryPerThread, 84, 4) \
    X(CUPTI_KERNEL_LOCAL_MEMORY_TOTAL, Kernel4, localMemoryTotal, 88, 4) \
    X(CUPTI_KERNEL_CORRELATION_ID, Kernel4, correlationId, 92, 4) \
    X(CUPTI_KERNEL_GRID_ID, Kernel4, gridId, 96, 8) \
    X(CUPTI_KERNEL_NAME, Kernel4, name, 104, 8) \
    X(CUPTI_KERNEL_QUEUED, Kernel4, queued, 120, 8) \
    X(CUPTI_KERNEL_SUBMITTED, Kernel4, submitted, 128, 8) \
    X(CUPTI_KERNEL_LAUNCH_TYPE, Kernel4, launchType, 136, 1) \
    X(CUPTI_KERNEL_IS_SHARED_MEMORY_CARVEOUT_REQUESTED, Kernel4, isSharedMemoryCarveoutRequested, \
      137, 1) \
    X(CUPTI_KERNEL_SHARED_MEMORY_CARVEOUT_REQUESTED, Kernel4, sharedMemoryCarveoutRequested, 138, \
      1) \
    X(CUPTI_KERNEL_SHARED_MEMORY_EXECUTED, Kernel4, sharedMemoryExecuted, 140, 4) \
    X(CUPTI_KERNEL_GRAPH_NODE_ID, Kernel5, graphNodeId, 144, 8) \
    X(CUPTI_KERNEL_SHMEM_LIMIT_CONFIG, Kernel5, shmemLimitConfig, 152, 4) \
    X(CUPTI_KERNEL_GRAPH_ID, Kernel5, graphId, 156, 4) \
    X(CUPTI_KERNEL_P_ACCESS_POLICY_WINDOW, Kernel6, pAccessPolicyWindow, 160, 8) \
    X(CUPTI_KERNEL_CHANNEL_ID, Kernel7, channelID, 168, 4) \
    X(CUPTI_KERNEL_CHANNEL_TYPE, Kernel7, channelType, 172, 4) \
    X(CUPTI_KERNEL_CLUSTER_X, Kernel8, clusterX, 176, 4) \
    X(CUPTI_KERNEL_CLUSTER_Y, Kernel8, clusterY, 180, 4) \
    X(CUPTI_KERNEL_CLUSTER_Z, Kernel8, clusterZ, 184, 4) \
    X(CUPTI_KERNEL_CLUSTER_SCHEDULING_POLICY, Kernel8, clusterSchedulingPolicy, 188, 4) \
    X(CUPTI_KERNEL_LOCAL_MEMORY_TOTAL_V2, Kernel8, localMemoryTotal_v2, 192, 8) \
    X(CUPTI_KERNEL_MAX_POTENTIAL_CLUSTER_SIZE, Kernel9, maxPotentialClusterSize, 200, 4) \
    X(CUPTI_KERNEL_MAX_ACTIVE_CLUSTERS, Kernel9, maxActiveClusters, 204, 4) \
    X(CUPTI_KERNEL_IS_DEVICE_LAUNCHED, Kernel10, isDeviceLaunched, 208, 1) \
    X(CUPTI_KERNEL_PRIORITY, Kernel11, priority, 216, 4) \
    X(CUPTI_KERNEL_EXECUTION_MODEL, Kernel12, executionModel, 224, 4) \
    X(CUPTI_KERNEL_SOURCE_GRAPH_ID, Kernel13, sourceGraphId, 232, 4) \
    X(CUPTI_KERNEL_SOURCE_GRAPH_NODE_ID, Kernel13, sourceGraphNodeId, 240, 8) \
    /* kind 1 */ \
    X(CUPTI_MEMCPY_COPY_KIND, Memcpy, copyKind, 4, 1) \
    X(CUPTI_MEMCPY_SRC_KIND, Memcpy, srcKind, 5, 1) \
    X(CUPTI_MEMCPY_DST_KIND, Memcpy, dstKind, 6, 1) \
    X(CUPTI_MEMCPY_FLAGS, Memcpy, flags, 7, 1) \
    X(CUPTI_MEMCPY_BYTES, Memcpy, bytes, 8, 8) \
    X(CUPTI_MEMCPY_START, Memcpy, start, 16, 8) \
    X(CUPTI_MEMCPY_END, Memcpy, end, 24, 8) \
    X(CUPTI_MEMCPY_DEVICE_ID, Memcpy, deviceId, 32, 4) \
    X(CUPTI_MEMCPY_CONTEXT_ID, Memcpy, contextId, 36, 4) \
    X(CUPTI_MEMCPY_STREAM_ID, Memcpy, streamId, 40, 4) \
    X(CUPTI_MEMCPY_CORRELATION_ID, Memcpy, correlationId, 44, 4) \
    X(CUPTI_MEMCPY_RUNTIME_CORRELATION_ID, Memcpy, runtimeCorrelationId, 48, 4) \
    X(CUPTI_MEMCPY_GRAPH_NODE_ID, Memcpy3, graphNodeId, 64, 8) \
    X(CUPTI_MEMCPY_GRAPH_ID, Memcpy4, graphId, 72, 4) \
    X(CUPTI_MEMCPY_CHANNEL_ID, Memcpy5, channelID, 76, 4) \
    X(CUPTI_MEMCPY_CHANNEL_TYPE, Memcpy5, channelType, 80, 4) \
    X(CUPTI_MEMCPY_IS_DEVICE_LAUNCHED, Memcpy6, isDeviceLaunched, 84, 1) \
    X(CUPTI_MEMCPY_COPY_COUNT, Memcpy6, copyCount, 88, 8) \
    /* kind 22 */ \
    X(CUPTI_MEMCPY2_COPY_KIND, MemcpyPtoP, copyKind, 4, 1) \
    X(CUPTI_MEMCPY2_SRC_KIND, MemcpyPtoP, srcKind, 5, 1) \
    X(CUPTI_MEMCPY2_DST_KIND, MemcpyPtoP, dstKind, 6, 1) \
    X(CUPTI_MEMCPY2_FLAGS, MemcpyPtoP, flags, 7, 1) \
    X(CUPTI_MEMCPY2_BYTES, MemcpyPtoP, bytes, 8, 8) \
    X(CUPTI_MEMCPY2_START, MemcpyPtoP, start, 16, 8) \
    X(CUPTI_MEMCPY2_END, MemcpyPtoP, end, 24, 8) \
    X(CUPTI_MEMCPY2_DEVICE_ID, MemcpyPtoP, deviceId, 32, 4) \
    X(CUPTI_MEMCPY2_CONTEXT_ID, MemcpyPtoP, contextId, 36, 4) \
    X(CUPTI_MEMCPY2_STREAM_ID, MemcpyPtoP, streamId, 40, 4) \
    X(CUPTI_MEMCPY2_SRC_DEVICE_ID, MemcpyPtoP, srcDeviceId, 44, 4) \
    X(CUPTI_MEMCPY2_SRC_CONTEXT_ID, MemcpyPtoP, srcContextId, 48, 4) \
    X(CUPTI_MEMCPY2_DST_DEVICE_ID, MemcpyPtoP, dstDeviceId, 52, 4) \
    X(CUPTI_MEMCPY2_DST_CONTEXT_ID, MemcpyPtoP, dstContextId, 56, 4) \
    X(CUPTI_MEMCPY2_CORRELATION_ID, MemcpyPtoP, correlationId, 60, 4) \
    X(CUPTI_MEMCPY2_GRAPH_NODE_ID, MemcpyPtoP2, graphNodeId, 72, 8) \
    X(CUPTI_MEMCPY2_GRAPH_ID, MemcpyPtoP3, graphId, 80, 4) \
    X(CUPTI_MEMCPY2_CHANNEL_ID, MemcpyPtoP4, channelID, 84, 4) \
    X(CUPTI_MEMCPY2_CHANNEL_TYPE, MemcpyPtoP4, channelType, 88, 4) \
    /* kind 2 */ \
    X(CUPTI_MEMSET_VALUE, Memset, value, 4, 4) \
    X(CUPTI_MEMSET_BYTES, Memset, bytes, 8, 8) \
    X(CUPTI_MEMSET_START, Memset, start, 16, 8) \
    X(CUPTI_MEMSET_END, Memset, end, 24, 8) \
    X(CUPTI_MEMSET_DEVICE_ID, Memset, deviceId, 32, 4) \
    X(CUPTI_MEMSET_CONTEXT_ID, Memset, contextId, 36, 4) \
    X(CUPTI_MEMSET_STREAM_ID, Memset, streamId, 40, 4) \
    X(CUPTI_MEMSET_CORRELATION_ID, Memset, correlationId, 44, 4) \
    X(CUPTI_MEMSET_FLAGS, Memset, flags, 48, 2) \
    X(CUPTI_MEMSET_MEMORY_KIND, Memset, memoryKind, 50, 2) \
    X(CUPTI_MEMSET_GRAPH_NODE_ID, Memset2, graphNodeId, 64, 8) \
    X(CUPTI_MEMSET_GRAPH_ID, Memset3, graphId, 72, 4) \
    X(CUPTI_MEMSET_CHANNEL_ID, Memset4, channelID, 76, 4) \
    X(CUPTI_MEMSET_CHANNEL_TYPE, Memset4, channelType, 80, 4) \
    X(CUPTI_MEMSET_IS_DEVICE_LAUNCHED, Memset4, isDeviceLaunched, 84, 1) \
    /* kind 4 */ \
    X(CUPTI_API_CBID, API, cbid, 4, 4) \
    X(CUPTI_API_START, API, start, 8, 8) \
    X(CUPTI_API_END, API, end, 16, 8) \
    X(CUPTI_API_PROCESS_ID, API, processId, 24, 4) \
    X(CUPTI_API_THREAD_ID, API, threadId, 28, 4) \
    X(CUPTI_API_CORRELATION_ID, API, correlationId, 32, 4) \
    X(CUPTI_API_RETURN_VALUE, API, returnValue, 36, 4) \
    /* kind 38 */ \
    X(CUPTI_SYNC_TYPE, Synchronization, type, 4, 4) \
    X(CUPTI_SYNC_START, Synchronization, start, 8, 8) \
    X(CUPTI_SYNC_END, Synchronization, end, 16, 8) \
    X(CUPTI_SYNC_CORRELATION_ID, Synchronization, correlationId, 24, 4) \
    X(CUPTI_SYNC_CONTEXT_ID, Synchronization, contextId, 28, 4) \
    X(CUPTI_SYNC_STREAM_ID, Synchronization, streamId, 32, 4) \
    X(CUPTI_SYNC_CUDA_EVENT_ID, Synchronization, cudaEventId, 36, 4) \
    X(CUPTI_SYNC_CUDA_EVENT_SYNC_ID, Synchronization2, cudaEventSyncId, 40, 8) \
    X(CUPTI_SYNC_RETURN_VALUE, Synchronization2, returnValue, 48, 4) \
    /* kind 36 */ \
    X(CUPTI_EVENT_CORRELATION_ID, CudaEvent, correlationId, 4, 4) \
    X(CUPTI_EVENT_CONTEXT_ID, CudaEvent, contextId, 8, 4) \
    X(CUPTI_EVENT_STREAM_ID, CudaEvent, streamId, 12, 4) \
    X(CUPTI_EVENT_EVENT_ID, CudaEvent, eventId, 16, 4) \
    X(CUPTI_EVENT_DEVICE_ID, CudaEvent2, deviceId, 24, 4) \
    X(CUPTI_EVENT_DEVICE_TIMESTAMP, CudaEvent2, deviceTimestamp, 40, 8) \
    X(CUPTI_EVENT_CUDA_EVENT_SYNC_ID, CudaEvent2, cudaEventSyncId, 48, 8) \
    /* kind 51 */ \
    X(CUPTI_GRAPH_CORRELATION_ID, GraphTrace, correlationId, 4, 4) \
    X(CUPTI_GRAPH_START, GraphTrace, start, 8, 8) \
    X(CUPTI_GRAPH_END, GraphTrace, end, 16, 8) \
    X(CUPTI_GRAPH_DEVICE_ID, GraphTrace, deviceId, 24, 4) \
    X(CUPTI_GRAPH_GRAPH_ID, GraphTrace, graphId, 28, 4) \
    X(CUPTI_GRAPH_CONTEXT_ID, GraphTrace, contextId, 32, 4) \
    X(CUPTI_GRAPH_STREAM_ID, GraphTrace, streamId, 36, 4) \
    X(CUPTI_GRAPH_END_DEVICE_ID, GraphTrace2, endDeviceId, 48, 4) \
    X(CUPTI_GRAPH_END_CONTEXT_ID, GraphTrace2, endContextId, 52, 4) \
    /* kind 53 */ \
    X(CUPTI_DEVICE_GRAPH_DEVICE_ID, DeviceGraphTrace, deviceId, 4, 4) \
    X(CUPTI_DEVICE_GRAPH_START, DeviceGraphTrace, start, 8, 8) \
    X(CUPTI_DEVICE_GRAPH_END, DeviceGraphTrace, end, 16, 8) \
    X(CUPTI_DEVICE_GRAPH_GRAPH_ID, DeviceGraphTrace, graphId, 24, 4) \
    X(CUPTI_DEVICE_GRAPH_LAUNCHER_GRAPH_ID, DeviceGraphTrace, launcherGraphId, 28, 4) \
    X(CUPTI_DEVICE_GRAPH_DEVICE_LAUNCH_MODE, DeviceGraphTrace, deviceLaunchMode, 32, 4) \
    X(CUPTI_DEVICE_GRAPH_CONTEXT_ID, DeviceGraphTrace, contextId, 36, 4) \
    X(CUPTI_DEVICE_GRAPH_STREAM_ID, DeviceGraphTrace, streamId, 40, 8) \
    /* kind 17 */ \
    X(CUPTI_OVERHEAD_OVERHEAD_KIND, Overhead, overheadKind, 4, 4) \
    X(CUPTI_OVERHEAD_OBJECT_KIND, Overhead, objectKind, 8, 4) \
    X(CUPTI_OVERHEAD_START, Overhead, start, 24, 8) \
    X(CUPTI_OVERHEAD_END, Overhead, end, 32, 8) \
    X(CUPTI_OVERHEAD_CORRELATION_ID, Overhead2, correlationId, 40, 4) \
    X(CUPTI_OVERHEAD_OVERHEAD_DATA, Overhead3, overheadData, 48, 8) \
    /* kind 9 */ \
    X(CUPTI_CONTEXT_CONTEXT_ID, Context, contextId, 4, 4) \
    X(CUPTI_CONTEXT_DEVICE_ID, Context, deviceId, 8, 4) \
    X(CUPTI_CONTEXT_COMPUTE_API_KIND, Context, computeApiKind, 12, 2) \
    X(CUPTI_CONTEXT_NULL_STREAM_ID, Context, nullStreamId, 14, 2) \
    X(CUPTI_CONTEXT_PARENT_CONTEXT_ID, Context2, parentContextId, 16, 4) \
    X(CUPTI_CONTEXT_IS_GREEN_CONTEXT, Context2, isGreenContext, 20, 1) \
    X(CUPTI_CONTEXT_NUM_MULTIPROCESSORS, Context2, numMultiprocessors, 22, 2) \
    X(CUPTI_CONTEXT_CIG_MODE, Context3, cigMode, 24, 4) \
    X(CUPTI_CONTEXT_PROCESS_ID, Context4, processId, 32, 4) \
    /* kind 37 */ \
    X(CUPTI_STREAM_CONTEXT_ID, Stream, contextId, 4, 4) \
    X(CUPTI_STREAM_STREAM_ID, Stream, streamId, 8, 4) \
    X(CUPTI_STREAM_PRIORITY, Stream, priority, 12, 4) \
    X(CUPTI_STREAM_FLAG, Stream, flag, 16, 4) \
    X(CUPTI_STREAM_CORRELATION_ID, Stream, correlationId, 20, 4) \
    /* kind 8 */ \
    X(CUPTI_DEVICE_FLAGS, Device2, flags, 4, 4) \
    X(CUPTI_DEVICE_GLOBAL_MEMORY_BANDWIDTH, Device2, globalMemoryBandwidth, 8, 8) \
    X(CUPTI_DEVICE_GLOBAL_MEMORY_SIZE, Device2, globalMemorySize, 16, 8) \
    X(CUPTI_DEVICE_CONSTANT_MEMORY_SIZE, Device2, constantMemorySize, 24, 4) \
    X(CUPTI_DEVICE_L2_CACHE_SIZE, Device2, l2CacheSize, 28, 4) \
    X(CUPTI_DEVICE_NUM_THREADS_PER_WARP, Device2, numThreadsPerWarp, 32, 4) \
    X(CUPTI_DEVICE_CORE_CLOCK_RATE, Device2, coreClockRate, 36, 4) \
    X(CUPTI_DEVICE_NUM_MEMCPY_ENGINES, Device2, numMemcpyEngines, 40, 4) \
    X(CUPTI_DEVICE_NUM_MULTIPROCESSORS, Device2, numMultiprocessors, 44, 4) \
    X(CUPTI_DEVICE_MAX_IPC, Device2, maxIPC, 48, 4) \
    X(CUPTI_DEVICE_MAX_WARPS_PER_MULTIPROCESSOR, Device2, maxWarpsPerMultiprocessor, 52, 4) \
    X(CUPTI_DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR, Device2, maxBlocksPerMultiprocessor, 56, 4) \
    X(CUPTI_DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, Device2, \
      maxSharedMemoryPerMultiprocessor, 60, 4) \
    X(CUPTI_DEVICE_MAX_REGISTERS_PER_MULTIPROCESSOR, Device2, maxRegistersPerMultiprocessor, 64, \
      4) \
    X(CUPTI_DEVICE_MAX_REGISTERS_PER_BLOCK, Device2, maxRegistersPerBlock, 68, 4) \
    X(CUPTI_DEVICE_MAX_SHARED_MEMORY_PER_BLOCK, Device2, maxSharedMemoryPerBlock, 72, 4) \
    X(CUPTI_DEVICE_MAX_THREADS_PER_BLOCK, Device2, maxThreadsPerBlock, 76, 4) \
    X(CUPTI_DEVICE_MAX_BLOCK_DIM_X, Device2, maxBlockDimX, 80, 4) \
    X(CUPTI_DEVICE_MAX_BLOCK_DIM_Y, Device2, maxBlockDimY, 84, 4) \
    X(CUPTI_DEVICE_MAX_BLOCK_DIM_Z, Device2, maxBlockDimZ, 88, 4) \
    X(CUPTI_DEVICE_MAX_GRID_DIM_X, Device2, maxGridDimX, 92, 4) \
    X(CUPTI_DEVICE_MAX_GRID_DIM_Y, Device2, maxGridDimY, 96, 4) \
    X(CUPTI_DEVICE_MAX_GRID_DIM_Z, Device2, maxGridDimZ, 100, 4) \
    X(CUPTI_DEVICE_COMPUTE_CAPABILITY_MAJOR, Device2, computeCapabilityMajor, 104, 4) \
    X(CUPTI_DEVICE_COMPUTE_CAPABILITY_MINOR, Device2, computeCapabilityMinor, 108, 4) \
    X(CUPTI_DEVICE_ID, Device2, id, 112, 4) \
    X(CUPTI_DEVICE_ECC_ENABLED, Device2, eccEnabled, 116, 4) \
    X(CUPTI_DEVICE_NAME, Device2, name, 136, 8) \
    X(CUPTI_DEVICE_IS_CUDA_VISIBLE, Device3, isCudaVisible, 144, 1) \
    X(CUPTI_DEVICE_IS_MIG_ENABLED, Device4, isMigEnabled, 145, 1) \
    X(CUPTI_DEVICE_GPU_INSTANCE_ID, Device4, gpuInstanceId, 152, 4) \
    X(CUPTI_DEVICE_COMPUTE_INSTANCE_ID, Device4, computeInstanceId, 156, 4) \
    X(CUPTI_DEVICE_IS_NUMA_NODE, Device5, isNumaNode, 176, 4) \
    X(CUPTI_DEVICE_NUMA_ID, Device5, numaId, 180, 4) \
    X(CUPTI_DEVICE_NUM_TPCS, Device6, numTpcs, 184, 4) \
    /* kind 11 */ \
    X(CUPTI_NAME_OBJECT_KIND, Name, objectKind, 4, 4) \
    X(CUPTI_NAME_NAME, Name, name, 24, 8) \
    /* kind 39 */ \
    X(CUPTI_EXTERNAL_EXTERNAL_KIND, ExternalCorrelation, externalKind, 4, 4) \
    X(CUPTI_EXTERNAL_EXTERNAL_ID, ExternalCorrelation, externalId, 8, 8) \
    X(CUPTI_EXTERNAL_CORRELATION_ID, ExternalCorrelation, correlationId, 16, 4) \
    /* kind 49 */ \
    X(CUPTI_MEMORY2_MEMORY_OPERATION_TYPE, Memory2, memoryOperationType, 4, 4) \
    X(CUPTI_MEMORY2_MEMORY_KIND, Memory2, memoryKind, 8, 4) \
    X(CUPTI_MEMORY2_CORRELATION_ID, Memory2, correlationId, 12, 4) \
    X(CUPTI_MEMORY2_ADDRESS, Memory2, address, 16, 8) \
    X(CUPTI_MEMORY2_BYTES, Memory2, bytes, 24, 8) \
    X(CUPTI_MEMORY2_TIMESTAMP, Memory2, timestamp, 32, 8) \
    X(CUPTI_MEMORY2_PC, Memory2, PC, 40, 8) \
    X(CUPTI_MEMORY2_PROCESS_ID, Memory2, processId, 48, 4) \
    X(CUPTI_MEMORY2_DEVICE_ID, Memory2, deviceId, 52, 4) \
    X(CUPTI_MEMORY2_CONTEXT_ID, Memory2, contextId, 56, 4) \
    X(CUPTI_MEMORY2_STREAM_ID, Memory2, streamId, 60, 4) \
    X(CUPTI_MEMORY2_NAME, Memory2, name, 64, 8) \
    X(CUPTI_MEMORY2_IS_ASYNC, Memory2, isAsync, 72, 4) \
    X(CUPTI_MEMORY2_SOURCE, Memory4, source, 120, 8) \
    /* kind 50 */ \
    X(CUPTI_POOL_MEMORY_POOL_OPERATION_TYPE, MemoryPool, memoryPoolOperationType, 4, 4) \
    X(CUPTI_POOL_MEMORY_POOL_TYPE, MemoryPool, memoryPoolType, 8, 4) \
    X(CUPTI_POOL_CORRELATION_ID, MemoryPool, correlationId, 12, 4) \
    X(CUPTI_POOL_PROCESS_ID, MemoryPool, processId, 16, 4) \
    X(CUPTI_POOL_DEVICE_ID, MemoryPool, deviceId, 20, 4) \
    X(CUPTI_POOL_MIN_BYTES_TO_KEEP, MemoryPool, minBytesToKeep, 24, 8) \
    X(CUPTI_POOL_ADDRESS, MemoryPool, address, 32, 8) \
    X(CUPTI_POOL_SIZE, MemoryPool, size, 40, 8) \
    X(CUPTI_POOL_RELEASE_THRESHOLD, MemoryPool, releaseThreshold, 48, 8) \
    X(CUPTI_POOL_TIMESTAMP, MemoryPool, timestamp, 56, 8) \
    X(CUPTI_POOL_UTILIZED_SIZE, MemoryPool2, utilizedSize, 64, 8) \
    X(CUPTI_POOL_IS_MANAGED_POOL, MemoryPool3, isManagedPool, 72, 1) \
    /* kind 45 */ \
    X(CUPTI_MEMORY_MEMORY_KIND, Memory, memoryKind, 4, 4) \
    X(CUPTI_MEMORY_ADDRESS, Memory, address, 8, 8) \
    X(CUPTI_MEMORY_BYTES, Memory, bytes, 16, 8) \
    X(CUPTI_MEMORY_START, Memory, start, 24, 8) \
    X(CUPTI_MEMORY_END, Memory, end, 32, 8) \
    X(CUPTI_MEMORY_ALLOC_PC, Memory, allocPC, 40, 8) \
    X(CUPTI_MEMORY_FREE_PC, Memory, freePC, 48, 8) \
    X(CUPTI_MEMORY_PROCESS_ID, Memory, processId, 56, 4) \
    X(CUPTI_MEMORY_DEVICE_ID, Memory, deviceId, 60, 4) \
    X(CUPTI_MEMORY_CONTEXT_ID, Memory, contextId, 64, 4) \
    X(CUPTI_MEMORY_NAME, Memory, name, 72, 8) \
    /* kind 52 */ \
    X(CUPTI_JIT_JIT_ENTRY_TYPE, Jit, jitEntryType, 4, 4) \
    X(CUPTI_JIT_JIT_OPERATION_TYPE, Jit, jitOperationType, 8, 4) \
    X(CUPTI_JIT_DEVICE_ID, Jit, deviceId, 12, 4) \
    X(CUPTI_JIT_START, Jit, start, 16, 8) \
    X(CUPTI_JIT_END, Jit, end, 24, 8) \
    X(CUPTI_JIT_CORRELATION_ID, Jit, correlationId, 32, 4) \
    X(CUPTI_JIT_JIT_OPERATION_CORRELATION_ID, Jit, jitOperationCorrelationId, 40, 8) \
    X(CUPTI_JIT_CACHE_SIZE, Jit, cacheSize, 48, 8) \
    X(CUPTI_JIT_CACHE_PATH, Jit, cachePath, 56, 8) \
    X(CUPTI_JIT_PROCESS_ID, Jit2, processId, 64, 4) \
    X(CUPTI_JIT_THREAD_ID, Jit2, threadId, 68, 4) \
    /* kind 27 */ \
    X(CUPTI_MODULE_CONTEXT_ID, Module, contextId, 4, 4) \
    X(CUPTI_MODULE_ID, Module, id, 8, 4) \
    X(CUPTI_MODULE_CUBIN_SIZE, Module, cubinSize, 12, 4) \
    X(CUPTI_MODULE_CUBIN, Module, cubin, 16, 8) \
    /* kind 26 */ \
    X(CUPTI_FUNCTION_ID, Function, id, 4, 4) \
    X(CUPTI_FUNCTION_CONTEXT_ID, Function, contextId, 8, 4) \
    X(CUPTI_FUNCTION_MODULE_ID, Function, moduleId, 12, 4) \
    X(CUPTI_FUNCTION_FUNCTION_INDEX, Function, functionIndex, 16, 4) \
    X(CUPTI_FUNCTION_NAME, Function, name, 24, 8) \
    /* kind 25 */ \
    X(CUPTI_UVM_COUNTER_KIND, UnifiedMemoryCounter2, counterKind, 4, 4) \
    X(CUPTI_UVM_VALUE, UnifiedMemoryCounter2, value, 8, 8) \
    X(CUPTI_UVM_START, UnifiedMemoryCounter2, start, 16, 8) \
    X(CUPTI_UVM_END, UnifiedMemoryCounter2, end, 24, 8) \
    X(CUPTI_UVM_ADDRESS, UnifiedMemoryCounter2, address, 32, 8) \
    X(CUPTI_UVM_SRC_ID, UnifiedMemoryCounter2, srcId, 40, 4) \
    X(CUPTI_UVM_DST_ID, UnifiedMemoryCounter2, dstId, 44, 4) \
    X(CUPTI_UVM_STREAM_ID, UnifiedMemoryCounter2, streamId, 48, 4) \
    X(CUPTI_UVM_PROCESS_ID, UnifiedMemoryCounter2, processId, 52, 4) \
    X(CUPTI_UVM_FLAGS, UnifiedMemoryCounter2, flags, 56, 4) \
    /* kind 54 */ \
    X(CUPTI_DECOMPRESS_DEVICE_ID, MemDecompress, deviceId, 4, 4) \
    X(CUPTI_DECOMPRESS_CONTEXT_ID, MemDecompress, contextId, 8, 4) \
    X(CUPTI_DECOMPRESS_STREAM_ID, MemDecompress, streamId, 12, 4) \
    X(CUPTI_DECOMPRESS_CHANNEL_ID, MemDecompress, channelID, 16, 4) \
    X(CUPTI_DECOMPRESS_CHANNEL_TYPE, MemDecompress, channelType, 20, 4) \
    X(CUPTI_DECOMPRESS_CORRELATION_ID, MemDecompress, correlationId, 24, 4) \
    X(CUPTI_DECOMPRESS_NUMBER_OF_OPERATIONS, MemDecompress, numberOfOperations, 28, 4) \
    X(CUPTI_DECOMPRESS_SOURCE_BYTES, MemDecompress, sourceBytes, 32, 8) \
    X(CUPTI_DECOMPRESS_START, MemDecompress, start, 48, 8) \
    X(CUPTI_DECOMPRESS_END, MemDecompress, end, 56, 8)

enum cupti_field {
#define CUPTI_FIELD_ENUM(name, record, field, offset, bytes) name,
    CUPTI_FIELDS(CUPTI_FIELD_ENUM)
#undef CUPTI_FIELD_ENUM
    CUPTI_FIELD_COUNT
};

struct cupti_field_place {
    uint16_t offset;
    uint16_t bytes; /* 1, 2, 4 or 8 */
};

/* Where a field lies; defined in cupti_abi.c. */
extern const struct cupti_field_place cupti_field_places[CUPTI_FIELD_COUNT];

/* The 16 bytes of a device's UUID and of its MIG instance's; there if they end within the record.
 */
#define CUPTI_DEVICE_UUID_OFFSET 120
#define CUPTI_DEVICE_MIG_UUID_OFFSET 160
#define CUPTI_UUID_BYTES 16

/* objectId of OVERHEAD: three 32-bit numbers (process and thread, or device, context and stream).
 */
#define CUPTI_OVERHEAD_OBJECT_OFFSET 12

/* True if records of RECORD_BYTES have FIELD. */
static inline bool cupti_has(uint32_t record_bytes, enum cupti_field field)
{
    const struct cupti_field_place *place = &cupti_field_places[field];
    return (uint32_t)place->offset + place->bytes <= record_bytes;
}

/* The value of FIELD, zero-extended; 0 where records of RECORD_BYTES do not have it. RECORD needs
 * no alignment. */
static inline uint64_t cupti_get(const void *record, uint32_t record_bytes, enum cupti_field field)
{
    const struct cupti_field_place *place = &cupti_field_places[field];
    const uint8_t *at = (const uint8_t *)record + place->offset;
    uint64_t value64 = 0;
    uint32_t value32 = 0;
    uint16_t value16 = 0;
    if (!cupti_has(record_bytes, field)) {
        return 0;
    }
    switch (place->bytes) {
    case 8:
        memcpy(&value64, at, sizeof(value64));
        return value64;
    case 4:
        memcpy(&value32, at, sizeof(value32));
        return value32;
    case 2:
        memcpy(&value16, at, sizeof(value16));
        return value16;
    default:
        return *at;
    }
}

/* Name of a runtime or driver callback id as CUPTI gives it ("cudaLaunchKernel_v7000",
 * "cuLaunchKernel"); NULL if unknown. */
const char *cupti_runtime_name(uint32_t cbid);
const char *cupti_driver_name(uint32_t cbid);

/* Number of ids that the tables know (ids are 1 .. count - 1). */
uint32_t cupti_runtime_count(void);
uint32_t cupti_driver_count(void);

#endif
