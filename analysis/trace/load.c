/* load: reads a capture with several threads and builds the trace. trace_internal.h tells the steps. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/base/sort.h"
#include "analysis/import/json_capture.h"
#include "analysis/store/nsys_rep.h"
#include "analysis/trace/cache_layout.h"
#include "analysis/trace/keep.h"

enum {
    LOAD_THREADS_MAX = 8,
    LOAD_PIECE_ROWS = 1 << 18, /* about a hundredth of a large capture */
    LOAD_THREAD_ROWS = 1 << 16 /* below this a second thread is not worth its start */
};

/* A list of jobs that threads take one by one. */
struct work {
    struct load *load;
    const struct trace_options *options;
    uint32_t job_count;
    int (*job)(struct work *work, uint32_t index, struct store *store, struct err *err);
    bool needs_store;
    struct arranged *arranged;
    int64_t rows_total;
    atomic_uint next;
    atomic_bool failed;
    atomic_llong rows_done;
    pthread_mutex_t mutex; /* guards err, and keeps calls of progress apart */
    struct err *err;
};

static void work_fail(struct work *work, const struct err *err)
{
    (void)pthread_mutex_lock(&work->mutex);
    if (!atomic_load(&work->failed) && work->err != NULL) {
        *work->err = *err;
    }
    atomic_store(&work->failed, true);
    (void)pthread_mutex_unlock(&work->mutex);
}

static void work_do(struct work *work, struct store *store)
{
    struct err err = {""};
    while (!atomic_load(&work->failed)) {
        uint32_t index = atomic_fetch_add(&work->next, 1);
        if (index >= work->job_count) {
            break;
        }
        if (work->job(work, index, store, &err) != 0) {
            work_fail(work, &err);
        }
    }
}

static void *work_thread(void *arg)
{
    struct work *work = arg;
    struct err err = {""};
    struct store *store = NULL;
    if (work->needs_store) {
        store = store_open_file(work->load->own->file, &err);
        if (store == NULL) {
            work_fail(work, &err);
            return NULL;
        }
    }
    work_do(work, store);
    store_close(store);
    return NULL;
}

/* Runs all jobs on this thread and others. 0 or -1. */
static int work_run(struct work *work, int threads)
{
    pthread_t ids[LOAD_THREADS_MAX];
    int started = 0;
    if (pthread_mutex_init(&work->mutex, NULL) != 0) {
        return err_set(work->err, "no mutex");
    }
    for (int i = 1; i < threads && (uint32_t)i < work->job_count; i++) {
        if (pthread_create(&ids[started], NULL, work_thread, work) != 0) {
            break; /* fewer threads do too */
        }
        started++;
    }
    work_do(work, work->load->store);
    for (int i = 0; i < started; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    (void)pthread_mutex_destroy(&work->mutex);
    return atomic_load(&work->failed) ? -1 : 0;
}

static int load_tick(void *arg, int64_t rows)
{
    struct work *work = arg;
    int64_t done = atomic_fetch_add(&work->rows_done, rows) + rows;
    int stop = 0;
    if (work->options->progress != NULL && pthread_mutex_trylock(&work->mutex) == 0) {
        done = done < work->rows_total ? done : work->rows_total;
        stop = work->options->progress(work->options->progress_arg, done, work->rows_total);
        (void)pthread_mutex_unlock(&work->mutex);
    }
    return stop != 0 || atomic_load(&work->failed);
}

static int load_read_job(struct work *work, uint32_t index, struct store *store, struct err *err)
{
    struct raw_tick tick = {load_tick, work};
    return raw_read(&work->load->pieces[index], store, &tick, err);
}

static int load_arrange_job(struct work *work, uint32_t index, struct store *store, struct err *err)
{
    (void)store;
    return arrange_table(work->load, (enum trace_table)index, &work->arranged[index], err);
}

/* Links and busy times need the lanes, but not each other. */
static int load_finish_job(struct work *work, uint32_t index, struct store *store, struct err *err)
{
    (void)store;
    return index == 0 ? link_launches(work->load, err)
                      : busy_build(work->load->trace, work->load->own, err);
}

/* Is a table of the file wanted? */
static bool load_wants(const struct trace_options *options, int source)
{
    static const uint32_t KINDS[RAW_SOURCE_COUNT] = {
        [RAW_KERNEL] = 1U << TRACE_KERNEL,
        [RAW_MEMCPY] = 1U << TRACE_MEMCPY | 1U << TRACE_MIGRATION,
        [RAW_MEMSET] = 1U << TRACE_MEMSET,
        [RAW_GRAPH] = 1U << TRACE_GRAPH,
        [RAW_API] = 1U << TRACE_API_CALL,
        [RAW_NVTX] = 1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND | 1U << TRACE_NVTX_MARK,
        [RAW_OSRT] = 1U << TRACE_OSRT_CALL,
        [RAW_OVERHEAD_PROFILER] = 1U << TRACE_OVERHEAD_PROFILER,
        [RAW_OVERHEAD_CUDA] = 1U << TRACE_OVERHEAD_CUDA,
    };
    return options->kinds == 0 || (options->kinds & KINDS[source]) != 0;
}

/* Cuts the tables into pieces. *rows = the bound of all rows. */
static int load_plan(struct load *load, const struct trace_options *options, int64_t *rows,
                     struct err *err)
{
    int64_t piece_rows = options->piece_rows > 0 ? options->piece_rows : LOAD_PIECE_ROWS;
    uint32_t count = 0;
    int64_t bounds[RAW_SOURCE_COUNT];
    *rows = 0;
    for (int s = 0; s < RAW_SOURCE_COUNT; s++) {
        bounds[s] = load_wants(options, s) ? store_row_bound(load->store, RAW_TABLES[s].name) : 0;
        if (bounds[s] > UINT32_MAX) {
            return err_set(err,
                           "%s: row ids of %s are out of range (0 to 4294967294): export again",
                           load->trace->path, RAW_TABLES[s].name);
        }
        if (options->rows_most > 0 && bounds[s] > options->rows_most) {
            bounds[s] = options->rows_most;
        }
        count += (uint32_t)(bounds[s] / piece_rows) + 1;
        *rows += bounds[s];
    }
    load->pieces = calloc(count, sizeof *load->pieces);
    if (load->pieces == NULL) {
        return err_nomem(err, "the plan");
    }
    for (int s = 0; s < RAW_SOURCE_COUNT; s++) {
        uint32_t n = (uint32_t)(bounds[s] / piece_rows) + 1;
        bool wanted = load_wants(options, s) && store_has_table(load->store, RAW_TABLES[s].name);
        for (uint32_t i = 0; wanted && i < n; i++) {
            struct piece *piece = &load->pieces[load->piece_count++];
            piece->source = (enum raw_source)s;
            piece->first_row = i == 0 ? INT64_MIN : (int64_t)i * piece_rows;
            piece->end_row = i + 1 < n                ? (int64_t)(i + 1) * piece_rows
                             : options->rows_most > 0 ? options->rows_most
                                                      : INT64_MAX;
        }
    }
    return 0;
}

static int load_threads(const struct trace_options *options, int64_t rows)
{
    long threads = options->threads > 0 ? options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (options->threads <= 0 && threads > rows / LOAD_THREAD_ROWS + 1) {
        threads = (long)(rows / LOAD_THREAD_ROWS + 1);
    }
    threads = threads < 1 ? 1 : threads;
    return threads > LOAD_THREADS_MAX ? LOAD_THREADS_MAX : (int)threads;
}

static int lane_order(const void *a, const void *b)
{
    const struct trace_lane *x = a;
    const struct trace_lane *y = b;
    if (x->process != y->process) {
        return COMPARE(x->process, y->process);
    }
    if (x->thread != y->thread) {
        return COMPARE(x->thread, y->thread);
    }
    if (x->kind != y->kind) {
        return COMPARE(x->kind, y->kind);
    }
    return COMPARE(x->depth, y->depth);
}

/* Joins the tables' lanes: GPU lanes as they are, the others by process and thread. */
static int load_lanes(struct load *load, const struct arranged *arranged, struct err *err)
{
    struct trace *trace = load->trace;
    uint64_t count = 0;
    uint32_t gpu = arranged[TRACE_GPU].lane_count;
    uint32_t at = 0;
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        count += arranged[t].lane_count;
    }
    trace->lanes = malloc(((size_t)count + 1) * sizeof *trace->lanes);
    if (trace->lanes == NULL || count >= UINT32_MAX) {
        return err_nomem(err, "lanes");
    }
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        if (arranged[t].lane_count > 0) {
            memcpy(trace->lanes + at, arranged[t].lanes,
                   arranged[t].lane_count * sizeof *trace->lanes);
            at += arranged[t].lane_count;
        }
    }
    trace->lane_count = at;
    if (at > gpu) {
        sort_list(trace->lanes + gpu, at - gpu, sizeof *trace->lanes, lane_order);
    }
    return trace_index_lanes(trace) == 0 ? 0 : err_nomem(err, "lanes");
}

/* The lanes of each device, and the first and last time of all. */
static void load_bounds(struct trace *trace)
{
    trace->begin_ns = trace->lane_count > 0 ? INT64_MAX : 0;
    trace->end_ns = trace->lane_count > 0 ? INT64_MIN : 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        const struct trace_events *events = &trace->events[lane->table];
        int64_t begin = events->begin_ns[lane->first];
        int64_t end = events->end_ns[lane->first + lane->count - 1];
        trace->begin_ns = begin < trace->begin_ns ? begin : trace->begin_ns;
        trace->end_ns = end > trace->end_ns ? end : trace->end_ns;
        if (lane->device != TRACE_NONE) {
            struct trace_device *device = &trace->devices[lane->device];
            device->first_lane = device->lane_count == 0 ? l : device->first_lane;
            device->lane_count++;
        }
    }
}

static int load_names(struct load *load, struct err *err)
{
    load->strings = strings_new();
    if (load->strings == NULL) {
        return err_nomem(err, "names");
    }
    if (people_collect(load, err) != 0 || people_need_names(load, err) != 0 ||
        names_need(load, err) != 0 ||
        strings_load(load->strings, load->store, &load->own->texts, err) != 0 ||
        people_set_names(load, err) != 0) {
        return -1;
    }
    return names_build(load, err);
}

/* Tables are arranged side by side, which takes the memory of all of them: one after the other where
 * memory is limited. */
static int load_arrange_threads(int threads)
{
    static const int limits[] = {RLIMIT_DATA, RLIMIT_AS};
    struct rlimit limit;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (getrlimit(limits[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
            return 1;
        }
    }
    return threads;
}

/* Where the trace is to be kept, its columns go there as soon as they are done. */
static void load_grow(struct load *load, const struct trace_options *options)
{
    struct cache_head counts = {.device_count = load->trace->device_count};
    uint64_t events = 0;
    for (uint32_t p = 0; p < load->piece_count; p++) {
        counts.event_count[raw_table_of(&load->pieces[p])] += load->pieces[p].count;
        events += load->pieces[p].count;
    }
    if (load->keep && events >= (uint64_t)options->cache_events && events < UINT32_MAX) {
        load->own->growing = cache_grow_begin(load->own->file, &counts, options->cache_mib);
    }
}

/* 0, or -1: it failed, or load->again is set. */
static int load_all(struct load *load, const struct trace_options *options, struct err *err)
{
    struct arranged arranged[TRACE_TABLE_COUNT] = {{0}};
    struct work read = {
        .load = load, .options = options, .job = load_read_job, .needs_store = true, .err = err};
    struct work arrange = {.load = load,
                           .options = options,
                           .job = load_arrange_job,
                           .job_count = TRACE_TABLE_COUNT,
                           .arranged = arranged,
                           .err = err};
    struct work finish = {
        .load = load, .options = options, .job = load_finish_job, .job_count = 2, .err = err};
    if (load_plan(load, options, &read.rows_total, err) != 0) {
        return -1;
    }
    read.job_count = load->piece_count;
    int threads = load_threads(options, read.rows_total);
    if (work_run(&read, threads) != 0 ||
        outliers_drop(load, options->kinds != 0, &load->again, err) != 0 || load->again ||
        load_names(load, err) != 0) {
        return -1;
    }
    load_grow(load, options);
    int status = work_run(&arrange, load_arrange_threads(threads));
    if (status == 0) {
        status = load_lanes(load, arranged, err);
    }
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        free(arranged[t].lanes);
    }
    if (status != 0) {
        return -1;
    }
    load_bounds(load->trace);
    status = work_run(&finish, threads);
    if (status == 0) {
        cache_grow_rest(load->trace);
    }
    return status;
}

static void load_free(struct load *load)
{
    for (uint32_t p = 0; p < load->piece_count; p++) {
        raw_free(&load->pieces[p]);
    }
    free(load->pieces);
    strings_free(load->strings);
    intern_free(&load->device_map);
    free(load->gpu_ids);
    free(load->migs);
    store_close(load->store);
}

/* NULL on failure, and where *again is set: all tables must be read. */
static struct trace *load_rows(struct store_file *file, const struct trace_options *options,
                               bool *again, struct err *err)
{
    const char *path = store_file_path(file);
    struct load load = {0};
    int status = -1;
    load.store = store_open_file(file, err);
    if (load.store == NULL) {
        return NULL;
    }
    load.trace = calloc(1, sizeof *load.trace);
    load.own = calloc(1, sizeof *load.own);
    if (load.trace == NULL || load.own == NULL) {
        free(load.trace);
        free(load.own);
        load_free(&load);
        return err_null(err, "not enough memory for %s", path);
    }
    load.trace->own = load.own;
    trace_set_file(load.trace, file);
    load.keep = options->cache_events > 0 && options->kinds == 0 && options->rows_most == 0;
    status = load_all(&load, options, err);
    *again = load.again;
    load_free(&load);
    if (store_file_check(file, err) != 0 || status != 0) {
        trace_free(load.trace);
        return NULL;
    }
    return load.trace;
}

struct trace *trace_load_file(struct store_file *file, const struct trace_options *wanted,
                              struct err *err)
{
    static const struct trace_options defaults = {0};
    const struct trace_options *options = wanted == NULL ? &defaults : wanted;
    bool cached = options->cache_events > 0 && options->rows_most == 0;
    struct trace *trace = cached ? cache_load(file) : NULL;
    int64_t events = 0;
    if (trace != NULL) {
        trace_own(trace)->kinds = options->kinds;
        return trace;
    }
    bool again = false;
    trace = load_rows(file, options, &again, err);
    if (again) {
        struct trace_options all = *options;
        all.kinds = 0;
        trace = load_rows(file, &all, &again, err);
    }
    for (int t = 0; trace != NULL && t < TRACE_TABLE_COUNT; t++) {
        events += trace->events[t].count;
    }
    if (cached && options->kinds == 0 && trace != NULL && events >= options->cache_events) {
        trace_own(trace)->owed = TRACE_OWED_FILE;
        trace_own(trace)->cache_mib = options->cache_mib;
    }
    if (trace != NULL && !options->keep_later) {
        (void)trace_keep(trace, NULL, NULL, NULL);
    }
    return trace;
}

static struct trace *load_file(const char *path, const struct trace_options *options,
                               struct err *err)
{
    struct store_file *file = store_file_open(path, err);
    if (file == NULL) {
        return NULL;
    }
    struct trace *trace = trace_load_file(file, options, err);
    store_file_close(file);
    return trace;
}

static bool is_stopped(void *arg)
{
    const struct trace_options *options = arg;
    return options->progress(options->progress_arg, 0, 0) != 0;
}

/* Files of other formats, which become captures in the cache folder. */
static const struct converter {
    bool (*knows)(const char *path);
    int (*convert)(const char *path, const struct report_wait *wait, struct buf *out,
                   struct err *err);
} CONVERTERS[] = {
    {report_file_is, report_file_export},
    {json_capture_is, json_capture_make},
};

static struct trace *load_converted(const struct converter *converter, const char *path,
                                    const struct trace_options *options, struct err *err)
{
    struct trace_options asked = options != NULL ? *options : (struct trace_options){0};
    const struct report_wait wait = {is_stopped, &asked};
    struct buf made = {0};
    struct trace *trace = NULL;
    if (asked.rows_most > 0) {
        return err_null(err, "%s: not a SQLite capture: it has no first rows", path);
    }
    if (converter->convert(path, asked.progress != NULL ? &wait : NULL, &made, err) == 0) {
        trace = load_file(buf_text(&made), options, err);
    }
    if (trace != NULL) {
        trace->given = arena_copy(&trace_own(trace)->arena, path, strlen(path));
    }
    buf_free(&made);
    return trace;
}

struct trace *trace_load(const char *path, const struct trace_options *options, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(CONVERTERS); i++) {
        if (CONVERTERS[i].knows(path)) {
            return load_converted(&CONVERTERS[i], path, options, err);
        }
    }
    return load_file(path, options, err);
}
