/*
 * tables: what stats, analyze, diff and export share: the readers of their options, and printing
 * tables to the standard output, to files and to commands.
 */
#ifndef CUTLINE_CLI_TABLES_H
#define CUTLINE_CLI_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/report/report.h"
#include "analysis/table/table.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

/* ---- options (tables_options.c) ---- */

/* Reads --timeunit (NULL = ns). 0 or -1. */
int tables_unit(const char *text, int64_t *unit_ns, struct err *err);
/*
 * Reads "[START]/[END]" of an option (its name, for messages) into the times that are given; NULL
 * leaves both. A range that ends before it begins is an error, so that no command looks at
 * nothing and finds all well. 0 or -1.
 */
int tables_time(const char *option, const char *text, int64_t *begin_ns, int64_t *end_ns,
                struct err *err);
/* Says on stderr that the time of an option has no event of the capture; in silence where it has, or
 * where neither bound was given. */
void tables_say_outside(const char *command, const char *option, const struct trace *trace,
                        int64_t begin_ns, int64_t end_ns);
/* Says on stderr that rows of the file are left out, where there are any. */
void tables_say_left_out(const char *command, const char *path, const struct trace *trace);
/* Says on stderr that CUDA means another device by the number than the one of that id. */
void tables_say_device(const char *command, const struct trace *trace, int64_t number);
/* Does any op of a device overlap or touch [begin, end]? O(ops). */
bool tables_has_ops(const struct trace *trace, int64_t begin_ns, int64_t end_ns);
/* Reads --fail-on's and --fail-on-regression's number: finite, not negative; *end is what follows
 * it. 0 or -1. */
int tables_limit(const char *text, double *value, const char **end);

/* The options that say which events count; NULL and -1 = not given. */
struct tables_filter {
    const char *time;
    const char *nvtx;
    const char *name;
    int64_t device;
    int64_t pid;
};

/* Reads them into options that are SELECT_OPTIONS_ALL. 0 or -1. */
int tables_filter(const struct tables_filter *filter, struct select_options *options,
                  struct err *err);

/* Where the capture is named beside the operands; NULL = not given. */
struct tables_input {
    const char *file;
    const char *sqlite;
};

/* The capture to read: the one that is named, or --sqlite's, where there is such a file. NULL with
 * err set where there is none, or two. It lives in argv. */
const char *tables_input(const struct tables_input *input, const struct opts_rest *rest,
                         struct err *err);

/* The words of all arguments of an option, split at commas; "\," is a comma inside one. */
struct tables_words {
    char **list; /* into memory */
    size_t count;
    char *memory; /* owned, as list is */
};

/* 0 or -1; free it in both cases. */
int tables_words(const struct opts_list *arguments, struct tables_words *words, struct err *err);
void tables_words_free(struct tables_words *words);

/* What of the capture calls read, as trace_options.kinds has it; 0 = everything. */
uint32_t tables_kinds(const struct report_call *calls, size_t count,
                      const struct select_options *options);

/* The help of one report or rule, or of all (name "" or "ALL"). Returns an exit status. */
int tables_help(const char *command, enum report_kind kind, const char *name);

/* ---- printing (tables.c) ---- */

/* Where tables go and how. */
struct tables_form {
    const char *command; /* for messages */
    const char *path; /* the capture: the base name for "-o ." */
    const char *target; /* NULL or "-" = stdout, "@COMMAND", "." or a base name */
    const char *nvtx; /* --filter-nvtx, for the name of a file; may be NULL */
    int format; /* enum table_format; -1: column on stdout, csv elsewhere */
    int64_t unit_ns;
    bool force; /* replace files */
    bool quiet; /* tables alone */
    bool spreadsheet; /* csv and tsv: no text begins like a formula */
    bool as_stats; /* with nsys's "Processing" lines and the empty lines around them */
};

/* Is the output a page for people: column or table? */
bool tables_person(const struct tables_form *form);
bool tables_stdout(const struct tables_form *form);

/* Opens the target: NAME is the last part of a file's name, BASE_NAME.EXT. 0 or -1. */
int tables_open(const struct tables_form *form, const char *name, struct output *out,
                struct buf *file, struct err *err);
/* Title and table, and the note for people, to an open output; in JSON a whole document. 0 or -1. */
int tables_write(const struct tables_form *form, const char *name, const struct table *table,
                 const struct buf *note, struct output *out, struct err *err);

/* What the tables before left on the standard output; zero before the first. */
struct tables_page {
    bool printed; /* a table */
    bool is_document; /* a document of JSON, which is still open for more tables */
};

/* Prints what a report or rule answered, or that its data are missing. Tables in JSON that follow
 * each other on the standard output are one document. 0 or -1. */
int tables_print(const struct tables_form *form, const char *name,
                 const struct report_result *result, struct tables_page *page, struct err *err);
/* After the last of them. 0 or -1. */
int tables_finish(struct tables_page *page, struct err *err);

#endif
