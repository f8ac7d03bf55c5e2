/*
 * sql_file: captures for unit tests: made from SQL text in a temporary file, or one of the
 * hand-made cases that the build made from testdata/cases.
 */
#ifndef CUTLINE_TESTS_SQL_FILE_H
#define CUTLINE_TESTS_SQL_FILE_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "analysis/trace/trace_internal.h"

enum {
    SQL_FILE_PATH = 512
};

struct sql_file {
    char path[SQL_FILE_PATH];
};

/* An empty temporary file. Removed by sql_file_remove. */
static inline void sql_file_new(struct sql_file *file)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(file->path, sizeof file->path, "%s/cutline-test-XXXXXX",
                   folder == NULL ? "/tmp" : folder);
    int fd = mkstemp(file->path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static inline void sql_file_remove(const struct sql_file *file)
{
    assert_int_equal(unlink(file->path), 0);
}

/* Runs SQL on the file. */
static inline void sql_file_run(const struct sql_file *file, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(file->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s", message);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static inline struct trace *sql_file_load(const struct sql_file *file,
                                          const struct trace_options *options)
{
    struct err err = {""};
    struct trace *trace = trace_load(file->path, options, &err);
    if (trace == NULL) {
        fail_msg("%s", err.text);
    }
    assert_null(trace_broken(trace)); /* every model that a test loads keeps the promises */
    return trace;
}

/* The trace of SQL text, which needs no file any more. */
static inline struct trace *sql_load(const char *sql)
{
    struct sql_file file = {""};
    sql_file_new(&file);
    sql_file_run(&file, sql);
    struct trace *trace = sql_file_load(&file, NULL);
    sql_file_remove(&file);
    return trace;
}

/* The path of a case of testdata/cases. */
static inline void sql_case_path(const char *name, struct sql_file *file)
{
    const char *build = getenv("CUTLINE_BUILD");
    (void)snprintf(file->path, sizeof file->path, "%s/cases/%s.sqlite",
                   build == NULL ? "build/release" : build, name);
}

static inline struct trace *sql_case_load(const char *name)
{
    struct sql_file file = {""};
    sql_case_path(name, &file);
    return sql_file_load(&file, NULL);
}

#endif
