/* gen_key: the answer that goes with a generated capture. See gen.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "testdata/gen_world.h"

const char *gen_cause_name(enum gen_cause cause)
{
    static const char *const NAMES[GEN_CAUSE_COUNT] = {
        [GEN_CAUSE_DEVICE_WAIT] = "device_wait",
        [GEN_CAUSE_SLOW_LAUNCH] = "slow_launch",
        [GEN_CAUSE_SYNC] = "sync",
        [GEN_CAUSE_COPY] = "copy",
        [GEN_CAUSE_ALLOC] = "alloc",
        [GEN_CAUSE_MODULE] = "module",
        [GEN_CAUSE_LOCK] = "lock",
        [GEN_CAUSE_IO] = "io",
        [GEN_CAUSE_SLEEP] = "sleep",
        [GEN_CAUSE_PROFILER] = "profiler",
        [GEN_CAUSE_AFTER_BLOCKING] = "after_blocking",
        [GEN_CAUSE_SLOW_HOST] = "slow_host",
    };
    return NAMES[cause];
}

int gen_key_new(struct gen *gen)
{
    gen->key.gaps = calloc(gen->plant_count + 1, sizeof *gen->key.gaps);
    gen->key.zones = calloc(gen->zone_count + 1, sizeof *gen->key.zones);
    gen->key.device_count = (int)gen->options.devices;
    return gen->key.gaps != NULL && gen->key.zones != NULL ? 0 : -1;
}

void gen_key_free(struct gen_key *key)
{
    free(key->gaps);
    free(key->zones);
    *key = (struct gen_key){0};
}

static void json_devices(const struct gen_key *key, struct buf *out)
{
    for (int i = 0; i < key->device_count; i++) {
        const struct gen_device *d = &key->devices[i];
        buf_addf(out,
                 "%s\n  {\"device\": %d, \"first_ns\": %" PRId64 ", \"last_ns\": %" PRId64
                 ", \"busy_ns\": %" PRId64 ", \"gaps\": %" PRId64 ", \"compute_ns\": %" PRId64
                 ", \"comm_ns\": %" PRId64 ", \"both_ns\": %" PRId64 ", \"copy_ns\": %" PRId64
                 ", \"hidden_ns\": %" PRId64 ", \"copy_only_ns\": %" PRId64 "}",
                 i == 0 ? "" : ",", i, d->first_ns, d->last_ns, d->busy_ns, d->gaps, d->compute_ns,
                 d->comm_ns, d->both_ns, d->copy_ns, d->hidden_ns, d->copy_only_ns);
    }
}

static void json_gaps(const struct gen_key *key, struct buf *out)
{
    for (size_t i = 0; i < key->gap_count; i++) {
        const struct gen_gap *g = &key->gaps[i];
        buf_addf(out,
                 "%s\n  {\"device\": %d, \"pid\": %" PRIu32 ", \"tid\": %" PRIu32
                 ", \"cause\": \"%s\", \"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64
                 ", \"evidence\": \"%s\", \"path\": \"%s\"}",
                 i == 0 ? "" : ",", g->device, g->pid, g->tid, gen_cause_name(g->cause),
                 g->begin_ns, g->end_ns, g->evidence, g->path);
    }
}

static void json_zones(const struct gen_key *key, struct buf *out)
{
    for (size_t i = 0; i < key->zone_count; i++) {
        const struct gen_zone *z = &key->zones[i];
        buf_addf(out,
                 "%s\n  {\"device\": %d, \"pid\": %" PRIu32 ", \"tid\": %" PRIu32
                 ", \"launches\": %d, \"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64 "}",
                 i == 0 ? "" : ",", z->device, z->pid, z->tid, z->launches, z->begin_ns, z->end_ns);
    }
}

static void json_counts(const struct gen_counts *c, struct buf *out)
{
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {
        {"kernels", c->kernels},
        {"memcpys", c->memcpys},
        {"memsets", c->memsets},
        {"graph_launches", c->graph_launches},
        {"api_calls", c->api_calls},
        {"nvtx_ranges", c->nvtx_ranges},
        {"nvtx_marks", c->nvtx_marks},
        {"osrt_calls", c->osrt_calls},
        {"syncs", c->syncs},
        {"overheads", c->overheads},
        {"memory_events", c->memory_events},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        buf_addf(out, "%s\"%s\": %" PRId64, i == 0 ? "" : ", ", fields[i].name, fields[i].value);
    }
}

void gen_key_json(const struct gen_key *key, struct buf *out)
{
    buf_addf(out, "{\"steps\": %" PRId64 ",\n \"counts\": {", key->steps);
    json_counts(&key->counts, out);
    buf_adds(out, "},\n \"devices\": [");
    json_devices(key, out);
    buf_adds(out, "],\n \"gaps\": [");
    json_gaps(key, out);
    buf_adds(out, "],\n \"zones\": [");
    json_zones(key, out);
    buf_adds(out, "]}\n");
}
