/* What is said at the end of a recording. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "capture/record/record.h"
#include "capture/spool/spool.h"

enum {
    PROCESSES_MAX = 20, /* lines of processes and of losses */
    LOSSES_MAX = 12
};

static void add_safe(struct buf *out, const char *text)
{
    utf8_sanitize(out, text, strlen(text), false);
}

static void add_count(struct buf *out, int64_t n, int width)
{
    char text[TIMEFMT_BYTES];
    buf_addf(out, "%*s", width, timefmt_count(n, text));
}

static int64_t gpu_events(const struct convert_process *process)
{
    return process->kernels + process->copies + process->sets + process->graphs;
}

static int64_t all_events(const struct convert_process *process)
{
    return gpu_events(process) + process->api_calls + process->nvtx;
}

/* What is wrong first, then what holds most. */
static int by_interest(const void *a, const void *b)
{
    const struct convert_process *left = *(const struct convert_process *const *)a;
    const struct convert_process *right = *(const struct convert_process *const *)b;
    bool left_note = *left->note != '\0';
    bool right_note = *right->note != '\0';
    if (left_note != right_note) {
        return left_note ? -1 : 1;
    }
    int64_t left_n = all_events(left);
    int64_t right_n = all_events(right);
    return (left_n < right_n) - (left_n > right_n);
}

static void add_process(struct buf *out, const struct convert_process *process)
{
    char name[sizeof process->name];
    struct buf safe = {0};
    memcpy(name, process->name, sizeof name);
    add_safe(&safe, name);
    buf_addf(out, "  %-16.60s %8" PRIu32, buf_text(&safe), process->pid);
    buf_free(&safe);
    add_count(out, process->api_calls, 13);
    add_count(out, process->kernels, 12);
    add_count(out, process->copies + process->sets, 12);
    add_count(out, process->graphs, 8);
    add_count(out, process->nvtx, 12);
    buf_adds(out, process->running  ? "  still runs\n"
                  : process->sealed ? "\n"
                                    : "  _exit or killed\n");
    if (process->open_ranges) {
        buf_addf(out, "    %" PRId64 " NVTX ranges were open at its end\n", process->open_ranges);
    }
    if (*process->note) {
        buf_adds(out, "    ");
        add_safe(out, process->note);
        buf_addc(out, '\n');
    }
}

static void add_processes(struct buf *out, const struct convert_result *result)
{
    const struct convert_process **order = calloc(
        result->processes_n + 1, sizeof(const struct convert_process *)); /* NOLINT: pointers */
    if (!order || result->processes_n == 0) {
        free(order);
        return;
    }
    for (size_t i = 0; i < result->processes_n; i++) {
        order[i] = &result->processes[i];
    }
    sort_list(order, result->processes_n, sizeof(const struct convert_process *),
              by_interest); /* NOLINT */
    buf_addf(out, "  %-16s %8s%13s%12s%12s%8s%12s\n", "process", "pid", "API calls", "kernels",
             "copies+sets", "graphs", "NVTX");
    for (size_t i = 0; i < result->processes_n && i < PROCESSES_MAX; i++) {
        add_process(out, order[i]);
    }
    if (result->processes_n > PROCESSES_MAX) {
        char text[TIMEFMT_BYTES];
        buf_addf(out, "  and %s more processes (table CUTLINE_PROCESS)\n",
                 timefmt_count((int64_t)(result->processes_n - PROCESSES_MAX), text));
    }
    free(order);
}

/* The losses of all processes, by kind and reason. */
static size_t sum_losses(const struct convert_result *result, struct convert_loss *sums, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < result->losses_n; i++) {
        const struct convert_loss *loss = &result->losses[i];
        size_t at = 0;
        while (at < n && (strcmp(sums[at].kind, loss->kind) != 0 ||
                          strcmp(sums[at].reason, loss->reason) != 0)) {
            at++;
        }
        if (loss->harmless || at == max) {
            continue;
        }
        if (at == n) {
            sums[n++] = *loss;
        } else {
            sums[at].count += loss->count;
            sums[at].pid = sums[at].pid == loss->pid ? loss->pid : 0;
        }
    }
    return n;
}

/* What helps against a loss, where something does. */
static void add_advice(struct buf *out, const struct convert_loss *sums, size_t n)
{
    static const struct {
        enum spool_loss reason;
        const char *text;
    } advice[] = {
        {SPOOL_LOSS_NO_SPACE,
         "the disk of the session folder was full: name another one with --session-dir, or record "
         "less with --max-size, --ring or --nvtx-domain-include"},
        {SPOOL_LOSS_QUOTA, "name a session folder without a quota with --session-dir"},
        {SPOOL_LOSS_FILE_LIMIT, "raise the limit with ulimit -f"},
        {SPOOL_LOSS_NO_DESCRIPTOR, "raise the limit with ulimit -n"},
        {SPOOL_LOSS_USER, "start the recorder as the user that the process changes to"},
        {SPOOL_LOSS_NO_ACCESS, "start the recorder as the user of the process"},
    };
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        size_t at = 0;
        while (at < n && strcmp(sums[at].reason, spool_loss_name(advice[i].reason)) != 0) {
            at++;
        }
        if (at < n) {
            buf_addf(out, "    %s: %s\n", sums[at].reason, advice[i].text);
        }
    }
}

static void add_losses(struct buf *out, const struct convert_result *result)
{
    struct convert_loss sums[LOSSES_MAX];
    size_t n = sum_losses(result, sums, LOSSES_MAX);
    for (size_t i = 0; i < n; i++) {
        char text[TIMEFMT_BYTES];
        (void)timefmt_count((int64_t)sums[i].count, text);
        if (strcmp(sums[i].kind, CONVERT_LOSS_PROCESS) == 0) {
            buf_addf(out, "  not recorded: %s %s (%s)\n", text,
                     sums[i].count == 1 ? "process" : "processes", sums[i].reason);
            continue;
        }
        buf_addf(out, "  lost or not as it was: %s %s (%s)", text, sums[i].kind, sums[i].reason);
        if (sums[i].pid) {
            buf_addf(out, " in %" PRIu32, sums[i].pid);
        }
        buf_addc(out, '\n');
    }
    if (n == LOSSES_MAX) {
        buf_adds(out, "  perhaps more was lost (table CUTLINE_LOSS)\n");
    }
    add_advice(out, sums, n);
}

static void add_ranges(struct buf *out, const struct record_opts *opts,
                       const struct convert_result *result)
{
    char text[TIMEFMT_BYTES];
    if (result->ranges_done > 0) {
        buf_addf(out, "  %s capture range%s", timefmt_count((int64_t)result->ranges_done, text),
                 result->ranges_done == 1 ? "" : "s");
        buf_addf(out, " in %s process%s\n", timefmt_count((int64_t)result->range_processes, text),
                 result->range_processes == 1 ? "" : "es");
    }
    if (!result->range_wanted || result->range_opened) {
        return;
    }
    if (result->range_early) {
        buf_adds(out, "  nothing was recorded: the capture range began before the --delay had "
                      "passed, and did not begin again\n");
        return;
    }
    if (opts->config.range == SESSION_RANGE_CUDA_PROFILER_API) {
        buf_adds(out, "  nothing was recorded: cudaProfilerStart was never called\n");
        return;
    }
    buf_adds(out, "  nothing was recorded: the NVTX range '");
    add_safe(out, opts->config.range_message);
    buf_adds(out, "' was never opened; seen:");
    for (size_t i = 0; i < result->ranges_n; i++) {
        buf_adds(out, i ? ", '" : " '");
        add_safe(out, result->ranges[i].text);
        if (*result->ranges[i].domain) {
            buf_addc(out, '@');
            add_safe(out, result->ranges[i].domain);
        }
        buf_addc(out, '\'');
    }
    buf_adds(out, result->ranges_n ? "\n" : " no range at all\n");
}

static void add_cost(struct buf *out, const struct convert_result *result)
{
    char text[TIMEFMT_BYTES];
    int64_t own_ns = 0;
    for (size_t i = 0; i < result->processes_n; i++) {
        own_ns += result->processes[i].recorder_ns;
    }
    if (own_ns) {
        buf_addf(out, "  the recorder's own threads took %s of CPU;",
                 timefmt_duration(own_ns, text));
    } else {
        buf_adds(out, " ");
    }
    buf_addf(out, " %s were spooled,", timefmt_bytes((int64_t)result->spool_bytes, text));
    buf_addf(out, " converted in %s\n", timefmt_duration((int64_t)(result->seconds * 1e9), text));
}

void record_summary(const struct record_opts *opts, const struct record_result *result,
                    struct buf *out)
{
    char text[TIMEFMT_BYTES];
    const struct convert_result *converted = &result->converted;
    if (!result->written) {
        return;
    }
    buf_adds(out, "cutline: wrote ");
    add_safe(out, result->output);
    buf_addf(out, " (%s):", timefmt_bytes((int64_t)converted->file_bytes, text));
    buf_addf(out, " %s events", timefmt_count((int64_t)converted->events, text));
    buf_addf(out, " in %s\n", timefmt_duration(converted->duration_ns, text));
    add_processes(out, converted);
    add_losses(out, converted);
    add_ranges(out, opts, converted);
    if (result->in_delay) {
        buf_adds(out, "  nothing was recorded: it ended within its --delay\n");
    }
    if (result->full) {
        buf_adds(out, "  the recording stopped at its --max-size; what came later is missing\n");
    }
    if (converted->spools_bad) {
        buf_addf(out, "  %zu spools could not be read\n", converted->spools_bad);
    }
    if (result->nobody && converted->processes_n == 0) {
        buf_adds(out, "  no process loaded the recorder: neither CUDA nor NVTX was used, or the "
                      "environment was not passed on (sudo, ssh, docker: see --print-env)\n");
    }
    add_cost(out, converted);
    if (opts->recover) {
        buf_adds(out, "  the session folder is still there: ");
        add_safe(out, opts->recover);
        buf_addc(out, '\n');
    }
}
