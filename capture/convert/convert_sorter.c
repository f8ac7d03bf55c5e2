/* The sorter; convert_sorter.h says what it does.
 *
 * Records are appended to blocks of memory, each behind a small head, and an array of (key,
 * pointer) is sorted in their place. A run in the temporary file is the same heads and records in
 * order. A merge keeps one window of each run in memory and takes the smallest head by a binary
 * heap. */
#define _GNU_SOURCE /* O_TMPFILE; NOLINT */
#include "capture/convert/convert_sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/arena.h"
#include "analysis/base/array.h"
#include "analysis/base/array.h"
#include "analysis/base/buf.h"

enum {
    BLOCK_BYTES = 1 << 20,
    WRITE_BYTES = 1 << 20,
    WINDOW_BYTES = 1 << 18,
    WINDOW_LEAST = 1 << 14,
    SMALL_BYTES = 1 << 11,
    REFS_FIRST = 4096,
};

/* Before each record, in memory and in the file. */
struct head {
    int64_t key;
    uint32_t bytes;
    uint32_t padded; /* bytes, rounded up to 8 */
};

struct ref {
    uint64_t key; /* with the sign bit turned, so that unsigned order is the right one */
    const struct head *head;
};

/* A sorted stretch of the temporary file and the window of it that is in memory. */
struct run {
    off_t at; /* next byte to read */
    off_t end; /* of the run */
    char *window;
    size_t size; /* allocated */
    size_t begin;
    size_t filled;
};

struct sorter {
    char *folder;
    size_t budget;
    size_t used;
    struct arena arena; /* of the blocks */
    char *block;
    size_t block_left;
    struct ref *refs;
    struct ref *spare; /* as many: sorting needs them, and must not fail when memory is short */
    size_t refs_n;
    size_t refs_cap;
    bool disorder;
    uint64_t count;
    int fd;
    off_t file_bytes;
    struct run *runs;
    size_t runs_n;
    size_t *heap; /* run numbers; heap[0] has the smallest head */
    size_t heap_n;
    bool reading;
    size_t next; /* in memory: the next ref */
    bool merge_taken; /* the record of heap[0] was given out */
};

struct sorter *sorter_new(const char *folder, size_t budget_bytes)
{
    struct sorter *sorter = calloc(1, sizeof *sorter);
    if (!sorter) {
        return NULL;
    }
    sorter->fd = -1;
    sorter->budget = budget_bytes;
    sorter->folder = strdup(folder);
    if (!sorter->folder) {
        free(sorter);
        return NULL;
    }
    return sorter;
}

uint64_t sorter_count(const struct sorter *sorter)
{
    return sorter->count;
}

/* ---- sorting in memory ----------------------------------------------------------------------- */

/* Least significant digit radix sort, one byte a pass; a byte that is the same in all keys costs no
 * pass. Stable. */
static void sort_refs(struct sorter *sorter)
{
    size_t n = sorter->refs_n;
    if (!sorter->disorder || n < 2) {
        return;
    }
    struct ref *from = sorter->refs;
    struct ref *to = sorter->spare;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t places[256] = {0};
        for (size_t i = 0; i < n; i++) {
            places[from[i].key >> shift & 0xFF]++;
        }
        if (places[from[0].key >> shift & 0xFF] == n) {
            continue;
        }
        size_t place = 0;
        for (int i = 0; i < 256; i++) {
            size_t many = places[i];
            places[i] = place;
            place += many;
        }
        for (size_t i = 0; i < n; i++) {
            to[places[from[i].key >> shift & 0xFF]++] = from[i];
        }
        struct ref *swap = from;
        from = to;
        to = swap;
    }
    sorter->refs = from;
    sorter->spare = to;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int fail_file(const struct sorter *sorter, struct err *err)
{
    return err_set(err, "cannot sort in '%s': %s; free some space there", sorter->folder,
                   strerror(errno));
}

static int open_file(struct sorter *sorter, struct err *err)
{
    sorter->fd = open(sorter->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (sorter->fd < 0) {
        struct buf path = {0};
        buf_addf(&path, "%s/.cutline-sort-XXXXXX", sorter->folder);
        sorter->fd = buf_failed(&path) ? -1 : mkstemp(path.data);
        if (sorter->fd >= 0) {
            (void)unlink(path.data);
        }
        buf_free(&path);
    }
    return sorter->fd < 0 ? fail_file(sorter, err) : 0;
}

static int write_all(struct sorter *sorter, const char *data, size_t bytes, struct err *err)
{
    while (bytes > 0) {
        ssize_t wrote = write(sorter->fd, data, bytes);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0) {
            return fail_file(sorter, err);
        }
        data += wrote;
        bytes -= (size_t)wrote;
        sorter->file_bytes += wrote;
    }
    return 0;
}

/* Writes the refs in order through a buffer. */
static int write_refs(struct sorter *sorter, struct err *err)
{
    int result = 0;
    size_t filled = 0;
    char small[SMALL_BYTES];
    char *large = malloc(WRITE_BYTES);
    char *buffer = large == NULL ? small : large;
    size_t size = large == NULL ? sizeof small : WRITE_BYTES;
    for (size_t i = 0; i < sorter->refs_n && result == 0; i++) {
        const struct head *head = sorter->refs[i].head;
        size_t bytes = sizeof *head + head->padded;
        if (filled + bytes > size) {
            result = write_all(sorter, buffer, filled, err);
            filled = 0;
        }
        if (bytes > size && result == 0) {
            result = write_all(sorter, (const char *)head, bytes, err);
        } else if (result == 0) {
            memcpy(buffer + filled, head, bytes);
            filled += bytes;
        }
    }
    if (result == 0) {
        result = write_all(sorter, buffer, filled, err);
    }
    free(large);
    return result;
}

/* Sorts what is in memory and moves it to the file as a new run. */
static int spill(struct sorter *sorter, struct err *err)
{
    struct run *runs = array_resize(sorter->runs, sorter->runs_n + 1, sizeof *runs);
    if (!runs) {
        return err_nomem(err, "sorting");
    }
    sorter->runs = runs;
    sort_refs(sorter);
    if (sorter->fd < 0 && open_file(sorter, err) < 0) {
        return -1;
    }
    off_t at = sorter->file_bytes;
    if (write_refs(sorter, err) < 0) {
        return -1;
    }
    runs[sorter->runs_n++] = (struct run){.at = at, .end = sorter->file_bytes};
    arena_free(&sorter->arena);
    sorter->block = NULL;
    sorter->block_left = 0;
    sorter->used = 0;
    sorter->refs_n = 0;
    sorter->disorder = false;
    return 0;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static struct head *new_record(struct sorter *sorter, size_t bytes)
{
    if (bytes > sorter->block_left) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        sorter->block = arena_alloc(&sorter->arena, size);
        sorter->block_left = sorter->block ? size : 0;
    }
    if (!sorter->block) {
        return NULL;
    }
    void *at = sorter->block;
    sorter->block += bytes;
    sorter->block_left -= bytes;
    sorter->used += bytes; /* not the block: a budget of one block holds more than one record */
    return at;
}

/* Makes room for one more ref. Returns 0, or -1: no memory, and nothing is changed. */
static int grow_refs(struct sorter *sorter)
{
    size_t cap = sorter->refs_cap ? sorter->refs_cap * 2 : REFS_FIRST;
    if (sorter->refs_n < sorter->refs_cap) {
        return 0;
    }
    struct ref *spare = array_resize(NULL, cap, sizeof *spare);
    struct ref *refs = spare ? array_resize(sorter->refs, cap, sizeof *refs) : NULL;
    if (!refs) {
        free(spare);
        return -1;
    }
    free(sorter->spare);
    sorter->refs = refs;
    sorter->spare = spare;
    sorter->refs_cap = cap;
    return 0;
}

static void new_ref(struct sorter *sorter, const struct head *head)
{
    uint64_t key = (uint64_t)head->key ^ UINT64_C(1) << 63;
    if (sorter->refs_n > 0 && key < sorter->refs[sorter->refs_n - 1].key) {
        sorter->disorder = true;
    }
    sorter->refs[sorter->refs_n++] = (struct ref){.key = key, .head = head};
}

static size_t held_bytes(const struct sorter *sorter)
{
    return sorter->used + sorter->refs_n * sizeof(struct ref) * 2;
}

/* Room for a record of BYTES with its ref. Where the system gives no more memory, what is held goes to
 * the file, and less is held from then on. NULL with err set: not even then. */
static struct head *make_record(struct sorter *sorter, size_t bytes, struct err *err)
{
    for (int tries = 0; tries < 2; tries++) {
        struct head *record = grow_refs(sorter) == 0 ? new_record(sorter, bytes) : NULL;
        if (record != NULL) {
            return record;
        }
        if (sorter->refs_n == 0) {
            break;
        }
        sorter->budget = held_bytes(sorter) / 4 * 3;
        if (spill(sorter, err) < 0) {
            return NULL;
        }
    }
    (void)err_nomem(err, "sorting");
    return NULL;
}

int sorter_add(struct sorter *sorter, int64_t key, struct sorter_part head, struct sorter_part tail,
               struct err *err)
{
    size_t bytes = head.bytes + tail.bytes;
    size_t padded = (bytes + 7) & ~(size_t)7;
    if (bytes > UINT32_MAX - 8) {
        return err_set(err, "cannot sort a record of %zu bytes", bytes);
    }
    if (held_bytes(sorter) > sorter->budget && sorter->refs_n > 0 && spill(sorter, err) < 0) {
        return -1;
    }
    struct head *record = make_record(sorter, sizeof *record + padded, err);
    if (!record) {
        return -1;
    }
    *record = (struct head){.key = key, .bytes = (uint32_t)bytes, .padded = (uint32_t)padded};
    char *data = (char *)(record + 1);
    memcpy(data, head.data, head.bytes);
    if (tail.bytes) {
        memcpy(data + head.bytes, tail.data, tail.bytes);
    }
    new_ref(sorter, record);
    sorter->count++;
    return 0;
}

/* ---- merging --------------------------------------------------------------------------------- */

/* Makes sure that the head of the run and its record are in the window. 1: they are; 0: the run is
 * at its end; -1: error. */
static int fill_window(struct sorter *sorter, struct run *run, struct err *err)
{
    size_t want = sizeof(struct head);
    for (;;) {
        size_t have = run->filled - run->begin;
        if (have >= sizeof(struct head)) {
            struct head head;
            memcpy(&head, run->window + run->begin, sizeof head);
            want = sizeof head + head.padded;
        }
        if (have >= want) {
            return 1;
        }
        if (run->at >= run->end) {
            return 0;
        }
        memmove(run->window, run->window + run->begin, have);
        run->begin = 0;
        run->filled = have;
        if (want > run->size) {
            char *window = array_resize(run->window, want, 1);
            if (!window) {
                return err_nomem(err, "sorting");
            }
            run->window = window;
            run->size = want;
        }
        size_t room = run->size - have;
        off_t left = run->end - run->at;
        ssize_t got = pread(sorter->fd, run->window + have,
                            (off_t)room < left ? room : (size_t)left, run->at);
        if (got <= 0) {
            return fail_file(sorter, err);
        }
        run->at += got;
        run->filled += (size_t)got;
    }
}

static const struct head *run_head(const struct run *run)
{
    return (const void *)(run->window + run->begin);
}

/* Whether run a goes before run b: by key, then by the order of the runs, so that equal keys keep
 * the order of adding. */
static bool run_before(const struct sorter *sorter, size_t a, size_t b)
{
    int64_t key_a = run_head(&sorter->runs[a])->key;
    int64_t key_b = run_head(&sorter->runs[b])->key;
    return key_a != key_b ? key_a < key_b : a < b;
}

static void heap_down(struct sorter *sorter, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < sorter->heap_n; child++) {
            if (run_before(sorter, sorter->heap[child], sorter->heap[least])) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        size_t swap = sorter->heap[at];
        sorter->heap[at] = sorter->heap[least];
        sorter->heap[least] = swap;
        at = least;
    }
}

static int begin_merge(struct sorter *sorter, struct err *err)
{
    if (sorter->refs_n > 0 && spill(sorter, err) < 0) {
        return -1;
    }
    sorter->heap = calloc(sorter->runs_n, sizeof *sorter->heap);
    if (!sorter->heap) {
        return err_nomem(err, "sorting");
    }
    free(sorter->refs);
    free(sorter->spare);
    sorter->refs = NULL;
    sorter->spare = NULL;
    size_t window = sorter->budget / sorter->runs_n;
    window = window > WINDOW_BYTES ? WINDOW_BYTES : window;
    window = window < WINDOW_LEAST ? WINDOW_LEAST : window & ~(size_t)7;
    for (size_t i = 0; i < sorter->runs_n; i++) {
        struct run *run = &sorter->runs[i];
        run->window = malloc(window);
        run->size = window;
        int got = run->window ? fill_window(sorter, run, err) : err_nomem(err, "sorting");
        if (got < 0) {
            return -1;
        }
        if (got > 0) {
            sorter->heap[sorter->heap_n++] = i;
        }
    }
    for (size_t i = sorter->heap_n; i > 0; i--) {
        heap_down(sorter, i - 1);
    }
    return 0;
}

/* Leaves the record of the smallest run, which was given out, behind. */
static int merge_step(struct sorter *sorter, struct err *err)
{
    struct run *run = &sorter->runs[sorter->heap[0]];
    run->begin += sizeof(struct head) + run_head(run)->padded;
    int got = fill_window(sorter, run, err);
    if (got < 0) {
        return -1;
    }
    if (got == 0) {
        sorter->heap[0] = sorter->heap[--sorter->heap_n];
    }
    heap_down(sorter, 0);
    return 0;
}

static int begin_reading(struct sorter *sorter, struct err *err)
{
    sorter->reading = true;
    if (sorter->runs_n > 0) {
        return begin_merge(sorter, err);
    }
    sort_refs(sorter);
    return 0;
}

int sorter_next(struct sorter *sorter, struct sorter_record *record, struct err *err)
{
    const struct head *head;
    if (!sorter->reading && begin_reading(sorter, err) < 0) {
        return -1;
    }
    if (sorter->runs_n > 0) {
        if (sorter->merge_taken && merge_step(sorter, err) < 0) {
            return -1;
        }
        sorter->merge_taken = sorter->heap_n > 0;
        if (sorter->heap_n == 0) {
            return 0;
        }
        head = run_head(&sorter->runs[sorter->heap[0]]);
    } else if (sorter->next < sorter->refs_n) {
        head = sorter->refs[sorter->next++].head;
    } else {
        return 0;
    }
    *record = (struct sorter_record){.key = head->key, .bytes = head->bytes, .data = head + 1};
    return 1;
}

void sorter_free(struct sorter *sorter)
{
    if (!sorter) {
        return;
    }
    for (size_t i = 0; i < sorter->runs_n; i++) {
        free(sorter->runs[i].window);
    }
    if (sorter->fd >= 0) {
        (void)close(sorter->fd);
    }
    arena_free(&sorter->arena);
    free(sorter->runs);
    free(sorter->heap);
    free(sorter->refs);
    free(sorter->spare);
    free(sorter->folder);
    free(sorter);
}
