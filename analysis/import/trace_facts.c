/* trace_facts: see trace_facts.h. */
#include "analysis/import/trace_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/times.h"

enum {
    NOTE_BYTES = 256,
    DETAILS_BYTES = 512
};

#define HOUR_NS INT64_C(3600000000000)
#define AGES_NS INT64_C(1000000000000000000) /* times above it count from 1970: September 2001 */

void trace_facts_times(struct trace_facts *facts, int64_t *begin_ns, int64_t *end_ns)
{
    if (!facts->has_shift) {
        facts->has_shift = true;
        facts->shift_ns = *begin_ns > 0 ? *begin_ns - *begin_ns % HOUR_NS : 0;
    }
    *begin_ns -= facts->shift_ns;
    *end_ns -= facts->shift_ns;
}

bool trace_begins(const struct json_value *text, const char *with)
{
    size_t len = strlen(with);
    return text->kind == JSON_TEXT && text->len >= len && memcmp(text->text, with, len) == 0;
}

struct json_value trace_number(int64_t number, char room[24])
{
    int len = snprintf(room, 24, "%lld", (long long)number);
    return (struct json_value){JSON_WORD, false, room, (size_t)len};
}

/* A copy with an end, cut where it is long. */
static const char *copy_text(const struct json_value *value, char *room, size_t bytes)
{
    size_t len = value->kind != JSON_NONE && value->len < bytes ? value->len : 0;
    if (len > 0) {
        memcpy(room, value->text, len);
    }
    room[len] = '\0';
    return room;
}

void trace_details(const struct json_value *details, const char *key, int64_t *out, int count)
{
    char room[DETAILS_BYTES];
    if (details->kind != JSON_TEXT) {
        return;
    }
    const char *at = strstr(copy_text(details, room, sizeof room), key);
    if (at == NULL) {
        return;
    }
    at += strlen(key);
    for (int i = 0; i < count; i++) {
        char *end;
        long long number = strtoll(at, &end, 10);
        if (end == at) {
            return;
        }
        out[i] = number;
        if (*end != ',') {
            return;
        }
        at = end + 1;
    }
}

struct trace_copy trace_copy_of(const struct json_value *name)
{
    /* ENUM_CUDA_MEMCPY_OPER by the words of Kineto, of XLA and of nsys. */
    static const struct {
        const char *word;
        int64_t kind;
    } KINDS[] = {
        {"HtoD", 1},
        {"DtoH", 2},
        {"DtoD", 8},
        {"HtoH", 9},
        {"PtoP", 10},
        {"H2D", 1},
        {"D2H", 2},
        {"D2D", 8},
        {"H2H", 9},
        {"P2P", 10},
        {"Host-to-Device", 1},
        {"Device-to-Host", 2},
        {"Device-to-Device", 8},
        {"Host-to-Host", 9},
        {"Peer-to-Peer", 10},
    };
    static const char *const MEMORIES[] = {"Pageable", "Pinned", "Device", "Array", "Managed"};
    struct trace_copy copy = {0, -1, -1};
    char room[NOTE_BYTES];
    const char *text = copy_text(name, room, sizeof room);
    const char *from = strchr(text, '(');
    const char *to = strstr(text, "-> ");
    for (size_t i = 0; i < ARRAY_LEN(KINDS) && copy.kind == 0; i++) {
        copy.kind = strstr(text, KINDS[i].word) != NULL ? KINDS[i].kind : 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(MEMORIES); i++) {
        size_t len = strlen(MEMORIES[i]);
        copy.from =
            from != NULL && strncmp(from + 1, MEMORIES[i], len) == 0 ? (int64_t)i : copy.from;
        copy.to = to != NULL && strncmp(to + 3, MEMORIES[i], len) == 0 ? (int64_t)i : copy.to;
    }
    return copy;
}

static int add_note(struct store_writer *writer, const char *name, const struct json_value *value,
                    struct err *err)
{
    char text[NOTE_BYTES];
    return store_writer_note(writer, STORE_TABLE_CUTLINE_RECORDER, name,
                             copy_text(value, text, sizeof text), err);
}

static int add_distributed(struct store_writer *writer, const struct json_value *object,
                           struct err *err)
{
    static const char *const NAMES[][2] = {
        {"rank", "rank"}, {"world_size", "world size"}, {"backend", "backend"}};
    struct json_scan scan = json_scan_in(object);
    struct json_value key;
    struct json_value value;
    while (json_scan_member(&scan, &key, &value)) {
        for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
            if (json_is(&key, NAMES[i][0]) && add_note(writer, NAMES[i][1], &value, err) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

static const struct property {
    const char *name;
    enum store_column_GPU column;
} PROPERTIES[] = {
    {"id", STORE_GPU_ID},
    {"name", STORE_GPU_NAME},
    {"totalGlobalMem", STORE_GPU_TOTAL_MEMORY},
    {"computeMajor", STORE_GPU_COMPUTE_MAJOR},
    {"computeMinor", STORE_GPU_COMPUTE_MINOR},
    {"numSms", STORE_GPU_SM_COUNT},
    {"regsPerBlock", STORE_GPU_MAX_REGISTERS_PER_BLOCK},
    {"regsPerMultiprocessor", STORE_GPU_MAX_REGISTERS_PER_SM},
    {"sharedMemPerBlock", STORE_GPU_MAX_SHMEM_PER_BLOCK},
    {"sharedMemPerBlockOptin", STORE_GPU_MAX_SHMEM_PER_BLOCK_OPTIN},
    {"sharedMemPerMultiprocessor", STORE_GPU_MAX_SHMEM_PER_SM},
    {"warpSize", STORE_GPU_THREADS_PER_WARP},
};

static int add_device(struct store_writer *writer, const struct json_value *object, struct err *err)
{
    struct store_cell row[STORE_GPU_N] = {
        [STORE_GPU_VM_ID] = store_cell_int(0),
        [STORE_GPU_ID] = store_cell_int(-1),
    };
    struct json_scan scan = json_scan_in(object);
    struct json_value key;
    struct json_value value;
    int64_t number;
    while (json_scan_member(&scan, &key, &value)) {
        for (size_t i = 0; i < ARRAY_LEN(PROPERTIES); i++) {
            if (!json_is(&key, PROPERTIES[i].name)) {
                continue;
            }
            if (value.kind == JSON_TEXT && PROPERTIES[i].column == STORE_GPU_NAME) {
                row[STORE_GPU_NAME] = store_cell_text(value.text, value.len);
            } else if (json_scaled(&value, 0, &number)) {
                row[PROPERTIES[i].column] = store_cell_int(number);
            }
        }
    }
    row[STORE_GPU_CU_DEVICE] = row[STORE_GPU_ID];
    return row[STORE_GPU_ID].as.i < 0 ? 0 : store_writer_row(writer, STORE_TABLE_GPU, row, err);
}

int trace_facts_member(struct trace_facts *facts, struct store_writer *writer,
                       const struct json_value *key, const struct json_value *value,
                       struct err *err)
{
    struct json_scan scan = json_scan_in(value);
    struct json_value device;
    int status = 0;
    if (json_is(key, "distributedInfo")) {
        return add_distributed(writer, value, err);
    }
    if (json_is(key, "host_name")) {
        return add_note(writer, "host", value, err);
    }
    if (json_is(key, "baseTimeNanoseconds")) {
        facts->has_base = json_scaled(value, 0, &facts->base_ns);
    }
    while (json_is(key, "deviceProperties") && status == 0 && json_scan_element(&scan, &device)) {
        status = add_device(writer, &device, err);
    }
    return status;
}

int trace_facts_end(const struct trace_facts *facts, struct store_writer *writer, struct err *err)
{
    struct store_cell row[STORE_SESSION_START_N] = {
        [STORE_SESSION_START_UTC_EPOCH_NS] =
            store_cell_int(i64_add(facts->base_ns, facts->shift_ns)),
    };
    return facts->has_base || facts->shift_ns > AGES_NS
               ? store_writer_row(writer, STORE_TABLE_SESSION_START, row, err)
               : 0;
}
