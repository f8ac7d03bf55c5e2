/* gen: plays the loop and writes it. See gen.h. */
#include "testdata/gen.h"

#include <stdlib.h>

#include "testdata/gen_world.h"

enum {
    LARGE_EVENTS = 1000000, /* from here on large pages pay */
    LARGE_PAGE_BYTES = 65536,
};

static int64_t rows_so_far(const struct gen_counts *c)
{
    return c->kernels + c->memcpys + c->memsets + c->graph_launches + c->api_calls +
           c->nvtx_ranges + c->nvtx_marks + c->osrt_calls + c->syncs;
}

/* The steps that it takes to reach so many rows, roughly: 36 rows of each layer's two passes are
 * kernels, calls and ranges. */
static int64_t steps_for(const struct gen_options *o)
{
    int64_t rows_per_step = o->devices * (o->layers * 60 + 50);
    return o->events / rows_per_step + 2;
}

static void demo_options(struct gen_options *o)
{
    bool overwrite = o->overwrite;
    *o = GEN_DEFAULTS;
    o->seed = 20260105;
    o->steps = 7;
    o->devices = 2;
    o->layers = 4;
    o->demo = true;
    o->overwrite = overwrite;
}

static int64_t earliest_now(const struct gen *gen)
{
    int64_t now_ns = INT64_MAX;
    for (int i = 0; i < gen->options.devices; i++) {
        now_ns = gen->ranks[i].now_ns < now_ns ? gen->ranks[i].now_ns : now_ns;
    }
    return now_ns;
}

static bool enough(const struct gen *gen)
{
    if (gen->options.events > 0) {
        return rows_so_far(&gen->key.counts) >= gen->options.events;
    }
    return gen->step >= gen->options.steps;
}

static int play(struct gen *gen, struct err *err)
{
    gen_setup(gen);
    if (gen_write_machine(gen, err) != 0) {
        return -1;
    }
    for (gen->step = 0; !enough(gen); gen->step++) {
        while (gen->first_plant < gen->plant_count &&
               gen->plants[gen->first_plant].step < gen->step) {
            gen->first_plant++;
        }
        gen_play_step(gen);
        if (gen_flush(gen, earliest_now(gen), err) != 0) {
            return -1;
        }
    }
    gen->key.steps = gen->step;
    if (gen_flush(gen, INT64_MAX, err) != 0) {
        return -1;
    }
    gen_sweep_end(gen);
    return 0;
}

static void release(struct gen *gen)
{
    for (int i = 0; i < GEN_TABLE_COUNT; i++) {
        free(gen->rows[i].items);
    }
    free(gen->plants);
    free(gen->zones);
    free(gen->exposed);
    gen_key_free(&gen->key);
    free(gen);
}

static int prepare(struct gen *gen, const struct gen_options *options, struct err *err)
{
    gen->options = *options;
    if (options->demo) {
        demo_options(&gen->options);
    }
    if (options->events > 0) {
        gen->options.steps = steps_for(options);
    }
    gen->random = gen->options.seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    if (gen_plan(gen) != 0 || gen_key_new(gen) != 0) {
        return err_nomem(err, "the plan of a capture");
    }
    return 0;
}

int gen_capture(const struct gen_options *options, const char *path, struct gen_key *key,
                struct err *err)
{
    struct gen *gen = calloc(1, sizeof *gen);
    struct store_writer_opts writer = {.overwrite = options->overwrite};
    int result = -1;
    if (gen == NULL) {
        return err_nomem(err, "the generator");
    }
    writer.page_size_bytes = options->events >= LARGE_EVENTS ? LARGE_PAGE_BYTES : 0;
    if (prepare(gen, options, err) != 0 ||
        store_writer_open(path, &writer, &gen->writer, err) != 0) {
        goto out;
    }
    if (play(gen, err) != 0) {
        store_writer_abandon(gen->writer);
        goto out;
    }
    result = store_writer_finish(gen->writer, err);
    if (result == 0 && key != NULL) {
        *key = gen->key;
        gen->key = (struct gen_key){0};
    }
out:
    release(gen);
    return result;
}
