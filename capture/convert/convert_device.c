/* The devices, contexts and streams that CUPTI told of, for the converter: TARGET_INFO_* tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "capture/convert/convert_internal.h"
#include "capture/spool/cupti_abi.h"

enum {
    UUID_TEXT = 37 /* with the terminator */
};

int convert_cupti_learn(struct convert *c, struct convert_proc *proc, uint32_t kind,
                        const void *record, uint32_t bytes, struct err *err)
{
    (void)c;
    if (kind != CUPTI_KIND_CONTEXT) {
        return 0;
    }
    struct convert_context *contexts =
        array_resize(proc->contexts, (size_t)proc->contexts_n + 1, sizeof *contexts);
    if (!contexts) {
        return err_nomem(err, "contexts");
    }
    proc->contexts = contexts;
    contexts[proc->contexts_n++] = (struct convert_context){
        .context = (uint32_t)cupti_get(record, bytes, CUPTI_CONTEXT_CONTEXT_ID),
        .device = (uint32_t)cupti_get(record, bytes, CUPTI_CONTEXT_DEVICE_ID),
    };
    return 0;
}

static int context_row(struct convert *c, const struct convert_proc *proc, const void *record,
                       uint32_t bytes, struct err *err)
{
    struct store_cell row[STORE_CUDA_CONTEXT_N] = {
        [STORE_CUDA_CONTEXT_NULL_STREAM_ID] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_CONTEXT_NULL_STREAM_ID)),
        [STORE_CUDA_CONTEXT_HW_ID] = store_cell_int(0),
        [STORE_CUDA_CONTEXT_VM_ID] = store_cell_int(1),
        [STORE_CUDA_CONTEXT_PROCESS_ID] = store_cell_int(proc->pid),
        [STORE_CUDA_CONTEXT_DEVICE_ID] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_CONTEXT_DEVICE_ID)),
        [STORE_CUDA_CONTEXT_CONTEXT_ID] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_CONTEXT_CONTEXT_ID)),
        [STORE_CUDA_CONTEXT_PARENT_CONTEXT_ID] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_CONTEXT_PARENT_CONTEXT_ID)),
        [STORE_CUDA_CONTEXT_IS_GREEN_CONTEXT] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_CONTEXT_IS_GREEN_CONTEXT)),
        [STORE_CUDA_CONTEXT_NUM_MULTIPROCESSORS] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_CONTEXT_NUM_MULTIPROCESSORS)),
    };
    return store_writer_row(c->writer, STORE_TABLE_CUDA_CONTEXT, row, err);
}

static int stream_row(struct convert *c, const struct convert_proc *proc, const void *record,
                      uint32_t bytes, struct err *err)
{
    struct store_cell row[STORE_CUDA_STREAM_N] = {
        [STORE_CUDA_STREAM_STREAM_ID] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_STREAM_STREAM_ID)),
        [STORE_CUDA_STREAM_HW_ID] = store_cell_int(0),
        [STORE_CUDA_STREAM_VM_ID] = store_cell_int(1),
        [STORE_CUDA_STREAM_PROCESS_ID] = store_cell_int(proc->pid),
        [STORE_CUDA_STREAM_CONTEXT_ID] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_STREAM_CONTEXT_ID)),
        /* the image of a signed number, as nsys stores it: 4294967291 for -5 */
        [STORE_CUDA_STREAM_PRIORITY] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_STREAM_PRIORITY)),
        [STORE_CUDA_STREAM_FLAG] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_STREAM_FLAG)),
    };
    return store_writer_row(c->writer, STORE_TABLE_CUDA_STREAM, row, err);
}

/* "554a6988-...", or "" where the record has none. */
static void uuid_text(const void *record, uint32_t bytes, char out[UUID_TEXT])
{
    const unsigned char *uuid = (const unsigned char *)record + CUPTI_DEVICE_UUID_OFFSET;
    size_t at = 0;
    out[0] = '\0';
    if (bytes < CUPTI_DEVICE_UUID_OFFSET + CUPTI_UUID_BYTES) {
        return;
    }
    for (int i = 0; i < CUPTI_UUID_BYTES; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        at += (size_t)snprintf(out + at, UUID_TEXT - at, "%s%02x", dash, uuid[i]);
    }
}

/* A DEVICE record. */
struct device {
    const void *record;
    uint32_t bytes;
    int64_t gpu; /* the number of the GPU in the file */
    char uuid[UUID_TEXT];
};

static int gpu_row(struct convert *c, struct convert_proc *proc, const struct device *device,
                   struct err *err)
{
    static const struct {
        uint8_t column;
        uint16_t field;
        uint16_t factor;
    } map[] = {
        {STORE_GPU_L2_CACHE_SIZE, CUPTI_DEVICE_L2_CACHE_SIZE, 1},
        {STORE_GPU_TOTAL_MEMORY, CUPTI_DEVICE_GLOBAL_MEMORY_SIZE, 1},
        {STORE_GPU_MEMORY_BANDWIDTH, CUPTI_DEVICE_GLOBAL_MEMORY_BANDWIDTH, 1000},
        {STORE_GPU_CLOCK_RATE, CUPTI_DEVICE_CORE_CLOCK_RATE, 1000},
        {STORE_GPU_SM_COUNT, CUPTI_DEVICE_NUM_MULTIPROCESSORS, 1},
        {STORE_GPU_CU_DEVICE, CUPTI_DEVICE_ID, 1},
        {STORE_GPU_CONSTANT_MEMORY, CUPTI_DEVICE_CONSTANT_MEMORY_SIZE, 1},
        {STORE_GPU_MAX_IPC, CUPTI_DEVICE_MAX_IPC, 1},
        {STORE_GPU_MAX_REGISTERS_PER_BLOCK, CUPTI_DEVICE_MAX_REGISTERS_PER_BLOCK, 1},
        {STORE_GPU_MAX_SHMEM_PER_BLOCK, CUPTI_DEVICE_MAX_SHARED_MEMORY_PER_BLOCK, 1},
        {STORE_GPU_MAX_SHMEM_PER_SM, CUPTI_DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 1},
        {STORE_GPU_MAX_REGISTERS_PER_SM, CUPTI_DEVICE_MAX_REGISTERS_PER_MULTIPROCESSOR, 1},
        {STORE_GPU_THREADS_PER_WARP, CUPTI_DEVICE_NUM_THREADS_PER_WARP, 1},
        {STORE_GPU_ASYNC_ENGINES, CUPTI_DEVICE_NUM_MEMCPY_ENGINES, 1},
        {STORE_GPU_MAX_WARPS_PER_SM, CUPTI_DEVICE_MAX_WARPS_PER_MULTIPROCESSOR, 1},
        {STORE_GPU_MAX_BLOCKS_PER_SM, CUPTI_DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR, 1},
        {STORE_GPU_MAX_THREADS_PER_BLOCK, CUPTI_DEVICE_MAX_THREADS_PER_BLOCK, 1},
        {STORE_GPU_MAX_BLOCK_DIM_X, CUPTI_DEVICE_MAX_BLOCK_DIM_X, 1},
        {STORE_GPU_MAX_BLOCK_DIM_Y, CUPTI_DEVICE_MAX_BLOCK_DIM_Y, 1},
        {STORE_GPU_MAX_BLOCK_DIM_Z, CUPTI_DEVICE_MAX_BLOCK_DIM_Z, 1},
        {STORE_GPU_MAX_GRID_DIM_X, CUPTI_DEVICE_MAX_GRID_DIM_X, 1},
        {STORE_GPU_MAX_GRID_DIM_Y, CUPTI_DEVICE_MAX_GRID_DIM_Y, 1},
        {STORE_GPU_MAX_GRID_DIM_Z, CUPTI_DEVICE_MAX_GRID_DIM_Z, 1},
        {STORE_GPU_COMPUTE_MAJOR, CUPTI_DEVICE_COMPUTE_CAPABILITY_MAJOR, 1},
        {STORE_GPU_COMPUTE_MINOR, CUPTI_DEVICE_COMPUTE_CAPABILITY_MINOR, 1},
        {STORE_GPU_SM_MAJOR, CUPTI_DEVICE_COMPUTE_CAPABILITY_MAJOR, 1},
        {STORE_GPU_SM_MINOR, CUPTI_DEVICE_COMPUTE_CAPABILITY_MINOR, 1},
    };
    struct store_cell row[STORE_GPU_N] = {
        [STORE_GPU_VM_ID] = store_cell_int(store_global_tid(0, 0)),
        [STORE_GPU_ID] = store_cell_int(device->gpu),
    };
    uint64_t name = cupti_get(device->record, device->bytes, CUPTI_DEVICE_NAME);
    const struct convert_string *string =
        name & SPOOL_NAME_TAG ? convert_string_of(proc, name & ~SPOOL_NAME_TAG) : NULL;
    if (string) {
        row[STORE_GPU_NAME] = convert_text(&c->scratch, string->text, string->len);
    }
    if (*device->uuid) {
        row[STORE_GPU_UUID] = store_cell_text(device->uuid, strlen(device->uuid));
    }
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        uint64_t value = cupti_get(device->record, device->bytes, (enum cupti_field)map[i].field);
        row[map[i].column] = store_cell_int((int64_t)(value * map[i].factor));
    }
    return store_writer_row(c->writer, STORE_TABLE_GPU, row, err);
}

static int device_row(struct convert *c, struct convert_proc *proc, const void *record,
                      uint32_t bytes, struct err *err)
{
    struct device device = {.record = record, .bytes = bytes};
    const char *uuid = device.uuid;
    uuid_text(record, bytes, device.uuid);
    uint32_t known = c->gpus.count;
    uint32_t gpu = intern_add(&c->gpus, uuid, strlen(uuid));
    if (gpu == INTERN_NONE) {
        return err_nomem(err, "devices");
    }
    device.gpu = gpu;
    if (gpu == known && gpu_row(c, proc, &device, err) < 0) {
        return -1;
    }
    struct store_cell row[STORE_CUDA_DEVICE_N] = {
        [STORE_CUDA_DEVICE_GPU_ID] = store_cell_int(gpu),
        [STORE_CUDA_DEVICE_CUDA_ID] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_DEVICE_ID)),
        [STORE_CUDA_DEVICE_PID] = store_cell_int(proc->pid),
        [STORE_CUDA_DEVICE_NUM_MULTIPROCESSORS] =
            store_cell_int((int64_t)cupti_get(record, bytes, CUPTI_DEVICE_NUM_MULTIPROCESSORS)),
    };
    if (*uuid) {
        row[STORE_CUDA_DEVICE_UUID] = store_cell_text(uuid, strlen(uuid));
    }
    return store_writer_row(c->writer, STORE_TABLE_CUDA_DEVICE, row, err);
}

int convert_cupti_describe(struct convert *c, struct convert_proc *proc, uint32_t kind,
                           const void *record, uint32_t bytes, struct err *err)
{
    switch (kind) {
    case CUPTI_KIND_DEVICE:
        return device_row(c, proc, record, bytes, err);
    case CUPTI_KIND_CONTEXT:
        return context_row(c, proc, record, bytes, err);
    case CUPTI_KIND_STREAM:
        return stream_row(c, proc, record, bytes, err);
    default:
        return 0;
    }
}
