/* trace_threads: the processes and threads of a JSON trace, whose ids may be any number or text. */
#ifndef CUTLINE_IMPORT_TRACE_THREADS_H
#define CUTLINE_IMPORT_TRACE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/base/intern.h"
#include "analysis/import/json_scan.h"
#include "analysis/store/writer.h"

struct trace_process {
    uint32_t pid; /* its own; one that is not used where its id is no pid */
    int64_t device; /* of "/device:GPU:N"; -1: a process */
    char *name; /* owned; NULL: not named */
    bool used; /* by a row */
};

struct trace_thread {
    uint32_t process;
    uint32_t tid;
    int64_t stream; /* of "Stream #N"; -1: a thread */
    char *name; /* owned; NULL: not named */
    bool used;
};

struct trace_threads {
    struct intern process_ids;
    struct intern thread_ids;
    struct trace_process *processes; /* owned, by process_ids */
    size_t process_cap;
    struct trace_thread *threads; /* owned, by thread_ids */
    size_t thread_cap;
};

/* The empty list: struct trace_threads t = {0}; */
void trace_threads_free(struct trace_threads *threads);
/* By their ids in the trace, made where they are new; NULL without memory. Valid until the next call. */
struct trace_process *trace_process_at(struct trace_threads *threads, const struct json_value *id);
struct trace_thread *trace_thread_at(struct trace_threads *threads,
                                     const struct json_value *process, const struct json_value *id);
/* Sets the name, and what it tells. 0, or -1 without memory. */
int trace_process_name(struct trace_process *process, const struct json_value *name);
int trace_thread_name(struct trace_thread *thread, const struct json_value *name);
/* The id for rows; the thread and its process are used from now on. */
int64_t trace_global_tid(struct trace_threads *threads, struct trace_thread *thread);

/* Rows of the names of those that are used. 0 or -1. */
int trace_threads_write(const struct trace_threads *threads, struct store_writer *writer,
                        struct err *err);

#endif
