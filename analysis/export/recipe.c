/*
 * recipe: see recipe.h.
 *
 * ncu matches --kernel-name against the function's name without namespace, template arguments and
 * parameters (its --kernel-name-base is "function"), which is the short name of a capture; it
 * counts --launch-skip among the launches that match (Nsight Compute CLI documentation).
 */
#include "analysis/export/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/shell.h"
#include "analysis/store/store.h"

/* ---- the recorded command ---- */

enum {
    WORDS_MAX = 4096
};

/* 0 for the command, n + 1 for argument n, -1 for any other key. */
static long word_place(const char *key, size_t len)
{
    static const char command[] = "PROCESS_0:COMMAND";
    static const char argument[] = "PROCESS_0:ARGUMENT_";
    size_t prefix = sizeof argument - 1;
    long number = 0;
    if (len == sizeof command - 1 && memcmp(key, command, len) == 0) {
        return 0;
    }
    if (len <= prefix || len > prefix + 4 || memcmp(key, argument, prefix) != 0) {
        return -1;
    }
    for (size_t i = prefix; i < len; i++) {
        if (key[i] < '0' || key[i] > '9') {
            return -1;
        }
        number = number * 10 + (key[i] - '0');
    }
    return number + 1 < WORDS_MAX ? number + 1 : -1;
}

static int read_words(struct store_cursor *cursor, struct recipe_command *out, struct err *err)
{
    int rc = 0;
    while ((rc = store_next(cursor, err)) == 1) {
        size_t key_len = 0;
        size_t value_len = 0;
        const char *key = store_text(cursor, 0, &key_len);
        long place = key != NULL ? word_place(key, key_len) : -1;
        const char *value = place >= 0 ? store_text(cursor, 1, &value_len) : NULL;
        if (value == NULL) {
            continue;
        }
        out->words[place] = arena_copy(&out->arena, value, value_len);
        if (out->words[place] == NULL) {
            return err_nomem(err, "the recorded command");
        }
    }
    return rc;
}

int recipe_command_load(const struct trace *trace, struct recipe_command *out, struct err *err)
{
    static const char *const columns[] = {"name", "value"};
    const struct store_scan scan = {
        .table = "META_DATA_CAPTURE", .columns = columns, .column_count = 2, .end_row = INT64_MAX};
    struct store_cursor *cursor = NULL;
    int rc = -1;
    memset(out, 0, sizeof *out);
    struct store *store = trace_store(trace, err);
    if (store == NULL) {
        return -1;
    }
    out->words = calloc(WORDS_MAX, sizeof *out->words);
    if (out->words == NULL) {
        (void)err_nomem(err, "the recorded command");
        goto out;
    }
    cursor = store_scan(store, &scan, err);
    if (cursor == NULL) {
        goto out;
    }
    rc = read_words(cursor, out, err);
    if (trace_check(trace, err) != 0) {
        rc = -1;
    }
    /* Arguments without a command, or with a hole, are not a command that can be run again. */
    while (out->count < WORDS_MAX && out->words[out->count] != NULL) {
        out->count++;
    }
out:
    if (cursor != NULL) {
        store_cursor_close(cursor);
    }
    store_close(store);
    if (rc != 0) {
        recipe_command_free(out);
    }
    return rc;
}

void recipe_command_free(struct recipe_command *command)
{
    free(command->words);
    arena_free(&command->arena);
    memset(command, 0, sizeof *command);
}

/* ---- ncu ---- */

/* The time and place of a launch: a kernel without a call counts by its own begin. */
struct launch_key {
    int64_t ns;
    uint32_t call;
    uint32_t gpu;
};

static struct launch_key launch_key(const struct trace *trace, uint32_t gpu)
{
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    uint32_t call = ops->link != NULL ? ops->link[gpu] : TRACE_NONE;
    int64_t ns = call != TRACE_NONE ? trace->events[TRACE_API].begin_ns[call] : ops->begin_ns[gpu];
    return (struct launch_key){ns, call, gpu};
}

/* Launched earlier; ops of one call (a graph) by their begin. */
static bool is_before(const struct trace *trace, struct launch_key a, struct launch_key b)
{
    const int64_t *begin_ns = trace->events[TRACE_GPU].begin_ns;
    if (a.ns != b.ns) {
        return a.ns < b.ns;
    }
    if (begin_ns[a.gpu] != begin_ns[b.gpu]) {
        return begin_ns[a.gpu] < begin_ns[b.gpu];
    }
    return a.gpu < b.gpu;
}

static bool same_brief(const struct trace_name *a, const struct trace_name *b)
{
    return a->kind == TRACE_KERNEL && a->brief_len == b->brief_len &&
           memcmp(a->brief, b->brief, a->brief_len) == 0;
}

uint32_t recipe_ordinal(const struct trace *trace, uint32_t gpu, uint32_t *of)
{
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    const struct trace_name *name = &trace->names[ops->name[gpu]];
    const struct trace_lane *own = &trace->lanes[trace_lane_of(trace, TRACE_GPU, gpu)];
    struct launch_key key = launch_key(trace, gpu);
    uint32_t before = 0;
    uint32_t all = 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != TRACE_GPU || lane->process != own->process) {
            continue;
        }
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (ops->name[i] != ops->name[gpu] && !same_brief(&trace->names[ops->name[i]], name)) {
                continue;
            }
            all++;
            before += is_before(trace, launch_key(trace, i), key) ? 1 : 0;
        }
    }
    if (of != NULL) {
        *of = all;
    }
    return before;
}

/* "regex:^NAME$", every sign of the name made plain. */
static void name_pattern(struct buf *out, const struct trace_name *name)
{
    buf_adds(out, "regex:^");
    for (uint32_t i = 0; i < name->brief_len; i++) {
        char c = name->brief[i];
        if (strchr("\\^$.|?*+()[]{}", c) != NULL && c != '\0') {
            buf_addc(out, '\\');
        }
        buf_addc(out, c);
    }
    buf_addc(out, '$');
}

int recipe_ncu(const struct trace *trace, uint32_t gpu, const struct recipe_command *command,
               struct buf *out, struct err *err)
{
    const struct trace_name *name = &trace->names[trace->events[TRACE_GPU].name[gpu]];
    struct buf pattern = {0};
    if (name->kind != TRACE_KERNEL) {
        return err_set(err, "ncu profiles kernels: select a kernel first");
    }
    name_pattern(&pattern, name);
    buf_adds(out, "ncu --target-processes all --kernel-name ");
    shell_quote(out, buf_text(&pattern), pattern.len);
    buf_addf(out, " --launch-skip %" PRIu32 " --launch-count 1 ", recipe_ordinal(trace, gpu, NULL));
    if (command != NULL && command->count > 0) {
        shell_words(out, command->words, command->count);
    } else {
        buf_adds(out, "COMMAND");
    }
    bool is_bad = buf_failed(&pattern) || buf_failed(out);
    buf_free(&pattern);
    return is_bad ? err_nomem(err, "the command line") : 0;
}
