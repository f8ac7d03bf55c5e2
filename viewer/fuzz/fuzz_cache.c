/*
 * fuzz_cache: the file of a cached trace with other numbers in it, and with its sums made right again,
 * so that only what is looked at can keep it out. One that is taken is used: its events, links, sums
 * and a frame.
 *
 *     changes of 12 bytes: section (CACHE_SECTIONS and above: the head), width and kind, offset (2),
 *     value (8)
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/report/events_table.h"
#include "analysis/trace/busy.h"
#include "analysis/trace/cache_layout.h"
#include "viewer/fuzz/view.h"

enum {
    CHANGES_MAX = 16,
    CHANGE_BYTES = 12
};

/* The file as it was written. Lives as long as the program. */
struct sample {
    struct store_file *capture;
    struct cache_key key;
    FILE *file;
    size_t len;
};

static const struct sample *sample(void)
{
    static struct sample all;
    if (all.file != NULL) {
        return &all;
    }
    struct memory_db *db = view_case("all-tables");
    memory_db_use(db);
    struct trace *trace = view_load(db);
    all.capture = store_file_open(memory_db_path(db), NULL);
    FUZZ_HOLDS(all.capture != NULL);
    all.file = tmpfile();
    FUZZ_HOLDS(trace != NULL && all.file != NULL);
    memset(&all.key, 7, sizeof all.key);
    FUZZ_HOLDS(cache_write(fileno(all.file), trace, &all.key, NULL) == 0);
    off_t len = lseek(fileno(all.file), 0, SEEK_END);
    FUZZ_HOLDS(len > 0);
    all.len = (size_t)len;
    trace_free(trace);
    return &all;
}

/* Where a section lies, by the head; false where it is not within the file. */
static bool find(const struct cache_head *head, size_t len, unsigned section, size_t *at)
{
    uint64_t begin = cache_aligned(sizeof *head);
    for (unsigned s = 0; s <= section; s++) {
        uint64_t bytes = head->sections[s].bytes;
        if (bytes > len || begin + cache_aligned(bytes) > len) {
            return false;
        }
        if (s < section) {
            begin += cache_aligned(bytes);
        }
    }
    *at = (size_t)begin;
    return true;
}

/* One change: the value replaces, is added to, or is one bit of what is there. */
static void change(unsigned char *file, size_t len, const uint8_t *data)
{
    struct cache_head *head = (void *)file;
    size_t width = (size_t)1 << (data[1] & 3U);
    size_t offset = ((size_t)data[2] | (size_t)data[3] << 8) * width;
    size_t room = sizeof *head;
    size_t at = 0;
    uint64_t value;
    uint64_t old = 0;
    memcpy(&value, data + 4, sizeof value);
    if (data[0] < CACHE_SECTIONS) {
        room = (size_t)head->sections[data[0]].bytes;
        if (!find(head, len, data[0], &at)) {
            return;
        }
    }
    if (room < width) {
        return;
    }
    at += offset % (room - width + 1) / width * width;
    memcpy(&old, file + at, width);
    switch (data[1] >> 2 & 3U) {
    case 0:
        old = value;
        break;
    case 1:
        old += (value & 255U) - 128U;
        break;
    case 2:
        old ^= UINT64_C(1) << (value & 63U);
        break;
    default:
        old = value & 15U;
        break;
    }
    memcpy(file + at, &old, width);
}

static void seal(unsigned char *file, size_t len)
{
    struct cache_head *head = (void *)file;
    size_t at = 0;
    for (unsigned s = 0; s < CACHE_SECTIONS && find(head, len, s, &at); s++) {
        struct cache_place *place = &head->sections[s];
        place->sum = cache_section_sum(file + at, (size_t)cache_aligned(place->bytes));
    }
    head->sum = cache_head_sum(head);
}

/* What is promised of links and lanes is relied upon here, as everywhere. */
static void use(const struct trace *trace)
{
    const struct frame_style style = {0};
    const struct key size = {KEYS_RESIZE, 100, 40};
    struct view_session view;
    uint32_t linked = 0;
    for (uint32_t i = 0; i < trace->events[TRACE_API].count; i++) {
        uint32_t count;
        const uint32_t *ops = trace_ops_of(trace, i, &count);
        for (uint32_t k = 0; k < count; k++) {
            linked += trace->events[TRACE_GPU].link[ops[k]] == i;
        }
    }
    FUZZ_HOLDS(linked == trace->launch_op_count);
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        for (uint32_t i = 0; i < trace->events[t].count; i++) {
            FUZZ_HOLDS(trace_lane_of(trace, (enum trace_table)t, i) < trace->lane_count);
        }
        table_free(events_table(trace, (enum trace_table)t, INT64_MIN, INT64_MAX, NULL));
    }
    if (view_open(&view, trace, false)) {
        session_key(&view.session, &size);
        view_paint(&view, &style);
        view_close(&view);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sample *all = sample();
    unsigned char *file =
        mmap(NULL, all->len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(all->file), 0);
    if (file == MAP_FAILED) {
        return 0;
    }
    for (int i = 0; i < CHANGES_MAX && size >= CHANGE_BYTES; i++) {
        change(file, all->len, data);
        data += CHANGE_BYTES;
        size -= CHANGE_BYTES;
    }
    seal(file, all->len);
    struct trace *trace = cache_read(file, all->len, &all->key, all->capture);
    if (trace != NULL) {
        use(trace);
        trace_free(trace);
    }
    return 0;
}
