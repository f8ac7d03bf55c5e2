/*
 * fuzz_columns: cells of hand-made captures get other values; then one of the things that commands do
 * with a capture is done: a report, a rule, the findings, a comparison with the capture as it was, the
 * Chrome export, the summary, a frame.
 *
 *     byte 0: the capture   byte 1: what is done   byte 2: bit 0: only in a window of time
 *     then changes of 12 bytes: column (2), row, change, value (8)
 */
#include <string.h>

#include "analysis/detect/findings.h"
#include "analysis/diff/diff_table.h"
#include "analysis/diff/diff_text.h"
#include "analysis/export/chrome.h"
#include "analysis/report/events_table.h"
#include "analysis/report/info.h"
#include "analysis/report/report.h"
#include "viewer/fuzz/view.h"

enum {
    CHANGES_MAX = 24,
    CHANGE_BYTES = 12,
    HEAD_BYTES = 3
};

/* The first is taken for every second input. Later ones go to the end: inputs that were kept number
 * them. Those with very long texts are for the target `text`. */
static const char *const CASES[] = {"all-tables", "two-processes", "nvtx-open",  "unified-memory",
                                    "graphs",     "times",         "api-only",   "callchain",
                                    "edited",     "no-cuda",       "layout-2020"};

enum {
    CASE_COUNT = sizeof CASES / sizeof CASES[0]
};

/* A capture, and its model before any change. Made once, live as long as the program. */
struct base {
    struct memory_db *db;
    struct trace *trace;
    struct facts *facts;
};

static const struct base *base_of(uint8_t byte)
{
    size_t number = (byte & 1U) != 0 ? 0 : (byte >> 1) % CASE_COUNT;
    static struct base bases[CASE_COUNT];
    struct base *base = &bases[number];
    if (base->db != NULL) {
        return base;
    }
    base->db = view_case(CASES[number]);
    memory_db_use(base->db);
    base->trace = view_load(base->db);
    FUZZ_HOLDS(base->trace != NULL);
    base->facts = facts_new(base->trace, NULL);
    FUZZ_HOLDS(base->facts != NULL);
    return base;
}

static int sink(void *arg, const char *data, size_t len)
{
    size_t *bytes = arg;
    (void)data;
    *bytes += len;
    return 0;
}

static void write_table(struct table *table, unsigned number)
{
    size_t bytes = 0;
    const struct table_sink out = {sink, &bytes};
    const struct table_output form = {
        .format = (enum table_format)(number % (TABLE_FORMAT_JSON + 1)), .time_unit_ns = 1};
    if (table != NULL) {
        (void)table_write(table, &form, &out, NULL);
    }
}

/* What is done, and how. */
struct task {
    const struct base *base;
    const struct trace *trace;
    unsigned number; /* what */
    unsigned form; /* the table's */
    struct select_options window;
};

static void do_report(const struct task *task, const struct report *report)
{
    struct report_call call;
    struct report_result result = {0};
    struct shared *shared = shared_new(task->trace, NULL);
    FUZZ_HOLDS(report_call_parse(report->kind, report->name, &call, NULL) == 0);
    if (shared != NULL && report_run(shared, &call, &task->window, &result, NULL) == 0) {
        write_table(result.table, task->form);
    }
    report_result_free(&result);
    report_call_free(&call);
    shared_free(shared);
}

static void do_findings(const struct task *task)
{
    const struct findings_options options = {false, task->window.begin_ns, task->window.end_ns,
                                             TRACE_NONE};
    struct shared *shared = shared_new(task->trace, NULL);
    struct findings findings;
    if (shared != NULL && findings_make(shared, &options, &findings, NULL) == 0) {
        struct table *table = findings_table(task->trace, &findings);
        write_table(table, task->form);
        table_free(table);
        findings_free(&findings);
    }
    shared_free(shared);
}

static void do_diff(const struct task *task)
{
    const struct diff_options options = {.begin_ns = {INT64_MIN, task->window.begin_ns},
                                         .end_ns = {INT64_MAX, task->window.end_ns},
                                         .per = (task->form & 4U) != 0 ? "step" : NULL};
    const struct diff_table_options all = {.max_rows = -1};
    struct facts *facts = facts_new(task->trace, NULL);
    const struct facts *const both[2] = {task->base->facts, facts};
    struct diff diff;
    if (facts != NULL && diff_make(both, &options, &diff, NULL) == 0) {
        struct table *table = diff_table(&diff, &all);
        struct buf text = {0};
        write_table(table, task->form);
        for (int s = 0; s < DIFF_SECTION_COUNT; s++) {
            diff_text(both, &diff, (enum diff_section)s, &all, DIFF_TEXT_COLS, &text);
        }
        (void)diff_regression(&diff, 5.0);
        buf_free(&text);
        table_free(table);
        diff_free(&diff);
    }
    facts_free(facts);
}

static void do_chrome(const struct task *task)
{
    size_t bytes = 0;
    const struct table_sink out = {sink, &bytes};
    const struct chrome_options options = {task->window.begin_ns, task->window.end_ns,
                                           (task->form & 1U) != 0, (task->form & 2U) != 0};
    struct facts *facts = facts_new(task->trace, NULL);
    if (facts != NULL) {
        (void)chrome_write(facts, &options, &out, NULL);
    }
    facts_free(facts);
}

static void do_info(const struct task *task)
{
    struct store *store = trace_store(task->trace, NULL);
    struct info info;
    if (store != NULL && info_collect(task->trace, store, &info, NULL) == 0) {
        struct buf text = {0};
        info_text(&info, false, &text);
        info_json(&info, &text);
        buf_free(&text);
        info_free(&info);
    }
    store_close(store);
}

static void do_events(const struct task *task)
{
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        struct table *table = events_table(task->trace, (enum trace_table)t, task->window.begin_ns,
                                           task->window.end_ns, NULL);
        write_table(table, task->form);
        table_free(table);
    }
}

static void do_frame(const struct task *task)
{
    const struct frame_style style = {.ascii = (task->form & 1U) != 0};
    const struct key size = {KEYS_RESIZE, 100, 30};
    struct view_session view;
    if (view_open(&view, task->trace, false)) {
        session_key(&view.session, &size);
        view_paint(&view, &style);
        view_close(&view);
    }
}

static void do_task(const struct task *task)
{
    static void (*const TASKS[])(const struct task *) = {do_findings, do_diff,   do_chrome,
                                                         do_info,     do_events, do_frame};
    const unsigned others = sizeof TASKS / sizeof TASKS[0];
    int stats = 0;
    int rules = 0;
    const struct report *const *stats_list = report_list(REPORT_STATS, &stats);
    const struct report *const *rules_list = report_list(REPORT_RULE, &rules);
    unsigned number = task->number % (others + (unsigned)stats + (unsigned)rules);
    if (number < others) {
        TASKS[number](task);
    } else if (number < others + (unsigned)stats) {
        do_report(task, stats_list[number - others]);
    } else {
        do_report(task, rules_list[number - others - (unsigned)stats]);
    }
}

/* Makes the changes of the input. */
static void change(const struct base *base, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < CHANGES_MAX && size >= CHANGE_BYTES; i++) {
        int64_t value;
        memcpy(&value, data + 4, sizeof value);
        memory_db_change(base->db, (size_t)data[0] | (size_t)data[1] << 8, data[2],
                         (enum memory_change)(data[3] % MEMORY_CHANGE_COUNT), value);
        data += CHANGE_BYTES;
        size -= CHANGE_BYTES;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD_BYTES) {
        return 0;
    }
    struct task task = {.base = base_of(data[0]),
                        .number = data[1],
                        .form = data[2] >> 1,
                        .window = SELECT_OPTIONS_ALL};
    if ((data[2] & 1U) != 0) {
        task.window.begin_ns = task.base->trace->begin_ns + 100;
        task.window.end_ns = task.base->trace->end_ns - 100;
    }
    memory_db_use(task.base->db);
    change(task.base, data + HEAD_BYTES, size - HEAD_BYTES);
    struct trace *trace = view_load(task.base->db);
    if (trace != NULL) {
        task.trace = trace;
        do_task(&task);
    }
    trace_free(trace);
    memory_db_restore(task.base->db);
    return 0;
}
