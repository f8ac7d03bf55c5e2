/* gen_plan: decides where what is planted, before the loop is played. See gen_world.h. */
#include <stdlib.h>

#include "testdata/gen_world.h"

static int by_step(const void *a, const void *b)
{
    const struct gen_plant *x = a;
    const struct gen_plant *y = b;
    return x->step < y->step ? -1 : x->step > y->step ? 1 : x->rank - y->rank;
}

/* The demo capture's story: one long gap on device 1, and something of all the rest. */
static const struct gen_plant DEMO_GAPS[] = {
    {.step = 1, .rank = 0, .layer = 1, .length_ns = 2400000, .gap = {.cause = GEN_CAUSE_MODULE}},
    {.step = 1, .rank = 1, .layer = 2, .length_ns = 640000, .gap = {.cause = GEN_CAUSE_SLOW_HOST}},
    {.step = 2, .rank = 0, .layer = 2, .length_ns = 1100000, .gap = {.cause = GEN_CAUSE_COPY}},
    {.step = 3, .rank = 1, .layer = 2, .length_ns = 14200000, .gap = {.cause = GEN_CAUSE_IO}},
    {.step = 4,
     .rank = 0,
     .layer = 1,
     .length_ns = 900000,
     .gap = {.cause = GEN_CAUSE_AFTER_BLOCKING}},
    {.step = 4, .rank = 1, .layer = 3, .length_ns = 520000, .gap = {.cause = GEN_CAUSE_ALLOC}},
    {.step = 5,
     .rank = 0,
     .layer = 2,
     .length_ns = 310000,
     .gap = {.cause = GEN_CAUSE_DEVICE_WAIT}},
};
static const struct gen_plant DEMO_ZONES[] = {
    {.step = 2, .rank = 1, .layer = 96},
    {.step = 4, .rank = 0, .layer = 64},
};
static const struct gen_plant DEMO_COPIES[] = {
    {.step = 1, .rank = 0, .length_ns = 40 << 20},
    {.step = 4, .rank = 1, .length_ns = 24 << 20},
};

static struct gen_plant *copy_of(const struct gen_plant *plants, size_t count)
{
    struct gen_plant *out = calloc(count, sizeof *out);
    for (size_t i = 0; out != NULL && i < count; i++) {
        out[i] = plants[i];
    }
    return out;
}

static int plan_demo(struct gen *gen)
{
    gen->plant_count = sizeof DEMO_GAPS / sizeof DEMO_GAPS[0];
    gen->zone_count = sizeof DEMO_ZONES / sizeof DEMO_ZONES[0];
    gen->exposed_count = sizeof DEMO_COPIES / sizeof DEMO_COPIES[0];
    gen->plants = copy_of(DEMO_GAPS, gen->plant_count);
    gen->zones = copy_of(DEMO_ZONES, gen->zone_count);
    gen->exposed = copy_of(DEMO_COPIES, gen->exposed_count);
    return gen->plants != NULL && gen->zones != NULL && gen->exposed != NULL ? 0 : -1;
}

static bool taken(const struct gen_plant *plants, size_t count, const struct gen_plant *plant)
{
    for (size_t i = 0; i < count; i++) {
        if (plants[i].step == plant->step && plants[i].rank == plant->rank) {
            return true;
        }
    }
    return false;
}

/* Finds a step and a rank where nothing is planted yet; false where there seems to be none. */
static bool find_place(struct gen *gen, const struct gen_plant *plants, size_t count,
                       struct gen_plant *plant)
{
    for (int attempt = 0; attempt < 200 && gen->options.steps > 1; attempt++) {
        plant->step = gen_between(gen, 1, gen->options.steps);
        plant->rank = (int)gen_between(gen, 0, gen->options.devices);
        if (!taken(plants, count, plant)) {
            return true;
        }
    }
    return false;
}

static void plan_gap(struct gen *gen, enum gen_cause cause)
{
    int64_t layers = gen->options.layers;
    struct gen_plant plant = {.gap = {.cause = cause}};
    if (!find_place(gen, gen->plants, gen->plant_count, &plant)) {
        return;
    }
    plant.layer = layers > 1 ? (int)gen_between(gen, 1, layers) : 0;
    plant.length_ns = gen_between(gen, 150000, 3000000);
    plant.backward = gen->options.graphs != GEN_GRAPHS_NONE || gen_between(gen, 0, 3) == 0;
    gen->plants[gen->plant_count++] = plant;
}

/* n plants on distinct steps and ranks, their .layer in [low, high). */
static struct gen_plant *plan_some(struct gen *gen, int64_t n, int64_t low, int64_t high,
                                   size_t *count)
{
    struct gen_plant *out = calloc((size_t)n + 1, sizeof *out);
    *count = 0;
    for (int64_t i = 0; out != NULL && i < n; i++) {
        struct gen_plant plant = {0};
        if (find_place(gen, out, *count, &plant)) {
            plant.layer = (int)gen_between(gen, low, high);
            plant.length_ns = gen_between(gen, 4 << 20, 64 << 20);
            out[(*count)++] = plant;
        }
    }
    if (out != NULL) {
        qsort(out, *count, sizeof *out, by_step);
    }
    return out;
}

int gen_plan(struct gen *gen)
{
    const struct gen_options *o = &gen->options;
    if (o->demo) {
        return plan_demo(gen);
    }
    gen->plants = calloc((size_t)o->plants * GEN_CAUSE_COUNT + 1, sizeof *gen->plants);
    if (gen->plants == NULL) {
        return -1;
    }
    for (int64_t i = 0; i < o->plants; i++) {
        for (int cause = 0; cause < GEN_CAUSE_COUNT; cause++) {
            plan_gap(gen, (enum gen_cause)cause);
        }
    }
    qsort(gen->plants, gen->plant_count, sizeof *gen->plants, by_step);
    gen->zones = plan_some(gen, o->zones, 64, 400, &gen->zone_count);
    gen->exposed = plan_some(gen, o->exposed, 0, 1, &gen->exposed_count);
    return gen->zones != NULL && gen->exposed != NULL ? 0 : -1;
}
