/* The tables that are made once, at the end of a conversion: the session, the machine, processes,
 * losses, settings. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/timefmt.h"
#include "capture/convert/convert_internal.h"
#include "capture/spool/cupti_abi.h"
#include "capture/spool/secret.h"

/* Numbers of the rows of TARGET_INFO_SYSTEM_ENV, as nsys has them. */
enum env {
    ENV_CPU_CORES = 1,
    ENV_CPU_ARCHITECTURE = 3,
    ENV_DRIVER_VERSION = 205,
    ENV_OS = 605,
    ENV_HOSTNAME = 619
};

static struct store_cell text_of(const char *text)
{
    return store_cell_text(text, strlen(text));
}

/* ---- session and machine --------------------------------------------------------------------- */

static int session_rows(struct convert *c, struct err *err)
{
    char utc[32];
    char local[32];
    struct tm parts;
    time_t seconds = (time_t)(c->zero_real_ns / 1000000000);
    size_t utc_len = gmtime_r(&seconds, &parts) ? strftime(utc, sizeof utc, "%FT%T", &parts) : 0;
    size_t local_len =
        localtime_r(&seconds, &parts) ? strftime(local, sizeof local, "%FT%T", &parts) : 0;
    struct store_cell start[STORE_SESSION_START_N] = {
        [STORE_SESSION_START_UTC_EPOCH_NS] = store_cell_int(c->zero_real_ns),
        [STORE_SESSION_START_UTC_TIME] = store_cell_text(utc, utc_len),
        [STORE_SESSION_START_LOCAL_TIME] = store_cell_text(local, local_len),
        [STORE_SESSION_START_SYSTEM_CLOCK_NS] = store_cell_int(c->zero_mono_ns),
    };
    struct store_cell details[STORE_ANALYSIS_DETAILS_N] = {
        [STORE_ANALYSIS_DETAILS_GLOBAL_VID] = store_cell_int(store_global_tid(0, 0)),
        [STORE_ANALYSIS_DETAILS_DURATION] = store_cell_int(c->end_ns),
        [STORE_ANALYSIS_DETAILS_START_TIME] = store_cell_int(c->zero_mono_ns),
        [STORE_ANALYSIS_DETAILS_STOP_TIME] =
            store_cell_int((int64_t)((uint64_t)c->zero_mono_ns + (uint64_t)c->end_ns)),
    };
    if (store_writer_row(c->writer, STORE_TABLE_SESSION_START, start, err) < 0) {
        return -1;
    }
    return store_writer_row(c->writer, STORE_TABLE_ANALYSIS_DETAILS, details, err);
}

static int env_row(struct convert *c, enum env number, const char *name, const char *value,
                   struct err *err)
{
    struct store_cell row[STORE_SYSTEM_ENV_N] = {
        [STORE_SYSTEM_ENV_GLOBAL_VID] = store_cell_int(store_global_tid(0, 0)),
        [STORE_SYSTEM_ENV_DEV_STATE_NAME] = text_of("Local (CLI)"),
        [STORE_SYSTEM_ENV_NAME] = text_of(name),
        [STORE_SYSTEM_ENV_NAME_ENUM] = store_cell_int(number),
        [STORE_SYSTEM_ENV_VALUE] = convert_text(&c->scratch, value, strlen(value)),
    };
    return store_writer_row(c->writer, STORE_TABLE_SYSTEM_ENV, row, err);
}

/* The first line of a file that begins with key, without key and quotes; "" where there is none. */
static void line_of(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "re");
    out[0] = '\0';
    while (file && !*out && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0) {
            const char *value = line + strlen(key);
            value += *value == '"';
            (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        }
    }
    if (file) {
        (void)fclose(file);
    }
}

static int machine_rows(struct convert *c, struct err *err)
{
    struct utsname name;
    char text[256];
    if (uname(&name) != 0) {
        return 0;
    }
    (void)snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (env_row(c, ENV_HOSTNAME, "Hostname", name.nodename, err) < 0 ||
        env_row(c, ENV_CPU_ARCHITECTURE, "CpuArchitecture", name.machine, err) < 0 ||
        env_row(c, ENV_CPU_CORES, "CpuCores", text, err) < 0) {
        return -1;
    }
    line_of("/etc/os-release", "PRETTY_NAME=", text, sizeof text);
    if (*text && env_row(c, ENV_OS, "OsDescription", text, err) < 0) {
        return -1;
    }
    line_of("/sys/module/nvidia/version", "", text, sizeof text);
    return *text ? env_row(c, ENV_DRIVER_VERSION, "NvDriverVersion", text, err) : 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

static int notes(struct convert *c, enum store_table table, const char *const (*pairs)[2], size_t n,
                 struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (pairs[i][1] && store_writer_note(c->writer, table, pairs[i][0], pairs[i][1], err) < 0) {
            return -1;
        }
    }
    return 0;
}

static const char *yes_no(bool value)
{
    return value ? "true" : "false";
}

static int capture_notes(struct convert *c, struct err *err)
{
    const struct session_config *config = &c->config;
    const char *const pairs[][2] = {
        {"CAPTURE_EVENT_TYPE", config->trace_nvtx ? "NvtxEvents" : NULL},
        {"CAPTURE_EVENT_TYPE", config->trace_cuda ? "Cuda" : NULL},
        {"CUDA_GRAPH_TRACE_OPTIONS:MODE", config->graph == SESSION_GRAPH_NODE ? "Node" : "Graph"},
        {"CUDA_SKIP_SOME_API_CALLS", "true"},
        {"COLLECT_GPU_MEMORY_USAGE", yes_no(config->memory_usage)},
        {"CUDA_TRACE_SCOPE", "ProcessTree"},
        {"INCLUDE_CHILDREN", "true"},
        {"DEVICE_DISPLAY_NAME", c->opts->target},
    };
    return notes(c, STORE_TABLE_META_CAPTURE, pairs, sizeof pairs / sizeof *pairs, err);
}

/* The words of what was run, each ended by a zero byte, with secrets hidden. */
static int hidden_words(const struct convert *c, struct buf *out, struct err *err)
{
    struct buf words = {0};
    for (int i = 0; i < c->opts->command_n; i++) {
        buf_add(&words, c->opts->command[i], strlen(c->opts->command[i]) + 1);
    }
    size_t room = words.len * strlen(SECRET_HIDDEN) + 1;
    char *hidden = malloc(room);
    if (hidden != NULL && words.len > 0) {
        buf_add(out, hidden, secret_hide(hidden, room, words.data, words.len));
    }
    bool failed = hidden == NULL || buf_failed(&words) || buf_failed(out);
    free(hidden);
    buf_free(&words);
    return failed ? err_nomem(err, "the command line") : 0;
}

static int command_rows(struct convert *c, struct err *err)
{
    struct buf words = {0};
    char name[32];
    int result = hidden_words(c, &words, err);
    size_t at = 0;
    for (int i = 0; result == 0 && at < words.len; i++) {
        const char *word = words.data + at;
        (void)snprintf(name, sizeof name, i ? "PROCESS_0:ARGUMENT_%d" : "PROCESS_0:COMMAND", i - 1);
        struct store_cell row[STORE_META_CAPTURE_N] = {
            [STORE_META_CAPTURE_NAME] = text_of(name),
            [STORE_META_CAPTURE_VALUE] = convert_text(&c->scratch, word, strlen(word)),
        };
        result = store_writer_row(c->writer, STORE_TABLE_META_CAPTURE, row, err);
        at += strlen(word) + 1;
    }
    buf_free(&words);
    return result;
}

static int recorder_notes(struct convert *c, struct err *err)
{
    static const char *const apis[] = {"none", "launch", "all"};
    static const char *const ranges[] = {"none", "cudaProfilerApi", "nvtx"};
    const struct session_config *config = &c->config;
    char flush[32];
    char buffer[32];
    char buffers[32];
    char size[32];
    (void)snprintf(flush, sizeof flush, "%" PRIu32, config->flush_interval_ms);
    (void)snprintf(buffer, sizeof buffer, "%" PRIu64, config->buffer_bytes);
    (void)snprintf(buffers, sizeof buffers, "%" PRIu64, config->buffers_max_bytes);
    (void)snprintf(size, sizeof size, "%" PRIu64, config->max_size_bytes);
    const char *const pairs[][2] = {
        {"version", CUTLINE_VERSION},
        {"trace-cuda", yes_no(config->trace_cuda)},
        {"trace-nvtx", yes_no(config->trace_nvtx)},
        {"api", config->api <= SESSION_API_ALL ? apis[config->api] : NULL},
        {"driver-api", yes_no(config->driver_api)},
        {"cuda-graph-trace", config->graph == SESSION_GRAPH_NODE ? "node" : "graph"},
        {"cuda-memory-usage", yes_no(config->memory_usage)},
        {"cuda-um-cpu-page-faults", yes_no(config->um_cpu_faults)},
        {"cuda-um-gpu-page-faults", yes_no(config->um_gpu_faults)},
        {"cuda-flush-interval-ms", flush},
        {"capture-range", config->range <= SESSION_RANGE_NVTX ? ranges[config->range] : NULL},
        {"nvtx-capture", config->range == SESSION_RANGE_NVTX ? config->range_message : NULL},
        {"buffer-size-bytes", buffer},
        {"buffers-max-bytes", buffers},
        {"max-size-bytes", size},
        {"ring", yes_no(config->ring)},
        {"demangler", c->demangle.run ? "__cxa_demangle" : "none"},
    };
    return notes(c, STORE_TABLE_CUTLINE_RECORDER, pairs, sizeof pairs / sizeof *pairs, err);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int name_row(struct convert *c, const struct convert_proc *proc,
                    const struct convert_process *process, struct err *err)
{
    struct store_cell row[STORE_PROCESSES_N] = {
        [STORE_PROCESSES_GLOBAL_PID] = store_cell_int(proc->global_pid),
        [STORE_PROCESSES_PID] = store_cell_int(proc->pid),
        [STORE_PROCESSES_NAME] = convert_text(&c->scratch, process->name, strlen(process->name)),
    };
    return store_writer_row(c->writer, STORE_TABLE_PROCESSES, row, err);
}

static int process_row(struct convert *c, const struct convert_proc *proc,
                       const struct convert_process *process, struct err *err)
{
    const char *ending = process->sealed    ? "exit"
                         : process->running ? "running"
                                            : "no exit handler";
    struct store_cell row[STORE_CUTLINE_PROCESS_N] = {
        [STORE_CUTLINE_PROCESS_GLOBAL_PID] = store_cell_int(proc->global_pid),
        [STORE_CUTLINE_PROCESS_PID] = store_cell_int(process->pid),
        [STORE_CUTLINE_PROCESS_PARENT_PID] = store_cell_int(process->ppid),
        [STORE_CUTLINE_PROCESS_NAME] =
            convert_text(&c->scratch, process->name, strlen(process->name)),
        [STORE_CUTLINE_PROCESS_HOST] = text_of(proc->host),
        [STORE_CUTLINE_PROCESS_START] =
            store_cell_int(clock_off(proc->created_mono_ns, c->zero_mono_ns)),
        [STORE_CUTLINE_PROCESS_ENDING] = text_of(ending),
        [STORE_CUTLINE_PROCESS_CUDA_ATTACHED] = store_cell_int(process->cuda_attached),
        [STORE_CUTLINE_PROCESS_API_CALLS] = store_cell_int(process->api_calls),
        [STORE_CUTLINE_PROCESS_KERNELS] = store_cell_int(process->kernels),
        [STORE_CUTLINE_PROCESS_COPIES] = store_cell_int(process->copies),
        [STORE_CUTLINE_PROCESS_SETS] = store_cell_int(process->sets),
        [STORE_CUTLINE_PROCESS_NVTX_EVENTS] = store_cell_int(process->nvtx),
    };
    if (proc->sealed_mono_ns) {
        row[STORE_CUTLINE_PROCESS_END] =
            store_cell_int(clock_off(proc->sealed_mono_ns, c->zero_mono_ns));
    }
    if (process->cupti_version) {
        row[STORE_CUTLINE_PROCESS_CUPTI_VERSION] = store_cell_int(process->cupti_version);
    }
    if (process->cupti_result) {
        row[STORE_CUTLINE_PROCESS_CUPTI_RESULT] = store_cell_int(process->cupti_result);
    }
    if (*process->note) {
        row[STORE_CUTLINE_PROCESS_NOTE] =
            convert_text(&c->scratch2, process->note, strlen(process->note));
    }
    if (process->recorder_ns) {
        row[STORE_CUTLINE_PROCESS_RECORDER_NS] = store_cell_int(process->recorder_ns);
    }
    struct buf line = {0};
    struct buf clean = {0};
    convert_command_line(proc, &line);
    if (line.len > 0) {
        row[STORE_CUTLINE_PROCESS_COMMAND_LINE] = convert_text(&clean, buf_text(&line), line.len);
    }
    int result = store_writer_row(c->writer, STORE_TABLE_CUTLINE_PROCESS, row, err);
    buf_free(&line);
    buf_free(&clean);
    return result;
}

/* What is missing of a process's CUPTI records, for REASON or, where it is NULL, for any. */
static uint64_t left_out(const struct convert *c, size_t proc, const char *reason)
{
    uint64_t count = 0;
    for (size_t i = 0; i < c->lost_n; i++) {
        const struct convert_lost *lost = &c->lost[i];
        bool cupti = strcmp(lost->kind, "NVTX") != 0 && strcmp(lost->kind, "names") != 0;
        if (lost->proc == proc && cupti && (!reason || strcmp(lost->reason, reason) == 0)) {
            count += lost->count;
        }
    }
    return count;
}

/* What a process lost to another profiler, of that kind; NULL: of any. */
static uint64_t taken(const struct convert *c, size_t proc, const char *kind)
{
    const char *reason = spool_loss_name(SPOOL_LOSS_RIVAL);
    uint64_t count = 0;
    for (size_t i = 0; i < c->lost_n; i++) {
        const struct convert_lost *lost = &c->lost[i];
        if (lost->proc == proc && strcmp(lost->reason, reason) == 0 &&
            (kind == NULL || strcmp(lost->kind, kind) == 0)) {
            count += lost->count;
        }
    }
    return count;
}

/* Says that another profiler took CUPTI over, with what there is from before and is missing from
 * after it. */
static void judge_rival(const struct convert *c, size_t index)
{
    const struct convert_proc *proc = &c->procs[index];
    struct convert_process *process = &c->result->processes[index];
    const char *name = proc->rival_name;
    char at[TIMEFMT_BYTES];
    char missing[96] = "what came after it is not known";
    if (proc->rival_counted) {
        uint64_t kernels = taken(c, index, convert_cupti_kind(CUPTI_KIND_CONCURRENT_KERNEL));
        (void)snprintf(missing, sizeof missing,
                       "at least %" PRIu64 " kernel launches and %" PRIu64
                       " others after it are missing",
                       kernels, taken(c, index, NULL) - kernels);
    }
    (void)snprintf(process->note, sizeof process->note,
                   "another profiler%s%.40s%s took CUPTI %s %s: %" PRId64 " kernels and %" PRId64
                   " API calls are from before; %s",
                   *name ? " (" : "", name, *name ? ")" : "",
                   proc->rival == SPOOL_RIVAL_KEPT ? "before" : "at",
                   timefmt_duration(proc->rival_ns, at), process->kernels, process->api_calls,
                   missing);
}

/* What only the whole of a process shows. */
static void judge(const struct convert *c, size_t proc)
{
    struct convert_process *process = &c->result->processes[proc];
    bool gpu = process->kernels || process->copies || process->sets || process->graphs;
    bool other = process->api_calls || process->syncs || process->memory;
    if (c->procs[proc].rival != SPOOL_RIVAL_NONE) {
        judge_rival(c, proc);
        return;
    }
    if (*process->note) {
        return;
    }
    if (process->api_calls && !gpu) {
        (void)snprintf(process->note, sizeof process->note,
                       "%" PRId64 " API calls but no GPU activity: it was not delivered before the "
                       "process ended, or nothing was launched",
                       process->api_calls);
    } else if (gpu || other || !process->cuda_attached) {
        return;
    } else if (left_out(c, proc, spool_loss_name(SPOOL_LOSS_OUTSIDE_RANGE))) {
        (void)snprintf(process->note, sizeof process->note,
                       "CUDA was used, but not while it was recorded");
    } else if (!left_out(c, proc, NULL)) {
        (void)snprintf(process->note, sizeof process->note, "attached but no CUDA");
    }
}

static int process_rows(struct convert *c, struct err *err)
{
    for (size_t i = 0; i < c->procs_n; i++) {
        struct convert_process *process = &c->result->processes[i];
        const struct convert_proc *proc = &c->procs[i];
        judge(c, i);
        if (proc->is_last_image && name_row(c, proc, process, err) < 0) {
            return -1;
        }
        if (process_row(c, proc, process, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- losses and ranges ----------------------------------------------------------------------- */

static int loss_row(struct convert *c, const struct convert_lost *lost, struct err *err)
{
    struct store_cell row[STORE_CUTLINE_LOSS_N] = {
        [STORE_CUTLINE_LOSS_GLOBAL_PID] = store_cell_int(c->procs[lost->proc].global_pid),
        [STORE_CUTLINE_LOSS_KIND] = text_of(lost->kind),
        [STORE_CUTLINE_LOSS_REASON] = text_of(lost->reason),
        [STORE_CUTLINE_LOSS_COUNT] = store_cell_int((int64_t)lost->count),
    };
    if (lost->first_ns != CONVERT_NO_TIME) {
        row[STORE_CUTLINE_LOSS_FIRST] = store_cell_int(lost->first_ns);
        row[STORE_CUTLINE_LOSS_LAST] = store_cell_int(lost->last_ns);
    }
    return store_writer_row(c->writer, STORE_TABLE_CUTLINE_LOSS, row, err);
}

/* Processes that have no spool, by the reason for which it could not be made. */
static int unrecorded_rows(struct convert *c, struct err *err)
{
    for (uint32_t reason = 0; c->control && reason < SPOOL_LOSS_COUNT; reason++) {
        uint64_t count = atomic_load(&c->control->spools_failed_by[reason]);
        const char *name = spool_loss_name(reason);
        if (count == 0) {
            continue;
        }
        struct store_cell row[STORE_CUTLINE_LOSS_N] = {
            [STORE_CUTLINE_LOSS_KIND] = text_of(CONVERT_LOSS_PROCESS),
            [STORE_CUTLINE_LOSS_REASON] = text_of(name),
            [STORE_CUTLINE_LOSS_COUNT] = store_cell_int((int64_t)count),
        };
        struct convert_loss *loss = &c->result->losses[c->result->losses_n++];
        *loss = (struct convert_loss){.count = count, .kind = CONVERT_LOSS_PROCESS};
        (void)snprintf(loss->reason, sizeof loss->reason, "%s", name);
        if (store_writer_row(c->writer, STORE_TABLE_CUTLINE_LOSS, row, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int loss_rows(struct convert *c, struct err *err)
{
    c->result->losses = calloc(c->lost_n + SPOOL_LOSS_COUNT, sizeof *c->result->losses);
    if (!c->result->losses) {
        return err_nomem(err, "losses");
    }
    for (size_t i = 0; i < c->lost_n; i++) {
        const struct convert_lost *lost = &c->lost[i];
        struct convert_loss *loss = &c->result->losses[c->result->losses_n];
        if (lost->count == 0) {
            continue;
        }
        *loss = (struct convert_loss){
            .pid = c->procs[lost->proc].pid, .count = lost->count, .harmless = lost->harmless};
        (void)snprintf(loss->kind, sizeof loss->kind, "%s", lost->kind);
        (void)snprintf(loss->reason, sizeof loss->reason, "%s", lost->reason);
        c->result->losses_n++;
        if (loss_row(c, lost, err) < 0) {
            return -1;
        }
    }
    return unrecorded_rows(c, err);
}

static int range_rows(struct convert *c, struct err *err)
{
    for (size_t i = 0; i < c->result->ranges_n; i++) {
        const struct convert_range *range = &c->result->ranges[i];
        struct store_cell row[STORE_CUTLINE_RANGE_N] = {
            [STORE_CUTLINE_RANGE_DOMAIN] =
                convert_text(&c->scratch2, range->domain, strlen(range->domain)),
            [STORE_CUTLINE_RANGE_TEXT] =
                convert_text(&c->scratch, range->text, strlen(range->text)),
        };
        if (store_writer_row(c->writer, STORE_TABLE_CUTLINE_RANGE, row, err) < 0) {
            return -1;
        }
    }
    return 0;
}

int convert_tables(struct convert *c, struct err *err)
{
    if (session_rows(c, err) < 0 || machine_rows(c, err) < 0 || capture_notes(c, err) < 0 ||
        command_rows(c, err) < 0 || recorder_notes(c, err) < 0 || process_rows(c, err) < 0 ||
        convert_thread_names(c, err) < 0 || convert_job_rows(c, err) < 0 || loss_rows(c, err) < 0) {
        return -1;
    }
    return range_rows(c, err);
}
