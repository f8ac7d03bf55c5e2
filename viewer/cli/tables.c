/*
 * tables: see tables.h.
 */
#include "viewer/cli/tables.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "analysis/table/document.h"

bool tables_stdout(const struct tables_form *form)
{
    return output_kind_of(form->target) == OUTPUT_STDOUT;
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

/* Adds a part of a file's name, without what would make it another path. */
static void add_name_part(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        bool plain = *text != ':' && *text != '/' && (unsigned char)*text >= ' ';
        buf_add(out, plain ? text : "_", 1);
    }
}

/* BASE_NAME[_nvtx=RANGE].EXT, as nsys names its files; "." as the base is the capture without its
 * extension. */
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
    add_name_part(out, name);
    if (form->nvtx != NULL) {
        buf_adds(out, "_nvtx=");
        add_name_part(out, form->nvtx);
    }
    buf_addf(out, ".%s", extensions[format_of(form)]);
}

int tables_open(const struct tables_form *form, const char *name, struct output *out,
                struct buf *file, struct err *err)
{
    if (output_kind_of(form->target) != OUTPUT_FILE) {
        return output_open(out, form->target, err);
    }
    file_name(form, name, file);
    if (buf_failed(file)) {
        return err_nomem(err, "the file name");
    }
    return output_open_file(out, buf_text(file), form->force, err);
}

static struct table_output output_of(const struct tables_form *form)
{
    return (struct table_output){.format = (enum table_format)format_of(form),
                                 .time_unit_ns = form->unit_ns,
                                 .ascii =
                                     tables_person(form) && tables_stdout(form) && output_ascii(),
                                 .spreadsheet = form->spreadsheet};
}

/* What comes before the table, for people. */
static void write_title(const struct tables_form *form, const char *name, const struct table *table,
                        struct output *out)
{
    struct buf text = {0};
    if (tables_person(form) && (!form->quiet || form->as_stats)) {
        buf_addf(&text, "\n ** %s (", table_title(table));
        utf8_sanitize(&text, name, strlen(name), false);
        buf_adds(&text, "):\n\n");
        (void)output_buf(out, &text);
    }
    buf_free(&text);
}

/* What comes after it. */
static void write_note(const struct tables_form *form, const struct buf *note, struct output *out)
{
    struct buf text = {0};
    if (!tables_person(form)) {
        return;
    }
    if (note->len > 0 || form->as_stats) {
        buf_addc(&text, '\n');
    }
    if (note->len > 0 && output_of(form).ascii) {
        table_text_ascii(&text, note->data, note->len);
    } else {
        buf_add(&text, buf_text(note), note->len);
    }
    if (note->len > 0 && form->as_stats) {
        buf_addc(&text, '\n');
    }
    (void)output_buf(out, &text);
    buf_free(&text);
}

int tables_write(const struct tables_form *form, const char *name, const struct table *table,
                 const struct buf *note, struct output *out, struct err *err)
{
    static const struct buf no_note = {0};
    const struct table_output how = output_of(form);
    const struct table_sink sink = {output_write, out};
    const struct document_table entry = {.table = table, .name = name};
    int rc = 0;
    write_title(form, name, table, out);
    if (how.format != TABLE_FORMAT_JSON) {
        rc = table_write(table, &how, &sink, err);
    } else if (document_begin(&sink, err) != 0 || document_table(&entry, &how, &sink, err) != 0 ||
               document_end(&sink, err) != 0) {
        rc = -1;
    }
    if (rc != 0 && !output_gone(out)) {
        return -1;
    }
    write_note(form, note == NULL ? &no_note : note, out);
    return 0;
}

/* A line about a table: beside it for people (out is where tables go), else on stderr. */
static void say(const struct tables_form *form, struct output *out, struct buf *text)
{
    if (form->quiet) {
        return;
    }
    if (out != NULL) {
        (void)output_buf(out, text);
    } else {
        (void)fputs(buf_text(text), stderr);
    }
}

static void say_processing(const struct tables_form *form, const char *name, struct output *out)
{
    struct buf text = {0};
    buf_adds(&text, "Processing [");
    utf8_sanitize(&text, form->path, strlen(form->path), false);
    buf_adds(&text, "] with [");
    utf8_sanitize(&text, name, strlen(name), false);
    buf_adds(&text, "]... \n");
    say(form, out, &text);
    buf_free(&text);
}

static void say_skipped(const struct tables_form *form, const char *missing, struct output *out)
{
    struct buf text = {0};
    buf_adds(&text, "SKIPPED: ");
    utf8_sanitize(&text, form->path, strlen(form->path), false);
    buf_addf(&text, " does not contain %s.\n%s", missing,
             out != NULL && form->as_stats ? "\n" : "");
    say(form, out, &text);
    buf_free(&text);
}

static const char *missing_of(const struct report_result *result)
{
    return result->status == REPORT_MISSING ? result->missing : NULL;
}

/* A table of the document on the standard output; it stays open for the next. */
static int write_in_document(const struct tables_form *form, const char *name,
                             const struct report_result *result, struct tables_page *page,
                             struct output *out, struct err *err)
{
    const struct table_output how = output_of(form);
    const struct table_sink sink = {output_write, out};
    const struct document_table entry = {.table = result->table,
                                         .name = name,
                                         .missing = missing_of(result),
                                         .is_next = page->is_document};
    if ((!entry.is_next && document_begin(&sink, err) != 0) ||
        document_table(&entry, &how, &sink, err) != 0) {
        return output_gone(out) ? 0 : -1;
    }
    page->is_document = true;
    return 0;
}

/* To an output that is open. */
static int print_to(const struct tables_form *form, const char *name,
                    const struct report_result *result, struct tables_page *page,
                    struct output *out, struct err *err)
{
    bool to_stdout = tables_stdout(form);
    bool beside = to_stdout && tables_person(form);
    if (form->as_stats && (beside || !to_stdout)) {
        say_processing(form, name, beside ? out : NULL);
    }
    if (result->status == REPORT_MISSING) {
        say_skipped(form, result->missing, beside ? out : NULL);
        if (beside) {
            return 0;
        }
    }
    if (to_stdout && format_of(form) == TABLE_FORMAT_JSON) {
        return write_in_document(form, name, result, page, out, err);
    }
    return tables_write(form, name, result->table, &result->note, out, err);
}

/* What separates a table from the one before it on the standard output. */
static void separate(const struct tables_form *form, struct tables_page *page, struct output *out)
{
    bool is_json = format_of(form) == TABLE_FORMAT_JSON;
    const struct table_sink sink = {output_write, out};
    if (page->is_document && !is_json) {
        (void)document_end(&sink, NULL);
        page->is_document = false;
    }
    if (page->printed && !tables_person(form) && !page->is_document) {
        (void)output_text(out, "\n");
    }
}

int tables_print(const struct tables_form *form, const char *name,
                 const struct report_result *result, struct tables_page *page, struct err *err)
{
    struct output out;
    struct buf file = {0};
    if (!tables_stdout(form) && result->status == REPORT_MISSING) {
        if (form->as_stats) {
            say_processing(form, name, NULL);
        }
        say_skipped(form, result->missing, NULL);
        return 0;
    }
    int rc = tables_open(form, name, &out, &file, err);
    if (rc == 0) {
        if (tables_stdout(form)) {
            separate(form, page, &out);
        }
        rc = print_to(form, name, result, page, &out, err);
        if (output_close(&out, rc == 0 ? err : NULL) != 0) {
            rc = -1;
        }
        page->printed = page->printed || tables_stdout(form);
    }
    buf_free(&file);
    return rc;
}

int tables_finish(struct tables_page *page, struct err *err)
{
    struct output out;
    if (!page->is_document) {
        return 0;
    }
    page->is_document = false;
    if (output_open(&out, NULL, err) != 0) {
        return -1;
    }
    const struct table_sink sink = {output_write, &out};
    (void)document_end(&sink, NULL);
    return output_close(&out, err);
}
