/* report: see report.h. The list of all, their arguments, and running them. */
#include "analysis/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/filter/select.h"
#include "analysis/report/report_list.h"
#include "analysis/report/report_names.h"
#include "analysis/report/rounding.h"

static const struct report *const REPORT_STATS_LIST[] = {
#define REPORT_ENTRY(symbol) &(symbol),
    REPORT_STATS_ENTRIES(REPORT_ENTRY)
#undef REPORT_ENTRY
};

const struct report *const *report_list(enum report_kind kind, int *count)
{
    if (kind == REPORT_RULE) {
        *count = (int)REPORT_RULES_COUNT;
        return REPORT_RULES;
    }
    *count = (int)(sizeof REPORT_STATS_LIST / sizeof REPORT_STATS_LIST[0]);
    return REPORT_STATS_LIST;
}

const struct report *report_find(enum report_kind kind, const char *name)
{
    int count;
    const struct report *const *list = report_list(kind, &count);
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i]->name, name) == 0) {
            return list[i];
        }
    }
    return NULL;
}

static int report_arg_count(const struct report *report)
{
    int count = 0;
    while (report->args != NULL && report->args[count].name != NULL) {
        count++;
    }
    return count;
}

static int report_arg_number(const struct report_arg *arg, const char *text,
                             struct report_value *value, struct err *err)
{
    char *end = NULL;
    errno = 0;
    if (arg->type == REPORT_ARG_REAL) {
        value->real = strtod(text, &end);
    } else {
        value->i = strtoll(text, &end, 10);
    }
    if (end == text || *end != '\0' || errno != 0) {
        return err_set(err, "%s=%s: not a number", arg->name, text);
    }
    return 0;
}

/* Reads the text of one argument. The text must outlive the value. */
static int report_arg_read(const struct report_arg *arg, const char *text,
                           struct report_value *value, struct err *err)
{
    value->given = true;
    switch (arg->type) {
    case REPORT_ARG_FLAG:
        value->i = 1;
        return 0;
    case REPORT_ARG_TIME:
        if (timefmt_parse(text, arg->unit_ns, &value->i, err) != 0) {
            return err_prefix(err, "%s", arg->name);
        }
        return 0;
    case REPORT_ARG_TEXT:
        value->text = text;
        return 0;
    case REPORT_ARG_INT:
    case REPORT_ARG_REAL:
    default:
        return report_arg_number(arg, text, value, err);
    }
}

/* Names of the arguments, for messages. */
static void report_arg_names(const struct report *report, struct buf *out)
{
    int count = report_arg_count(report);
    for (int i = 0; i < count; i++) {
        buf_addf(out, "%s%s%s", i == 0 ? "" : ", ", report->args[i].name,
                 report->args[i].type == REPORT_ARG_FLAG ? "" : "=");
    }
    if (count == 0) {
        buf_adds(out, "none");
    }
}

/* One word after the name. */
static int report_call_word(struct report_call *call, char *word, struct err *err)
{
    const struct report *report = call->report;
    int count = report_arg_count(report);
    char *equals = strchr(word, '=');
    size_t len = equals == NULL ? strlen(word) : (size_t)(equals - word);
    struct buf names = {0};
    for (int i = 0; i < count; i++) {
        const struct report_arg *arg = &report->args[i];
        bool flag = arg->type == REPORT_ARG_FLAG;
        if (strlen(arg->name) == len && strncmp(arg->name, word, len) == 0 &&
            flag == (equals == NULL)) {
            return report_arg_read(arg, flag ? "" : equals + 1, &call->values[i], err);
        }
    }
    for (int i = 0; equals == NULL && i < count; i++) {
        if (report->args[i].type != REPORT_ARG_FLAG &&
            (report->args[i].type == REPORT_ARG_TEXT || strpbrk(word, "0123456789") != NULL)) {
            return report_arg_read(&report->args[i], word, &call->values[i], err);
        }
    }
    report_arg_names(report, &names);
    (void)err_set(err, "%s: no argument '%s'; there are: %s", report->name, word, buf_text(&names));
    buf_free(&names);
    return -1;
}

/* Cuts the next word off *at: to the next ':' that has no backslash before it; takes the
 * backslashes out. NULL at the end. */
static char *report_next_word(char **at)
{
    char *word = *at;
    char *from = word;
    char *to = word;
    if (word == NULL) {
        return NULL;
    }
    while (*from != '\0' && *from != ':') {
        if (*from == '\\' && from[1] != '\0') {
            from++;
        }
        *to++ = *from++;
    }
    *at = *from == ':' ? from + 1 : NULL;
    *to = '\0';
    return word;
}

static int report_call_defaults(struct report_call *call, struct err *err)
{
    int count = report_arg_count(call->report);
    for (int i = 0; i < count; i++) {
        const struct report_arg *arg = &call->report->args[i];
        if (arg->fallback != NULL &&
            report_arg_read(arg, arg->fallback, &call->values[i], err) != 0) {
            return -1;
        }
    }
    return 0;
}

static char *report_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

/* The call's own start=, end= and nvtx= go before the options of the command. -1 where they leave
 * no time: a rule that looks at nothing would find all well. */
static int report_own_options(const struct report_call *call, struct select_options *options,
                              struct err *err)
{
    int count = report_arg_count(call->report);
    for (int i = 0; i < count; i++) {
        const struct report_value *value = &call->values[i];
        const char *name = call->report->args[i].name;
        if (!value->given) {
            continue;
        }
        if (strcmp(name, "start") == 0) {
            options->begin_ns = value->i;
        } else if (strcmp(name, "end") == 0) {
            options->end_ns = value->i;
        } else if (strcmp(name, "nvtx") == 0) {
            options->nvtx = value->text;
        }
    }
    if (options->end_ns < options->begin_ns) {
        return err_set(err, "%s: the time to look at ends before it begins", call->text);
    }
    return 0;
}

int report_call_parse(enum report_kind kind, const char *spec, struct report_call *call,
                      struct err *err)
{
    *call = (struct report_call){.spec = report_copy(spec), .text = report_copy(spec)};
    char *rest = call->spec;
    if (rest == NULL || call->text == NULL) {
        report_call_free(call);
        return err_nomem(err, "the report");
    }
    char *word = report_next_word(&rest);
    call->report = report_named(kind, word);
    if (call->report == NULL) {
        struct buf hint = {0};
        report_add_hint(kind, word, &hint);
        (void)err_set(err, "no %s '%s'; %s", kind == REPORT_RULE ? "rule" : "report", word,
                      buf_text(&hint));
        buf_free(&hint);
        report_call_free(call);
        return -1;
    }
    if (report_call_defaults(call, err) != 0) {
        report_call_free(call);
        return -1;
    }
    while ((word = report_next_word(&rest)) != NULL) {
        if (report_call_word(call, word, err) != 0) {
            report_call_free(call);
            return -1;
        }
    }
    struct select_options own = SELECT_OPTIONS_ALL;
    if (report_own_options(call, &own, err) != 0) {
        report_call_free(call);
        return -1;
    }
    return 0;
}

void report_call_free(struct report_call *call)
{
    free(call->spec);
    free(call->text);
    call->spec = NULL;
    call->text = NULL;
}

uint32_t report_call_kinds(const struct report_call *call, const struct select_options *options)
{
    struct select_options own = *options;
    (void)report_own_options(call, &own, NULL);
    if (own.nvtx != NULL || own.device >= 0 || own.pid >= 0) {
        return 0;
    }
    for (int i = 0; i < report_arg_count(call->report); i++) {
        if (call->values[i].given && strcmp(call->report->args[i].name, "nvtx-name") == 0) {
            return 0;
        }
    }
    return call->report->kinds;
}

struct report_value report_default(const struct report *report, const char *name)
{
    struct report_value value = {0};
    for (int i = 0; i < report_arg_count(report); i++) {
        const struct report_arg *arg = &report->args[i];
        if (strcmp(arg->name, name) == 0 && arg->fallback != NULL) {
            (void)report_arg_read(arg, arg->fallback, &value, NULL);
        }
    }
    return value;
}

const struct report_value *report_value_of(const struct report_context *context, const char *name)
{
    for (int i = 0; i < report_arg_count(context->report); i++) {
        if (strcmp(context->report->args[i].name, name) == 0) {
            return &context->args[i];
        }
    }
    return NULL;
}

int report_run(struct shared *shared, const struct report_call *call,
               const struct select_options *options, struct report_result *result, struct err *err)
{
    const struct trace *trace = shared_trace(shared);
    struct select_options own = *options;
    struct selection select;
    struct report_context context = {.report = call->report,
                                     .shared = shared,
                                     .trace = trace,
                                     .select = &select,
                                     .args = call->values};
    *result = (struct report_result){.missing = call->report->missing};
    if (report_own_options(call, &own, err) != 0) {
        return -1;
    }
    int rc = select_new(trace, &own, &select, err);
    if (rc == 0) {
        rc = call->report->run(&context, result, err);
    }
    if (rc == 0 && result->table != NULL && shared_rounds_old(shared)) {
        rounding_apply(result->table);
    }
    select_free(&select);
    if (trace_check(trace, err) != 0) {
        return -1;
    }
    if (rc == 0 &&
        (result->table == NULL || table_failed(result->table) || buf_failed(&result->note))) {
        rc = err_nomem(err, call->report->name);
    }
    return rc != 0 ? err_prefix(err, "%s", call->report->name) : 0;
}

void report_result_free(struct report_result *result)
{
    table_free(result->table);
    buf_free(&result->note);
    *result = (struct report_result){0};
}
