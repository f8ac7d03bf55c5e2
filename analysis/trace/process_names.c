/* process_names: which GPU a process means by a device number, and the names of devices, processes
 * and threads. Every table here is optional. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/trace/processes.h"

/* Calls each for the rows of a table. 0 or -1. */
static int each_row(struct load *load, const struct store_scan *scan,
                    int (*each)(struct load *load, struct store_cursor *cursor, struct err *err),
                    struct err *err)
{
    struct store_cursor *cursor = store_scan(load->store, scan, err);
    int status = cursor == NULL ? -1 : 1;
    while (status == 1) {
        status = store_next(cursor, err);
        if (status == 1 && each(load, cursor, err) != 0) {
            status = -1;
        }
    }
    store_cursor_close(cursor);
    return status;
}

/* A text of the row, kept by the trace; "" where NULL. NULL without memory. */
static const char *row_text(struct load *load, struct store_cursor *cursor, int column,
                            uint32_t *len)
{
    size_t bytes;
    const char *text = store_text(cursor, column, &bytes);
    uint32_t index = intern_add(&load->own->texts, text == NULL ? "" : text, bytes);
    *len = (uint32_t)bytes;
    return index == INTERN_NONE ? NULL : intern_text(&load->own->texts, index);
}

/* The device of an instance of a GPU, told by its uuid; -1 without memory. */
static int64_t mig_device(struct load *load, struct store_cursor *cursor, int64_t gpu_id)
{
    uint32_t len;
    const char *uuid = row_text(load, cursor, 3, &len);
    bool is_first = true;
    for (uint32_t i = 0; uuid != NULL && i < load->mig_count; i++) {
        const struct mig_instance *mig = &load->migs[i];
        if (mig->gpu_id == gpu_id && mig->uuid == uuid) {
            return mig->id;
        }
        is_first &= mig->gpu_id != gpu_id;
    }
    struct mig_instance *migs =
        uuid == NULL ? NULL : array_resize(load->migs, (size_t)load->mig_count + 1, sizeof *migs);
    if (migs == NULL) {
        return -1;
    }
    load->migs = migs;
    migs[load->mig_count] =
        (struct mig_instance){.id = is_first ? gpu_id : load->free_id++,
                              .gpu_id = gpu_id,
                              .uuid = uuid,
                              .uuid_len = len,
                              .sm_count = (int32_t)(store_int(cursor, 4, 0) & 0xFFFFFF)};
    return migs[load->mig_count++].id;
}

static bool is_mig(struct store_cursor *cursor)
{
    size_t bytes;
    const char *uuid = store_text(cursor, 3, &bytes);
    return uuid != NULL && bytes > 4 && memcmp(uuid, "MIG-", 4) == 0;
}

static int gpu_id_row(struct load *load, struct store_cursor *cursor, struct err *err)
{
    int64_t id = store_int(cursor, 0, -1);
    (void)err;
    if (id >= load->free_id && id < INT32_MAX) {
        load->free_id = id + 1;
    }
    return 0;
}

static int device_map_row(struct load *load, struct store_cursor *cursor, struct err *err)
{
    struct device_pair pair = {store_int(cursor, 2, 0), store_int(cursor, 1, 0)};
    uint32_t before = load->device_map.count;
    if (store_is_null(cursor, 0)) {
        return 0;
    }
    uint32_t index = intern_add(&load->device_map, (const char *)&pair, sizeof pair);
    if (index == INTERN_NONE) {
        return err_nomem(err, "devices");
    }
    if (index < before) {
        return 0; /* told twice: the first counts */
    }
    int64_t *grown = array_resize(load->gpu_ids, (size_t)index + 1, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "devices");
    }
    load->gpu_ids = grown;
    grown[index] = store_int(cursor, 0, 0);
    if (is_mig(cursor)) {
        grown[index] = mig_device(load, cursor, grown[index]);
    }
    return grown[index] == -1 && is_mig(cursor) ? err_nomem(err, "devices") : 0;
}

int people_read_device_map(struct load *load, struct err *err)
{
    static const char *const columns[] = {"gpuId", "cudaId", "pid", "uuid", "numMultiprocessors"};
    static const char *const id[] = {"id"};
    struct store_scan scan = {"TARGET_INFO_CUDA_DEVICE", columns, 5, 0, INT64_MAX};
    const struct store_scan gpus = {"TARGET_INFO_GPU", id, 1, 0, INT64_MAX};
    const struct store_scan mapped = {scan.table, columns, 1, 0, INT64_MAX};
    if (!store_has_column(load->store, scan.table, "cudaId") ||
        !store_has_column(load->store, scan.table, "pid")) {
        return 0;
    }
    if (each_row(load, &gpus, gpu_id_row, err) != 0 ||
        each_row(load, &mapped, gpu_id_row, err) != 0) {
        return -1;
    }
    return each_row(load, &scan, device_map_row, err);
}

enum {
    DEVICE_ID,
    DEVICE_OLD_ID,
    DEVICE_NAME,
    DEVICE_SMS,
    DEVICE_OLD_SMS,
    DEVICE_MAJOR,
    DEVICE_MINOR,
    DEVICE_MEMORY,
};

/* Names the device of an id by a row of TARGET_INFO_GPU. */
static int name_device(struct load *load, struct store_cursor *cursor, int64_t id, struct err *err)
{
    uint32_t index = trace_device_of(load->trace, id);
    if (index == TRACE_NONE || load->trace->devices[index].name_len > 0) {
        return 0;
    }
    struct trace_device *device = &load->trace->devices[index];
    device->name = row_text(load, cursor, DEVICE_NAME, &device->name_len);
    if (device->name == NULL) {
        device->name = "";
        return err_nomem(err, "devices");
    }
    device->sm_count =
        (int32_t)(store_int(cursor, DEVICE_SMS, store_int(cursor, DEVICE_OLD_SMS, 0)) & 0xFFFFFF);
    device->compute_major = (int32_t)(store_int(cursor, DEVICE_MAJOR, 0) & 0xFFFF);
    device->compute_minor = (int32_t)(store_int(cursor, DEVICE_MINOR, 0) & 0xFFFF);
    device->memory_bytes = store_int(cursor, DEVICE_MEMORY, 0);
    return 0;
}

static int device_row(struct load *load, struct store_cursor *cursor, struct err *err)
{
    int64_t id = store_int(cursor, DEVICE_ID, store_int(cursor, DEVICE_OLD_ID, INT64_MIN));
    for (uint32_t i = 0; i < load->mig_count; i++) {
        if (load->migs[i].gpu_id == id && load->migs[i].id != id &&
            name_device(load, cursor, load->migs[i].id, err) != 0) {
            return -1;
        }
    }
    return name_device(load, cursor, id, err);
}

/* "H100 MIG 3g.40gb" becomes "H100 MIG 3g.40gb MIG-5c8f": two instances of a GPU have one name. */
static int name_instances(struct load *load, struct err *err)
{
    for (uint32_t i = 0; i < load->mig_count; i++) {
        const struct mig_instance *mig = &load->migs[i];
        uint32_t index = trace_device_of(load->trace, mig->id);
        if (index == TRACE_NONE) {
            continue;
        }
        struct trace_device *device = &load->trace->devices[index];
        struct buf name = {0};
        buf_add(&name, device->name, device->name_len);
        buf_adds(&name, device->name_len > 0 ? " " : "");
        buf_add(&name, mig->uuid, mig->uuid_len);
        uint32_t text = intern_add(&load->own->texts, buf_text(&name), name.len);
        device->name_len = (uint32_t)name.len;
        buf_free(&name);
        if (text == INTERN_NONE) {
            device->name = "";
            device->name_len = 0;
            return err_nomem(err, "devices");
        }
        device->name = intern_text(&load->own->texts, text);
        device->sm_count = mig->sm_count > 0 ? mig->sm_count : device->sm_count;
    }
    return 0;
}

static int name_devices(struct load *load, struct err *err)
{
    static const char *const columns[] = {
        "id",           "deviceId",     "name",        "smCount", "numMultiprocessors",
        "computeMajor", "computeMinor", "totalMemory",
    };
    struct store_scan scan = {"TARGET_INFO_GPU", columns, 8, 0, INT64_MAX};
    struct store_scan old = {"TARGET_INFO_CUDA_GPU", columns, 8, 0, INT64_MAX};
    if (each_row(load, &scan, device_row, err) != 0) {
        return -1;
    }
    if (each_row(load, &old, device_row, err) != 0) {
        return -1;
    }
    return name_instances(load, err);
}

static int process_row(struct load *load, struct store_cursor *cursor, struct err *err)
{
    uint32_t index = trace_process_of(load->trace, store_int(cursor, 0, 0));
    if (index == TRACE_NONE) {
        return 0;
    }
    struct trace_process *process = &load->trace->processes[index];
    process->name = row_text(load, cursor, 1, &process->name_len);
    if (process->name == NULL) {
        process->name = "";
        return err_nomem(err, "processes");
    }
    return 0;
}

/* Is this thread, or the process whose first thread it is, one of ours? */
static bool thread_wanted(const struct load *load, int64_t global_tid)
{
    return trace_thread_of(load->trace, global_tid) != TRACE_NONE ||
           (store_tid(global_tid) == store_pid(global_tid) &&
            trace_process_of(load->trace, store_global_pid(global_tid)) != TRACE_NONE);
}

static int thread_need_row(struct load *load, struct store_cursor *cursor, struct err *err)
{
    if (thread_wanted(load, store_int(cursor, 0, 0)) &&
        strings_need(load->strings, store_int(cursor, 1, RAW_NO_ID)) != 0) {
        return err_nomem(err, "thread names");
    }
    return 0;
}

static void name_thread(struct load *load, int64_t global_tid, uint32_t text)
{
    const struct intern *texts = &load->own->texts;
    uint32_t thread = trace_thread_of(load->trace, global_tid);
    if (text == INTERN_NONE || intern_len(texts, text) == 0) {
        return;
    }
    if (thread != TRACE_NONE) {
        load->trace->threads[thread].name = intern_text(texts, text);
        load->trace->threads[thread].name_len = (uint32_t)intern_len(texts, text);
    }
}

/* Names the process that has no name by its first thread. */
static void name_process(struct load *load, int64_t global_tid, uint32_t text)
{
    const struct intern *texts = &load->own->texts;
    uint32_t process = trace_process_of(load->trace, store_global_pid(global_tid));
    if (text != INTERN_NONE && process != TRACE_NONE &&
        store_tid(global_tid) == store_pid(global_tid) &&
        load->trace->processes[process].name_len == 0) {
        load->trace->processes[process].name = intern_text(texts, text);
        load->trace->processes[process].name_len = (uint32_t)intern_len(texts, text);
    }
}

static int thread_row(struct load *load, struct store_cursor *cursor, struct err *err)
{
    int64_t global_tid = store_int(cursor, 0, 0);
    (void)err;
    if (thread_wanted(load, global_tid)) {
        uint32_t text = strings_text(load->strings, store_int(cursor, 1, RAW_NO_ID));
        name_thread(load, global_tid, text);
        name_process(load, global_tid, text);
    }
    return 0;
}

static const char *const THREAD_COLUMNS[] = {"globalTid", "nameId"};
static const struct store_scan THREAD_SCAN = {"ThreadNames", THREAD_COLUMNS, 2, 0, INT64_MAX};

int people_need_names(struct load *load, struct err *err)
{
    return each_row(load, &THREAD_SCAN, thread_need_row, err);
}

/* NVTX names of threads: the program gave them, so they go before those of the system. */
static int name_threads_piece(struct load *load, const struct piece *piece, struct err *err)
{
    for (uint32_t i = 0; i < piece->thread_name_count; i++) {
        const struct raw_thread_name *raw = &piece->thread_names[i];
        uint32_t text = strings_text(load->strings, raw->name.id);
        if (raw->name.text != INTERN_NONE) {
            text = intern_add(&load->own->texts, intern_text(&piece->texts, raw->name.text),
                              intern_len(&piece->texts, raw->name.text));
            if (text == INTERN_NONE) {
                return err_nomem(err, "thread names");
            }
        }
        name_thread(load, raw->global_tid, text);
    }
    return 0;
}

static int name_threads_nvtx(struct load *load, struct err *err)
{
    int status = 0;
    for (uint32_t p = 0; p < load->piece_count && status == 0; p++) {
        status = name_threads_piece(load, &load->pieces[p], err);
    }
    return status;
}

int people_set_names(struct load *load, struct err *err)
{
    static const char *const columns[] = {"globalPid", "name"};
    struct store_scan processes = {"PROCESSES", columns, 2, 0, INT64_MAX};
    if (each_row(load, &processes, process_row, err) != 0 ||
        each_row(load, &THREAD_SCAN, thread_row, err) != 0 || name_threads_nvtx(load, err) != 0) {
        return -1;
    }
    return name_devices(load, err);
}
