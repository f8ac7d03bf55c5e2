/* What is derived of a trace and kept beside it: it comes back as it was, while the seal holds, and not
 * otherwise; a damaged file that bears a seal is found and forgotten. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store/cache_seal.h"
#include "analysis/tests/generated_file.h"
#include "analysis/trace/cache_layout.h"
#include "analysis/trace/keep.h"

enum {
    NUMBERS = 1000
};

static char folder[SQL_FILE_PATH]; /* XDG_CACHE_HOME */
static struct sql_file capture = {""};

static int make_capture(void **state)
{
    (void)state;
    generated_file_new(1, &capture, folder);
    return 0;
}

static void run(const char *command)
{
    assert_int_equal(setenv("F", folder, 1), 0);
    assert_int_equal(system(command), 0);
}

static int remove_capture(void **state)
{
    (void)state;
    sql_file_remove(&capture);
    run("rm -rf $F");
    return 0;
}

static struct trace *load(void)
{
    const struct trace_options options = {.cache_events = 1, .keep_later = true};
    return sql_file_load(&capture, &options);
}

static void make_squares(const void *arg, void *out)
{
    const uint32_t *from = arg;
    int64_t *squares = out;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        squares[i] = (int64_t)*from * i * i;
    }
}

static uint32_t numbers[NUMBERS];
static const uint32_t factor = 3;

static void keep(struct trace *trace, enum shelf_kind kind)
{
    struct shelf_list list = {0};
    struct err err = {""};
    for (uint32_t i = 0; i < NUMBERS; i++) {
        numbers[i] = i * 7;
    }
    shelf_put(&list, kind, 9, numbers, sizeof numbers);
    shelf_put(&list, kind, 5, numbers, 1);
    shelf_put(&list, kind, 7, numbers, 0);
    shelf_put_made(&list, kind, UINT32_MAX, NUMBERS * sizeof(int64_t), make_squares, &factor);
    assert_int_equal(trace_keep(trace, &list, NULL, &err), TRACE_KEPT);
    shelf_list_free(&list);
}

static void check(const struct trace *trace, enum shelf_kind kind, bool there)
{
    size_t bytes = 1;
    assert_null(shelf_get(trace, kind, 7, &bytes));
    assert_int_equal(bytes, 0);
    assert_null(shelf_get(trace, kind, 8, &bytes));
    const int64_t *squares = shelf_array(trace, kind, UINT32_MAX, NUMBERS * sizeof *squares);
    assert_int_equal(squares != NULL, there);
    assert_int_equal(shelf_get(trace, kind, 5, &bytes) != NULL, there);
    if (there) {
        assert_int_equal(bytes, 1);
        assert_memory_equal(shelf_get(trace, kind, 9, &bytes), numbers, sizeof numbers);
        assert_int_equal(bytes, sizeof numbers);
        assert_null(shelf_array(trace, kind, 9, sizeof numbers - 4));
        for (uint32_t i = 0; i < NUMBERS; i++) {
            assert_int_equal(squares[i], (int64_t)3 * i * i);
        }
    }
}

static void arrays_come_back(void **state)
{
    (void)state;
    run("rm -rf $F");
    struct trace *trace = load();
    assert_false(shelf_is_there(trace));
    keep(trace, SHELF_FACTS);
    trace_free(trace);
    trace = load();
    assert_true(shelf_is_there(trace));
    check(trace, SHELF_FACTS, true);
    check(trace, SHELF_ROW_SETS, false);
    keep(trace, SHELF_ROW_SETS); /* what was there stays */
    check(trace, SHELF_ROW_SETS, false);
    trace_free(trace);
    trace = load();
    check(trace, SHELF_FACTS, true);
    check(trace, SHELF_ROW_SETS, true);
    check(trace, SHELF_RECORDED, false);
    assert_int_equal(trace_keep(trace, NULL, NULL, NULL), TRACE_KEPT);
    trace_free(trace);
}

static void without_its_seal_nothing_is_taken(void **state)
{
    static const char *const touches[] = {"rm $F/cutline/seal-figures-*",
                                          "cat $F/cutline/figures-* >$F/x; cat $F/x >$(ls "
                                          "$F/cutline/figures-*)",
                                          "chmod 0644 $F/cutline/figures-*",
                                          "cp -p $F/cutline/figures-* $F/x; mv $F/x $(ls "
                                          "$F/cutline/figures-*)",
                                          "touch -d '-1 day' $F/cutline/figures-*"};
    (void)state;
    for (size_t i = 0; i < sizeof touches / sizeof touches[0]; i++) {
        run("rm -rf $F");
        struct trace *trace = load();
        keep(trace, SHELF_FACTS);
        trace_free(trace);
        trace = load();
        assert_true(shelf_is_there(trace));
        trace_free(trace);
        run(touches[i]);
        trace = load();
        assert_false(shelf_is_there(trace));
        keep(trace, SHELF_FACTS);
        trace_free(trace);
        trace = load();
        check(trace, SHELF_FACTS, true);
        trace_free(trace);
    }
}

/* Where a byte lies that no examination of numbers can tell to be wrong: of a row id, of a square. */
static off_t somewhere(int fd, const char *kind)
{
    struct cache_head head;
    struct stat st;
    uint64_t at = cache_aligned(sizeof head);
    assert_int_equal(fstat(fd, &st), 0);
    if (strcmp(kind, "figures") == 0) {
        return st.st_size / 2;
    }
    assert_int_equal(pread(fd, &head, sizeof head, 0), sizeof head);
    for (int s = 0; s < CACHE_EVENTS + 3; s++) {
        at += cache_aligned(head.sections[s].bytes);
    }
    return (off_t)at;
}

/* Changes a byte of a file of the folder and seals it again, as a failing disk would. */
static void damage(const char *kind)
{
    struct cache_folder opened;
    struct cache_key key;
    struct buf name = {0};
    struct buf path = {0};
    struct stat was;
    char byte = 0;
    struct store_file *file = store_file_open(capture.path, NULL);
    assert_int_equal(cache_file_name(file, kind, &name, &key), 0);
    store_file_close(file);
    buf_addf(&path, "%s/cutline/%s", folder, buf_text(&name));
    int fd = open(buf_text(&path), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    off_t at = somewhere(fd, kind);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 4);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    assert_int_equal(cache_folder_open(&opened, NULL), 0);
    assert_true(cache_seal_look(fd, &was));
    cache_seal_put(&opened, buf_text(&name), fd, &was, key.layout);
    assert_true(cache_seal_holds(&opened, buf_text(&name), fd, key.layout));
    assert_false(cache_seal_holds(&opened, buf_text(&name), fd, key.layout + 1));
    cache_folder_close(&opened);
    assert_int_equal(close(fd), 0);
    buf_free(&name);
    buf_free(&path);
}

static void damage_under_a_seal_is_found(void **state)
{
    static const char *const kinds[] = {"trace", "figures"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct err err = {""};
        run("rm -rf $F");
        struct trace *trace = load();
        keep(trace, SHELF_FACTS);
        trace_free(trace);
        damage(kinds[i]);
        trace = load();
        if (i == 1) { /* what nobody uses is not compared */
            size_t bytes = 0;
            assert_int_equal(trace_keep(trace, NULL, NULL, &err), TRACE_KEPT);
            assert_non_null(shelf_get(trace, SHELF_FACTS, 5, &bytes));
        }
        assert_int_equal(trace_keep(trace, NULL, NULL, &err), TRACE_KEPT_DAMAGED);
        assert_non_null(strstr(err.text, "damaged"));
        trace_free(trace);
        run("! ls $F/cutline/trace-* $F/cutline/figures-* 2>/dev/null");
        trace = load();
        assert_false(shelf_is_there(trace));
        assert_int_equal(trace_keep(trace, NULL, NULL, &err), TRACE_KEPT);
        trace_free(trace);
    }
}

/* Only the tables that are asked for are compared; what is used of the shelf later is compared at the
 * end. */
static void what_is_used_is_compared(void **state)
{
    const struct trace_options calls = {
        .cache_events = 1, .keep_later = true, .kinds = 1U << TRACE_API_CALL};
    const struct trace_options kernels = {
        .cache_events = 1, .keep_later = true, .kinds = 1U << TRACE_KERNEL};
    struct err err = {""};
    size_t bytes = 0;
    (void)state;
    run("rm -rf $F");
    struct trace *trace = load();
    keep(trace, SHELF_FACTS);
    trace_free(trace);
    damage("trace");
    trace = sql_file_load(&capture, &calls);
    assert_int_equal(trace_keep(trace, NULL, NULL, &err), TRACE_KEPT);
    trace_free(trace);
    trace = sql_file_load(&capture, &kernels);
    assert_int_equal(trace_keep(trace, NULL, NULL, &err), TRACE_KEPT_DAMAGED);
    trace_free(trace);
    run("rm -rf $F");
    trace = load();
    keep(trace, SHELF_FACTS);
    trace_free(trace);
    damage("figures");
    trace = load();
    struct trace_keep *beside = trace_keep_start(trace, NULL);
    while (trace_keep_state(beside) == TRACE_KEPT_BUSY) {
    }
    assert_non_null(shelf_get(trace, SHELF_FACTS, 5, &bytes));
    assert_int_equal(trace_keep_end(beside, true, &err), TRACE_KEPT_DAMAGED);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back),
        cmocka_unit_test(without_its_seal_nothing_is_taken),
        cmocka_unit_test(damage_under_a_seal_is_found),
        cmocka_unit_test(what_is_used_is_compared),
    };
    return cmocka_run_group_tests(tests, make_capture, remove_capture);
}
