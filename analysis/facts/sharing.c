/*
 * sharing: see sharing.h.
 */
#include "analysis/facts/sharing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/utf8.h"

struct part {
    int64_t begin_ns;
    int64_t end_ns;
};

static int part_cmp(const void *a, const void *b, const void *arg)
{
    const struct part *x = a;
    const struct part *y = b;
    (void)arg;
    return COMPARE(x->begin_ns, y->begin_ns);
}

/* The ops of the lanes [first, end), which are one process's on one device. 0 or -1. */
static int add_user(const struct trace *trace, uint32_t first, uint32_t end, struct sharing *out)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t from = trace->lanes[first].first;
    uint32_t count = trace->lanes[end - 1].first + trace->lanes[end - 1].count - from;
    struct part *parts = malloc(((size_t)count + 1) * sizeof *parts);
    if (parts == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = (struct part){gpu->begin_ns[from + i], gpu->end_ns[from + i]};
    }
    if (sort_runs(parts, count, sizeof *parts, part_cmp, NULL) != 0) {
        free(parts);
        return -1;
    }
    struct sharing_user *user = &out->list[out->count++];
    *user = (struct sharing_user){.device = trace->lanes[first].device,
                                  .process = trace->lanes[first].process,
                                  .first_ns = parts[0].begin_ns,
                                  .last_ns = parts[0].begin_ns};
    for (uint32_t i = 0; i < count; i++) {
        int64_t begin_ns = parts[i].begin_ns > user->last_ns ? parts[i].begin_ns : user->last_ns;
        if (parts[i].end_ns > begin_ns) {
            user->busy_ns += parts[i].end_ns - begin_ns;
            user->last_ns = parts[i].end_ns;
        }
    }
    free(parts);
    return 0;
}

/* The end of the lanes of the process of lane l. */
static uint32_t process_end(const struct trace *trace, uint32_t l, uint32_t end)
{
    uint32_t process = trace->lanes[l].process;
    while (l < end && trace->lanes[l].process == process) {
        l++;
    }
    return l;
}

int sharing_find(const struct trace *trace, struct sharing *out)
{
    size_t most = 0;
    *out = (struct sharing){0};
    for (uint32_t d = 0; d < trace->device_count; d++) {
        most += trace->devices[d].lane_count;
    }
    out->list = malloc((most + 1) * sizeof *out->list);
    if (out->list == NULL) {
        return -1;
    }
    for (uint32_t d = 0; d < trace->device_count; d++) {
        uint32_t l = trace->devices[d].first_lane;
        uint32_t end = l + trace->devices[d].lane_count;
        if (process_end(trace, l, end) == end) {
            continue;
        }
        while (l < end) {
            uint32_t next = process_end(trace, l, end);
            if (add_user(trace, l, next, out) != 0) {
                sharing_free(out);
                return -1;
            }
            l = next;
        }
    }
    return 0;
}

void sharing_free(struct sharing *sharing)
{
    free(sharing->list);
    *sharing = (struct sharing){0};
}

/* The first user of the device or of one after it. */
static size_t first_user(const struct sharing *sharing, uint32_t device)
{
    size_t at = 0;
    BISECT(size_t, at, sharing->count, mid, sharing->list[mid].device < device)
    return at;
}

const struct sharing_user *sharing_user_of(const struct sharing *sharing, uint32_t device,
                                           uint32_t process)
{
    size_t at = first_user(sharing, device);
    BISECT(size_t, at, sharing->count, mid,
           sharing->list[mid].device == device && sharing->list[mid].process < process)
    bool found = at < sharing->count && sharing->list[at].device == device &&
                 sharing->list[at].process == process;
    return found ? &sharing->list[at] : NULL;
}

bool sharing_is_side_by_side(const struct trace *trace, const struct sharing *sharing,
                             uint32_t device)
{
    const struct trace_device *of = &trace->devices[device];
    int64_t sum_ns = 0;
    for (size_t i = first_user(sharing, device);
         i < sharing->count && sharing->list[i].device == device; i++) {
        sum_ns += sharing->list[i].busy_ns;
    }
    int64_t busy_ns = of->busy_sum_ns[of->busy_count];
    return sum_ns - busy_ns > busy_ns / 20;
}

/* One process: its name, its number, its share of the span. */
static void put_user(const struct trace *trace, const struct sharing_user *user, int64_t span_ns,
                     bool is_first, struct buf *out)
{
    const struct trace_process *process = &trace->processes[user->process];
    utf8_sanitize(out, process->name, process->name_len, false);
    buf_addf(out, "%s(%" PRId64 ") %s %.1f %%", process->name_len > 0 ? " " : "", process->pid,
             is_first ? "keeps it busy for" : "for",
             span_ns > 0 ? 100.0 * (double)user->busy_ns / (double)span_ns : 0.0);
    buf_adds(out, is_first ? " of its span" : "");
}

void sharing_put(const struct trace *trace, const struct sharing *sharing, struct buf *out)
{
    enum {
        USERS = 6 /* of a device that are named */
    };
    for (size_t i = 0; i < sharing->count;) {
        uint32_t device = sharing->list[i].device;
        const struct trace_device *of = &trace->devices[device];
        int64_t span_ns = of->busy_end_ns[of->busy_count - 1] - of->busy_begin_ns[0];
        size_t first = i;
        buf_addf(out, "GPU %" PRId64 " is shared: ", of->id);
        for (; i < sharing->count && sharing->list[i].device == device; i++) {
            if (i - first < USERS) {
                buf_adds(out, i > first ? ", " : "");
                put_user(trace, &sharing->list[i], span_ns, i == first, out);
            }
        }
        if (i - first > USERS) {
            buf_addf(out, ", and %zu more", i - first - USERS);
        }
        buf_adds(out, sharing_is_side_by_side(trace, sharing, device) ? "; they run side by side\n"
                                                                      : "; they take turns\n");
    }
}
