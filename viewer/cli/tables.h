/*
 * tables: what analyze, diff and export share: options for tables, and printing one.
 */
#ifndef CUTLINE_CLI_TABLES_H
#define CUTLINE_CLI_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/report/report.h"
#include "analysis/table/table.h"
#include "viewer/cli/output.h"

/* Where tables go and how. */
struct tables_form {
    const char *command; /* for messages */
    const char *path;    /* the capture: the base name for "-o ." */
    const char *target;  /* NULL or "-" = stdout, "@COMMAND", "." or a base name */
    int format;          /* enum table_format; -1: column on stdout, csv elsewhere */
    int64_t unit_ns;
    bool force; /* replace files */
    bool quiet; /* tables alone */
};

/* Reads --timeunit (NULL = ns). 0 or -1. */
int tables_unit(const char *text, int64_t *unit_ns, struct err *err);
/* Reads --filter-time "[START]/[END]". 0 or -1. */
int tables_time(const char *text, int64_t *begin_ns, int64_t *end_ns, struct err *err);
/* Is the output a page for people: column or table? */
bool tables_person(const struct tables_form *form);
bool tables_stdout(const struct tables_form *form);

/* Opens the target: NAME is the last part of a file's name, BASE_NAME.EXT. 0 or -1. */
int tables_open(const struct tables_form *form, const char *name, struct output *out,
                struct buf *file, struct err *err);
/* Title and table, and the note for people, to an open output. 0 or -1. */
int tables_write(const struct tables_form *form, const char *name, const struct table *table,
                 const struct buf *note, struct output *out, struct err *err);
/* "SKIPPED: FILE does not contain WHAT." to stdout for people, else to stderr. */
void tables_skipped(const struct tables_form *form, const char *missing, struct output *out);

/* The help of one report or rule, or of all (name "" or "ALL"). Returns an exit status. */
int tables_help(const char *command, enum report_kind kind, const char *name);

#endif
