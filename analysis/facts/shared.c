/*
 * shared: see shared.h.
 */
#include "analysis/facts/shared.h"

#include <stdlib.h>

struct shared {
    const struct trace *trace;
    const struct facts *facts; /* NULL: not asked for yet */
    struct facts *made_facts; /* the same where they are ours */
    struct busy *busy; /* NULL: not asked for yet */
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
    busy_free(shared->busy);
    free(shared);
}

const struct trace *shared_trace(const struct shared *shared)
{
    return shared->trace;
}

const struct facts *shared_facts(struct shared *shared, struct err *err)
{
    if (shared->facts == NULL) {
        shared->made_facts = facts_new(shared->trace, err);
        shared->facts = shared->made_facts;
    }
    return shared->facts;
}

const struct busy *shared_busy(struct shared *shared, struct err *err)
{
    if (shared->busy == NULL) {
        shared->busy = busy_new(shared->trace, NULL, err);
    }
    return shared->busy;
}
