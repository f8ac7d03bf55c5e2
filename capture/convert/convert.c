/* The converter: session folder to capture file. convert.h says what it promises, convert_internal.h
 * what its parts share.
 *
 * First pass, each spool: texts, domains, anchors, statuses, and whether the NVTX records of each
 * thread are in order. Then the clocks are known. Second pass: NVTX is paired, CUPTI records get
 * their times, all go to one sorter for each kind. Last, the sorters are written out. */
#include "capture/convert/convert.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "capture/convert/convert_internal.h"
#include "capture/spool/clock.h"
#include "capture/spool/process.h"

enum {
    SORT_BYTES_MIN = 8 << 20,
    BIG_CAPTURE_BYTES = 256 << 20, /* from here on larger pages are worth it */
    BIG_PAGE_BYTES = 65536
};

/* ---- setup ----------------------------------------------------------------------------------- */

static uint64_t sort_bytes(const struct convert_opts *opts)
{
    const uint64_t most = UINT64_C(4) << 30;
    if (opts->sort_bytes) {
        return opts->sort_bytes;
    }
    uint64_t bytes = convert_memory_bytes() / 4;
    bytes = bytes > most ? most : bytes;
    return bytes < SORT_BYTES_MIN ? SORT_BYTES_MIN : bytes;
}

struct sorter *convert_sorter_new(const struct convert *c, unsigned shares)
{
    /* kernels, calls and NVTX are the large ones, and one more may sort before it is paired */
    char *folder = strdup(c->opts->output);
    if (!folder) {
        return NULL;
    }
    char *slash = strrchr(folder, '/');
    if (slash) {
        slash[1] = '\0';
    }
    struct sorter *sorter =
        sorter_new(slash ? folder : ".", (size_t)(sort_bytes(c->opts) / 4 * shares));
    free(folder);
    return sorter;
}

static void free_proc(struct convert_proc *proc)
{
    arena_free(&proc->arena);
    clock_map_free(&proc->cupti);
    free(proc->path);
    free(proc->strings);
    free(proc->addresses);
    free(proc->ranges);
    free(proc->labels);
    free(proc->domains);
    free(proc->contexts);
    free(proc->execs);
}

static void free_convert(struct convert *c)
{
    for (size_t i = 0; i < c->procs_n; i++) {
        free_proc(&c->procs[i]);
    }
    for (int i = 0; i < CONVERT_STREAMS; i++) {
        sorter_free(c->sorters[i]);
    }
    session_control_close(c->control);
    clock_map_free(&c->real);
    clock_map_free(&c->tsc);
    demangle_close(&c->demangle);
    arena_free(&c->arena);
    intern_free(&c->gpus);
    buf_free(&c->scratch);
    buf_free(&c->scratch2);
    free(c->procs);
    free(c->lost);
    free(c->intervals);
    free(c->domains);
    free(c->call_ids[0]);
    free(c->call_ids[1]);
}

void convert_result_free(struct convert_result *result)
{
    free(result->processes);
    free(result->losses);
    free(result->ranges);
    *result = (struct convert_result){0};
}

/* ---- finding the spools ---------------------------------------------------------------------- */

static bool is_spool(const char *name)
{
    size_t len = strlen(name);
    size_t suffix = strlen(SPOOL_SUFFIX);
    return len > suffix && strcmp(name + len - suffix, SPOOL_SUFFIX) == 0;
}

static int grow_procs(struct convert *c, struct err *err)
{
    size_t cap = c->procs_cap ? c->procs_cap * 2 : 16;
    struct convert_proc *procs = array_resize(c->procs, cap, sizeof *procs);
    if (!procs) {
        return err_nomem(err, "processes");
    }
    c->procs = procs;
    struct convert_process *processes = array_resize(c->result->processes, cap, sizeof *processes);
    if (!processes) {
        return err_nomem(err, "processes");
    }
    c->result->processes = processes;
    c->procs_cap = cap;
    return 0;
}

static int add_proc(struct convert *c, const char *path, const struct spool_header *header,
                    struct err *err)
{
    if (c->procs_n == c->procs_cap && grow_procs(c, err) < 0) {
        return -1;
    }
    struct convert_proc *proc = &c->procs[c->procs_n];
    struct convert_process *process = &c->result->processes[c->procs_n];
    bool sealed = header->sealed == SPOOL_SEAL_EXIT;
    *proc = (struct convert_proc){
        .path = strdup(path),
        .pid = header->pid,
        .global_pid = store_global_tid(header->pid, 0),
        .clock = header->clock,
        .start_ticks = header->start_ticks,
        .created_real_ns = header->created_real_ns,
        .created_mono_ns = header->created_mono_ns,
        .sealed_mono_ns =
            sealed ? clock_off(header->sealed_real_ns,
                               clock_off(header->created_real_ns, header->created_mono_ns))
                   : 0,
    };
    *process = (struct convert_process){
        .pid = header->pid,
        .ppid = header->ppid,
        .forked_from = header->forked_from,
        .sealed = sealed,
        .running = c->opts->live && process_runs(header->pid, header->start_ticks),
    };
    if (!proc->path) {
        return err_nomem(err, "processes");
    }
    (void)snprintf(proc->host, sizeof proc->host, "%s", header->host);
    (void)snprintf(process->name, sizeof process->name, "%s", header->comm);
    c->procs_n++;
    return clock_map_add(&c->real, header->created_real_ns, header->created_mono_ns) |
                   (header->created_tsc ? clock_map_add(&c->tsc, (int64_t)header->created_tsc,
                                                        header->created_mono_ns)
                                        : 0)
               ? err_nomem(err, "clocks")
               : 0;
}

static int open_spool(struct convert *c, const char *name, struct err *err)
{
    struct stat st;
    struct buf path = {0};
    int result = 0;
    buf_addf(&path, "%s/%s", c->opts->session, name);
    struct spool_reader *reader = spool_reader_open(buf_text(&path), NULL);
    if (!reader) {
        c->result->spools_bad++;
    } else {
        result = add_proc(c, buf_text(&path), spool_reader_header(reader), err);
        c->result->spool_bytes +=
            stat(buf_text(&path), &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
    }
    spool_reader_close(reader);
    buf_free(&path);
    return result;
}

static int by_creation(const void *a, const void *b)
{
    const struct convert_proc *left = a;
    const struct convert_proc *right = b;
    return (left->created_mono_ns > right->created_mono_ns) -
           (left->created_mono_ns < right->created_mono_ns);
}

/* A process and its place in the order of their beginning. */
struct image {
    uint32_t pid;
    uint32_t index;
};

static int by_pid(const void *a, const void *b)
{
    const struct image *left = a;
    const struct image *right = b;
    return left->pid != right->pid ? COMPARE(left->pid, right->pid)
                                   : COMPARE(left->index, right->index);
}

/* The images of one process (exec) are kept apart: their correlation ids begin at 1 each. */
static int number_images(struct convert *c, struct err *err)
{
    struct image *images = array_resize(NULL, c->procs_n, sizeof *images);
    int64_t earlier = 0;
    if (images == NULL) {
        return err_nomem(err, "processes");
    }
    for (size_t i = 0; i < c->procs_n; i++) {
        images[i] = (struct image){.pid = c->procs[i].pid, .index = (uint32_t)i};
    }
    sort_list(images, c->procs_n, sizeof *images, by_pid);
    for (size_t i = 0; i < c->procs_n; i++) {
        struct convert_proc *proc = &c->procs[images[i].index];
        earlier = i > 0 && images[i - 1].pid == images[i].pid ? earlier + 1 : 0;
        proc->correlation_base = earlier << 32;
        proc->is_last_image = i + 1 == c->procs_n || images[i + 1].pid != images[i].pid;
    }
    free(images);
    return 0;
}

/* Puts the processes in the order of their beginning; results follow by their index. */
static int order_procs(struct convert *c, struct err *err)
{
    struct convert_process *sorted = calloc(c->procs_n + 1, sizeof *sorted);
    if (!sorted) {
        return err_nomem(err, "processes");
    }
    for (size_t i = 0; i < c->procs_n; i++) {
        c->procs[i].index = (uint32_t)i;
    }
    if (c->procs_n > 1) {
        sort_list(c->procs, c->procs_n, sizeof *c->procs, by_creation);
    }
    size_t n = c->procs_n;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = c->result->processes[c->procs[i].index];
        c->procs[i].index = (uint32_t)i;
    }
    free(c->result->processes);
    c->result->processes = sorted;
    c->result->processes_n = n;
    return number_images(c, err);
}

static int find_spools(struct convert *c, struct err *err)
{
    DIR *dir = opendir(c->opts->session);
    int result = 0;
    if (!dir) {
        return err_set(err, "cannot read the session folder '%s': %s", c->opts->session,
                       strerror(errno));
    }
    for (struct dirent *entry = readdir(dir); entry && result == 0; entry = readdir(dir)) {
        if (is_spool(entry->d_name)) {
            result = open_spool(c, entry->d_name, err);
        }
    }
    (void)closedir(dir);
    return result < 0 ? -1 : order_procs(c, err);
}

/* ---- the passes ------------------------------------------------------------------------------ */

static int report(struct convert *c, uint64_t done, struct err *err)
{
    if (c->opts->progress && c->opts->progress(c->opts->progress_arg, done, c->all_bytes)) {
        return err_set(err, "the conversion was interrupted");
    }
    return 0;
}

/* The last record of a thread so far. */
struct last {
    uint32_t tid;
    uint64_t time;
};

enum {
    LAST_SLOTS = 64 /* by thread id; threads may share one */
};

/* What a thread did last was done, in the clock of the events. */
static void see_last(struct convert_proc *proc, const struct last *last)
{
    proc->last_event = last->time > proc->last_event ? last->time : proc->last_event;
}

/* Whether the records of each thread come in the order of time, and when the last of each was. */
static void look_at_times(struct convert_proc *proc, const struct spool_item *item,
                          struct last *threads)
{
    struct last *slot = &threads[item->u.nvtx.tid % LAST_SLOTS];
    if (slot->tid != item->u.nvtx.tid) {
        see_last(proc, slot);
    } else if (item->u.nvtx.head.time < slot->time) {
        proc->nvtx_disorder = true;
    }
    *slot = (struct last){.tid = item->u.nvtx.tid, .time = item->u.nvtx.head.time};
}

static int first_pass(struct convert *c, struct convert_proc *proc, struct err *err)
{
    struct last threads[LAST_SLOTS] = {{0, 0}};
    struct spool_item item;
    int result = 0;
    struct spool_reader *reader = spool_reader_open(proc->path, NULL);
    if (!reader) {
        return 0;
    }
    while (result == 0 && spool_reader_next(reader, &item) == 1 && item.kind != SPOOL_ITEM_CUPTI) {
        if (item.kind == SPOOL_ITEM_NVTX) {
            look_at_times(proc, &item, threads);
        } else {
            result = convert_meta_learn(c, proc, &item, err);
        }
    }
    for (size_t i = 0; i < LAST_SLOTS; i++) {
        see_last(proc, &threads[i]);
    }
    spool_reader_close(reader);
    convert_names_settle(c, proc);
    return result;
}

static int one_item(struct convert *c, struct convert_proc *proc, struct convert_pairs *pairs,
                    const struct spool_item *item, struct err *err)
{
    if (item->kind == SPOOL_ITEM_NVTX) {
        return convert_pairs_add(pairs, item, err);
    }
    if (item->kind == SPOOL_ITEM_CUPTI) {
        return convert_cupti_add(c, proc, item, err);
    }
    return convert_meta_rows(c, proc, item, err);
}

static int lose_damage(struct convert *c, const struct convert_proc *proc,
                       const struct spool_damage *damage, bool cut, struct err *err)
{
    const struct {
        const char *reason;
        uint64_t count;
    } faults[] = {
        {"damaged segment", damage->segments_bad},
        {"damaged record", damage->records_bad},
        {"bytes behind the last whole record", damage->cupti_tail_bytes},
        {"could not be read to its end", cut},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].count &&
            convert_lose(c, proc->index,
                         CONVERT_FAULT("spool", faults[i].reason, faults[i].count, CONVERT_NO_TIME),
                         err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int second_pass(struct convert *c, struct convert_proc *proc, struct err *err)
{
    enum {
        REPORT_EVERY = 8192
    };
    struct spool_item item;
    uint64_t done = 0;
    uint64_t all = 0;
    int got = 0;
    int result = 0;
    struct spool_reader *reader = spool_reader_open(proc->path, NULL);
    struct convert_pairs *pairs = convert_pairs_new(c, proc);
    if (!reader || !pairs) {
        result = pairs ? lose_damage(c, proc, &(struct spool_damage){0}, true, err)
                       : err_nomem(err, "NVTX ranges");
        goto out;
    }
    result = convert_name_rows(c, proc, err);
    for (uint32_t n = 1; result == 0 && (got = spool_reader_next(reader, &item)) == 1; n++) {
        result = one_item(c, proc, pairs, &item, err);
        if (n % REPORT_EVERY == 0) {
            spool_reader_progress(reader, &done, &all);
            result = result < 0 ? result : report(c, c->done_bytes + done, err);
        }
    }
    if (result == 0) {
        result = convert_pairs_end(pairs, err);
    }
    if (result == 0) {
        result = lose_damage(c, proc, spool_reader_damage(reader), got < 0, err);
    }
    spool_reader_progress(reader, &done, &all);
    c->done_bytes += all;
    result = result < 0 ? result : report(c, c->done_bytes, err);
out:
    convert_pairs_free(pairs);
    spool_reader_close(reader);
    return result;
}

static int write_sorted(struct convert *c, struct err *err)
{
    uint64_t rows = 0;
    uint64_t done = 0;
    uint64_t base = c->done_bytes;
    for (int i = 0; i < CONVERT_STREAMS; i++) {
        rows += sorter_count(c->sorters[i]);
    }
    c->result->events = rows - c->names;
    for (int i = 0; i < CONVERT_STREAMS; i++) {
        struct sorter_record record;
        int got;
        while ((got = sorter_next(c->sorters[i], &record, err)) == 1) {
            int result = i == CONVERT_NVTX ? convert_nvtx_row(c, record.data, record.bytes, err)
                                           : convert_cupti_row(c, record.data, record.bytes, err);
            if (++done % 8192 == 0 && result == 0) {
                uint64_t at = base + (uint64_t)((double)done / (double)rows * (double)base);
                result = report(c, at, err);
            }
            if (result < 0) {
                return -1;
            }
        }
        if (got < 0) {
            return -1;
        }
        sorter_free(c->sorters[i]);
        c->sorters[i] = NULL;
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The stretches in which the recording was on, from the log of the control page. Records outside
 * them are left out here once more: the library only drops whole buffers of them. */
static int read_intervals(struct convert *c, struct err *err)
{
    struct session_transition change;
    uint64_t n = c->control ? atomic_load(&c->control->log_count) : 0;
    if (n == 0 || n > SESSION_LOG_ENTRIES) {
        return 0; /* not known, or more than were kept */
    }
    c->intervals = calloc(n, sizeof *c->intervals);
    if (!c->intervals) {
        return err_nomem(err, "capture ranges");
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!session_control_transition(c->control, i, &change)) {
            continue;
        }
        int64_t at_ns = clock_off(change.mono_ns, c->zero_mono_ns);
        bool open = c->intervals_n > 0 && c->intervals[c->intervals_n - 1].end_ns == INT64_MAX;
        if (change.collect && !open) {
            c->intervals[c->intervals_n++] =
                (struct convert_interval){.begin_ns = at_ns, .end_ns = INT64_MAX};
        } else if (!change.collect && open) {
            c->intervals[c->intervals_n - 1].end_ns = at_ns;
        }
    }
    return 0;
}

static int read_session(struct convert *c, struct err *err)
{
    session_config_init(&c->config);
    (void)session_config_read(&c->config, c->opts->session);
    c->control = session_control_open(c->opts->session, true);
    c->result->range_wanted = c->config.range != SESSION_RANGE_NONE;
    if (c->control && atomic_load(&c->control->ranges_opened) > 0) {
        c->result->range_opened = true;
    }
    if (find_spools(c, err) < 0 || convert_time_begin(c, err) < 0 || read_intervals(c, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < c->procs_n; i++) {
        if (first_pass(c, &c->procs[i], err) < 0) {
            return -1;
        }
    }
    return convert_time_end(c, err);
}

static int convert_events(struct convert *c, struct err *err)
{
    for (int i = 0; i < CONVERT_STREAMS; i++) {
        c->sorters[i] = convert_sorter_new(c, 1);
        if (!c->sorters[i]) {
            return err_nomem(err, "sorting");
        }
    }
    for (size_t i = 0; i < c->procs_n; i++) {
        if (second_pass(c, &c->procs[i], err) < 0) {
            return -1;
        }
    }
    return write_sorted(c, err);
}

static void measure(struct convert *c, int64_t began_ns)
{
    struct stat st;
    c->result->duration_ns = c->end_ns;
    c->result->file_bytes = stat(c->opts->output, &st) == 0 ? (uint64_t)st.st_size : 0;
    c->result->seconds = (double)(clock_read_ns(CLOCK_MONOTONIC) - began_ns) / 1e9;
    (void)report(c, c->all_bytes, NULL);
}

int convert_session(const struct convert_opts *opts, struct convert_result *result, struct err *err)
{
    struct store_writer_opts writer = {.overwrite = opts->overwrite};
    int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);
    int status = -1;
    *result = (struct convert_result){0};
    struct convert *c = calloc(1, sizeof *c);
    if (!c) {
        return err_nomem(err, "the conversion");
    }
    c->opts = opts;
    c->result = result;
    (void)demangle_open(&c->demangle);
    if (read_session(c, err) < 0) {
        goto out;
    }
    c->all_bytes = result->spool_bytes * 2;
    writer.page_size_bytes = result->spool_bytes > BIG_CAPTURE_BYTES ? BIG_PAGE_BYTES : 0;
    if (store_writer_open(opts->output, &writer, &c->writer, err) < 0) {
        goto out;
    }
    if (convert_events(c, err) < 0 || convert_metrics(c, err) < 0 || convert_tables(c, err) < 0) {
        store_writer_abandon(c->writer);
        goto out;
    }
    status = store_writer_finish(c->writer, err);
    measure(c, began_ns);
out:
    free_convert(c);
    free(c);
    if (status < 0) {
        convert_result_free(result);
    }
    return status;
}
