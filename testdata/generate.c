/* generate: the generator as a program: generate [OPTIONS] OUT.sqlite. See gen.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "testdata/gen.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

struct generate_args {
    struct gen_options gen;
    int64_t seed;
    const char *key_path;
};

#define AT(member) offsetof(struct generate_args, member)

/* clang-format off */
static const struct opts_option OPTIONS[] = {
    {0, "demo", NULL, OPTS_FLAG, AT(gen.demo), .help = "The demo capture: a fixed story."},
    {'s', "seed", "N", OPTS_INT, AT(seed), .help = "Seed of all that varies (default 1)."},
    {'e', "events", "N", OPTS_INT, AT(gen.events), .max = INT64_C(1) << 32,
     .help = "Play until there are so many rows."},
    {'n', "steps", "N", OPTS_INT, AT(gen.steps), .min = 1, .max = 1 << 30,
     .help = "Iterations (default 16)."},
    {'d', "devices", "N", OPTS_INT, AT(gen.devices), .min = 1, .max = GEN_DEVICES_MAX,
     .help = "Devices, one process each (default 1)."},
    {'l', "layers", "N", OPTS_INT, AT(gen.layers), .min = 1, .max = 999,
     .help = "Layers of the model (default 6)."},
    {'p', "plants", "N", OPTS_INT, AT(gen.plants), .max = 100000,
     .help = "Gaps of each cause (default 1)."},
    {'z', "zones", "N", OPTS_INT, AT(gen.zones), .max = 100000,
     .help = "Launch-bound zones (default 1)."},
    {'x', "exposed", "N", OPTS_INT, AT(gen.exposed), .max = 100000,
     .help = "Copies that nothing hides (default 1)."},
    {'j', "jitter", "US", OPTS_INT, AT(gen.jitter_us), .max = 1000000,
     .help = "Delay one op in ten by up to so many us (default 0)."},
    {'g', "graphs", "KIND", OPTS_CHOICE, AT(gen.graphs), "none|graph|node",
     .help = "The forward pass as a CUDA graph."},
    {0, "no-osrt", NULL, OPTS_FLAG, AT(gen.no_osrt), .help = "Leave out OS runtime calls."},
    {0, "no-api", NULL, OPTS_FLAG, AT(gen.no_api), .help = "Leave out API calls."},
    {'f', "force", NULL, OPTS_FLAG, AT(gen.overwrite), .help = "Replace OUT."},
    {'k', "key", "FILE", OPTS_TEXT, AT(key_path), .help = "Write the answer, JSON."},
    {.kind = OPTS_END},
};
/* clang-format on */

static const struct opts_spec SPEC = {
    .about = "Writes a capture of a model training loop with planted faults.",
    .options = OPTIONS,
    .operands_min = 1,
    .operands_max = 1,
};

static int write_key(const struct gen_key *key, const char *path, struct err *err)
{
    struct output out;
    struct buf text = {0};
    int result = output_open(&out, path, err);
    if (result == 0) {
        gen_key_json(key, &text);
        (void)output_buf(&out, &text);
        result = output_close(&out, err);
    }
    buf_free(&text);
    return result;
}

int main(int argc, char **argv)
{
    const struct command self = {.name = "generate", .args = "OUT.sqlite", .options = &SPEC};
    struct generate_args args = {.gen = GEN_DEFAULTS, .seed = 1};
    struct gen_key key = {0};
    struct opts_rest rest;
    struct err err = {0};
    int status;
    if (!opts_begin(&self, argc, argv, &args, &rest, &status)) {
        return status;
    }
    args.gen.seed = (uint64_t)args.seed;
    status = gen_capture(&args.gen, rest.argv[0], &key, &err);
    if (status == 0 && args.key_path != NULL) {
        status = write_key(&key, args.key_path, &err);
    }
    gen_key_free(&key);
    if (status != 0) {
        output_error("generate", &err);
        return COMMAND_FAILED;
    }
    return COMMAND_DONE;
}
