/*
 * findings_nsys: the rules of nsys, each as one finding.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/transfers.h"
#include "analysis/report/report_list.h"

/* How much of what a rule of nsys lists could be won. */
enum worth {
    WORTH_COPIES, /* its durations, as far as copies are exposed */
    WORTH_TIME, /* its durations */
    WORTH_SYNC, /* idle time that synchronising calls explain */
    WORTH_NONE, /* counted by another rule */
};

static const struct {
    const struct report *rule;
    enum worth worth;
} WORTHS[] = {
    {&REPORT_RULE_CUDA_MEMCPY_ASYNC, WORTH_COPIES},
    {&REPORT_RULE_CUDA_MEMCPY_SYNC, WORTH_COPIES},
    {&REPORT_RULE_CUDA_MEMSET_SYNC, WORTH_TIME},
    {&REPORT_RULE_CUDA_API_SYNC, WORTH_SYNC},
    {&REPORT_RULE_GPU_GAPS, WORTH_NONE},
    {&REPORT_RULE_GPU_TIME_UTIL, WORTH_NONE},
};

static int64_t exposed_all(const struct findings_maker *maker)
{
    int64_t ns = 0;
    for (uint32_t d = 0; d < maker->trace->device_count; d++) {
        int64_t one = transfers_exposed_ns(maker->shared, d, maker->options->begin_ns,
                                           maker->options->end_ns);
        ns += one > 0 ? one : 0;
    }
    return ns;
}

static int64_t worth_ns(const struct findings_maker *maker, enum worth worth, int64_t total_ns)
{
    int64_t limit_ns = worth == WORTH_SYNC     ? maker->sync_idle_ns
                       : worth == WORTH_COPIES ? exposed_all(maker)
                       : worth == WORTH_TIME   ? INT64_MAX
                                               : -1;
    return total_ns < limit_ns ? total_ns : limit_ns;
}

/* What the rows of a rule add up to; the longest is where to look. */
static void nsys_finding(struct findings_maker *maker, const struct report *rule, enum worth worth,
                         const struct report_result *result)
{
    const struct report_sum *sum = &result->sum;
    size_t rows = table_rows(result->table);
    char total[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    static const char *const again[] = {
        [WORTH_COPIES] = "; hidden_transfers counts this time too",
        [WORTH_TIME] = "",
        [WORTH_SYNC] = "; the idle time after them is in idle_gaps too",
        [WORTH_NONE] = "; idle_gaps counts this time",
    };
    static const char *const within[] = {
        [WORTH_COPIES] = "hidden_transfers",
        [WORTH_TIME] = NULL,
        [WORTH_SYNC] = "idle_gaps",
        [WORTH_NONE] = "idle_gaps",
    };
    const struct finding finding = {
        .rule = rule->name,
        .within = within[worth],
        .title = findings_words(maker, "%s: %zu row%s", rule->title, rows, rows == 1 ? "" : "s"),
        .evidence =
            findings_words(maker, "%s in all, longest %s%s", timefmt_duration(sum->total_ns, total),
                           timefmt_duration(sum->longest_ns, longest), again[worth]),
        .advice = rule->advice != NULL ? rule->advice : "",
        .show = findings_words(maker, "cutline analyze -r %s", rule->name),
        .recoverable_ns = worth_ns(maker, worth, sum->total_ns),
        .value = (double)rows,
        .begin_ns = sum->longest_begin_ns,
        .end_ns = sum->longest_begin_ns + sum->longest_ns,
        .device = TRACE_NONE,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &finding);
}

int findings_nsys(struct findings_maker *maker, const struct select_options *options)
{
    for (size_t i = 0; i < sizeof WORTHS / sizeof WORTHS[0]; i++) {
        char spec[64];
        struct report_call call;
        struct report_result result = {0};
        (void)snprintf(spec, sizeof spec, "%s:rows=-1", WORTHS[i].rule->name);
        if (report_call_parse(REPORT_RULE, spec, &call, maker->err) != 0) {
            return -1;
        }
        int rc = report_run(maker->shared, &call, options, &result, maker->err);
        if (rc == 0 && result.status == REPORT_ROWS && table_rows(result.table) > 0) {
            nsys_finding(maker, call.report, WORTHS[i].worth, &result);
        }
        report_result_free(&result);
        report_call_free(&call);
        if (rc != 0) {
            return -1;
        }
    }
    return 0;
}

bool findings_is_nsys(const char *rule)
{
    for (size_t i = 0; i < sizeof(WORTHS) / sizeof(WORTHS[0]); i++) {
        if (strcmp(WORTHS[i].rule->name, rule) == 0) {
            return true;
        }
    }
    return false;
}
