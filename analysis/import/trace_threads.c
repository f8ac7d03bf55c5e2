/* trace_threads: see trace_threads.h. */
#include "analysis/import/trace_threads.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"

enum {
    ID_MAX = 0xFFFFFF, /* of a pid or tid in a capture */
    MADE_IDS =
        0x800000, /* ids above are for those whose own id is no pid: Linux has none so large */
    KEY_BYTES = 128
};

void trace_threads_free(struct trace_threads *threads)
{
    for (uint32_t i = 0; i < threads->process_ids.count; i++) {
        free(threads->processes[i].name);
    }
    for (uint32_t i = 0; i < threads->thread_ids.count; i++) {
        free(threads->threads[i].name);
    }
    free(threads->processes);
    free(threads->threads);
    intern_free(&threads->process_ids);
    intern_free(&threads->thread_ids);
}

/* The number that an id is, else one made of its place in the list. */
static uint32_t small_id(const struct json_value *id, uint32_t place)
{
    int64_t number;
    if (id->kind != JSON_NONE && json_scaled(id, 0, &number) && number >= 0 && number < MADE_IDS) {
        return (uint32_t)number;
    }
    return (MADE_IDS + place) & ID_MAX;
}

struct trace_process *trace_process_at(struct trace_threads *threads, const struct json_value *id)
{
    uint32_t before = threads->process_ids.count;
    uint32_t index =
        intern_add(&threads->process_ids, id->kind == JSON_NONE ? "" : id->text, id->len);
    if (index == INTERN_NONE) {
        return NULL;
    }
    struct trace_process *grown =
        array_grow(threads->processes, &threads->process_cap, (size_t)index + 1, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    threads->processes = grown;
    if (index == before) {
        grown[index] = (struct trace_process){.pid = small_id(id, index), .device = -1};
    }
    return &grown[index];
}

struct trace_thread *trace_thread_at(struct trace_threads *threads,
                                     const struct json_value *process, const struct json_value *id)
{
    const struct trace_process *owner = trace_process_at(threads, process);
    char key[KEY_BYTES];
    size_t len = id->len < sizeof key - sizeof(uint32_t) ? id->len : sizeof key - sizeof(uint32_t);
    uint32_t before = threads->thread_ids.count;
    if (owner == NULL) {
        return NULL;
    }
    uint32_t number = (uint32_t)(owner - threads->processes);
    memcpy(key, &number, sizeof number);
    if (len > 0) {
        memcpy(key + sizeof number, id->text, len);
    }
    uint32_t index = intern_add(&threads->thread_ids, key, sizeof number + len);
    if (index == INTERN_NONE) {
        return NULL;
    }
    struct trace_thread *grown =
        array_grow(threads->threads, &threads->thread_cap, (size_t)index + 1, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    threads->threads = grown;
    if (index == before) {
        grown[index] =
            (struct trace_thread){.process = number, .tid = small_id(id, index), .stream = -1};
    }
    return &grown[index];
}

/* The number after the text, -1 where the name has no such text. */
static int64_t number_after(const char *name, const char *text)
{
    const char *at = strstr(name, text);
    char *end;
    if (at == NULL) {
        return -1;
    }
    at += strlen(text);
    long number = strtol(at, &end, 10);
    return end == at || number < 0 ? -1 : number;
}

static int set_name(char **name, const struct json_value *value)
{
    char *copy = malloc(value->len + 1);
    if (copy == NULL) {
        return -1;
    }
    memcpy(copy, value->text, value->len);
    copy[value->len] = '\0';
    free(*name);
    *name = copy;
    return 0;
}

int trace_process_name(struct trace_process *process, const struct json_value *name)
{
    if (name->kind != JSON_TEXT) {
        return 0;
    }
    if (set_name(&process->name, name) != 0) {
        return -1;
    }
    process->device = number_after(process->name, "/device:GPU:");
    return 0;
}

int trace_thread_name(struct trace_thread *thread, const struct json_value *name)
{
    if (name->kind != JSON_TEXT) {
        return 0;
    }
    if (set_name(&thread->name, name) != 0) {
        return -1;
    }
    thread->stream = number_after(thread->name, "Stream #");
    return 0;
}

int64_t trace_global_tid(struct trace_threads *threads, struct trace_thread *thread)
{
    struct trace_process *process = &threads->processes[thread->process];
    thread->used = true;
    process->used = true;
    return store_global_tid(process->pid, thread->tid);
}

int trace_threads_write(const struct trace_threads *threads, struct store_writer *writer,
                        struct err *err)
{
    for (uint32_t i = 0; i < threads->process_ids.count; i++) {
        const struct trace_process *process = &threads->processes[i];
        struct store_cell row[STORE_PROCESSES_N] = {
            [STORE_PROCESSES_GLOBAL_PID] = store_cell_int(store_global_tid(process->pid, 0)),
            [STORE_PROCESSES_PID] = store_cell_int(process->pid),
        };
        if (process->name != NULL) {
            row[STORE_PROCESSES_NAME] = store_cell_text(process->name, strlen(process->name));
        }
        if (process->used && store_writer_row(writer, STORE_TABLE_PROCESSES, row, err) != 0) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < threads->thread_ids.count; i++) {
        const struct trace_thread *thread = &threads->threads[i];
        int64_t name = 0;
        if (!thread->used || thread->name == NULL) {
            continue;
        }
        if (store_writer_string(writer, thread->name, strlen(thread->name), &name, err) != 0) {
            return -1;
        }
        struct store_cell row[STORE_THREAD_NAMES_N] = {
            [STORE_THREAD_NAMES_NAME_ID] = store_cell_int(name),
            [STORE_THREAD_NAMES_PRIORITY] = store_cell_int(1),
            [STORE_THREAD_NAMES_GLOBAL_TID] = store_cell_int(
                store_global_tid(threads->processes[thread->process].pid, thread->tid)),
        };
        if (store_writer_row(writer, STORE_TABLE_THREAD_NAMES, row, err) != 0) {
            return -1;
        }
    }
    return 0;
}
