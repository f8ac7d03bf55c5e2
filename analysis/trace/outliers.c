/*
 * outliers: rows whose times cannot be. One damaged row must not stretch the span of a capture, nor
 * run a sum over. What profilers are known to write: the first record after a restart of the
 * collection off by hours, times of another clock (1970, boot), ends that were never set.
 *
 * By three rules, in this order; what they leave keeps the promises of analysis/base/times.h:
 *
 *   silence  rows fall into clusters, which are cut off from each other by a silence: a time in
 *            which nothing at all is there. The cluster with most rows stays. Another one goes
 *            where it is a month away; or where it has few rows and an op whose call is elsewhere
 *            (or a call whose op is), and the op begins before its call or the silence is an hour;
 *            or where it has few rows, none of which belongs to another, and is a day away and far
 *            beyond what the rest spans
 *   overrun  an op that goes on for an hour after a later op of its own stream began
 *   length   where the durations of one table of the file run over, its longest rows go: all above
 *            the power of two that makes the rest fit
 *
 * Where only some tables of the file were read, the first two cannot be told; but where those show
 * neither a silence nor a long op, neither does the whole. Else the caller reads all.
 *
 * Every rule looks for cheap signs first: a capture without them costs one pass over its times where
 * it is longer than the shortest silence, else none.
 */
#include "analysis/trace/outliers.h"

#include <string.h>

#include "analysis/base/times.h"

enum {
    OUTLIER_LONG_MAX = 32, /* long ops that are looked at one by one */
    OUTLIER_CLASSES = 64 /* of lengths, by powers of two */
};

void outliers_leave_out(struct load *load, struct piece *piece, uint32_t i)
{
    struct trace_counts *counts = &load->trace->counts;
    if (counts->misplaced < TRACE_LEFT_OUT) {
        counts->left_out[counts->misplaced] = (struct trace_left_out){
            piece->begin_ns[i], piece->end_ns[i], piece->row[i], (uint32_t)piece->source};
    }
    counts->misplaced++;
    piece->track[i] = RAW_GONE;
    piece->gone++;
}

bool outliers_settle(struct load *load)
{
    bool any = false;
    uint32_t p;
    for (p = 0; p < load->piece_count; p++) {
        if (load->pieces[p].gone > 0) {
            raw_settle(&load->pieces[p]);
            any = true;
        }
    }
    return any;
}

/* ---- overrun ---- */

/* An op of an hour or more. */
struct long_op {
    struct piece *piece;
    uint32_t index;
    bool gone;
};

static bool is_later_in(const struct piece *piece, uint32_t i, const struct long_op *op)
{
    const struct piece *home = op->piece;
    int64_t begin_ns = piece->begin_ns[i];
    return begin_ns > home->begin_ns[op->index] &&
           begin_ns < home->end_ns[op->index] - OUTLIER_HOUR_NS &&
           memcmp(intern_text(&piece->tracks, piece->track[i]),
                  intern_text(&home->tracks, home->track[op->index]),
                  sizeof(struct raw_track)) == 0;
}

/* Finds the long ops. Their number; OUTLIER_LONG_MAX where there are as many or more. */
static size_t long_ops_find(struct load *load, struct long_op *list)
{
    size_t count = 0;
    for (uint32_t p = 0; p < load->piece_count && count < OUTLIER_LONG_MAX; p++) {
        struct piece *piece = &load->pieces[p];
        if (!outliers_is_gpu(piece) || piece->longest_ns < OUTLIER_HOUR_NS) {
            continue;
        }
        for (uint32_t i = 0; i < piece->count && count < OUTLIER_LONG_MAX; i++) {
            if (piece->end_ns[i] - piece->begin_ns[i] >= OUTLIER_HOUR_NS) {
                list[count++] = (struct long_op){piece, i, false};
            }
        }
    }
    return count;
}

/* O(n) for each long op; where there are many, they are no outliers. */
static void outliers_overrun(struct load *load, bool partial, bool *again)
{
    struct long_op list[OUTLIER_LONG_MAX];
    size_t count = long_ops_find(load, list);
    if (partial) {
        *again = *again || count > 0;
        return;
    }
    for (uint32_t p = 0; count > 0 && count < OUTLIER_LONG_MAX && p < load->piece_count; p++) {
        const struct piece *piece = &load->pieces[p];
        for (uint32_t i = 0; outliers_is_gpu(piece) && i < piece->count; i++) {
            for (size_t k = 0; k < count; k++) {
                list[k].gone = list[k].gone || is_later_in(piece, i, &list[k]);
            }
        }
    }
    for (size_t k = 0; count < OUTLIER_LONG_MAX && k < count; k++) {
        if (list[k].gone) {
            outliers_leave_out(load, list[k].piece, list[k].index);
        }
    }
    (void)outliers_settle(load);
}

/* ---- length ---- */

/* The last NVTX time, where open ranges are closed: of any row, unless it is far behind all that
 * are events. */
static void outliers_nvtx_end(struct load *load)
{
    int64_t latest_ns = INT64_MIN;
    int64_t last_ns = INT64_MIN;
    for (uint32_t p = 0; p < load->piece_count; p++) {
        const struct piece *piece = &load->pieces[p];
        if (piece->source == RAW_NVTX) {
            latest_ns = piece->latest_ns > latest_ns ? piece->latest_ns : latest_ns;
            last_ns = piece->last_ns > last_ns ? piece->last_ns : last_ns;
        }
    }
    if (last_ns != INT64_MIN && latest_ns > last_ns + OUTLIER_HOUR_NS) {
        latest_ns = last_ns;
    }
    load->trace->nvtx_end_ns = latest_ns == INT64_MIN ? 0 : latest_ns;
}

static int64_t row_length(const struct load *load, const struct piece *piece, uint32_t i)
{
    int64_t end_ns = piece->end_ns[i] == INT64_MAX ? load->trace->nvtx_end_ns : piece->end_ns[i];
    return end_ns > piece->begin_ns[i] ? end_ns - piece->begin_ns[i] : 0;
}

/* 0 for nothing, else one more than the power of two in it. */
static int length_class(int64_t length_ns)
{
    int bits = 0;
    while (length_ns > 0) {
        bits++;
        length_ns >>= 1;
    }
    return bits;
}

/* The least class of rows of a source that must go, so that the rest can be summed. */
static int length_limit(const struct load *load, int source)
{
    int64_t sums[OUTLIER_CLASSES] = {0};
    int64_t sum = 0;
    int class = 0;
    for (uint32_t p = 0; p < load->piece_count; p++) {
        const struct piece *piece = &load->pieces[p];
        for (uint32_t i = 0; (int)piece->source == source && i < piece->count; i++) {
            int64_t length_ns = row_length(load, piece, i);
            int64_t *of_class = &sums[length_class(length_ns)];
            *of_class = i64_add(*of_class, length_ns);
        }
    }
    for (; class < OUTLIER_CLASSES; class ++) {
        sum = i64_add(sum, sums[class]);
        if (sum > TIMES_SUM_MAX_NS) {
            break;
        }
    }
    return class;
}

/* Can the durations of the source run over? Open ranges are not in the sums of the pieces. */
static bool length_may_run_over(const struct load *load, int source)
{
    int64_t sum = 0;
    for (uint32_t p = 0; p < load->piece_count; p++) {
        const struct piece *piece = &load->pieces[p];
        if ((int)piece->source == source && piece->count > 0) {
            int64_t most = load->trace->nvtx_end_ns - piece->first_ns;
            sum = i64_add(sum, piece->sum_ns);
            sum = i64_add(sum, i64_multiply(piece->open_count, most > 0 ? most : 0));
        }
    }
    return sum > TIMES_SUM_MAX_NS;
}

static void length_leave_out(struct load *load, struct piece *piece, int limit)
{
    for (uint32_t i = 0; i < piece->count; i++) {
        if (length_class(row_length(load, piece, i)) >= limit) {
            outliers_leave_out(load, piece, i);
        }
    }
}

static void outliers_length(struct load *load)
{
    for (int source = 0; source < RAW_SOURCE_COUNT; source++) {
        int limit =
            length_may_run_over(load, source) ? length_limit(load, source) : OUTLIER_CLASSES;
        for (uint32_t p = 0; limit < OUTLIER_CLASSES && p < load->piece_count; p++) {
            if ((int)load->pieces[p].source == source) {
                length_leave_out(load, &load->pieces[p], limit);
            }
        }
    }
    (void)outliers_settle(load);
}

int outliers_drop(struct load *load, bool partial, bool *again, struct err *err)
{
    *again = false;
    if (outliers_silence(load, partial, again) != 0) {
        return err_nomem(err, "times");
    }
    outliers_overrun(load, partial, again);
    outliers_nvtx_end(load);
    outliers_length(load);
    return 0;
}
