/*
 * gen_sim: the model clocks of the generator: what a host thread and a device do, one call at a
 * time. Inside the generator only; see gen.h.
 *
 * A rank is one process with one device. Its host clock now_ns moves on with every call; two host
 * threads (main, and the one that launches the backward pass) take turns, so one clock serves both.
 * Every function adds rows to the vectors of the world; gen_write.c sorts and writes them at the
 * end of each step.
 *
 * Failure: a vector that cannot grow sets gen->failed; the row is dropped, the caller checks at the
 * end of a step.
 */
#ifndef CUTLINE_TESTDATA_GEN_SIM_H
#define CUTLINE_TESTDATA_GEN_SIM_H

#include "testdata/gen.h"
#include "testdata/gen_kernels.h"

enum gen_thread {
    GEN_MAIN,
    GEN_AUTOGRAD,
    GEN_LOADER,
    GEN_PROXY,
    GEN_THREAD_COUNT,
};

/* Streams of a device, by index; gen_stream_id has the numbers. */
enum gen_stream {
    GEN_COMPUTE,
    GEN_COPY,
    GEN_NCCL,
    GEN_STREAM_COUNT,
};

enum gen_table {
    GEN_OP,
    GEN_API,
    GEN_NVTX,
    GEN_OSRT,
    GEN_SYNC,
    GEN_OVERHEAD,
    GEN_MEMORY,
    GEN_TABLE_COUNT,
};

enum gen_op {
    GEN_OP_KERNEL,
    GEN_OP_COPY,
    GEN_OP_SET,
    GEN_OP_GRAPH,
};

/* A row to be. What a field means depends on the table. */
struct gen_event {
    int64_t begin_ns;
    int64_t end_ns;
    const char *text; /* a constant: API, OSRT, NVTX; the domain's text too */
    int64_t bytes; /* COPY, SET, MEMORY; SYNC: the event id, 0 = none */
    int64_t node; /* KERNEL in a graph: graphNodeId, 0 = none */
    int32_t number; /* NVTX: put after the text where >= 0 */
    uint32_t corr;
    uint32_t plant; /* OP: index of the plant it ends, plus 1 */
    uint16_t rank;
    uint16_t thread; /* enum gen_thread */
    uint8_t stream; /* enum gen_stream; GEN_STREAM_COUNT = none */
    uint8_t op; /* enum gen_op; NVTX: event type; OVERHEAD: its type; MEMORY: 0 alloc, 1 free */
    uint8_t kernel; /* enum gen_kernel_id; COPY: copyKind */
    uint8_t src_kind;
    uint8_t dst_kind; /* NVTX: domain */
    uint32_t color; /* NVTX, ARGB, 0 = none */
};

struct gen_vec {
    struct gen_event *items;
    size_t count;
    size_t cap;
};

/* A gap to plant, and what came of it. */
struct gen_plant {
    int64_t step;
    int rank;
    int layer;
    int64_t length_ns;
    bool backward; /* in the backward pass, else forward */
    bool done;
    struct gen_gap gap; /* cause and length from the plan, the rest when it happened */
};

struct gen_range {
    const char *text;
    int32_t number;
    uint32_t color;
    int64_t begin_ns;
};

struct gen;

struct gen_rank {
    struct gen *gen;
    int index;
    uint32_t pid;
    enum gen_thread thread; /* whose turn it is */
    int64_t now_ns; /* the host clock */
    int64_t free_ns[GEN_STREAM_COUNT]; /* when the stream is done with what it has */
    int64_t held_until_ns; /* COMPUTE: the next op begins exactly then, 0 = as it can */
    uint32_t held_plant; /* ... and ends this plant, plus 1 */
    int64_t slow_until_ns; /* the next launch call lasts until then, 0 = as always */
    int64_t op_begin_ns; /* begin of the op that was launched last */
    uint32_t corr;
    int64_t next_event;
    int64_t step_end_ns[2]; /* when the device was done with the last step, and the one before */
    struct gen_range stack[GEN_THREAD_COUNT][16];
    int depth[GEN_THREAD_COUNT];
    int64_t address; /* of the next allocation */
};

struct gen_call {
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t corr;
};

/* xorshift64*: Vigna 2016, "An experimental exploration of Marsaglia's xorshift generators". */
uint64_t gen_random(struct gen *gen);
/* Uniform in [low, high). */
int64_t gen_between(struct gen *gen, int64_t low, int64_t high);
/* The mean, up to 4 % more or less. */
int64_t gen_about(struct gen *gen, int64_t mean);

uint32_t gen_tid(const struct gen_rank *rank, enum gen_thread thread);
int gen_stream_id(enum gen_stream stream);

/* Adds a row. */
void gen_add(struct gen *gen, enum gen_table table, const struct gen_event *event);

/* The host does something else for a while. */
void gen_think(struct gen_rank *rank, int64_t ns);
/* An API call of the thread whose turn it is; afterwards the host thinks for a microsecond. */
struct gen_call gen_api(struct gen_rank *rank, const char *name, int64_t ns);
/* An API call that lasts until a time (at least a microsecond). */
struct gen_call gen_api_until(struct gen_rank *rank, const char *name, int64_t until_ns);
/* A call that waits: with its row of the SYNCHRONIZATION table. stream: GEN_STREAM_COUNT = none;
 * event: 0 = none. */
struct gen_call gen_sync(struct gen_rank *rank, const char *name, enum gen_stream stream,
                         int64_t event, int64_t until_ns);
/* An OS runtime call of any thread; the host clock does not move. */
void gen_osrt(struct gen_rank *rank, enum gen_thread thread, const char *name, int64_t begin_ns,
              int64_t end_ns);

void gen_push(struct gen_rank *rank, const char *text, int32_t number, uint32_t color);
void gen_pop(struct gen_rank *rank);
/* "a > b > c" of the ranges that the thread has open. */
void gen_path(const struct gen_rank *rank, char out[GEN_PATH_BYTES]);

/* Launches a kernel; returns when it ends. */
int64_t gen_launch(struct gen_rank *rank, enum gen_kernel_id kernel, enum gen_stream stream);
/* The op of a launch: begins when the call has ended and the stream is free. */
void gen_op(struct gen_rank *rank, struct gen_event *op, const struct gen_call *call,
            int64_t length_ns);

struct gen_copy {
    uint8_t kind; /* 1 HtoD, 2 DtoH, 8 DtoD */
    uint8_t src_kind;
    uint8_t dst_kind;
    enum gen_stream stream;
    int64_t bytes;
};
/* An asynchronous copy; returns when it ends. */
int64_t gen_copy(struct gen_rank *rank, const struct gen_copy *copy);
/* Sets bytes on the compute stream. */
void gen_set(struct gen_rank *rank, int64_t bytes);
/* `stream` goes on when `other` is done with what it has now: record and wait. */
void gen_wait_stream(struct gen_rank *rank, enum gen_stream stream, enum gen_stream other);
/* When the device is done with all it has. */
int64_t gen_drained(const struct gen_rank *rank);

#endif
