/* Capture ranges for the converter: the stretches of the time line in which a process was recorded.
 * The library drops whole buffers of CUPTI that lie outside; here it is decided for each event. */
#include <stdlib.h>

#include "analysis/base/array.h"
#include "capture/convert/convert_internal.h"

int convert_range_learn(struct convert *c, struct convert_proc *proc, const struct spool_meta *head,
                        struct err *err)
{
    int64_t at_ns = clock_off((int64_t)head->value[3], c->zero_mono_ns);
    bool open = proc->ranges_count > 0 && proc->ranges[proc->ranges_count - 1].end_ns == INT64_MAX;
    if (head->code == SPOOL_STATUS_RANGE_CLOSED) {
        c->result->ranges_done++;
        if (open && head->value[0] == 0) {
            proc->ranges[proc->ranges_count - 1].end_ns = at_ns;
        }
        return 0;
    }
    c->result->range_opened = true;
    c->result->range_processes += proc->ranges_count == 0 ? 1 : 0;
    if (open) {
        return 0; /* the end of the one before was lost */
    }
    struct convert_interval *grown =
        array_grow(proc->ranges, &proc->ranges_cap, proc->ranges_count + 1, sizeof *proc->ranges);
    if (grown == NULL) {
        return err_nomem(err, "capture ranges");
    }
    proc->ranges = grown;
    grown[proc->ranges_count++] = (struct convert_interval){.begin_ns = at_ns, .end_ns = INT64_MAX};
    return 0;
}

/* Whether [begin, end] touches one of the stretches, which are in order and apart. */
static bool touches(const struct convert_interval *list, size_t count, int64_t begin_ns,
                    int64_t end_ns)
{
    size_t at = 0;
    BISECT(size_t, at, count, mid, list[mid].end_ns <= begin_ns)
    return at < count && list[at].begin_ns <= end_ns;
}

bool convert_wanted(const struct convert *c, const struct convert_proc *proc, int64_t begin_ns,
                    int64_t end_ns)
{
    if (c->intervals_n > 0 && !touches(c->intervals, c->intervals_n, begin_ns, end_ns)) {
        return false;
    }
    return c->config.range == SESSION_RANGE_NONE ||
           touches(proc->ranges, proc->ranges_count, begin_ns, end_ns);
}
