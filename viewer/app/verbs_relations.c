/* verbs_relations: verbs that follow what belongs together: launch and op, range and projection, steps.
 */
#include <stdio.h>

#include "analysis/base/timefmt.h"
#include "analysis/detect/gaps.h"
#include "viewer/app/app_internal.h"

static const struct relate_syncs *relations_syncs(struct app *app)
{
    const struct facts *facts = app_facts(app);
    struct err err = {0};
    if (!app->syncs_loaded && facts != NULL && relate_syncs_load(facts, &app->syncs, &err) == 0) {
        app->syncs_loaded = true;
    }
    return app->syncs_loaded ? &app->syncs : NULL;
}

/* From a wait to the record that it waits for (or the op it waits on), and back. */
static bool relations_sync(struct app *app)
{
    const struct relate_syncs *syncs = relations_syncs(app);
    uint32_t count = 0;
    if (syncs == NULL) {
        return false;
    }
    const struct relate_sync *sync = relate_sync_of(syncs, app->event.index);
    if (sync != NULL && (sync->record != TRACE_NONE || sync->op != TRACE_NONE)) {
        bool record = sync->record != TRACE_NONE;
        app_remember(app);
        app_select(app, (struct app_event){record ? TRACE_API : TRACE_GPU,
                                           record ? sync->record : sync->op});
        app_say(app, record ? "the call that recorded what is waited for"
                            : "the last op that is waited for");
        return true;
    }
    const uint32_t *waits = relate_waits_of(syncs, app->event.index, &count);
    if (waits == NULL || count == 0) {
        return false;
    }
    app_remember(app);
    app_select(app, (struct app_event){TRACE_API, syncs->list[waits[0]].wait});
    app_say(app, "the first of %u waits for it", (unsigned)count);
    return true;
}

/* From a range to its projection on a GPU, and back. */
static bool relations_projection(struct app *app)
{
    const struct row *now = &app->rows.list[app->row];
    bool derived = now->kind == ROW_LANE && now->lane.index != NULL;
    for (uint32_t i = 0; i < app->rows.count; i++) {
        const struct row *row = &app->rows.list[i];
        if (row->kind != ROW_LANE || row->lane.table != TRACE_NVTX ||
            (row->lane.index != NULL) == derived) {
            continue;
        }
        uint32_t at =
            lane_find_event(&row->lane, app->event.index, app_event_begin(app, app->event));
        if (at < row->lane.count) {
            app_remember(app);
            app_set_row(app, i);
            app_look(app, window_put(&app->window, row->lane.begin_ns[at], app->window.cols / 3));
            app_say(app, derived ? "the range on its thread" : "the range on the GPU");
            return true;
        }
    }
    return false;
}

/* From a gap to the call that ended it: the launch of the op that comes after it. */
static void relations_gap(struct app *app)
{
    struct gaps_query query = {app->gap_device, 0, app->gap_begin_ns, app->gap_end_ns};
    struct gaps gaps = {0};
    uint32_t call = TRACE_NONE;
    if (gaps_find(app->trace, app_busy(app), &query, &gaps, NULL) == 0 && gaps.count > 0 &&
        gaps.list[0].after != TRACE_NONE) {
        call = app->trace->events[TRACE_GPU].link[gaps.list[0].after];
    }
    gaps_free(&gaps);
    if (call == TRACE_NONE) {
        app_fail(app, "the capture has no call that launched the op after this gap");
        return;
    }
    app_remember(app);
    app_select(app, (struct app_event){TRACE_API, call});
    app_say(app, "the call that launched the op after the gap");
}

void verb_link(struct app *app, int count)
{
    const struct trace *trace = app->trace;
    uint32_t link = TRACE_NONE;
    (void)count;
    if (app_has_gap(app)) {
        relations_gap(app);
        return;
    }
    if (!app_has_event(app)) {
        app_fail(app, "select an op, an API call or a range first (w, b)");
        return;
    }
    if (app->event.table == TRACE_NVTX) {
        if (!relations_projection(app)) {
            app_fail(app, "no GPU work was launched in this range");
        }
        return;
    }
    if (trace->events[app->event.table].link != NULL) {
        link = trace->events[app->event.table].link[app->event.index];
    }
    if (link == TRACE_NONE) {
        if (app->event.table != TRACE_API || !relations_sync(app)) {
            app_fail(app, app->event.table == TRACE_GPU
                              ? "the capture has no call that launched this op"
                              : "this call put nothing on a GPU");
        }
        return;
    }
    app_remember(app);
    if (app->event.table == TRACE_GPU) {
        app_select(app, (struct app_event){TRACE_API, link});
    } else {
        app_select(app, (struct app_event){TRACE_GPU, trace->launch_ops[link]});
    }
}

/* Moves the window with what is selected, so that it keeps its place on the screen. */
static void relations_follow(struct app *app, struct app_event from, struct app_event to)
{
    int64_t shift_ns = app_event_begin(app, to) - app_event_begin(app, from);
    int64_t cols = window_floor(shift_ns, app->window.ns_per_col);
    app_look(app, window_pan(&app->window, cols));
    app_select(app, to);
}

static void relations_step(struct app *app, int step)
{
    const struct facts *facts = app_facts(app);
    struct app_event from = app->event;
    struct relate_event event = {(enum trace_table)from.table, from.index};
    uint32_t of = 0;
    if (!app_has_event(app) || facts == NULL) {
        app_fail(app, "select an event first (w, b): the step is the repeated range around it");
        return;
    }
    uint32_t here = relate_step(facts, event);
    uint32_t next = here == TRACE_NONE ? TRACE_NONE : relate_step_next(facts, here, step);
    if (next == TRACE_NONE) {
        app_fail(app, here == TRACE_NONE ? "no repeated NVTX range is around this event"
                      : step > 0         ? "this is the last step"
                                         : "this is the first step");
        return;
    }
    app_remember(app);
    struct relate_event place = event.table == TRACE_NVTX && event.index == here
                                    ? (struct relate_event){TRACE_NVTX, next}
                                    : relate_same_place(facts, event, here, next);
    if (place.index == TRACE_NONE) {
        place = (struct relate_event){TRACE_NVTX, next};
        from = (struct app_event){TRACE_NVTX, here};
    }
    relations_follow(app, from, (struct app_event){(uint32_t)place.table, place.index});
    uint32_t number = relate_step_number(facts, next, &of);
    app_say(app, "step %u of %u: %.60s", (unsigned)number, (unsigned)of,
            app->trace->names[app->trace->events[TRACE_NVTX].name[next]].brief);
}

void verb_step_next(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        relations_step(app, 1);
    }
}

void verb_step_previous(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        relations_step(app, -1);
    }
}

void verb_step_zoom(struct app *app, int count)
{
    const struct facts *facts = app_facts(app);
    struct relate_event event = {(enum trace_table)app->event.table, app->event.index};
    uint32_t step = app_has_event(app) && facts != NULL ? relate_step(facts, event) : TRACE_NONE;
    (void)count;
    if (step == TRACE_NONE) {
        app_fail(app, "no repeated NVTX range is around a selected event");
        return;
    }
    app_remember(app);
    app_look_at(app, app->trace->events[TRACE_NVTX].begin_ns[step],
                app->trace->events[TRACE_NVTX].end_ns[step], 96);
}

/* Says which edge A or B is. */
static void relations_say_mark(struct app *app, bool second)
{
    char at[TIMEFMT_BYTES];
    const char *edge = second ? "end" : "begin";
    const char *next = second ? "" : "; go on to the end of the span and press the key again";
    char mark = second ? 'B' : 'A';
    if (app_has_gap(app)) {
        app_say(app, "%c is the %s of the idle gap%s", mark, edge, next);
    } else if (app_has_event(app)) {
        app_say(app, "%c is the %s of %.80s%s", mark, edge, app_event_name(app, app->event)->brief,
                next);
    } else {
        app_say(app, "%c is the cursor, %s%s", mark,
                timefmt_at(app->mark_ns[second ? 1 : 0], app->window.ns_per_col, at), next);
    }
}

void verb_mark(struct app *app, int count)
{
    int64_t t_ns = window_time(&app->window, app->cursor_col);
    bool second = app->mark_count == 1;
    (void)count;
    if (app_has_gap(app)) {
        t_ns = second ? app->gap_end_ns : app->gap_begin_ns;
    } else if (app_has_event(app)) {
        t_ns = second ? app_event_end(app, app->event) : app_event_begin(app, app->event);
    }
    app->mark_count = app->mark_count == 2 ? 0 : app->mark_count;
    app->mark_ns[app->mark_count++] = t_ns;
    app->span_stamp++;
    relations_say_mark(app, second);
    if (second) {
        app_unselect(app);
    }
}

void verb_marks_clear(struct app *app, int count)
{
    (void)count;
    app->mark_count = 0;
    app->span_stamp++;
}
