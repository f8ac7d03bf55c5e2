/* gen_sim: see gen_sim.h. */
#include "testdata/gen_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "testdata/gen_world.h"

enum {
    CALL_NS = 4200, /* a launch */
    DELAY_NS = 1500, /* from the end of the call to the begin of the op on an idle stream */
    BETWEEN_NS = 900, /* between two ops of a stream */
    NVTX_PUSH_POP = 59 /* event type */
};

uint64_t gen_random(struct gen *gen)
{
    uint64_t x = gen->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    gen->random = x;
    return x * UINT64_C(0x2545F4914F6CDD1D);
}

int64_t gen_between(struct gen *gen, int64_t low, int64_t high)
{
    return low + (int64_t)((gen_random(gen) >> 1) % (uint64_t)(high - low));
}

int64_t gen_about(struct gen *gen, int64_t mean)
{
    int64_t spread = mean / 25;
    return spread == 0 ? mean : mean + gen_between(gen, -spread, spread + 1);
}

uint32_t gen_tid(const struct gen_rank *rank, enum gen_thread thread)
{
    static const uint32_t OFFSETS[] = {
        [GEN_MAIN] = 0, [GEN_AUTOGRAD] = 31, [GEN_LOADER] = 34, [GEN_PROXY] = 40};
    return rank->pid + OFFSETS[thread];
}

int gen_stream_id(enum gen_stream stream)
{
    static const int IDS[] = {[GEN_COMPUTE] = 7, [GEN_COPY] = 14, [GEN_NCCL] = 20};
    return IDS[stream];
}

void gen_add(struct gen *gen, enum gen_table table, const struct gen_event *event)
{
    struct gen_vec *vec = &gen->rows[table];
    struct gen_event *items = array_grow(vec->items, &vec->cap, vec->count + 1, sizeof *items);
    if (items == NULL) {
        gen->failed = true;
        return;
    }
    vec->items = items;
    vec->items[vec->count++] = *event;
}

/* A row of the thread whose turn it is. */
static struct gen_event event_of(const struct gen_rank *rank)
{
    return (struct gen_event){.rank = (uint16_t)rank->index,
                              .thread = (uint16_t)rank->thread,
                              .stream = GEN_STREAM_COUNT,
                              .number = -1};
}

void gen_think(struct gen_rank *rank, int64_t ns)
{
    rank->now_ns += ns;
}

struct gen_call gen_api(struct gen_rank *rank, const char *name, int64_t ns)
{
    return gen_api_until(rank, name, rank->now_ns + gen_about(rank->gen, ns));
}

struct gen_call gen_api_until(struct gen_rank *rank, const char *name, int64_t until_ns)
{
    struct gen_event row = event_of(rank);
    struct gen_call call = {.begin_ns = rank->now_ns, .corr = ++rank->corr};
    call.end_ns = until_ns > rank->now_ns + 1000 ? until_ns : rank->now_ns + 1000;
    row.begin_ns = call.begin_ns;
    row.end_ns = call.end_ns;
    row.corr = call.corr;
    row.text = name;
    gen_add(rank->gen, GEN_API, &row);
    rank->now_ns = call.end_ns + gen_about(rank->gen, 1000);
    return call;
}

struct gen_call gen_sync(struct gen_rank *rank, const char *name, enum gen_stream stream,
                         int64_t event, int64_t until_ns)
{
    struct gen_event row = event_of(rank);
    struct gen_call call = gen_api_until(rank, name, until_ns);
    row.begin_ns = call.begin_ns + 150;
    row.end_ns = call.end_ns - 150;
    row.corr = call.corr;
    row.stream = (uint8_t)stream;
    row.bytes = event;
    gen_add(rank->gen, GEN_SYNC, &row);
    return call;
}

void gen_osrt(struct gen_rank *rank, enum gen_thread thread, const char *name, int64_t begin_ns,
              int64_t end_ns)
{
    struct gen_event row = event_of(rank);
    row.thread = (uint16_t)thread;
    row.begin_ns = begin_ns;
    row.end_ns = end_ns;
    row.text = name;
    gen_add(rank->gen, GEN_OSRT, &row);
}

void gen_push(struct gen_rank *rank, const char *text, int32_t number, uint32_t color)
{
    int *depth = &rank->depth[rank->thread];
    rank->stack[rank->thread][*depth] = (struct gen_range){
        .text = text, .number = number, .color = color, .begin_ns = rank->now_ns};
    (*depth)++;
    rank->now_ns += 120;
}

void gen_pop(struct gen_rank *rank)
{
    int *depth = &rank->depth[rank->thread];
    struct gen_event row = event_of(rank);
    (*depth)--;
    const struct gen_range *range = &rank->stack[rank->thread][*depth];
    rank->now_ns += 120;
    row.begin_ns = range->begin_ns;
    row.end_ns = rank->now_ns;
    row.text = range->text;
    row.number = range->number;
    row.color = range->color;
    row.op = NVTX_PUSH_POP;
    gen_add(rank->gen, GEN_NVTX, &row);
    rank->now_ns += 60;
}

void gen_path(const struct gen_rank *rank, char out[GEN_PATH_BYTES])
{
    size_t len = 0;
    out[0] = '\0';
    for (int i = 0; i < rank->depth[rank->thread]; i++) {
        const struct gen_range *range = &rank->stack[rank->thread][i];
        const char *between = i == 0 ? "" : " > ";
        if (range->number >= 0) {
            (void)snprintf(out + len, GEN_PATH_BYTES - len, "%s%s %d", between, range->text,
                           range->number);
        } else {
            (void)snprintf(out + len, GEN_PATH_BYTES - len, "%s%s", between, range->text);
        }
        len = strlen(out);
    }
}

void gen_op(struct gen_rank *rank, struct gen_event *op, const struct gen_call *call,
            int64_t length_ns)
{
    int64_t *free_ns = &rank->free_ns[op->stream];
    int64_t jitter_ns = rank->gen->options.jitter_us * 1000;
    int64_t begin_ns = call->end_ns + DELAY_NS;
    if (*free_ns > 0 && *free_ns + BETWEEN_NS > begin_ns) {
        begin_ns = *free_ns + BETWEEN_NS;
    }
    if (jitter_ns > 0 && gen_between(rank->gen, 0, 10) == 0) {
        begin_ns += gen_between(rank->gen, 0, jitter_ns);
    }
    if (op->stream == GEN_COMPUTE && rank->held_until_ns > 0) {
        begin_ns = rank->held_until_ns;
        op->plant = rank->held_plant;
        rank->held_until_ns = 0;
        rank->held_plant = 0;
    }
    op->begin_ns = begin_ns;
    op->end_ns = begin_ns + length_ns;
    op->corr = call->corr;
    rank->op_begin_ns = begin_ns;
    *free_ns = op->end_ns;
    gen_add(rank->gen, GEN_OP, op);
}

int64_t gen_launch(struct gen_rank *rank, enum gen_kernel_id kernel, enum gen_stream stream)
{
    struct gen_event op = event_of(rank);
    int64_t until_ns = rank->now_ns + gen_about(rank->gen, CALL_NS);
    until_ns = rank->slow_until_ns > 0 ? rank->slow_until_ns : until_ns;
    rank->slow_until_ns = 0;
    struct gen_call call = gen_api_until(rank, "cudaLaunchKernel_v7000", until_ns);
    op.op = GEN_OP_KERNEL;
    op.kernel = (uint8_t)kernel;
    op.stream = (uint8_t)stream;
    gen_op(rank, &op, &call, gen_about(rank->gen, GEN_KERNELS[kernel].mean_ns));
    return op.end_ns;
}

/* About 50 GB/s to and from pinned memory, 10 from pageable, 1.3 TB/s on the device. */
static int64_t copy_ns(const struct gen_copy *copy)
{
    bool pageable = copy->src_kind == 0 || copy->dst_kind == 0;
    if (copy->kind == 8) {
        return 1500 + copy->bytes / 1300;
    }
    return 1500 + (pageable ? copy->bytes / 10 : copy->bytes / 50);
}

int64_t gen_copy(struct gen_rank *rank, const struct gen_copy *copy)
{
    struct gen_event op = event_of(rank);
    struct gen_call call = gen_api(rank, "cudaMemcpyAsync_v3020", 5600);
    op.op = GEN_OP_COPY;
    op.kernel = copy->kind;
    op.src_kind = copy->src_kind;
    op.dst_kind = copy->dst_kind;
    op.bytes = copy->bytes;
    op.stream = (uint8_t)copy->stream;
    gen_op(rank, &op, &call, gen_about(rank->gen, copy_ns(copy)));
    return op.end_ns;
}

void gen_set(struct gen_rank *rank, int64_t bytes)
{
    struct gen_event op = event_of(rank);
    struct gen_call call = gen_api(rank, "cudaMemsetAsync_v3020", 3900);
    op.op = GEN_OP_SET;
    op.bytes = bytes;
    op.dst_kind = 2;
    op.stream = GEN_COMPUTE;
    gen_op(rank, &op, &call, gen_about(rank->gen, 1200 + bytes / 1800));
}

void gen_wait_stream(struct gen_rank *rank, enum gen_stream stream, enum gen_stream other)
{
    struct gen_event row = event_of(rank);
    (void)gen_api(rank, "cudaEventRecord_v3020", 1900);
    struct gen_call call = gen_api(rank, "cudaStreamWaitEvent_v3020", 1700);
    row.begin_ns = call.begin_ns + 150;
    row.end_ns = call.end_ns - 150;
    row.corr = call.corr;
    row.stream = (uint8_t)stream;
    row.bytes = ++rank->next_event;
    gen_add(rank->gen, GEN_SYNC, &row);
    if (rank->free_ns[other] > rank->free_ns[stream]) {
        rank->free_ns[stream] = rank->free_ns[other];
    }
}

int64_t gen_drained(const struct gen_rank *rank)
{
    int64_t last_ns = 0;
    for (int i = 0; i < GEN_STREAM_COUNT; i++) {
        last_ns = rank->free_ns[i] > last_ns ? rank->free_ns[i] : last_ns;
    }
    return last_ns;
}
