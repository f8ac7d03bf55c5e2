/* Opening: everything that is not a readable capture gets one clear line. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "analysis/store/file.h"
#include "analysis/store/store.h"
#include "analysis/tests/sql_file.h"

static const char SMALL[] = "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
                            "CREATE TABLE ThreadNames(nameId, priority, globalTid);"
                            "INSERT INTO StringIds VALUES (1, 'one');";

/* Opening fails, the message has the words, names the path and is one line. */
static void refuse(const char *path, const char *words)
{
    struct err err = {""};
    struct store *store = store_open(path, &err);
    if (store != NULL || strstr(err.text, words) == NULL) {
        fail_msg("%s: expected \"%s\", got \"%s\"", path, words, err.text);
    }
    assert_null(strchr(err.text, '\n'));
    assert_non_null(strstr(err.text, path));
}

/* A file of the given bytes is refused. */
static void refuse_bytes(const void *bytes, size_t len, const char *words)
{
    struct sql_file file = {""};
    sql_file_new(&file);
    int fd = open(file.path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    (void)close(fd);
    refuse(file.path, words);
    sql_file_remove(&file);
}

static void paths_that_are_no_files(void **state)
{
    struct err err = {""};
    struct sql_file file = {""};
    (void)state;
    refuse("/nonexistent/capture.sqlite", "no such file");
    refuse("/tmp", "a directory");
    refuse("/dev/null", "not a regular file");
    assert_null(store_open("", &err));
    assert_non_null(strstr(err.text, "empty"));
    sql_file_new(&file);
    refuse(file.path, "empty");
    sql_file_remove(&file);
    assert_int_equal(mkfifo(file.path, 0600), 0); /* opening it would wait for ever */
    refuse(file.path, "not a regular file");
    sql_file_remove(&file);
}

static void files_of_other_kinds(void **state)
{
    static const char lfs[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    static const char json[] = "{\"traceEvents\": []}";
    static const char text[] = "PID,Name\n1,x\n";
    static const char gzip[] = "\x1f\x8b\x08\0\0\0\0\0";
    static const char binary[] = "\0\1\2\3\4\5\6\7";
    static const char header[] = "SQLite format 3";
    (void)state;
    refuse_bytes(lfs, sizeof lfs - 1, "git lfs pull");
    refuse_bytes(json, sizeof json - 1, "JSON");
    refuse_bytes(text, sizeof text - 1, "a text file");
    refuse_bytes(gzip, sizeof gzip - 1, "gzip");
    refuse_bytes(binary, sizeof binary - 1, "not a SQLite file");
    refuse_bytes(header, sizeof header, "truncated");
}

static void a_cut_file_is_truncated(void **state)
{
    struct sql_file file = {""};
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    sql_file_run(&file, "CREATE TABLE filler AS SELECT zeroblob(50000) AS bytes;");
    assert_int_equal(truncate(file.path, 20000), 0);
    refuse(file.path, "truncated: 20000 of ");
    sql_file_remove(&file);
}

static void a_damaged_file_is_damaged(void **state)
{
    struct sql_file file = {""};
    struct stat st;
    char junk[4096];
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    memset(junk, 0xAB, sizeof junk);
    int fd = open(file.path, O_WRONLY);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(pwrite(fd, junk, sizeof junk - 100, 100), sizeof junk - 100);
    (void)close(fd);
    refuse(file.path, "damaged");
    sql_file_remove(&file);
}

static void a_database_without_tables(void **state)
{
    struct sql_file file = {""};
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, "CREATE TABLE t(x); DROP TABLE t;");
    refuse(file.path, "without any table");
    sql_file_remove(&file);
}

/* Runs work in a child; returns its pid once the child has written a byte. */
static pid_t child_start(void (*work)(const struct sql_file *file), const struct sql_file *file)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        work(file);
        if (write(ready[1], "x", 1) == 1) {
            (void)pause();
        }
        _exit(1);
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return pid;
}

static void child_kill(pid_t pid)
{
    int status;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void lock_exclusively(const struct sql_file *file)
{
    sqlite3 *db = NULL;
    (void)sqlite3_open(file->path, &db);
    (void)sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
}

static void a_locked_file_says_so(void **state)
{
    struct sql_file file = {""};
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    pid_t pid = child_start(lock_exclusively, &file);
    refuse(file.path, "locked");
    child_kill(pid);
    sql_file_remove(&file);
}

/* Writes more than the cache holds inside a transaction, so that a hot journal stays behind. */
static void write_half(const struct sql_file *file)
{
    sqlite3 *db = NULL;
    (void)sqlite3_open(file->path, &db);
    (void)sqlite3_exec(db,
                       "PRAGMA cache_size=2; PRAGMA synchronous=OFF; BEGIN; CREATE TABLE big(x);"
                       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                       "200) INSERT INTO big SELECT zeroblob(1000) FROM n;",
                       NULL, NULL, NULL);
}

static void a_killed_writer_is_named(void **state)
{
    struct sql_file file = {""};
    char journal[SQL_FILE_PATH + 16];
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    child_kill(child_start(write_half, &file));
    (void)snprintf(journal, sizeof journal, "%s-journal", file.path);
    assert_int_equal(access(journal, F_OK), 0);
    refuse(file.path, "killed half way");
    sql_file_remove(&file);
    assert_int_equal(unlink(journal), 0);
}

static void odd_file_names_open(void **state)
{
    static const char *const names[] = {"%41?mode=rwc#x.sqlite", "a b;'\".sqlite", "file:x.sqlite"};
    struct sql_file file = {""};
    char folder[SQL_FILE_PATH + 8];
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    (void)snprintf(folder, sizeof folder, "%s.d", file.path);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[SQL_FILE_PATH + 64];
        struct err err = {""};
        (void)snprintf(path, sizeof path, "//%s/%s", folder + 1, names[i]);
        assert_int_equal(link(file.path, path), 0);
        struct store *store = store_open(path, &err);
        if (store == NULL) {
            fail_msg("%s", err.text);
        }
        assert_string_equal(store_path(store), path);
        store_close(store);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    sql_file_remove(&file);
}

static struct store *open_sql(const char *sql, struct sql_file *file)
{
    struct err err = {""};
    sql_file_new(file);
    sql_file_run(file, SMALL);
    sql_file_run(file, sql);
    struct store *store = store_open(file->path, &err);
    assert_non_null(store);
    sql_file_remove(file);
    return store;
}

static void missing_columns_read_as_null(void **state)
{
    static const char *const columns[] = {"a", "nowhere", "B", "c"};
    struct store_scan scan = {"t", columns, 4, 0, INT64_MAX};
    struct sql_file file = {""};
    struct err err = {""};
    struct store *store = open_sql("CREATE TABLE t(a, b, c, d);"
                                   "INSERT INTO t VALUES (1, 'x', x'00ff', 2), ('7', 2.5, NULL, 3)",
                                   &file);
    struct store_cursor *cursor = store_scan(store, &scan, &err);
    size_t len;
    (void)state;
    assert_non_null(cursor);
    assert_int_equal(store_next(cursor, &err), 1);
    assert_int_equal(store_rowid(cursor), 1);
    assert_int_equal(store_int(cursor, 0, -1), 1);
    assert_true(store_is_null(cursor, 1));
    assert_int_equal(store_int(cursor, 1, -1), -1);
    assert_int_equal(store_int(cursor, 1, 0), 0);
    assert_null(store_text(cursor, 1, &len));
    assert_string_equal(store_text(cursor, 2, &len), "x");
    assert_memory_equal(store_text(cursor, 3, &len), "\0\xff", 2);
    assert_int_equal(len, 2);
    assert_int_equal(store_next(cursor, &err), 1);
    assert_int_equal(store_int(cursor, 0, -1), 7);
    assert_true(store_real(cursor, 2, 0) > 2.4 && store_real(cursor, 2, 0) < 2.6);
    assert_int_equal(store_next(cursor, &err), 0);
    store_cursor_close(cursor);
    store_close(store);
}

static void missing_tables_have_no_rows(void **state)
{
    static const char *const columns[] = {"a"};
    struct store_scan scan = {"nowhere", columns, 1, 0, INT64_MAX};
    struct sql_file file = {""};
    struct err err = {""};
    struct store *store = open_sql("CREATE TABLE t(a)", &file);
    struct store_cursor *cursor = store_scan(store, &scan, &err);
    (void)state;
    assert_int_equal(store_next(cursor, &err), 0);
    store_cursor_close(cursor);
    assert_false(store_has_table(store, "nowhere"));
    assert_true(store_has_table(store, "t"));
    assert_false(store_has_column(store, "nowhere", "a"));
    assert_int_equal(store_count(store, "nowhere", &err), 0);
    assert_int_equal(store_row_bound(store, "nowhere"), 0);
    assert_int_equal(store_row_bound(store, "t"), 0);
    store_close(store);
}

static void ranges_of_rows(void **state)
{
    static const char *const columns[] = {"a"};
    struct sql_file file = {""};
    struct err err = {""};
    struct store *store =
        open_sql("CREATE TABLE t(a); CREATE INDEX i ON t(a);"
                 "INSERT INTO t(rowid, a) VALUES (-3, 9), (0, 8), (5, 7), (10, 6), (100, 5)",
                 &file);
    const struct {
        int64_t first;
        int64_t end;
        int rows;
    } ranges[] = {
        {0, INT64_MAX, 5}, {0, 0, 5}, {5, INT64_MAX, 3}, {INT64_MIN, 5, 2}, {5, 10, 1}, {6, 10, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        struct store_scan scan = {"t", columns, 1, ranges[i].first, ranges[i].end};
        struct store_cursor *cursor = store_scan(store, &scan, &err);
        int rows = 0;
        int64_t last = INT64_MIN;
        while (store_next(cursor, &err) == 1) {
            assert_true(store_rowid(cursor) > last); /* by row, not by the index */
            last = store_rowid(cursor);
            rows++;
        }
        assert_int_equal(rows, ranges[i].rows);
        store_cursor_close(cursor);
    }
    assert_int_equal(store_row_bound(store, "t"), 101);
    assert_int_equal(store_count(store, "t", &err), 5);
    store_close(store);
}

/* The sum of a over the rows [first, end), and of the row numbers. */
static void sum_rows(struct store *store, const char *table, int64_t first, int64_t end,
                     int64_t *values, int64_t *numbers)
{
    static const char *const columns[] = {"a"};
    struct store_scan scan = {table, columns, 1, first, end};
    struct err err = {""};
    struct store_cursor *cursor = store_scan(store, &scan, &err);
    *values = 0;
    *numbers = 0;
    if (cursor == NULL) {
        fail_msg("%s", err.text);
    }
    while (store_next(cursor, &err) == 1) {
        *values += store_int(cursor, 0, 0);
        *numbers += store_rowid(cursor);
    }
    assert_string_equal(err.text, "");
    store_cursor_close(cursor);
}

static void rows_without_ids_are_numbered(void **state)
{
    struct sql_file file = {""};
    struct store *store =
        open_sql("CREATE TABLE t(k INTEGER PRIMARY KEY, a) WITHOUT ROWID;"
                 "INSERT INTO t VALUES (30, 4), (10, 1), (20, 2), (40, 8);"
                 "CREATE TABLE u(rowid, oid, _rowid_, a); INSERT INTO u VALUES (7, 7, 7, 1),"
                 "(7, 7, 7, 2), (7, 7, 7, 4), (7, 7, 7, 8)",
                 &file);
    static const char *const tables[] = {"t", "u"};
    int64_t values;
    int64_t numbers;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_row_bound(store, tables[i]), 5);
        sum_rows(store, tables[i], 0, INT64_MAX, &values, &numbers);
        assert_int_equal(values, 15);
        assert_int_equal(numbers, 10);
        sum_rows(store, tables[i], 1, 3, &values, &numbers);
        assert_int_equal(values, 3);
        assert_int_equal(numbers, 3);
        sum_rows(store, tables[i], 0, 2, &values, &numbers);
        assert_int_equal(values, 1);
        sum_rows(store, tables[i], 4, INT64_MAX, &values, &numbers);
        assert_int_equal(values, 8);
        assert_int_equal(numbers, 4);
        sum_rows(store, tables[i], 5, 9, &values, &numbers);
        assert_int_equal(values, 0);
    }
    store_close(store);
}

static void a_column_named_rowid_is_a_column(void **state)
{
    struct sql_file file = {""};
    struct store *store = open_sql("CREATE TABLE t(RowID, a); INSERT INTO t VALUES (100, 1), "
                                   "('x', 2), (NULL, 4)",
                                   &file);
    int64_t values;
    int64_t numbers;
    (void)state;
    assert_int_equal(store_row_bound(store, "t"), 4);
    sum_rows(store, "t", 2, 3, &values, &numbers);
    assert_int_equal(values, 2);
    assert_int_equal(numbers, 2);
    store_close(store);
}

static void virtual_tables_are_refused(void **state)
{
    static const char *const columns[] = {"a"};
    struct store_scan scan = {"disguised", columns, 1, 0, INT64_MAX};
    struct sql_file file = {""};
    struct err err = {""};
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    sql_file_run(&file, "PRAGMA writable_schema = ON;"
                        "INSERT INTO sqlite_master VALUES ('table', 'search', 'search', 0,"
                        "'CREATE VIRTUAL TABLE search USING fts5(a)'),"
                        "('table', 'disguised', 'disguised', 2,"
                        "'CREATE /**/ VIRTUAL TABLE disguised USING fts5(a)')");
    struct store *store =
        store_open(file.path, &err); /* what others added is no reason to refuse */
    if (store == NULL) {
        fail_msg("%s", err.text);
    }
    assert_false(store_has_table(store, "search"));
    assert_null(store_scan(store, &scan, &err)); /* but no module runs */
    store_close(store);
    sql_file_run(&file, "PRAGMA writable_schema = ON;"
                        "INSERT INTO sqlite_master VALUES ('table', 'NVTX_EVENTS', 'NVTX_EVENTS',"
                        "0, 'CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(text)')");
    refuse(file.path, "NVTX_EVENTS is a virtual one");
    sql_file_remove(&file);
}

static bool beside(const struct sql_file *file, const char *suffix)
{
    char path[SQL_FILE_PATH + 16];
    (void)snprintf(path, sizeof path, "%s%s", file->path, suffix);
    return access(path, F_OK) == 0;
}

static void remove_beside(const struct sql_file *file, const char *suffix)
{
    char path[SQL_FILE_PATH + 16];
    (void)snprintf(path, sizeof path, "%s%s", file->path, suffix);
    (void)unlink(path);
}

/* Commits rows to the log and holds the database open, as a program that still runs does. */
static void write_log(const struct sql_file *file)
{
    sqlite3 *db = NULL;
    (void)sqlite3_open(file->path, &db);
    (void)sqlite3_exec(db,
                       "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                       "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (4);",
                       NULL, NULL, NULL);
}

static void a_log_is_read_and_nothing_is_left_beside(void **state)
{
    struct sql_file file = {""};
    struct err err = {""};
    int64_t values;
    int64_t numbers;
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    child_kill(child_start(write_log, &file)); /* rows are in the log alone */
    assert_true(beside(&file, "-wal"));
    remove_beside(&file, "-shm");
    struct store *store = store_open(file.path, &err);
    if (store == NULL) {
        fail_msg("%s", err.text);
    }
    sum_rows(store, "t", 0, INT64_MAX, &values, &numbers);
    assert_int_equal(values, 7);
    store_close(store);
    assert_true(beside(&file, "-wal"));
    assert_false(beside(&file, "-shm"));
    sql_file_run(&file,
                 "PRAGMA wal_checkpoint(TRUNCATE)"); /* now in the file, still of that kind */
    assert_false(beside(&file, "-wal"));
    store = store_open(file.path, &err);
    assert_non_null(store);
    sum_rows(store, "t", 0, INT64_MAX, &values, &numbers);
    assert_int_equal(values, 7);
    store_close(store);
    assert_false(beside(&file, "-wal"));
    assert_false(beside(&file, "-shm"));
    sql_file_remove(&file);
}

static const char MANY[] = "CREATE TABLE t(a);"
                           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
                           "i < 30000) INSERT INTO t SELECT 1 FROM n;";

static void a_replaced_file_is_read_to_its_end(void **state)
{
    struct sql_file file = {""};
    struct sql_file other = {""};
    struct err err = {""};
    int64_t values;
    int64_t numbers;
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SMALL);
    sql_file_run(&file, MANY);
    sql_file_new(&other);
    sql_file_run(&other, SMALL);
    struct store_file *opened = store_file_open(file.path, &err);
    assert_non_null(opened);
    assert_int_equal(rename(other.path, file.path), 0);
    struct store *store =
        store_open_file(opened, &err); /* opened only now: of what was there before */
    if (store == NULL) {
        fail_msg("%s", err.text);
    }
    sum_rows(store, "t", 0, INT64_MAX, &values, &numbers);
    assert_int_equal(values, 30000);
    assert_int_equal(store_file_check(opened, &err), 0);
    store_close(store);
    store_file_close(opened);
    sql_file_remove(&file);
}

/* A file that is written to, or cut, while it is read: one line that says so, and no signal. */
static void a_file_that_is_written_to_says_so(void **state)
{
    static const char *const columns[] = {"a"};
    struct store_scan scan = {"t", columns, 1, 0, INT64_MAX};
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        struct sql_file file = {""};
        struct err err = {""};
        int more;
        sql_file_new(&file);
        sql_file_run(&file, SMALL);
        sql_file_run(&file, MANY);
        struct store *store = store_open(file.path, &err);
        assert_non_null(store);
        struct store_cursor *cursor = store_scan(store, &scan, &err);
        assert_int_equal(store_next(cursor, &err), 1);
        if (cut != 0) {
            assert_int_equal(truncate(file.path, 4096), 0);
            while ((more = store_next(cursor, &err)) == 1) {
            }
            assert_int_equal(more, -1);
            assert_non_null(strstr(err.text, "was written to while it was read"));
        }
        store_cursor_close(cursor);
        if (cut == 0) {
            sql_file_run(&file, "UPDATE t SET a = 2 WHERE rowid = 5");
        }
        err.text[0] = '\0';
        assert_null(store_scan(store, &scan, &err));
        assert_non_null(strstr(err.text, "was written to while it was read"));
        store_close(store);
        sql_file_remove(&file);
    }
}

static void numbered_tables_stand_in(void **state)
{
    struct sql_file file = {""};
    struct err err = {""};
    struct store *store = open_sql("CREATE TABLE K_V2(a); CREATE TABLE K_V10(a, b);"
                                   "CREATE TABLE K_V10x(a); CREATE TABLE MEMCPY2(a);"
                                   "INSERT INTO K_V10 VALUES (1, 2)",
                                   &file);
    (void)state;
    assert_true(store_has_table(store, "K"));
    assert_true(store_has_column(store, "K", "b"));
    assert_int_equal(store_count(store, "K", &err), 1);
    assert_false(store_has_table(store, "MEMCPY"));
    store_close(store);
}

static void labels_of_the_file_come_first(void **state)
{
    struct sql_file file = {""};
    struct store *store =
        open_sql("CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER PRIMARY KEY, name, label);"
                 "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'H', 'of the file');",
                 &file);
    (void)state;
    assert_string_equal(store_enum_label(store, STORE_ENUM_MEMCPY_OPER, 1), "of the file");
    assert_string_equal(store_enum_label(store, STORE_ENUM_MEMCPY_OPER, 2), "Device-to-Host");
    assert_string_equal(store_enum_label(store, STORE_ENUM_MEM_KIND, 0), "Pageable");
    assert_null(store_enum_label(store, STORE_ENUM_MEM_KIND, 99));
    assert_null(store_enum_label(store, STORE_ENUM_MEM_KIND, -1));
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_that_are_no_files),
        cmocka_unit_test(files_of_other_kinds),
        cmocka_unit_test(a_cut_file_is_truncated),
        cmocka_unit_test(a_damaged_file_is_damaged),
        cmocka_unit_test(a_database_without_tables),
        cmocka_unit_test(a_locked_file_says_so),
        cmocka_unit_test(a_killed_writer_is_named),
        cmocka_unit_test(odd_file_names_open),
        cmocka_unit_test(missing_columns_read_as_null),
        cmocka_unit_test(missing_tables_have_no_rows),
        cmocka_unit_test(ranges_of_rows),
        cmocka_unit_test(rows_without_ids_are_numbered),
        cmocka_unit_test(a_column_named_rowid_is_a_column),
        cmocka_unit_test(virtual_tables_are_refused),
        cmocka_unit_test(a_log_is_read_and_nothing_is_left_beside),
        cmocka_unit_test(a_replaced_file_is_read_to_its_end),
        cmocka_unit_test(a_file_that_is_written_to_says_so),
        cmocka_unit_test(numbered_tables_stand_in),
        cmocka_unit_test(labels_of_the_file_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
