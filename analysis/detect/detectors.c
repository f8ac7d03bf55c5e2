/*
 * detectors: the list of all, and how one becomes a table.
 */
#include <string.h>

#include "analysis/detect/detector.h"
#include "analysis/filter/select.h"
#include "analysis/report/report_list.h"

const struct detector *const DETECTOR_LIST[] = {
#define DETECTOR_ENTRY(symbol) &(symbol),
    DETECTORS(DETECTOR_ENTRY)
#undef DETECTOR_ENTRY
};
const size_t DETECTOR_COUNT = sizeof DETECTOR_LIST / sizeof DETECTOR_LIST[0];

/* The rules of nsys come first, as its help has them. */
const struct report *const REPORT_RULES[] = {
#define RULE_ENTRY(symbol) &(symbol),
    REPORT_RULE_ENTRIES(RULE_ENTRY)
#undef RULE_ENTRY
#define DETECTOR_ENTRY(symbol) &(symbol).rule,
        DETECTORS(DETECTOR_ENTRY)
#undef DETECTOR_ENTRY
};
const size_t REPORT_RULES_COUNT = sizeof REPORT_RULES / sizeof REPORT_RULES[0];

const struct detector *detector_find(const char *name)
{
    for (size_t i = 0; i < DETECTOR_COUNT; i++) {
        if (strcmp(DETECTOR_LIST[i]->rule.name, name) == 0) {
            return DETECTOR_LIST[i];
        }
    }
    return NULL;
}

bool detector_has_gpu(const struct trace *trace)
{
    return trace->events[TRACE_GPU].count > 0;
}

bool detector_keeps(const struct report_context *context, uint32_t device)
{
    const struct selection *select = context->select;
    return !select->none &&
           (select->device < 0 || context->trace->devices[device].id == select->device);
}

/* The words for "by", as in "gap, cause or nvtx". */
static void table_words(const struct detector *detector, struct buf *out)
{
    for (int i = 0; i < detector->table_count; i++) {
        const char *between = i + 1 == detector->table_count ? " or " : ", ";
        buf_addf(out, "%s%s", i == 0 ? "" : between, detector->tables[i].by);
    }
}

/* The table that the argument "by" asks for; -1 where there is no such table. */
static int table_asked(const struct detector *detector, const struct report_context *context,
                       struct err *err)
{
    const struct report_value *by = report_value_of(context, "by");
    if (by == NULL || by->text == NULL) {
        return 0;
    }
    for (int i = 0; i < detector->table_count; i++) {
        if (strcmp(detector->tables[i].by, by->text) == 0) {
            return i;
        }
    }
    struct buf words = {0};
    table_words(detector, &words);
    (void)err_set(err, "%s: by=%.40s: use %s", detector->rule.name, by->text, buf_text(&words));
    buf_free(&words);
    return -1;
}

static int fill(const struct detector *detector, const struct report_context *context, int by,
                struct report_result *out, struct err *err)
{
    struct detection found = {0};
    int rc = detector->find(context, by, &found, err);
    for (size_t i = 0; rc == 0 && i < found.count; i++) {
        detector->tables[by].put_row(out->table, context, found.data, i);
    }
    if (rc == 0 && found.data != NULL && detector->note != NULL) {
        rc = detector->note(context, by, found.data, &out->note, err);
    }
    if (found.data != NULL) {
        detector->drop(found.data);
    }
    const struct report_value *rows = report_value_of(context, "rows");
    if (rc == 0 && rows != NULL && rows->i >= 0) {
        table_truncate(out->table, (size_t)rows->i);
    }
    return rc;
}

int detector_run(const struct report_context *context, struct report_result *out, struct err *err)
{
    const struct detector *detector = detector_find(context->report->name);
    int by = table_asked(detector, context, err);
    if (by < 0) {
        return -1;
    }
    const struct detector_table *asked = &detector->tables[by];
    out->table = table_new(detector->rule.title, asked->columns, asked->column_count);
    if (out->table == NULL) {
        return err_nomem(err, "the table of a rule");
    }
    if (!detector->has_data(context->trace)) {
        out->status = REPORT_MISSING;
        return 0;
    }
    return fill(detector, context, by, out, err);
}
