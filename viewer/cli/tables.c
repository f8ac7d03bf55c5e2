/*
 * tables: see tables.h.
 */
#include "viewer/cli/tables.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "viewer/cli/command.h"

int tables_unit(const char *text, int64_t *unit_ns, struct err *err)
{
    int64_t unit = text == NULL ? 1 : timefmt_unit(text);
    if (unit != 1 && unit != 1000 && unit != 1000000 && unit != 1000000000) {
        return err_set(err, "--timeunit %s: there are ns, us, ms and s", text);
    }
    *unit_ns = unit;
    return 0;
}

int tables_time(const char *text, int64_t *begin_ns, int64_t *end_ns, struct err *err)
{
    char begin[64];
    const char *slash = strchr(text, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - text);
    if (slash == NULL || len >= sizeof(begin)) {
        return err_set(err, "--filter-time %.100s: write START/END, one may be left out", text);
    }
    memcpy(begin, text, len);
    begin[len] = '\0';
    if ((len > 0 && timefmt_parse(begin, 1, begin_ns, err) != 0) ||
        (slash[1] != '\0' && timefmt_parse(slash + 1, 1, end_ns, err) != 0)) {
        return err_prefix(err, "--filter-time");
    }
    return 0;
}

bool tables_stdout(const struct tables_form *form)
{
    return form->target == NULL || strcmp(form->target, "-") == 0;
}

static int format_of(const struct tables_form *form)
{
    if (form->format >= 0) {
        return form->format;
    }
    return tables_stdout(form) ? (int)TABLE_FORMAT_COLUMN : (int)TABLE_FORMAT_CSV;
}

bool tables_person(const struct tables_form *form)
{
    int format = format_of(form);
    return format == TABLE_FORMAT_COLUMN || format == TABLE_FORMAT_TABLE;
}

/* BASE_NAME.EXT, as nsys names its files; "." as the base is the capture without its extension. */
static void file_name(const struct tables_form *form, const char *name, struct buf *out)
{
    static const char *const extensions[] = {"txt", "txt", "csv", "tsv", "json"};
    if (strcmp(form->target, ".") == 0) {
        const char *dot = strrchr(form->path, '.');
        const char *slash = strrchr(form->path, '/');
        bool has = dot != NULL && (slash == NULL || dot > slash + 1);
        buf_add(out, form->path, has ? (size_t)(dot - form->path) : strlen(form->path));
    } else {
        buf_adds(out, form->target);
    }
    buf_addc(out, '_');
    for (const char *at = name; *at != '\0'; at++) {
        if (*at != ':' && *at != '/' && (unsigned char)*at > ' ') {
            buf_addc(out, *at);
        } else {
            buf_adds(out, "_");
        }
    }
    buf_addf(out, ".%s", extensions[format_of(form)]);
}

int tables_open(const struct tables_form *form, const char *name, struct output *out,
                struct buf *file, struct err *err)
{
    struct stat st;
    if (tables_stdout(form) || form->target[0] == '@') {
        return output_open(out, form->target, err);
    }
    file_name(form, name, file);
    if (buf_failed(file)) {
        return err_nomem(err, "the file name");
    }
    if (!form->force && stat(buf_text(file), &st) == 0) {
        return err_set(err, "%.500s is there already; --force-overwrite replaces it",
                       buf_text(file));
    }
    return output_open(out, buf_text(file), err);
}

int tables_write(const struct tables_form *form, const char *name, const struct table *table,
                 const struct buf *note, struct output *out, struct err *err)
{
    bool person = tables_person(form);
    const struct table_output how = {.format = (enum table_format)format_of(form),
                                     .time_unit_ns = form->unit_ns,
                                     .ascii = person && tables_stdout(form) && output_ascii()};
    const struct table_sink sink = {output_write, out};
    struct buf text = {0};
    if (person && !form->quiet) {
        buf_addf(&text, "\n ** %s (", table_title(table));
        utf8_sanitize(&text, name, strlen(name), false);
        buf_adds(&text, "):\n\n");
        (void)output_buf(out, &text);
    }
    buf_free(&text);
    if (table_write(table, &how, &sink, err) != 0 && !output_gone(out)) {
        return -1;
    }
    if (person && note != NULL && note->len > 0) {
        (void)output_text(out, "\n");
        (void)output_buf(out, note);
    }
    return 0;
}

void tables_skipped(const struct tables_form *form, const char *missing, struct output *out)
{
    struct buf text = {0};
    if (form->quiet) {
        return;
    }
    buf_adds(&text, "SKIPPED: ");
    utf8_sanitize(&text, form->path, strlen(form->path), false);
    buf_addf(&text, " does not contain %s.\n", missing);
    if (out != NULL) {
        (void)output_buf(out, &text);
    } else {
        (void)fputs(buf_text(&text), stderr);
    }
    buf_free(&text);
}

/* ---- help ---- */

static void help_one(const struct report *report, bool all, struct buf *out)
{
    buf_addf(out, "%s -- %s\n", report->name, report->title);
    if (!all) {
        return;
    }
    buf_addf(out, "    %s\n", report->help);
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
    struct buf out = {0};
    struct err err = {0};
    int status = COMMAND_DONE;
    for (int i = 0; i < count; i++) {
        if (name[0] == '\0' || all || strcmp(name, list[i]->name) == 0) {
            help_one(list[i], name[0] != '\0', &out);
        }
    }
    if (out.len == 0) {
        (void)err_set(&err, "no %s '%.100s'; --help lists the option that names them",
                      kind == REPORT_RULE ? "rule" : "report", name);
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
