/* tour: see tour.h. */
#include "viewer/app/tour.h"

#include "viewer/app/app.h"

struct tour_step {
    const char *text;
    bool (*over)(const struct app *app);
};

static bool tour_has_list(const struct app *app)
{
    return app->list.kind == PANEL_GAPS;
}

static bool tour_has_gap(const struct app *app)
{
    return app_has_gap(app);
}

static bool tour_reads(const struct app *app)
{
    return app_has_gap(app) && app->list.kind == PANEL_NONE;
}

static bool tour_at_call(const struct app *app)
{
    return app_has_event(app) && app->event.table == TRACE_API;
}

static bool tour_filters(const struct app *app)
{
    return app->filter.terms != NULL && app->prompt.kind == PROMPT_NONE;
}

static bool tour_all(const struct app *app)
{
    return app->filter.terms == NULL && app->prompt.kind == PROMPT_NONE;
}

static const struct tour_step TOUR_STEPS[] = {
    {"The dashed line on the row GPU 1 is a time in which that GPU does nothing. Press {gaps} for "
     "the list of such gaps, the longest first.",
     tour_has_list},
    {"Each line has its length and its cause. Press {list-go} to jump to the first one.",
     tour_has_gap},
    {"Press {list-close} to close the list. Then the pane below says what the thread did meanwhile "
     "and in which NVTX range.",
     tour_reads},
    {"Go down to a stream with {row-down}, select a kernel with {event-next}, and jump to the call "
     "that launched it with {link}.",
     tour_at_call},
    {"Press {filter}, type gemm and watch the figures follow while you type; Enter keeps the "
     "filter.",
     tour_filters},
    {"{filter-clear} shows all again; {fit-gpu} the whole run. That is enough to begin with: "
     "{help} lists all keys, {quit} leaves.",
     tour_all},
};

int tour_steps(void)
{
    return (int)(sizeof TOUR_STEPS / sizeof TOUR_STEPS[0]);
}

const char *tour_text(const struct app *app)
{
    if (app->tour_step < 1) {
        return "";
    }
    return app->tour_step > tour_steps()
               ? "That was the tour. {help} lists all keys, {quit} leaves."
               : TOUR_STEPS[app->tour_step - 1].text;
}

void tour_begin(struct app *app)
{
    app->tour_step = 1;
}

void tour_advance(struct app *app)
{
    while (app->tour_step >= 1 && app->tour_step <= tour_steps() &&
           TOUR_STEPS[app->tour_step - 1].over(app)) {
        app->tour_step++;
    }
}
