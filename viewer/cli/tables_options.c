/* tables_options: the readers of options that several commands have; see tables.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/timefmt.h"
#include "analysis/filter/device.h"
#include "analysis/report/report_names.h"
#include "viewer/cli/command.h"
#include "viewer/cli/tables.h"

int tables_unit(const char *text, int64_t *unit_ns, struct err *err)
{
    int64_t unit = text == NULL ? 1 : timefmt_unit(text);
    if (unit != 1 && unit != 1000 && unit != 1000000 && unit != 1000000000) {
        return err_set(err, "--timeunit %s: there are ns, us, ms and s", text);
    }
    *unit_ns = unit;
    return 0;
}

int tables_time(const char *option, const char *text, int64_t *begin_ns, int64_t *end_ns,
                struct err *err)
{
    char begin[64];
    if (text == NULL) {
        return 0;
    }
    const char *slash = strchr(text, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - text);
    if (slash == NULL || len >= sizeof begin) {
        return err_set(err, "--%s %.100s: write START/END, one of them may be left out", option,
                       text);
    }
    memcpy(begin, text, len);
    begin[len] = '\0';
    if ((len > 0 && timefmt_parse(begin, 1, begin_ns, err) != 0) ||
        (slash[1] != '\0' && timefmt_parse(slash + 1, 1, end_ns, err) != 0)) {
        return err_prefix(err, "--%s", option);
    }
    if (*end_ns < *begin_ns) {
        return err_set(err, "--%s %.100s ends before it begins", option, text);
    }
    return 0;
}

void tables_say_outside(const char *command, const char *option, const struct trace *trace,
                        int64_t begin_ns, int64_t end_ns)
{
    char first[TIMEFMT_BYTES];
    char last[TIMEFMT_BYTES];
    struct err err = {0};
    bool empty = trace->begin_ns == 0 && trace->end_ns == 0;
    if (empty || (begin_ns <= trace->end_ns && end_ns >= trace->begin_ns)) {
        return;
    }
    (void)err_set(&err, "--%s: no event is in that time; the events are from %s to %s", option,
                  timefmt_at(trace->begin_ns, 1000, first), timefmt_at(trace->end_ns, 1000, last));
    output_error(command, &err);
}

/* What the capture says of itself, if it was made of a file of another format. */
static void say_incomplete(const char *command, const char *path, const struct trace *trace)
{
    static const char *const columns[] = {"name", "value"};
    static const struct store_scan scan = {"CUTLINE_RECORDER", columns, 2, 0, INT64_MAX};
    struct store *store = trace->given == NULL ? NULL : trace_store(trace, NULL);
    struct store_cursor *cursor = store == NULL ? NULL : store_scan(store, &scan, NULL);
    while (cursor != NULL && store_next(cursor, NULL) == 1) {
        struct err err = {0};
        size_t len;
        const char *name = store_text(cursor, 0, &len);
        bool told =
            name != NULL && len == strlen("incomplete") && memcmp(name, "incomplete", len) == 0;
        const char *value = told ? store_text(cursor, 1, &len) : NULL;
        if (value != NULL) {
            (void)err_set(&err, "%.500s: %.*s", path, (int)len, value);
            output_error(command, &err);
        }
    }
    store_cursor_close(cursor);
    store_close(store);
}

void tables_say_left_out(const char *command, const char *path, const struct trace *trace)
{
    char count[TIMEFMT_BYTES];
    struct err err = {0};
    say_incomplete(command, path, trace);
    if (trace->counts.misplaced > 0) {
        (void)err_set(&err,
                      "%.500s: %s row%s left out, as %s times cannot be; cutline info names them",
                      path, timefmt_count(trace->counts.misplaced, count),
                      trace->counts.misplaced == 1 ? " is" : "s are",
                      trace->counts.misplaced == 1 ? "its" : "their");
        output_error(command, &err);
    }
}

void tables_say_device(const char *command, const struct trace *trace, int64_t number)
{
    struct err err = {0};
    uint32_t taken = number < 0 ? TRACE_NONE : device_find(trace, number, NULL);
    uint32_t other = taken == TRACE_NONE ? TRACE_NONE : device_other(trace, number);
    if (other == TRACE_NONE || device_cuda_number(trace, taken) == number) {
        return;
    }
    struct buf text = {0};
    buf_addf(&text, "--device %lld is GPU ", (long long)number);
    device_put(&text, trace, taken);
    buf_adds(&text, "; also there is GPU ");
    device_put(&text, trace, other);
    (void)err_set(&err, "%s", buf_text(&text));
    output_error(command, &err);
    buf_free(&text);
}

bool tables_has_ops(const struct trace *trace, int64_t begin_ns, int64_t end_ns)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (gpu->begin_ns[i] <= end_ns && gpu->end_ns[i] >= begin_ns) {
            return true;
        }
    }
    return false;
}

int tables_limit(const char *text, double *value, const char **end)
{
    char *after = NULL;
    *value = strtod(text, &after);
    *end = after;
    return after == text || !isfinite(*value) || *value < 0.0 ? -1 : 0;
}

int tables_filter(const struct tables_filter *filter, struct select_options *options,
                  struct err *err)
{
    options->nvtx = filter->nvtx;
    options->name = filter->name;
    options->device = filter->device;
    options->pid = filter->pid;
    return tables_time("filter-time", filter->time, &options->begin_ns, &options->end_ns, err);
}

const char *tables_input(const struct tables_input *input, const struct opts_rest *rest,
                         struct err *err)
{
    struct stat st;
    const char *named = rest->argc > 0 ? rest->argv[0] : input->file;
    if (rest->argc > 0 && input->file != NULL) {
        return err_null(err, "two captures: %.200s and --input %.200s", named, input->file);
    }
    if (input->sqlite != NULL && (named == NULL || stat(input->sqlite, &st) == 0)) {
        return input->sqlite;
    }
    return named != NULL ? named : err_null(err, "name a capture; --help shows the options");
}

/* Copies one argument with its commas as the ends of words; returns where the copy ends. */
static char *split_one(const char *from, char *to, struct tables_words *words)
{
    words->list[words->count++] = to;
    while (*from != '\0') {
        if (*from == ',') {
            *to++ = '\0';
            words->list[words->count++] = to;
            from++;
            continue;
        }
        from += from[0] == '\\' && from[1] == ',' ? 1 : 0;
        *to++ = *from++;
    }
    *to++ = '\0';
    return to;
}

int tables_words(const struct opts_list *arguments, struct tables_words *words, struct err *err)
{
    size_t bytes = 1;
    size_t count = 1;
    *words = (struct tables_words){0};
    for (int i = 0; i < arguments->count; i++) {
        bytes += strlen(arguments->items[i]) + 1;
        count++;
        for (const char *at = arguments->items[i]; *at != '\0'; at++) {
            count += *at == ',' ? 1 : 0;
        }
    }
    words->memory = malloc(bytes);
    words->list = malloc(count * sizeof *words->list);
    if (words->memory == NULL || words->list == NULL) {
        return err_nomem(err, "the options");
    }
    char *at = words->memory;
    for (int i = 0; i < arguments->count; i++) {
        at = split_one(arguments->items[i], at, words);
    }
    return 0;
}

void tables_words_free(struct tables_words *words)
{
    free(words->list);
    free(words->memory);
    *words = (struct tables_words){0};
}

uint32_t tables_kinds(const struct report_call *calls, size_t count,
                      const struct select_options *options)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t kinds = report_call_kinds(&calls[i], options);
        if (kinds == 0) {
            return 0;
        }
        all |= kinds;
    }
    return all;
}

/* ---- help ---- */

static void help_one(const struct report *report, bool all, struct buf *out)
{
    buf_addf(out, "%s -- %s\n", report->name, report->title);
    if (!all) {
        return;
    }
    buf_addf(out, "\n    %s\n", report->help);
    for (int i = 0; report->args != NULL && report->args[i].name != NULL; i++) {
        const struct report_arg *arg = &report->args[i];
        buf_addf(out, "    :%s%s  %s", arg->name, arg->type == REPORT_ARG_FLAG ? "" : "=VALUE",
                 arg->help);
        if (arg->fallback != NULL) {
            buf_addf(out, " (default %s)", arg->fallback);
        }
        buf_addc(out, '\n');
    }
    if (report->advice != NULL) {
        buf_addf(out, "    Advice: %s\n", report->advice);
    }
    buf_addc(out, '\n');
}

int tables_help(const char *command, enum report_kind kind, const char *name)
{
    int count = 0;
    const struct report *const *list = report_list(kind, &count);
    bool all = strcmp(name, "ALL") == 0 || strcmp(name, "all") == 0;
    const struct report *only = report_named(kind, name);
    struct buf out = {0};
    struct err err = {0};
    int status = COMMAND_DONE;
    for (int i = 0; i < count; i++) {
        if (name[0] == '\0' || all || list[i] == only) {
            help_one(list[i], name[0] != '\0', &out);
        }
    }
    if (out.len == 0) {
        struct buf hint = {0};
        report_add_hint(kind, name, &hint);
        (void)err_set(&err, "no %s '%.100s'; %s", kind == REPORT_RULE ? "rule" : "report", name,
                      buf_text(&hint));
        buf_free(&hint);
        status = COMMAND_USAGE;
    } else if (output_all(&out, &err) != 0) {
        status = COMMAND_FAILED;
    }
    if (status != COMMAND_DONE) {
        output_error(command, &err);
    }
    buf_free(&out);
    return status;
}
