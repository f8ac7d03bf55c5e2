/*
 * arrange: the events of one table, from the pieces' raw columns to lanes.
 *
 *   order   event numbers grouped by track (a counting sort), each track sorted where it was not
 *   depth   of each event in its track (layout.c), then, in the same array, its final place
 *   move    every column is scattered to its final place, one after the other, so that the peak is
 *           one column above the data itself; it then goes to the file that it is kept in
 *
 * Event numbers count through the pieces: number = piece->base + i. Cost: O(n) for sorted rows.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/trace/cache_layout.h"

struct arranging {
    struct load *load;
    enum trace_table table;
    uint32_t count;
    struct track *tracks; /* in the order of lanes */
    uint32_t track_count;
    uint32_t *first; /* of each track in order */
    int64_t *begin_ns;
    int64_t *end_ns;
    uint32_t *order;
    uint32_t *place; /* depth, then final place, of each event */
    struct arranged *out;
    size_t lanes_cap;
};

static bool arrange_mine(const struct arranging *job, const struct piece *piece)
{
    return raw_table_of(piece) == job->table;
}

/* Numbers the events of the table's pieces. */
static int arrange_count(struct arranging *job, struct err *err)
{
    uint64_t count = 0;
    for (uint32_t p = 0; p < job->load->piece_count; p++) {
        struct piece *piece = &job->load->pieces[p];
        if (arrange_mine(job, piece)) {
            piece->base = (uint32_t)count;
            count += piece->count;
        }
        if (count >= UINT32_MAX) {
            return err_set(err, "%s: more than 4,294,967,294 events of one kind are not supported",
                           job->load->trace->path);
        }
    }
    job->count = (uint32_t)count;
    return 0;
}

/* Joins the times of the pieces and groups the event numbers by track. */
static int arrange_order(struct arranging *job)
{
    size_t n = (size_t)job->count + 1;
    uint32_t at = 0;
    uint32_t *next = calloc((size_t)job->track_count + 1, sizeof *next);
    job->first = calloc((size_t)job->track_count + 1, sizeof *job->first);
    job->begin_ns = calloc(n, sizeof *job->begin_ns);
    job->end_ns = calloc(n, sizeof *job->end_ns);
    job->order = calloc(n, sizeof *job->order);
    job->place = calloc(n, sizeof *job->place);
    if (next == NULL || job->first == NULL || job->begin_ns == NULL || job->end_ns == NULL ||
        job->order == NULL || job->place == NULL) {
        free(next);
        return -1;
    }
    for (uint32_t i = 0; i < job->track_count; i++) {
        job->first[i] = at;
        next[i] = at;
        at += job->tracks[i].count;
    }
    for (uint32_t p = 0; p < job->load->piece_count; p++) {
        struct piece *piece = &job->load->pieces[p];
        if (!arrange_mine(job, piece) || piece->count == 0) {
            continue;
        }
        memcpy(job->begin_ns + piece->base, piece->begin_ns, piece->count * sizeof(int64_t));
        memcpy(job->end_ns + piece->base, piece->end_ns, piece->count * sizeof(int64_t));
        for (uint32_t i = 0; i < piece->count; i++) {
            job->order[next[piece->track_map[piece->track[i]]]++] = piece->base + i;
        }
        for (uint32_t i = 0; i < piece->open_count; i++) {
            job->end_ns[piece->base + piece->open[i]] = job->load->trace->nvtx_end_ns;
        }
        free(piece->begin_ns);
        free(piece->end_ns);
        free(piece->track);
        piece->begin_ns = NULL;
        piece->end_ns = NULL;
        piece->track = NULL;
    }
    free(next);
    return 0;
}

/* One lane for each depth of a track; events get their final places. */
static int arrange_lanes(struct arranging *job, uint32_t t, uint32_t lanes)
{
    const struct track *track = &job->tracks[t];
    const uint32_t *order = job->order + job->first[t];
    struct arranged *out = job->out;
    uint32_t at = job->first[t];
    size_t wanted = (size_t)out->lane_count + lanes;
    struct trace_lane *grown = array_grow(out->lanes, &job->lanes_cap, wanted, sizeof *grown);
    if (grown == NULL) {
        return -1;
    }
    out->lanes = grown;
    if (wanted > UINT32_MAX) {
        return -1;
    }
    struct trace_lane *mine = out->lanes + out->lane_count;
    out->lane_count += lanes;
    for (uint32_t i = 0; i < lanes; i++) {
        mine[i] = (struct trace_lane){
            .kind = (uint8_t)track->kind,
            .table = (uint8_t)job->table,
            .depth = i,
            .process = track->process,
            .thread = track->thread,
            .device = track->device,
            .device_id = track->device_id,
            .context_id = track->context_id,
            .stream_id = track->stream_id,
        };
    }
    for (uint32_t i = 0; i < track->count; i++) {
        mine[job->place[order[i]]].count++;
    }
    for (uint32_t i = 0; i < lanes; i++) {
        mine[i].first = at;
        at += mine[i].count;
        mine[i].count = 0;
    }
    for (uint32_t i = 0; i < track->count; i++) {
        struct trace_lane *lane = &mine[job->place[order[i]]];
        job->place[order[i]] = lane->first + lane->count++;
    }
    return 0;
}

static bool arrange_is_packed(uint32_t kind)
{
    return kind == TRACE_LANE_STREAM || kind == TRACE_LANE_MIGRATION ||
           kind == TRACE_LANE_NVTX_STARTEND;
}

static int arrange_layout(struct arranging *job)
{
    for (uint32_t t = 0; t < job->track_count; t++) {
        struct track *track = &job->tracks[t];
        uint32_t *order = job->order + job->first[t];
        uint32_t lanes = 1;
        if (track->unsorted && sort_by_time(job->begin_ns, job->end_ns, order, track->count) != 0) {
            return -1;
        }
        if (track->kind == TRACE_LANE_NVTX_MARK) {
            for (uint32_t i = 0; i < track->count; i++) {
                job->place[order[i]] = 0;
            }
        } else if (arrange_is_packed(track->kind)) {
            lanes = layout_packed(job->end_ns, job->begin_ns, order, track->count, job->place);
        } else {
            lanes = layout_nested(job->end_ns, job->begin_ns, order, track->count, job->place);
        }
        if (lanes == 0 || arrange_lanes(job, t, lanes) != 0) {
            return -1;
        }
    }
    free(job->order);
    job->order = NULL;
    return 0;
}

static int64_t *arrange_move_times(const struct arranging *job, int64_t **from)
{
    int64_t *out = calloc((size_t)job->count + 1, sizeof *out);
    for (uint32_t i = 0; out != NULL && i < job->count; i++) {
        out[job->place[i]] = (*from)[i];
    }
    free(*from);
    *from = NULL;
    return out;
}

enum arrange_column {
    ARRANGE_NAME,
    ARRANGE_ROW,
    ARRANGE_LINK
};

static uint32_t **arrange_column(struct piece *piece, enum arrange_column column)
{
    uint32_t **columns[] = {&piece->name, &piece->row, &piece->link};
    return columns[column];
}

static uint32_t *arrange_move(struct arranging *job, enum arrange_column column)
{
    uint32_t *out = calloc((size_t)job->count + 1, sizeof *out);
    for (uint32_t p = 0; p < job->load->piece_count && out != NULL; p++) {
        struct piece *piece = &job->load->pieces[p];
        if (!arrange_mine(job, piece)) {
            continue; /* another thread's: not even its base may be read */
        }
        const uint32_t *place = job->place + piece->base;
        uint32_t **from = arrange_column(piece, column);
        for (uint32_t i = 0; i < piece->count && column == ARRANGE_NAME; i++) {
            out[place[i]] = piece->name_map[(*from)[i]];
        }
        for (uint32_t i = 0; i < piece->count && column != ARRANGE_NAME; i++) {
            out[place[i]] = (*from)[i];
        }
        free(*from);
        *from = NULL;
    }
    return out;
}

static int uint32_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return COMPARE(x, y);
}

/* The final places of open and cross-thread ranges. */
static int arrange_marks(struct arranging *job)
{
    struct trace_own *own = job->load->own;
    size_t open = 0;
    size_t cross = 0;
    for (uint32_t p = 0; p < job->load->piece_count; p++) {
        open += job->load->pieces[p].open_count;
        cross += job->load->pieces[p].cross_count;
    }
    own->open = malloc((open + 1) * sizeof *own->open);
    own->cross = malloc((cross + 1) * sizeof *own->cross);
    if (own->open == NULL || own->cross == NULL) {
        return -1;
    }
    for (uint32_t p = 0; p < job->load->piece_count; p++) {
        const struct piece *piece = &job->load->pieces[p];
        for (uint32_t i = 0; i < piece->open_count; i++) {
            own->open[own->open_count++] = job->place[piece->base + piece->open[i]];
        }
        for (uint32_t i = 0; i < piece->cross_count; i++) {
            own->cross[own->cross_count++] = job->place[piece->base + piece->cross[i]];
        }
    }
    sort_list(own->open, own->open_count, sizeof *own->open, uint32_order);
    sort_list(own->cross, own->cross_count, sizeof *own->cross, uint32_order);
    return 0;
}

/* A column that is done goes where it is kept, if it is. */
static void *arrange_keep(const struct arranging *job, int column, void *array)
{
    size_t bytes = column < 2 ? sizeof(int64_t) : sizeof(uint32_t);
    return cache_grow_put(job->load->own->growing, (int)job->table * CACHE_COLUMNS + column, array,
                          job->count * bytes);
}

static int arrange_columns(struct arranging *job)
{
    struct trace_events *events = &job->load->trace->events[job->table];
    events->count = job->count;
    events->begin_ns = arrange_keep(job, 0, arrange_move_times(job, &job->begin_ns));
    events->end_ns = arrange_keep(job, 1, arrange_move_times(job, &job->end_ns));
    events->name = arrange_keep(job, 2, arrange_move(job, ARRANGE_NAME));
    events->row = arrange_keep(job, 3, arrange_move(job, ARRANGE_ROW));
    if (job->table == TRACE_GPU || job->table == TRACE_API) {
        events->link = arrange_move(job, ARRANGE_LINK);
        if (events->link == NULL) {
            return -1;
        }
    }
    if (job->table == TRACE_NVTX && arrange_marks(job) != 0) {
        return -1;
    }
    return events->begin_ns == NULL || events->end_ns == NULL || events->name == NULL ||
                   events->row == NULL
               ? -1
               : 0;
}

int arrange_table(struct load *load, enum trace_table table, struct arranged *out, struct err *err)
{
    struct arranging job = {.load = load, .table = table, .out = out};
    if (arrange_count(&job, err) != 0) {
        return -1;
    }
    int status = tracks_join(load, table, &job.tracks, &job.track_count) != 0 ||
                 arrange_order(&job) != 0 || arrange_layout(&job) != 0 ||
                 arrange_columns(&job) != 0;
    free(job.tracks);
    free(job.first);
    free(job.begin_ns);
    free(job.end_ns);
    free(job.order);
    free(job.place);
    return status == 0 ? 0 : err_nomem(err, "the events");
}
