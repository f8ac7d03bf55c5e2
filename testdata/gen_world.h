/* gen_world: all that the parts of the generator share. Inside the generator only. */
#ifndef CUTLINE_TESTDATA_GEN_WORLD_H
#define CUTLINE_TESTDATA_GEN_WORLD_H

#include "analysis/store/writer.h"
#include "testdata/gen_sim.h"

enum {
    GEN_ACTIVE_MAX = 16,
    GEN_TEXTS_MAX = 256, /* a power of two, well above the number of constant texts */
};

/* The StringIds number of a constant text, found by its address. */
struct gen_text {
    const char *text; /* NULL: free */
    int64_t id;
};

/* Ops of one device in the order of their begins -> struct gen_device and planted gaps. */
struct gen_sweep {
    int64_t at_ns;
    int active; /* ops that run now */
    struct {
        int64_t end_ns;
        uint8_t kind; /* enum gen_sweep_kind */
    } ops[GEN_ACTIVE_MAX];
    bool started;
};

struct gen {
    struct gen_options options;
    uint64_t random;
    struct store_writer *writer;
    struct gen_text texts[GEN_TEXTS_MAX];
    struct gen_vec rows[GEN_TABLE_COUNT]; /* not yet written */
    struct gen_rank ranks[GEN_DEVICES_MAX];
    struct gen_sweep sweeps[GEN_DEVICES_MAX];
    struct gen_plant *plants; /* owned; by step */
    size_t plant_count;
    size_t first_plant; /* of this step or a later one */
    struct gen_plant *zones; /* owned; .step, .rank, .layer = launches */
    size_t zone_count;
    struct gen_plant *exposed; /* owned; .step, .rank */
    size_t exposed_count;
    int64_t step;
    struct gen_key key;
    bool failed; /* memory ran out */
};

/* gen_plan.c: where what is planted. 0, or -1: no memory. */
int gen_plan(struct gen *gen);
/* gen_plant.c: does the planted gap that is due here, if there is one. */
void gen_plant_here(struct gen_rank *rank, bool backward, int layer);
/* The zones and copies that are due in this step on this rank. */
void gen_plant_zone(struct gen_rank *rank);
void gen_plant_copy(struct gen_rank *rank);

/* gen_step.c */
void gen_setup(struct gen *gen);
void gen_play_step(struct gen *gen);

/* gen_sweep.c: the next op of a device. */
void gen_sweep_add(struct gen *gen, const struct gen_event *op);
void gen_sweep_end(struct gen *gen);

/* gen_key.c: makes room for what is planned. 0, or -1: no memory. */
int gen_key_new(struct gen *gen);

/* gen_write.c: writes the rows that begin before horizon_ns, sorted. 0, or -1 with err set. */
int gen_flush(struct gen *gen, int64_t horizon_ns, struct err *err);
/* gen_machine.c: devices, contexts, streams, processes, threads, session. */
int gen_write_machine(struct gen *gen, struct err *err);

#endif
