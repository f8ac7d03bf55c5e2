/*
 * tracks: the tracks of one table, joined from those of its pieces and put into the order of lanes.
 * Cost: O(t log t) for t tracks of all pieces.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/trace/trace_internal.h"

/* A track while the pieces are joined. */
struct joined {
    struct track track;
    int64_t last_begin_ns;
    int64_t last_end_ns;
    uint32_t number; /* in order of first sight */
};

struct joining {
    struct load *load;
    enum trace_table table;
    struct intern keys;
    struct joined *joined; /* room for the tracks of all pieces */
};

/* Adds what a piece saw of a track: is it still sorted across the border of the pieces? */
static void tracks_add(struct joined *joined, const struct raw_track_use *use)
{
    bool later =
        joined->track.count == 0 || use->first_begin_ns > joined->last_begin_ns ||
        (use->first_begin_ns == joined->last_begin_ns && use->first_end_ns <= joined->last_end_ns);
    joined->track.unsorted = joined->track.unsorted || use->unsorted || !later;
    joined->track.count += use->events;
    joined->last_begin_ns = use->last_begin_ns;
    joined->last_end_ns = use->last_end_ns;
}

static int tracks_piece(struct joining *joining, struct piece *piece)
{
    piece->track_map = calloc((size_t)piece->tracks.count + 1, sizeof *piece->track_map);
    if (piece->track_map == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < piece->tracks.count; i++) {
        const struct raw_track *raw = (const void *)intern_text(&piece->tracks, i);
        uint32_t known = joining->keys.count;
        if (piece->uses[i].events == 0) {
            continue;
        }
        struct track track = people_track(joining->load, raw);
        uint32_t index =
            intern_add(&joining->keys, (const char *)&track, offsetof(struct track, count));
        if (index == INTERN_NONE) {
            return -1;
        }
        if (index == known) {
            joining->joined[index] = (struct joined){.track = track, .number = index};
        }
        tracks_add(&joining->joined[index], &piece->uses[i]);
        piece->track_map[i] = index;
    }
    return 0;
}

enum {
    TRACK_KEYS = 7
};

/* The order of lanes, see trace.h. In the tables of threads all devices are equal, in that of the
 * GPUs all threads. */
static void track_keys(const struct track *track, int64_t keys[TRACK_KEYS])
{
    keys[0] = track->device;
    keys[1] = track->process;
    keys[2] = track->thread;
    keys[3] = track->kind;
    keys[4] = track->device_id;
    keys[5] = track->context_id;
    keys[6] = track->stream_id;
}

static int track_order(const void *a, const void *b)
{
    int64_t x[TRACK_KEYS];
    int64_t y[TRACK_KEYS];
    track_keys(&((const struct joined *)a)->track, x);
    track_keys(&((const struct joined *)b)->track, y);
    for (int i = 0; i < TRACK_KEYS; i++) {
        if (x[i] != y[i]) {
            return COMPARE(x[i], y[i]);
        }
    }
    return 0;
}

/* Sorts the tracks and renumbers the maps of the pieces. */
static int tracks_sort(struct joining *joining, struct track **tracks)
{
    uint32_t count = joining->keys.count;
    uint32_t *rank = calloc((size_t)count + 1, sizeof *rank);
    *tracks = calloc((size_t)count + 1, sizeof **tracks);
    if (rank == NULL || *tracks == NULL) {
        free(rank);
        return -1;
    }
    sort_list(joining->joined, count, sizeof *joining->joined, track_order);
    for (uint32_t i = 0; i < count; i++) {
        (*tracks)[i] = joining->joined[i].track;
        rank[joining->joined[i].number] = i;
    }
    for (uint32_t p = 0; p < joining->load->piece_count; p++) {
        struct piece *piece = &joining->load->pieces[p];
        for (uint32_t i = 0; raw_table_of(piece) == joining->table && i < piece->tracks.count;
             i++) {
            piece->track_map[i] = rank[piece->track_map[i]];
        }
    }
    free(rank);
    return 0;
}

int tracks_join(struct load *load, enum trace_table table, struct track **tracks, uint32_t *count)
{
    struct joining joining = {.load = load, .table = table};
    size_t room = 1;
    int status = 0;
    for (uint32_t p = 0; p < load->piece_count; p++) {
        room += raw_table_of(&load->pieces[p]) == table ? load->pieces[p].tracks.count : 0;
    }
    joining.joined = calloc(room, sizeof *joining.joined);
    status = joining.joined == NULL ? -1 : 0;
    for (uint32_t p = 0; p < load->piece_count && status == 0; p++) {
        if (raw_table_of(&load->pieces[p]) == table) {
            status = tracks_piece(&joining, &load->pieces[p]);
        }
    }
    if (status == 0) {
        status = tracks_sort(&joining, tracks);
    }
    *count = joining.keys.count;
    intern_free(&joining.keys);
    free(joining.joined);
    return status;
}
