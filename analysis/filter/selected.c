/* selected: the kept events of one table as a list in order of time; see select.h. */
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/filter/select.h"

/* Sort key of an event. */
struct event_key {
    int64_t begin_ns;
    uint32_t event;
};

static int event_key_compare(const void *left, const void *right, const void *arg)
{
    (void)arg;
    const struct event_key *a = left;
    const struct event_key *b = right;
    if (a->begin_ns != b->begin_ns) {
        return COMPARE(a->begin_ns, b->begin_ns);
    }
    return COMPARE(a->event, b->event);
}

/* Gathers the kept events of the table; returns how many. */
static size_t selected_gather(const struct trace *trace, const struct selection *select,
                              enum trace_table table, uint32_t kinds, struct event_key *keys)
{
    const struct trace_events *events = &trace->events[table];
    size_t count = 0;
    for (uint32_t lane = 0; lane < trace->lane_count; lane++) {
        const struct trace_lane *l = &trace->lanes[lane];
        if (l->table != table || !select_lane(trace, select, l)) {
            continue;
        }
        for (uint32_t i = l->first; i < l->first + l->count; i++) {
            if (select_event(trace, select, table, i, kinds) &&
                select_name(select, events->name[i])) {
                keys[count++] = (struct event_key){events->begin_ns[i], i};
            }
        }
    }
    return count;
}

int selected_new(const struct trace *trace, const struct selection *select, enum trace_table table,
                 uint32_t kinds, struct selected *out, struct err *err)
{
    size_t all = (size_t)trace->events[table].count + 1;
    struct event_key *keys = malloc(all * sizeof *keys);
    *out = (struct selected){0};
    if (keys == NULL) {
        return err_nomem(err, "the list of events");
    }
    out->count = selected_gather(trace, select, table, kinds, keys);
    out->list = malloc((out->count + 1) * sizeof *out->list);
    /* The lanes come one after the other, each in order. */
    if (out->list == NULL ||
        sort_runs(keys, out->count, sizeof *keys, event_key_compare, NULL) != 0) {
        free(keys);
        selected_free(out);
        return err_nomem(err, "the list of events");
    }
    for (size_t i = 0; i < out->count; i++) {
        out->list[i] = keys[i].event;
    }
    free(keys);
    return 0;
}

void selected_free(struct selected *events)
{
    free(events->list);
    *events = (struct selected){0};
}
