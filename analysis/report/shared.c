/*
 * shared: see shared.h.
 */
#include "analysis/report/shared.h"

#include <stdlib.h>

#include "analysis/report/rounding.h"
#include "analysis/timeline/nvtx_ranges.h"

enum {
    COPY_KIND_DTOH = 2,
    COPY_KIND_ARRAY_FIRST = 3, /* HtoA, AtoH */
    COPY_KIND_ARRAY_LAST = 4,
    COPY_KIND_PTOP = 10,
    COPY_KIND_UM_LAST = 13,
};

struct shared {
    const struct trace *trace;
    struct store *store; /* NULL: not asked for yet; so all below */
    const struct facts *facts; /* lent, or the same as made_facts */
    struct facts *made_facts;
    struct busy *busy[SHARED_OPS_COUNT];
    bool rounding_known;
    bool rounds_old;
    uint32_t *innermost;
    struct selection innermost_of; /* without names */
};

struct shared *shared_new(const struct trace *trace, struct err *err)
{
    struct shared *shared = calloc(1, sizeof *shared);
    if (shared == NULL) {
        err_nomem(err, "the facts of a capture");
        return NULL;
    }
    shared->trace = trace;
    return shared;
}

struct shared *shared_with(const struct facts *facts, struct err *err)
{
    struct shared *shared = shared_new(facts->trace, err);
    if (shared != NULL) {
        shared->facts = facts;
    }
    return shared;
}

void shared_free(struct shared *shared)
{
    if (shared == NULL) {
        return;
    }
    facts_free(shared->made_facts);
    for (int i = 0; i < SHARED_OPS_COUNT; i++) {
        busy_free(shared->busy[i]);
    }
    free(shared->innermost);
    store_close(shared->store);
    free(shared);
}

const struct trace *shared_trace(const struct shared *shared)
{
    return shared->trace;
}

struct store *shared_store(struct shared *shared, struct err *err)
{
    if (shared->store == NULL) {
        shared->store = trace_store(shared->trace, err);
    }
    return shared->store;
}

bool shared_rounds_old(struct shared *shared)
{
    if (!shared->rounding_known) {
        struct store *store = shared_store(shared, NULL);
        shared->rounds_old = store != NULL && rounding_is_old(store);
        shared->rounding_known = true;
    }
    return shared->rounds_old;
}

const struct facts *shared_facts(struct shared *shared, struct err *err)
{
    if (shared->facts == NULL) {
        struct store *store = shared->trace->path != NULL ? shared_store(shared, NULL) : NULL;
        shared->made_facts = facts_read(shared->trace, store, err);
        shared->facts = shared->made_facts;
    }
    return shared->facts;
}

/* ---- busy sums ---- */

bool shared_is_transfer(const struct trace_name *name)
{
    int kind = name->copy_kind;
    return name->kind == TRACE_MEMCPY &&
           ((kind >= 1 && kind <= COPY_KIND_DTOH) ||
            (kind >= COPY_KIND_ARRAY_FIRST && kind <= COPY_KIND_ARRAY_LAST) ||
            (kind >= COPY_KIND_PTOP && kind < COPY_KIND_UM_LAST));
}

static bool is_counted(const struct trace_name *name, enum shared_ops ops)
{
    return name->kind == TRACE_KERNEL || name->kind == TRACE_GRAPH ||
           (ops == SHARED_WORK_TRANSFERS && shared_is_transfer(name));
}

static struct busy *busy_make(const struct trace *trace, enum shared_ops ops, struct err *err)
{
    if (ops == SHARED_ALL) {
        return busy_new(trace, NULL, err);
    }
    uint64_t *bits = calloc((size_t)trace->name_count / 64 + 1, sizeof *bits);
    if (bits == NULL) {
        err_nomem(err, "the names of ops");
        return NULL;
    }
    for (uint32_t i = 0; i < trace->name_count; i++) {
        if (is_counted(&trace->names[i], ops)) {
            bits[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    struct busy *busy = busy_new(trace, bits, err);
    free(bits);
    return busy;
}

const struct busy *shared_busy(struct shared *shared, enum shared_ops ops, struct err *err)
{
    if (shared->busy[ops] == NULL) {
        shared->busy[ops] = busy_make(shared->trace, ops, err);
    }
    return shared->busy[ops];
}

/* ---- NVTX ---- */

/* Do both keep the same ranges and calls? Names do not count there. */
static bool same_selection(const struct selection *a, const struct selection *b)
{
    return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->device == b->device &&
           a->process == b->process && a->thread == b->thread && a->none == b->none &&
           a->nvtx_process == b->nvtx_process;
}

const uint32_t *shared_innermost(struct shared *shared, const struct selection *select,
                                 struct err *err)
{
    if (shared->innermost != NULL && same_selection(select, &shared->innermost_of)) {
        return shared->innermost;
    }
    free(shared->innermost);
    shared->innermost = nvtx_innermost(shared->trace, select, err);
    shared->innermost_of = *select;
    shared->innermost_of.name_bits = NULL;
    return shared->innermost;
}
