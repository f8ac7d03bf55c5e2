/*
 * outliers_silence: rows that a silence cuts off from the others; the rules are in outliers.c.
 *
 * Silence is found without sorting: each row covers the bins of a line that it touches (a difference
 * array); a bin is at least a 65536th of the span. Where something was left out, the line is drawn
 * again: O(n) for each round, and there are at most SILENCE_ROUNDS.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/times.h"
#include "analysis/trace/outliers.h"

#define SILENCE_NS (10 * OUTLIER_SECOND_NS)
#define SILENCE_DAY_NS (24 * OUTLIER_HOUR_NS)
#define SILENCE_MONTH_NS (30 * SILENCE_DAY_NS)

enum {
    SILENCE_BINS = 65536,
    SILENCE_ROUNDS = 8,
    SILENCE_FEW = 3, /* rows that are few in any capture; else one in a hundred */
    SILENCE_BEYOND = 1000 /* times what the rest spans is far */
};

/* A run of rows without a silence in it. */
struct cluster {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t rows;
    int64_t intact; /* ops whose call is in the same cluster, and calls whose op is */
    int64_t broken; /* ... in another */
    int64_t acausal; /* of these: the op begins before its call */
    bool gone;
};

struct line {
    struct load *load;
    struct cluster *clusters;
    size_t count;
    size_t cap;
    size_t main; /* the one with most rows */
    int64_t first_ns;
    int64_t last_ns;
    int shift; /* a bin is 1 << shift ns */
    uint32_t *bins; /* SILENCE_BINS + 1: rows that cover it, then its cluster + 1 */
};

/* An op or a call in a cluster of few rows. */
struct half {
    int64_t global_pid; /* 0: unknown */
    int64_t begin_ns;
    uint32_t correlation;
    uint32_t cluster;
    bool op;
};

static int64_t row_end(const struct piece *piece, uint32_t i)
{
    return piece->end_ns[i] == INT64_MAX ? piece->begin_ns[i] : piece->end_ns[i];
}

static int64_t row_process(const struct piece *piece, uint32_t i)
{
    const struct raw_track *track = (const void *)intern_text(&piece->tracks, piece->track[i]);
    return outliers_is_gpu(piece) ? track->global_id : store_global_pid(track->global_id);
}

static bool line_span(struct line *all)
{
    uint32_t p;
    all->first_ns = INT64_MAX;
    all->last_ns = INT64_MIN;
    for (p = 0; p < all->load->piece_count; p++) {
        const struct piece *piece = &all->load->pieces[p];
        if (piece->count > 0) {
            all->first_ns = piece->first_ns < all->first_ns ? piece->first_ns : all->first_ns;
            all->last_ns = piece->last_ns > all->last_ns ? piece->last_ns : all->last_ns;
        }
    }
    return all->first_ns <= all->last_ns;
}

/* ---- silence ---- */

static size_t bin_of(const struct line *all, int64_t t_ns)
{
    return (size_t)((t_ns - all->first_ns) >> all->shift);
}

/* Counts the rows over each bin. */
static void bins_cover(struct line *all)
{
    uint32_t p;
    uint32_t i;
    memset(all->bins, 0, ((size_t)SILENCE_BINS + 1) * sizeof *all->bins);
    all->shift = 0;
    while (((all->last_ns - all->first_ns) >> all->shift) >= SILENCE_BINS) {
        all->shift++;
    }
    for (p = 0; p < all->load->piece_count; p++) {
        const struct piece *piece = &all->load->pieces[p];
        for (i = 0; i < piece->count; i++) {
            all->bins[bin_of(all, piece->begin_ns[i])]++;
            all->bins[bin_of(all, row_end(piece, i)) + 1]--; /* a negative count is never summed */
        }
    }
    for (i = 1; i < SILENCE_BINS; i++) {
        all->bins[i] += all->bins[i - 1];
    }
}

/* Numbers the runs of covered bins. 0, or -1 without memory. */
static int bins_number(struct line *all)
{
    bool inside = false;
    uint32_t i;
    all->count = 0;
    for (i = 0; i < SILENCE_BINS; i++) {
        if (all->bins[i] == 0) {
            inside = false;
            continue;
        }
        if (!inside) {
            struct cluster *grown =
                array_grow(all->clusters, &all->cap, all->count + 1, sizeof *grown);
            if (grown == NULL) {
                return -1;
            }
            all->clusters = grown;
            grown[all->count++] = (struct cluster){.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
            inside = true;
        }
        all->bins[i] = (uint32_t)all->count;
    }
    return 0;
}

static uint32_t cluster_of(const struct line *all, const struct piece *piece, uint32_t i)
{
    return all->bins[bin_of(all, piece->begin_ns[i])] - 1;
}

static void clusters_measure(struct line *all)
{
    uint32_t p;
    uint32_t i;
    for (p = 0; p < all->load->piece_count; p++) {
        const struct piece *piece = &all->load->pieces[p];
        for (i = 0; i < piece->count; i++) {
            struct cluster *cluster = &all->clusters[cluster_of(all, piece, i)];
            int64_t end_ns = row_end(piece, i);
            cluster->rows++;
            cluster->begin_ns =
                piece->begin_ns[i] < cluster->begin_ns ? piece->begin_ns[i] : cluster->begin_ns;
            cluster->end_ns = end_ns > cluster->end_ns ? end_ns : cluster->end_ns;
        }
    }
}

/* Joins what is not apart by a silence, finds the main one. */
static void clusters_join(struct line *all)
{
    uint32_t *number = all->bins; /* of each bin; rewritten run by run */
    size_t kept = 0;
    size_t run = 0;
    uint32_t i;
    for (i = 0; i < SILENCE_BINS; i++) {
        if (number[i] == 0) {
            continue;
        }
        if (number[i] - 1 > run) {
            const struct cluster *next = &all->clusters[++run];
            struct cluster *last = &all->clusters[kept];
            if (next->begin_ns - last->end_ns >= SILENCE_NS) {
                all->clusters[++kept] = *next;
            } else {
                last->end_ns = next->end_ns > last->end_ns ? next->end_ns : last->end_ns;
                last->rows += next->rows;
            }
        }
        number[i] = (uint32_t)kept + 1;
    }
    all->count = kept + 1;
    all->main = 0;
    for (i = 1; i < all->count; i++) {
        all->main = all->clusters[i].rows > all->clusters[all->main].rows ? i : all->main;
    }
}

static bool cluster_is_few(const struct line *all, size_t c)
{
    int64_t rows = all->clusters[c].rows;
    int64_t most = all->clusters[all->main].rows;
    return c != all->main && (rows <= SILENCE_FEW || rows <= most / 100);
}

static int half_order(const void *a, const void *b)
{
    const struct half *x = a;
    const struct half *y = b;
    int c = COMPARE(x->correlation, y->correlation);
    return c != 0 ? c : COMPARE(x->begin_ns, y->begin_ns);
}

/* The ops and calls of small clusters, by correlation id. */
static int halves_collect(const struct line *all, struct half **list, size_t *count)
{
    size_t cap = 0;
    uint32_t p;
    uint32_t i;
    for (p = 0; p < all->load->piece_count; p++) {
        const struct piece *piece = &all->load->pieces[p];
        for (i = 0; piece->link != NULL && i < piece->count; i++) {
            uint32_t cluster = cluster_of(all, piece, i);
            struct half *grown = *list;
            if (piece->link[i] == 0 || !cluster_is_few(all, cluster)) {
                continue;
            }
            grown = array_grow(grown, &cap, *count + 1, sizeof *grown);
            if (grown == NULL) {
                return -1;
            }
            *list = grown;
            grown[(*count)++] = (struct half){row_process(piece, i), piece->begin_ns[i],
                                              piece->link[i], cluster, outliers_is_gpu(piece)};
        }
    }
    sort_list(*list, *count, sizeof **list, half_order);
    return 0;
}

/* A row and a half of the other side with its id, in one process where both name theirs. */
static void half_meet(struct line *all, const struct half *half, const struct piece *piece,
                      uint32_t i)
{
    struct cluster *cluster = &all->clusters[half->cluster];
    int64_t process = row_process(piece, i);
    int64_t op_ns = half->op ? half->begin_ns : piece->begin_ns[i];
    int64_t call_ns = half->op ? piece->begin_ns[i] : half->begin_ns;
    if (half->op == outliers_is_gpu(piece) ||
        (half->global_pid != 0 && process != 0 && half->global_pid != process)) {
        return;
    }
    if (cluster_of(all, piece, i) == half->cluster) {
        cluster->intact++;
    } else {
        cluster->broken++;
        cluster->acausal += op_ns < call_ns;
    }
}

/* The halves that have the id of a row meet it. O(log m) for m halves. */
static void halves_meet(struct line *all, const struct half *list, size_t count,
                        const struct piece *piece, uint32_t i)
{
    uint32_t id = piece->link[i];
    size_t at = 0;
    BISECT(size_t, at, count, mid, list[mid].correlation < id)
    for (; at < count && list[at].correlation == id; at++) {
        half_meet(all, &list[at], piece, i);
    }
}

/* Where are the other halves? */
static int clusters_pair(struct line *all)
{
    struct half *list = NULL;
    size_t count = 0;
    int status = halves_collect(all, &list, &count);
    for (uint32_t p = 0; status == 0 && count > 0 && p < all->load->piece_count; p++) {
        const struct piece *piece = &all->load->pieces[p];
        for (uint32_t i = 0; piece->link != NULL && i < piece->count; i++) {
            if (piece->link[i] != 0) {
                halves_meet(all, list, count, piece, i);
            }
        }
    }
    free(list);
    return status;
}

/* Must the cluster go? See the head of the file. */
static bool cluster_is_outlier(const struct line *all, size_t c)
{
    const struct cluster *cluster = &all->clusters[c];
    const struct cluster *most = &all->clusters[all->main];
    int64_t silence = c < all->main ? all->clusters[c + 1].begin_ns - cluster->end_ns
                                    : cluster->begin_ns - all->clusters[c - 1].end_ns;
    if (silence >= SILENCE_MONTH_NS) {
        return true;
    }
    if (!cluster_is_few(all, c) || cluster->intact > 0) {
        return false;
    }
    return cluster->acausal > 0 || (cluster->broken > 0 && silence >= OUTLIER_HOUR_NS) ||
           (cluster->broken == 0 && silence >= SILENCE_DAY_NS &&
            silence / SILENCE_BEYOND >= most->end_ns - most->begin_ns);
}

static void clusters_leave_out(struct line *all)
{
    uint32_t p;
    uint32_t i;
    size_t c;
    bool any = false;
    for (c = 0; c < all->count; c++) {
        all->clusters[c].gone = c != all->main && cluster_is_outlier(all, c);
        any = any || all->clusters[c].gone;
    }
    for (p = 0; any && p < all->load->piece_count; p++) {
        struct piece *piece = &all->load->pieces[p];
        for (i = 0; i < piece->count; i++) {
            if (all->clusters[cluster_of(all, piece, i)].gone) {
                outliers_leave_out(all->load, piece, i);
            }
        }
    }
}

/* What lies further from the main cluster than times may, whatever it is. */
static void line_bound(struct line *all)
{
    int64_t begin_ns = all->clusters[all->main].begin_ns;
    int64_t end_ns = begin_ns + TIMES_SPAN_MAX_NS;
    uint32_t p;
    uint32_t i;
    for (p = 0; p < all->load->piece_count; p++) {
        struct piece *piece = &all->load->pieces[p];
        for (i = 0; i < piece->count; i++) {
            if (piece->begin_ns[i] < begin_ns || row_end(piece, i) > end_ns) {
                outliers_leave_out(all->load, piece, i);
            }
        }
    }
}

/* Draws the line. 0, or -1 without memory. */
static int line_draw(struct line *all)
{
    bins_cover(all);
    if (bins_number(all) != 0) {
        return -1;
    }
    clusters_measure(all);
    clusters_join(all);
    return 0;
}

static int line_judge(struct line *all, bool partial, bool *again)
{
    bool more = true;
    for (int round = 0; more && round < SILENCE_ROUNDS && line_span(all) &&
                        all->last_ns - all->first_ns > SILENCE_NS;
         round++) {
        if (line_draw(all) != 0) {
            return -1;
        }
        if (partial) {
            *again = all->count > 1;
            return 0;
        }
        if (all->count > 1 && clusters_pair(all) != 0) {
            return -1;
        }
        clusters_leave_out(all);
        more = outliers_settle(all->load);
    }
    if (line_span(all) && all->last_ns - all->first_ns > TIMES_SPAN_MAX_NS) {
        line_bound(all);
        (void)outliers_settle(all->load);
    }
    return 0;
}

int outliers_silence(struct load *load, bool partial, bool *again)
{
    struct line all = {.load = load};
    int status = -1;
    all.bins = malloc(((size_t)SILENCE_BINS + 1) * sizeof *all.bins);
    if (all.bins != NULL) {
        status = line_judge(&all, partial, again);
    }
    free(all.clusters);
    free(all.bins);
    return status;
}
