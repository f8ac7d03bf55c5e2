/*
 * fuzz_capture_sql: SQL text makes a capture, which is then read: bytes that stay a database reach
 * further than bytes that do not. What the text may do is bounded: no other file, no endless loop.
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/fuzz/fuzz.h"

enum {
    STEPS_MAX = 2000, /* of 1000 instructions each */
    TEXT_MAX = 1 << 20
};

static int authorize(void *arg, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    (void)arg;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

static int step(void *arg)
{
    int *steps = arg;
    return ++*steps > STEPS_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file((const uint8_t *)"", 0);
    char *sql = malloc(size + 1);
    sqlite3 *db = NULL;
    int steps = 0;
    if (path == NULL || sql == NULL || sqlite3_open(path, &db) != SQLITE_OK) {
        goto out;
    }
    memcpy(sql, data, size);
    sql[size] = '\0';
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
    (void)sqlite3_exec(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", NULL, NULL, NULL);
    (void)sqlite3_set_authorizer(db, authorize, NULL);
    sqlite3_progress_handler(db, 1000, step, &steps);
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
    (void)sqlite3_close(db);
    db = NULL;
    fuzz_read_capture(path);
out:
    (void)sqlite3_close(db);
    free(sql);
    return 0;
}
