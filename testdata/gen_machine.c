/* gen_machine: the machine of a generated capture: devices, contexts, streams, processes, threads,
 * session. See gen_world.h. */
#include <stdio.h>
#include <string.h>

#include "testdata/gen_world.h"

#define CELL_INT(v) store_cell_int((int64_t)(v))
#define CELL_TEXT(s) store_cell_text((s), strlen(s))

/* The session begins on this day, always: the same options make the same file. */
static const int64_t UTC_NS = INT64_C(1767604503) * 1000000000;
static const char UTC_TEXT[] = "2026-01-05T09:15:03";

static int write_device(struct gen *gen, const struct gen_rank *rank, struct err *err)
{
    char uuid[64];
    char bus[32];
    struct store_cell row[STORE_GPU_N] = {
        [STORE_GPU_VM_ID] = CELL_INT(1),
        [STORE_GPU_ID] = CELL_INT(rank->index),
        [STORE_GPU_NAME] = CELL_TEXT("Model GPU 132"),
        [STORE_GPU_IS_DISCRETE] = CELL_INT(1),
        [STORE_GPU_L2_CACHE_SIZE] = CELL_INT(52428800),
        [STORE_GPU_TOTAL_MEMORY] = CELL_INT(INT64_C(85520809984)),
        [STORE_GPU_MEMORY_BANDWIDTH] = CELL_INT(INT64_C(3352320000000)),
        [STORE_GPU_CLOCK_RATE] = CELL_INT(1980000000),
        [STORE_GPU_SM_COUNT] = CELL_INT(132),
        [STORE_GPU_CHIP_NAME] = CELL_TEXT("MODEL"),
        [STORE_GPU_CU_DEVICE] = CELL_INT(rank->index),
        [STORE_GPU_CONSTANT_MEMORY] = CELL_INT(65536),
        [STORE_GPU_MAX_IPC] = CELL_INT(4),
        [STORE_GPU_MAX_REGISTERS_PER_BLOCK] = CELL_INT(65536),
        [STORE_GPU_MAX_SHMEM_PER_BLOCK] = CELL_INT(49152),
        [STORE_GPU_MAX_SHMEM_PER_BLOCK_OPTIN] = CELL_INT(232448),
        [STORE_GPU_MAX_SHMEM_PER_SM] = CELL_INT(233472),
        [STORE_GPU_MAX_REGISTERS_PER_SM] = CELL_INT(65536),
        [STORE_GPU_THREADS_PER_WARP] = CELL_INT(32),
        [STORE_GPU_ASYNC_ENGINES] = CELL_INT(3),
        [STORE_GPU_MAX_WARPS_PER_SM] = CELL_INT(64),
        [STORE_GPU_MAX_BLOCKS_PER_SM] = CELL_INT(32),
        [STORE_GPU_MAX_THREADS_PER_BLOCK] = CELL_INT(1024),
        [STORE_GPU_MAX_BLOCK_DIM_X] = CELL_INT(1024),
        [STORE_GPU_MAX_BLOCK_DIM_Y] = CELL_INT(1024),
        [STORE_GPU_MAX_BLOCK_DIM_Z] = CELL_INT(64),
        [STORE_GPU_MAX_GRID_DIM_X] = CELL_INT(2147483647),
        [STORE_GPU_MAX_GRID_DIM_Y] = CELL_INT(65535),
        [STORE_GPU_MAX_GRID_DIM_Z] = CELL_INT(65535),
        [STORE_GPU_COMPUTE_MAJOR] = CELL_INT(9),
        [STORE_GPU_COMPUTE_MINOR] = CELL_INT(0),
        [STORE_GPU_SM_MAJOR] = CELL_INT(9),
        [STORE_GPU_SM_MINOR] = CELL_INT(0),
    };
    struct store_cell device[STORE_CUDA_DEVICE_N] = {
        [STORE_CUDA_DEVICE_GPU_ID] = CELL_INT(rank->index),
        [STORE_CUDA_DEVICE_CUDA_ID] = CELL_INT(rank->index),
        [STORE_CUDA_DEVICE_PID] = CELL_INT(rank->pid),
        [STORE_CUDA_DEVICE_NUM_MULTIPROCESSORS] = CELL_INT(132),
    };
    (void)snprintf(uuid, sizeof uuid, "GPU-00000000-0000-4000-8000-%012d", rank->index + 1);
    (void)snprintf(bus, sizeof bus, "0000:%02x:00.0", 0x18 + 0x11 * rank->index);
    row[STORE_GPU_UUID] = CELL_TEXT(uuid);
    row[STORE_GPU_BUS_LOCATION] = CELL_TEXT(bus);
    device[STORE_CUDA_DEVICE_UUID] = CELL_TEXT(uuid);
    return store_writer_row(gen->writer, STORE_TABLE_GPU, row, err) == 0 &&
                   store_writer_row(gen->writer, STORE_TABLE_CUDA_DEVICE, device, err) == 0
               ? 0
               : -1;
}

static int write_streams(struct gen *gen, const struct gen_rank *rank, struct err *err)
{
    const struct store_cell context[STORE_CUDA_CONTEXT_N] = {
        [STORE_CUDA_CONTEXT_NULL_STREAM_ID] = CELL_INT(7),
        [STORE_CUDA_CONTEXT_HW_ID] = CELL_INT(0),
        [STORE_CUDA_CONTEXT_VM_ID] = CELL_INT(1),
        [STORE_CUDA_CONTEXT_PROCESS_ID] = CELL_INT(rank->pid),
        [STORE_CUDA_CONTEXT_DEVICE_ID] = CELL_INT(rank->index),
        [STORE_CUDA_CONTEXT_CONTEXT_ID] = CELL_INT(1),
        [STORE_CUDA_CONTEXT_NUM_MULTIPROCESSORS] = CELL_INT(132),
    };
    if (store_writer_row(gen->writer, STORE_TABLE_CUDA_CONTEXT, context, err) != 0) {
        return -1;
    }
    for (int i = 0; i < GEN_STREAM_COUNT; i++) {
        /* The communication stream has priority -5, stored as an unsigned number. */
        const struct store_cell row[STORE_CUDA_STREAM_N] = {
            [STORE_CUDA_STREAM_STREAM_ID] = CELL_INT(gen_stream_id((enum gen_stream)i)),
            [STORE_CUDA_STREAM_HW_ID] = CELL_INT(0),
            [STORE_CUDA_STREAM_VM_ID] = CELL_INT(1),
            [STORE_CUDA_STREAM_PROCESS_ID] = CELL_INT(rank->pid),
            [STORE_CUDA_STREAM_CONTEXT_ID] = CELL_INT(1),
            [STORE_CUDA_STREAM_PRIORITY] = CELL_INT(i == GEN_NCCL ? INT64_C(4294967291) : 0),
            [STORE_CUDA_STREAM_FLAG] = CELL_INT(i == GEN_COMPUTE ? 3 : 2),
        };
        if (store_writer_row(gen->writer, STORE_TABLE_CUDA_STREAM, row, err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int write_threads(struct gen *gen, const struct gen_rank *rank, struct err *err)
{
    static const char *const NAMES[GEN_THREAD_COUNT] = {"trainer", "autograd_0", "loader_0",
                                                        "NCCL Progress 1"};
    for (int i = 0; i < GEN_THREAD_COUNT; i++) {
        int64_t name;
        struct store_cell row[STORE_THREAD_NAMES_N] = {
            [STORE_THREAD_NAMES_PRIORITY] = CELL_INT(10),
            [STORE_THREAD_NAMES_GLOBAL_TID] =
                CELL_INT(store_global_tid(rank->pid, gen_tid(rank, (enum gen_thread)i))),
        };
        if (i == GEN_PROXY && gen->options.devices == 1) {
            continue;
        }
        if (store_writer_string(gen->writer, NAMES[i], strlen(NAMES[i]), &name, err) != 0) {
            return -1;
        }
        row[STORE_THREAD_NAMES_NAME_ID] = CELL_INT(name);
        if (store_writer_row(gen->writer, STORE_TABLE_THREAD_NAMES, row, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The process, and the NVTX domain that its communication library made. */
static int write_process(struct gen *gen, const struct gen_rank *rank, struct err *err)
{
    const struct store_cell row[STORE_PROCESSES_N] = {
        [STORE_PROCESSES_GLOBAL_PID] = CELL_INT(store_global_tid(rank->pid, 0)),
        [STORE_PROCESSES_PID] = CELL_INT(rank->pid),
        [STORE_PROCESSES_NAME] = CELL_TEXT("/opt/lamina/bin/trainer"),
    };
    const struct store_cell domain[STORE_NVTX_N] = {
        [STORE_NVTX_START] = CELL_INT(211000000 + rank->index),
        [STORE_NVTX_EVENT_TYPE] = CELL_INT(75),
        [STORE_NVTX_TEXT] = CELL_TEXT("NCCL"),
        [STORE_NVTX_GLOBAL_TID] = CELL_INT(store_global_tid(rank->pid, rank->pid)),
        [STORE_NVTX_DOMAIN_ID] = CELL_INT(1),
    };
    if (store_writer_row(gen->writer, STORE_TABLE_PROCESSES, row, err) != 0) {
        return -1;
    }
    if (gen->options.devices == 1) {
        return 0;
    }
    return store_writer_row(gen->writer, STORE_TABLE_NVTX, domain, err);
}

static int write_session(struct gen *gen, struct err *err)
{
    static const char *const MODES[] = {"Graph", "Graph", "Node"};
    const struct store_cell row[STORE_SESSION_START_N] = {
        [STORE_SESSION_START_UTC_EPOCH_NS] = CELL_INT(UTC_NS),
        [STORE_SESSION_START_UTC_TIME] = CELL_TEXT(UTC_TEXT),
        [STORE_SESSION_START_LOCAL_TIME] = CELL_TEXT(UTC_TEXT),
    };
    const struct store_cell host[STORE_SYSTEM_ENV_N] = {
        [STORE_SYSTEM_ENV_GLOBAL_VID] = CELL_INT(INT64_C(1) << 48),
        [STORE_SYSTEM_ENV_DEV_STATE_NAME] = CELL_TEXT("CpuInfo"),
        [STORE_SYSTEM_ENV_NAME] = CELL_TEXT("Hostname"),
        [STORE_SYSTEM_ENV_NAME_ENUM] = CELL_INT(619),
        [STORE_SYSTEM_ENV_VALUE] = CELL_TEXT("node01"),
    };
    if (store_writer_row(gen->writer, STORE_TABLE_SESSION_START, row, err) != 0 ||
        store_writer_row(gen->writer, STORE_TABLE_SYSTEM_ENV, host, err) != 0) {
        return -1;
    }
    return store_writer_note(gen->writer, STORE_TABLE_META_CAPTURE, "CUDA_GRAPH_TRACE_OPTIONS:MODE",
                             MODES[gen->options.graphs], err);
}

int gen_write_machine(struct gen *gen, struct err *err)
{
    if (write_session(gen, err) != 0) {
        return -1;
    }
    for (int i = 0; i < gen->options.devices; i++) {
        const struct gen_rank *rank = &gen->ranks[i];
        if (write_process(gen, rank, err) != 0 || write_threads(gen, rank, err) != 0 ||
            write_device(gen, rank, err) != 0 || write_streams(gen, rank, err) != 0) {
            return -1;
        }
    }
    return 0;
}
