/* gen_step: one iteration of the training loop: load, forward, backward, optimizer. */
#include "testdata/gen_world.h"

/* Colours of ranges, ARGB. */
#define BLUE 0xFF5E81ACU
#define GREEN 0xFFA3BE8CU
#define RED 0xFFBF616AU
#define YELLOW 0xFFEBCB8BU
#define GREY 0xFF4C566AU

static const uint8_t FORWARD_ATTENTION[] = {GEN_LN_FWD, GEN_GEMM_QKV, GEN_FLASH_FWD, GEN_GEMM_PROJ,
                                            GEN_DROPOUT_ADD};
static const uint8_t FORWARD_MLP[] = {GEN_LN_FWD, GEN_GEMM_MLP1, GEN_GEMM_MLP2, GEN_ADD};
static const uint8_t BACKWARD_MLP[] = {GEN_ADD,       GEN_GEMM_DGRAD, GEN_GEMM_WGRAD,
                                       GEN_GELU_GRAD, GEN_GEMM_DGRAD, GEN_GEMM_WGRAD,
                                       GEN_LN_BWD};
static const uint8_t BACKWARD_ATTENTION[] = {GEN_DROPOUT_ADD, GEN_GEMM_DGRAD, GEN_GEMM_WGRAD,
                                             GEN_FLASH_BWD,   GEN_GEMM_DGRAD, GEN_GEMM_WGRAD,
                                             GEN_LN_BWD};

static void run_kernels(struct gen_rank *rank, const char *range, const uint8_t *kernels, size_t n)
{
    gen_push(rank, range, -1, 0);
    for (size_t i = 0; i < n; i++) {
        gen_think(rank, gen_about(rank->gen, 2500));
        (void)gen_launch(rank, (enum gen_kernel_id)kernels[i], GEN_COMPUTE);
    }
    gen_pop(rank);
}

static void load_batch(struct gen_rank *rank)
{
    static const int64_t BYTES[] = {8 << 20, 8 << 20, 262144};
    struct gen *gen = rank->gen;
    int64_t begin_ns = rank->now_ns;
    struct gen_event range = {.begin_ns = begin_ns,
                              .text = "read batch",
                              .number = -1,
                              .rank = (uint16_t)rank->index,
                              .thread = GEN_LOADER,
                              .op = 59};
    for (int i = 0; i < 3; i++) {
        int64_t end_ns = begin_ns + gen_between(gen, 120000, 700000);
        gen_osrt(rank, GEN_LOADER, i == 2 ? "pthread_cond_signal" : "read", begin_ns + 2000,
                 end_ns);
        begin_ns = end_ns + 9000;
    }
    range.end_ns = begin_ns;
    gen_add(gen, GEN_NVTX, &range);
    gen_push(rank, "load batch", -1, GREY);
    gen_osrt(rank, GEN_MAIN, "pthread_cond_timedwait", rank->now_ns + 400, rank->now_ns + 9000);
    gen_think(rank, 9500);
    for (int i = 0; i < 3; i++) {
        struct gen_copy copy = {
            .kind = 1, .src_kind = 1, .dst_kind = 2, .stream = GEN_COPY, .bytes = BYTES[i]};
        (void)gen_copy(rank, &copy);
    }
    gen_wait_stream(rank, GEN_COMPUTE, GEN_COPY);
    gen_pop(rank);
}

/* The layers as one graph: one call, and one op or one for each kernel. */
static void forward_graph(struct gen_rank *rank)
{
    struct gen *gen = rank->gen;
    struct gen_event op = {.rank = (uint16_t)rank->index,
                           .thread = (uint16_t)rank->thread,
                           .op = GEN_OP_GRAPH,
                           .stream = GEN_COMPUTE};
    bool nodes = gen->options.graphs == GEN_GRAPHS_NODES;
    struct gen_call call = gen_api(rank, "cudaGraphLaunch_v10000", 14000);
    int64_t total_ns = 0;
    int64_t node = 1;
    gen->key.counts.graph_launches += nodes ? 0 : 1;
    for (int64_t layer = 0; layer < gen->options.layers; layer++) {
        for (size_t i = 0; i < sizeof FORWARD_ATTENTION + sizeof FORWARD_MLP; i++) {
            bool first = i < sizeof FORWARD_ATTENTION;
            uint8_t kernel =
                first ? FORWARD_ATTENTION[i] : FORWARD_MLP[i - sizeof FORWARD_ATTENTION];
            int64_t length_ns = gen_about(gen, GEN_KERNELS[kernel].mean_ns);
            total_ns += length_ns + 700;
            if (nodes) {
                op.op = GEN_OP_KERNEL;
                op.kernel = kernel;
                op.node = INT64_C(3) << 32 | node++;
                gen_op(rank, &op, &call, length_ns);
            }
        }
    }
    if (!nodes) {
        gen_op(rank, &op, &call, total_ns);
    }
}

static void forward(struct gen_rank *rank)
{
    struct gen *gen = rank->gen;
    gen_push(rank, "forward", -1, BLUE);
    (void)gen_launch(rank, GEN_EMBED, GEN_COMPUTE);
    if (gen->options.graphs != GEN_GRAPHS_NONE) {
        forward_graph(rank);
    }
    for (int layer = 0; gen->options.graphs == GEN_GRAPHS_NONE && layer < gen->options.layers;
         layer++) {
        gen_push(rank, "layer", layer, 0);
        gen_plant_here(rank, false, layer);
        run_kernels(rank, "attention", FORWARD_ATTENTION, sizeof FORWARD_ATTENTION);
        run_kernels(rank, "mlp", FORWARD_MLP, sizeof FORWARD_MLP);
        gen_pop(rank);
        gen_think(rank, gen_about(gen, 11000));
    }
    gen_push(rank, "loss", -1, 0);
    (void)gen_launch(rank, GEN_XENT_FWD, GEN_COMPUTE);
    gen_pop(rank);
    gen_pop(rank);
}

static void start_step(struct gen_rank *rank)
{
    gen_push(rank, "iteration", (int32_t)rank->gen->step, YELLOW);
    load_batch(rank);
    gen_set(rank, 48 << 20);
    forward(rank);
}

static void start_backward(struct gen_rank *rank)
{
    rank->thread = GEN_AUTOGRAD;
    gen_push(rank, "backward", -1, RED);
    (void)gen_launch(rank, GEN_XENT_BWD, GEN_COMPUTE);
}

static void backward_layer(struct gen_rank *rank, int layer)
{
    gen_push(rank, "layer", layer, 0);
    gen_plant_here(rank, true, layer);
    run_kernels(rank, "mlp", BACKWARD_MLP, sizeof BACKWARD_MLP);
    run_kernels(rank, "attention", BACKWARD_ATTENTION, sizeof BACKWARD_ATTENTION);
    gen_pop(rank);
}

static void launch_all_reduce(struct gen_rank *rank)
{
    struct gen_event range = {.begin_ns = rank->now_ns,
                              .text = "ncclAllReduce",
                              .number = -1,
                              .rank = (uint16_t)rank->index,
                              .thread = GEN_AUTOGRAD,
                              .op = 59,
                              .dst_kind = 1};
    gen_wait_stream(rank, GEN_NCCL, GEN_COMPUTE);
    (void)gen_launch(rank, GEN_ALLREDUCE, GEN_NCCL);
    range.end_ns = rank->now_ns;
    gen_add(rank->gen, GEN_NVTX, &range);
}

/* The last op on the communication stream of a rank, which is among the newest rows. */
static struct gen_event *last_all_reduce(struct gen *gen, int rank)
{
    struct gen_vec *vec = &gen->rows[GEN_OP];
    for (size_t i = vec->count; i > 0; i--) {
        struct gen_event *op = &vec->items[i - 1];
        if (op->rank == rank && op->stream == GEN_NCCL) {
            return op;
        }
    }
    return NULL;
}

/* Each rank launches it when it is there; all end together. */
static void all_reduce(struct gen *gen)
{
    int64_t last_ns = 0;
    for (int i = 0; i < gen->options.devices; i++) {
        struct gen_rank *rank = &gen->ranks[i];
        launch_all_reduce(rank);
        last_ns = rank->free_ns[GEN_NCCL] > last_ns ? rank->free_ns[GEN_NCCL] : last_ns;
    }
    for (int i = 0; i < gen->options.devices; i++) {
        struct gen_event *op = last_all_reduce(gen, i);
        if (op == NULL) { /* memory ran out: gen->failed says so */
            return;
        }
        op->end_ns = last_ns + gen_between(gen, 0, 1500);
        gen->ranks[i].free_ns[GEN_NCCL] = op->end_ns;
        gen_osrt(&gen->ranks[i], GEN_PROXY, "poll", op->begin_ns, op->end_ns - 3000);
    }
}

static void optimizer(struct gen_rank *rank)
{
    struct gen *gen = rank->gen;
    int64_t count = 1 + gen->options.layers / 3;
    struct gen_copy loss = {
        .kind = 2, .src_kind = 2, .dst_kind = 1, .stream = GEN_COMPUTE, .bytes = 4};
    gen_push(rank, "optimizer", -1, GREEN);
    if (gen->options.devices > 1) {
        gen_wait_stream(rank, GEN_COMPUTE, GEN_NCCL);
    }
    gen_plant_zone(rank);
    gen_plant_copy(rank);
    (void)gen_launch(rank, GEN_NORM, GEN_COMPUTE);
    for (int64_t i = 0; i < count; i++) {
        (void)gen_launch(rank, GEN_ADAMW, GEN_COMPUTE);
    }
    (void)gen_copy(rank, &loss);
    gen_pop(rank);
}

/* The host stays one step ahead of the device, no more. */
static void end_step(struct gen_rank *rank)
{
    struct gen_event mark = {.text = "step done",
                             .number = (int32_t)rank->gen->step,
                             .rank = (uint16_t)rank->index,
                             .thread = GEN_MAIN,
                             .op = 34};
    int64_t before_ns = rank->step_end_ns[0];
    rank->step_end_ns[0] = gen_drained(rank);
    (void)gen_sync(rank, "cudaEventSynchronize_v3020", GEN_STREAM_COUNT, ++rank->next_event,
                   before_ns);
    mark.begin_ns = rank->now_ns;
    mark.end_ns = rank->now_ns;
    gen_add(rank->gen, GEN_NVTX, &mark);
    gen_pop(rank);
    gen_think(rank, gen_about(rank->gen, 40000));
}

void gen_play_step(struct gen *gen)
{
    int64_t waiting_ns[GEN_DEVICES_MAX];
    int devices = (int)gen->options.devices;
    for (int i = 0; i < devices; i++) {
        start_step(&gen->ranks[i]);
        waiting_ns[i] = gen->ranks[i].now_ns;
        start_backward(&gen->ranks[i]);
    }
    for (int layer = (int)gen->options.layers - 1; layer >= 0; layer--) {
        for (int i = 0; i < devices; i++) {
            backward_layer(&gen->ranks[i], layer);
        }
        if (devices > 1) {
            all_reduce(gen);
        }
    }
    for (int i = 0; i < devices; i++) {
        struct gen_rank *rank = &gen->ranks[i];
        (void)gen_launch(rank, GEN_EMBED_GRAD, GEN_COMPUTE);
        gen_pop(rank);
        rank->thread = GEN_MAIN;
        gen_osrt(rank, GEN_MAIN, "pthread_cond_wait", waiting_ns[i], rank->now_ns);
        gen_think(rank, 3000);
        optimizer(rank);
        end_step(rank);
    }
}

static void setup_rank(struct gen_rank *rank)
{
    (void)gen_api(rank, "cuInit", 21000000);
    (void)gen_api(rank, "cuLibraryLoadData", 38000000);
    (void)gen_api(rank, "cudaStreamCreateWithPriority_v5050", 41000);
    (void)gen_api(rank, "cudaStreamCreateWithPriority_v5050", 38000);
    for (int i = 0; i < 8; i++) {
        struct gen_call call = gen_api(rank, "cudaMalloc_v3020", 210000);
        struct gen_event row = {.begin_ns = call.end_ns - 400,
                                .end_ns = call.end_ns - 400,
                                .bytes = INT64_C(1) << (30 - i),
                                .corr = call.corr,
                                .rank = (uint16_t)rank->index,
                                .node = rank->address};
        gen_add(rank->gen, GEN_MEMORY, &row);
        rank->address += row.bytes;
    }
    if (rank->gen->options.graphs != GEN_GRAPHS_NONE) {
        (void)gen_api(rank, "cudaStreamBeginCapture_v10000", 9000);
        (void)gen_api(rank, "cudaStreamEndCapture_v10000", 31000);
        (void)gen_api(rank, "cudaGraphInstantiate_v12000", 1800000);
    }
}

void gen_setup(struct gen *gen)
{
    for (int i = 0; i < gen->options.devices; i++) {
        struct gen_rank *rank = &gen->ranks[i];
        *rank = (struct gen_rank){.gen = gen,
                                  .index = i,
                                  .pid = 41200 + (uint32_t)i * 97,
                                  .corr = 100,
                                  .address = INT64_C(0x7f3a40000000),
                                  .now_ns = 212000000 + i * 1730000};
        setup_rank(rank);
    }
}
