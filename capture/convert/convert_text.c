/* Texts and names for the converter: UTF-8, StringIds, kernel names, and the count of losses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/utf8.h"
#include "capture/convert/convert_internal.h"
#include "capture/spool/cupti_abi.h"

enum {
    STRINGS_MAX = 1 << 24, /* ids beyond are no ids */
    CALLS_MAX = 4096
};

/* The length of the plain ASCII at the beginning. */
static size_t ascii_len(const char *text, size_t len)
{
    size_t at = 0;
    uint64_t part;
    while (len - at >= sizeof part) {
        memcpy(&part, text + at, sizeof part);
        /* a byte of 0, or one with the high bit set, has its high bit set here */
        if (((part - UINT64_C(0x0101010101010101)) | part) & UINT64_C(0x8080808080808080)) {
            break;
        }
        at += sizeof part;
    }
    while (at < len && (signed char)text[at] > 0) {
        at++;
    }
    return at;
}

struct store_cell convert_text(struct buf *scratch, const char *text, size_t len)
{
    size_t at = ascii_len(text, len);
    bool good = true;
    for (size_t i = at; i < len && good;) {
        uint32_t cp = UTF8_BAD;
        i += utf8_decode(text + i, len - i, &cp);
        good = cp != UTF8_BAD && cp != 0;
    }
    if (good) {
        return store_cell_text(text, len);
    }
    buf_reset(scratch);
    buf_add(scratch, text, at);
    while (at < len) {
        char bytes[4];
        uint32_t cp = UTF8_BAD;
        at += utf8_decode(text + at, len - at, &cp);
        buf_add(scratch, bytes, utf8_encode(cp ? cp : UTF8_BAD, bytes));
    }
    return store_cell_text(buf_text(scratch), scratch->len);
}

int convert_string_id(struct convert *c, const char *text, size_t len, int64_t *id, struct err *err)
{
    struct store_cell cell = convert_text(&c->scratch, text, len);
    return store_writer_string(c->writer, cell.as.s, cell.len, id, err);
}

/* ---- registered texts ------------------------------------------------------------------------ */

struct convert_string *convert_string_of(struct convert_proc *proc, uint64_t id)
{
    return id < proc->strings_cap && proc->strings[id].text ? &proc->strings[id] : NULL;
}

int convert_string_add(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                       struct err *err)
{
    uint64_t id = item->u.meta.head.value[0];
    if (id == 0 || id >= STRINGS_MAX) {
        return convert_lose(c, proc->index, CONVERT_FAULT("spool", "damaged", 1, CONVERT_NO_TIME),
                            err);
    }
    struct convert_string *strings =
        array_grow_zeroed(proc->strings, &proc->strings_cap, (size_t)id + 1, sizeof *strings);
    if (strings == NULL) {
        return err_nomem(err, "names");
    }
    proc->strings = strings;
    size_t len = item->u.meta.head.text_bytes;
    char *text = arena_copy(&proc->arena, item->u.meta.text, len);
    if (!text) {
        return err_nomem(err, "names");
    }
    proc->strings[id] =
        (struct convert_string){.text = text, .len = len, .address = item->u.meta.head.value[1]};
    return 0;
}

/* ---- kernel names ---------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const struct convert_address *left = a;
    const struct convert_address *right = b;
    return COMPARE(left->address, right->address);
}

static int index_addresses(struct convert_proc *proc, struct err *err)
{
    proc->addresses = calloc(proc->strings_cap + 1, sizeof *proc->addresses);
    if (!proc->addresses) {
        return err_nomem(err, "names");
    }
    for (size_t i = 0; i < proc->strings_cap; i++) {
        if (proc->strings[i].text && proc->strings[i].address) {
            proc->addresses[proc->addresses_n++] = (struct convert_address){
                .address = proc->strings[i].address, .string = (uint32_t)i};
        }
    }
    sort_list(proc->addresses, proc->addresses_n, sizeof *proc->addresses, by_address);
    return 0;
}

/* The text that was read from an address of the dead process. */
static struct convert_string *string_at(struct convert_proc *proc, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = proc->addresses_n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct convert_address *at = &proc->addresses[middle];
        if (at->address == address) {
            return &proc->strings[at->string];
        }
        if (at->address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static int name_string(struct convert *c, struct convert_string *string, struct err *err)
{
    if (convert_string_id(c, string->text, string->len, &string->id, err) < 0) {
        return -1;
    }
    demangle_name(&c->demangle, string->text, &c->scratch2, &c->scratch);
    struct buf brief = c->scratch;
    c->scratch = (struct buf){0};
    int result = convert_string_id(c, buf_text(&brief), brief.len, &string->brief, err);
    buf_free(&brief);
    if (result < 0) {
        return -1;
    }
    return convert_string_id(c, buf_text(&c->scratch2), c->scratch2.len, &string->full, err);
}

/* A kernel whose name is not known gets one that tells kernels apart. */
static int unknown_name(struct convert *c, uint64_t address, struct convert_name *name,
                        struct err *err)
{
    char text[64];
    int len = address ? snprintf(text, sizeof text, "<unknown kernel 0x%" PRIx64 ">", address)
                      : snprintf(text, sizeof text, "<unknown kernel>");
    if (convert_string_id(c, text, (size_t)len, &name->full, err) < 0) {
        return -1;
    }
    name->brief = name->full;
    name->mangled = name->full;
    return 0;
}

int convert_kernel_name(struct convert *c, struct convert_proc *proc, uint64_t field,
                        struct convert_name *name, struct err *err)
{
    struct convert_string *string = NULL;
    if (field & SPOOL_NAME_TAG) {
        string = convert_string_of(proc, field & ~SPOOL_NAME_TAG);
    } else if (field) {
        if (!proc->addresses && index_addresses(proc, err) < 0) {
            return -1;
        }
        string = string_at(proc, field);
    }
    if (!string) {
        /* an id of 0 is a name that the recorder could not read: it has counted it */
        if (field != SPOOL_NAME_TAG &&
            convert_lose(c, proc->index,
                         CONVERT_FAULT("kernel", "name not known", 1, CONVERT_NO_TIME), err) < 0) {
            return -1;
        }
        return unknown_name(c, field & SPOOL_NAME_TAG ? 0 : field, name, err);
    }
    if (!string->full && name_string(c, string, err) < 0) {
        return -1;
    }
    *name = (struct convert_name){string->id, string->full, string->brief};
    return 0;
}

int convert_call_name(struct convert *c, bool runtime, uint32_t cbid, int64_t *id, struct err *err)
{
    char text[48];
    if (!c->call_ids[runtime]) {
        c->call_ids[runtime] = calloc(CALLS_MAX, sizeof *c->call_ids[runtime]);
        if (!c->call_ids[runtime]) {
            return err_nomem(err, "names");
        }
    }
    if (cbid < CALLS_MAX && c->call_ids[runtime][cbid]) {
        *id = c->call_ids[runtime][cbid];
        return 0;
    }
    const char *name = runtime ? cupti_runtime_name(cbid) : cupti_driver_name(cbid);
    if (!name) {
        (void)snprintf(text, sizeof text, "%s call %" PRIu32,
                       runtime ? "CUDA runtime" : "CUDA driver", cbid);
        name = text;
    }
    if (convert_string_id(c, name, strlen(name), id, err) < 0) {
        return -1;
    }
    if (cbid < CALLS_MAX) {
        c->call_ids[runtime][cbid] = *id;
    }
    return 0;
}

/* ---- losses ---------------------------------------------------------------------------------- */

static struct convert_lost *find_lost(struct convert *c, uint32_t proc, const char *kind,
                                      const char *reason)
{
    for (size_t i = c->lost_n; i > 0; i--) {
        struct convert_lost *lost = &c->lost[i - 1];
        if (lost->proc != proc) {
            continue;
        }
        if (strcmp(lost->kind, kind) == 0 && strcmp(lost->reason, reason) == 0) {
            return lost;
        }
    }
    return NULL;
}

static struct convert_lost *new_lost(struct convert *c)
{
    struct convert_lost *grown = array_grow(c->lost, &c->lost_cap, c->lost_n + 1, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    c->lost = grown;
    return &c->lost[c->lost_n++];
}

int convert_lose(struct convert *c, uint32_t proc, struct convert_fault fault, struct err *err)
{
    struct convert_lost *lost = find_lost(c, proc, fault.kind, fault.reason);
    if (!lost) {
        lost = new_lost(c);
        if (!lost) {
            return err_nomem(err, "losses");
        }
        *lost = (struct convert_lost){.proc = proc,
                                      .kind = fault.kind,
                                      .reason = fault.reason,
                                      .first_ns = CONVERT_NO_TIME,
                                      .last_ns = CONVERT_NO_TIME};
    }
    lost->count += fault.count;
    if (fault.at_ns != CONVERT_NO_TIME) {
        bool first = lost->first_ns == CONVERT_NO_TIME;
        lost->first_ns = first || fault.at_ns < lost->first_ns ? fault.at_ns : lost->first_ns;
        lost->last_ns = first || fault.at_ns > lost->last_ns ? fault.at_ns : lost->last_ns;
    }
    return 0;
}

void convert_harmless(struct convert *c, uint32_t proc, const char *kind, const char *reason,
                      bool harmless)
{
    struct convert_lost *lost = find_lost(c, proc, kind, reason);
    if (lost) {
        lost->harmless = harmless;
    }
}
