/*
 * gen_plant: makes the host or the device late, so that a gap of a known cause opens.
 *
 * The host runs ahead of the device. Let g0 be the time when the device is done with all that it
 * has been given, and g1 = g0 + the planted length. For the causes on the host, the thread is kept
 * busy from now (before g0) to nearly g1; then it launches the op, which begins at g1 exactly.
 */
#include <string.h>

#include "testdata/gen_world.h"

enum {
    LAUNCH_NS = 6500, /* the launch of the op begins so long before it */
};

/* What a cause does in the gap [g0, g1). */
struct gap_times {
    int64_t g0_ns;
    int64_t g1_ns;
    int64_t until_ns; /* nine tenths of the gap */
};

typedef const char *maker(struct gen_rank *rank, struct gap_times *t);

static const char *make_device_wait(struct gen_rank *rank, struct gap_times *t)
{
    (void)t;
    gen_wait_stream(rank, GEN_COMPUTE, GEN_COPY);
    return "";
}

static const char *make_slow_launch(struct gen_rank *rank, struct gap_times *t)
{
    struct gen_event row = {.rank = (uint16_t)rank->index, .thread = (uint16_t)rank->thread};
    rank->slow_until_ns = t->g1_ns - 2000;
    row.begin_ns = rank->now_ns + 1000;
    row.end_ns = t->g1_ns - 4000;
    row.corr = rank->corr + 1; /* the launch that comes next */
    row.op = 7; /* lazy function loading */
    gen_add(rank->gen, GEN_OVERHEAD, &row);
    return "cudaLaunchKernel";
}

static const char *make_sync(struct gen_rank *rank, struct gap_times *t)
{
    (void)gen_sync(rank, "cudaDeviceSynchronize_v3020", GEN_STREAM_COUNT, 0, t->until_ns);
    return "cudaDeviceSynchronize";
}

/* Device to pageable host memory: the op is short and ends at g0, the call goes on copying. */
static const char *make_copy(struct gen_rank *rank, struct gap_times *t)
{
    struct gen_event op = {.rank = (uint16_t)rank->index, .thread = (uint16_t)rank->thread};
    int64_t length_ns = t->g1_ns - t->g0_ns;
    op.begin_ns = t->g0_ns + 900;
    op.end_ns = op.begin_ns + 21000;
    t->g0_ns = op.end_ns;
    t->g1_ns = op.end_ns + length_ns;
    struct gen_call call = gen_api_until(rank, "cudaMemcpy_v3020", t->g0_ns + length_ns / 10 * 9);
    op.op = GEN_OP_COPY;
    op.stream = GEN_COMPUTE;
    op.kernel = 2;
    op.src_kind = 2;
    op.dst_kind = 0;
    op.bytes = 196608;
    op.corr = call.corr;
    rank->free_ns[GEN_COMPUTE] = op.end_ns;
    gen_add(rank->gen, GEN_OP, &op);
    return "cudaMemcpy";
}

static void add_memory(struct gen_rank *rank, const struct gen_call *call, int64_t bytes,
                       bool freed)
{
    struct gen_event row = {.rank = (uint16_t)rank->index, .thread = (uint16_t)rank->thread};
    row.begin_ns = call->end_ns - 400;
    row.end_ns = row.begin_ns;
    row.corr = call->corr;
    row.bytes = bytes;
    row.op = freed;
    row.node = rank->address;
    gen_add(rank->gen, GEN_MEMORY, &row);
}

/* A buffer is let go on odd ranks and steps, and one is made on even ones. */
static const char *make_alloc(struct gen_rank *rank, struct gap_times *t)
{
    bool freed = (rank->gen->step + rank->index) % 2 == 1;
    struct gen_call call =
        gen_api_until(rank, freed ? "cudaFree_v3020" : "cudaMalloc_v3020", t->until_ns);
    if (!freed) {
        rank->address += 64 << 20;
    }
    add_memory(rank, &call, 64 << 20, freed);
    return freed ? "cudaFree" : "cudaMalloc";
}

static const char *make_module(struct gen_rank *rank, struct gap_times *t)
{
    (void)gen_api_until(rank, "cuLibraryLoadData", t->until_ns);
    return "cuLibraryLoadData";
}

static const char *make_osrt(struct gen_rank *rank, const struct gap_times *t, const char *name)
{
    gen_osrt(rank, rank->thread, name, rank->now_ns + 500, t->until_ns);
    return name;
}

static const char *make_lock(struct gen_rank *rank, struct gap_times *t)
{
    return make_osrt(rank, t, "pthread_mutex_lock");
}

static const char *make_io(struct gen_rank *rank, struct gap_times *t)
{
    return make_osrt(rank, t, "read");
}

static const char *make_sleep(struct gen_rank *rank, struct gap_times *t)
{
    return make_osrt(rank, t, "nanosleep");
}

static const char *make_profiler(struct gen_rank *rank, struct gap_times *t)
{
    struct gen_event row = {.rank = (uint16_t)rank->index, .thread = (uint16_t)rank->thread};
    row.begin_ns = rank->now_ns + 500;
    row.end_ns = t->until_ns;
    row.op = 3; /* buffer flush */
    gen_add(rank->gen, GEN_OVERHEAD, &row);
    return "";
}

static const char *make_after_blocking(struct gen_rank *rank, struct gap_times *t)
{
    (void)gen_sync(rank, "cudaStreamSynchronize_v3020", GEN_COMPUTE, 0, t->g0_ns + 4000);
    return "cudaStreamSynchronize";
}

static const char *make_slow_host(struct gen_rank *rank, struct gap_times *t)
{
    (void)rank;
    (void)t;
    return "";
}

static maker *const MAKERS[GEN_CAUSE_COUNT] = {
    [GEN_CAUSE_DEVICE_WAIT] = make_device_wait,
    [GEN_CAUSE_SLOW_LAUNCH] = make_slow_launch,
    [GEN_CAUSE_SYNC] = make_sync,
    [GEN_CAUSE_COPY] = make_copy,
    [GEN_CAUSE_ALLOC] = make_alloc,
    [GEN_CAUSE_MODULE] = make_module,
    [GEN_CAUSE_LOCK] = make_lock,
    [GEN_CAUSE_IO] = make_io,
    [GEN_CAUSE_SLEEP] = make_sleep,
    [GEN_CAUSE_PROFILER] = make_profiler,
    [GEN_CAUSE_AFTER_BLOCKING] = make_after_blocking,
    [GEN_CAUSE_SLOW_HOST] = make_slow_host,
};

static struct gen_plant *due(struct gen_rank *rank, bool backward, int layer)
{
    struct gen *gen = rank->gen;
    for (size_t i = gen->first_plant; i < gen->plant_count; i++) {
        struct gen_plant *plant = &gen->plants[i];
        if (plant->step > gen->step) {
            break;
        }
        if (plant->step == gen->step && plant->rank == rank->index && plant->layer == layer &&
            plant->backward == backward) {
            return plant;
        }
    }
    return NULL;
}

void gen_plant_here(struct gen_rank *rank, bool backward, int layer)
{
    struct gen_plant *plant = due(rank, backward, layer);
    struct gap_times t = {.g0_ns = gen_drained(rank)};
    if (plant == NULL || rank->now_ns + 60000 > t.g0_ns) {
        return; /* nothing is due, or the host is not ahead, so that the cause would not be clean */
    }
    enum gen_cause cause = plant->gap.cause;
    t.g1_ns = t.g0_ns + plant->length_ns;
    t.until_ns = t.g0_ns + plant->length_ns / 10 * 9;
    plant->gap.device = rank->index;
    plant->gap.pid = rank->pid;
    plant->gap.tid = gen_tid(rank, rank->thread);
    gen_path(rank, plant->gap.path);
    plant->gap.evidence = MAKERS[cause](rank, &t);
    plant->gap.end_ns = t.g1_ns;
    rank->held_until_ns = t.g1_ns;
    rank->held_plant = (uint32_t)(plant - rank->gen->plants) + 1;
    if (cause != GEN_CAUSE_DEVICE_WAIT && cause != GEN_CAUSE_SLOW_LAUNCH) {
        rank->now_ns = t.g1_ns - LAUNCH_NS;
    }
}

static const struct gen_plant *due_in(const struct gen_plant *plants, size_t count,
                                      const struct gen_rank *rank)
{
    for (size_t i = 0; i < count; i++) {
        if (plants[i].step == rank->gen->step && plants[i].rank == rank->index) {
            return &plants[i];
        }
    }
    return NULL;
}

void gen_plant_zone(struct gen_rank *rank)
{
    struct gen *gen = rank->gen;
    const struct gen_plant *plant = due_in(gen->zones, gen->zone_count, rank);
    if (plant == NULL) {
        return;
    }
    struct gen_zone *zone = &gen->key.zones[gen->key.zone_count++];
    *zone = (struct gen_zone){.device = rank->index,
                              .pid = rank->pid,
                              .tid = gen_tid(rank, rank->thread),
                              .launches = plant->layer};
    gen_push(rank, "scale parameters", -1, 0);
    (void)gen_sync(rank, "cudaStreamSynchronize_v3020", GEN_COMPUTE, 0, gen_drained(rank) + 3000);
    for (int i = 0; i < plant->layer; i++) {
        zone->end_ns = gen_launch(rank, GEN_TINY, GEN_COMPUTE);
        zone->begin_ns = i == 0 ? rank->op_begin_ns : zone->begin_ns;
        gen_think(rank, gen_about(gen, 15000));
    }
    gen_pop(rank);
}

void gen_plant_copy(struct gen_rank *rank)
{
    struct gen *gen = rank->gen;
    const struct gen_plant *plant = due_in(gen->exposed, gen->exposed_count, rank);
    struct gen_copy copy = {.kind = 1, .src_kind = 1, .dst_kind = 2, .stream = GEN_COMPUTE};
    if (plant == NULL) {
        return;
    }
    copy.bytes = plant->length_ns;
    gen_push(rank, "upload table", -1, 0xFFD08770);
    (void)gen_copy(rank, &copy);
    gen_pop(rank);
}
