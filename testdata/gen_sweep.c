/*
 * gen_sweep: sums up what each device did, from its ops in the order of their begins.
 *
 * A sweep over time: the ops that run now are kept with their ends; between two borders the state
 * is the same and its length is added to the sums. O(n) with the few ops that run at once.
 */
#include "testdata/gen_world.h"

enum gen_sweep_kind {
    SWEEP_COMPUTE = 1,
    SWEEP_COMM = 2,
    SWEEP_COPY = 4,
    SWEEP_SET = 8,
};

static uint8_t kind_of(const struct gen_event *op)
{
    if (op->op == GEN_OP_COPY) {
        return SWEEP_COPY;
    }
    if (op->op == GEN_OP_SET) {
        return SWEEP_SET;
    }
    return op->op == GEN_OP_KERNEL && op->kernel == GEN_ALLREDUCE ? SWEEP_COMM : SWEEP_COMPUTE;
}

/* The state from at_ns to until_ns, in which nothing begins or ends. */
static void account(struct gen_sweep *sweep, struct gen_device *sum, int64_t until_ns)
{
    int64_t length_ns = until_ns - sweep->at_ns;
    unsigned kinds = 0;
    for (int i = 0; i < sweep->active; i++) {
        kinds |= sweep->ops[i].kind;
    }
    sum->busy_ns += length_ns;
    sum->compute_ns += (kinds & SWEEP_COMPUTE) != 0 ? length_ns : 0;
    sum->comm_ns += (kinds & SWEEP_COMM) != 0 ? length_ns : 0;
    sum->copy_ns += (kinds & SWEEP_COPY) != 0 ? length_ns : 0;
    if ((kinds & (SWEEP_COMPUTE | SWEEP_COMM)) == (SWEEP_COMPUTE | SWEEP_COMM)) {
        sum->both_ns += length_ns;
    }
    if ((kinds & (SWEEP_COMPUTE | SWEEP_COMM)) == 0) {
        sum->copy_only_ns += length_ns;
    } else if ((kinds & SWEEP_COPY) != 0) {
        sum->hidden_ns += length_ns;
    }
    sweep->at_ns = until_ns;
}

/* Ends the ops that are over by `until_ns`, and comes to that time. */
static void advance(struct gen_sweep *sweep, struct gen_device *sum, int64_t until_ns)
{
    while (sweep->active > 0) {
        int first = 0;
        for (int i = 1; i < sweep->active; i++) {
            first = sweep->ops[i].end_ns < sweep->ops[first].end_ns ? i : first;
        }
        if (sweep->ops[first].end_ns > until_ns) {
            account(sweep, sum, until_ns);
            return;
        }
        account(sweep, sum, sweep->ops[first].end_ns);
        sweep->ops[first] = sweep->ops[--sweep->active];
    }
}

static void note_gap(struct gen *gen, const struct gen_sweep *sweep, const struct gen_event *op)
{
    gen->key.devices[op->rank].gaps++;
    if (op->plant == 0) {
        return;
    }
    struct gen_plant *plant = &gen->plants[op->plant - 1];
    plant->gap.begin_ns = sweep->at_ns;
    plant->gap.end_ns = op->begin_ns;
    gen->key.gaps[gen->key.gap_count++] = plant->gap;
}

void gen_sweep_add(struct gen *gen, const struct gen_event *op)
{
    struct gen_sweep *sweep = &gen->sweeps[op->rank];
    struct gen_device *sum = &gen->key.devices[op->rank];
    if (!sweep->started) {
        sweep->started = true;
        sum->first_ns = op->begin_ns;
        sweep->at_ns = op->begin_ns;
    }
    advance(sweep, sum, op->begin_ns);
    if (sweep->active == 0 && op->begin_ns > sweep->at_ns) {
        note_gap(gen, sweep, op);
    }
    sweep->at_ns = op->begin_ns;
    if (sweep->active < GEN_ACTIVE_MAX) {
        sweep->ops[sweep->active].end_ns = op->end_ns;
        sweep->ops[sweep->active].kind = kind_of(op);
        sweep->active++;
    }
    sum->last_ns = op->end_ns > sum->last_ns ? op->end_ns : sum->last_ns;
}

void gen_sweep_end(struct gen *gen)
{
    for (int i = 0; i < gen->options.devices; i++) {
        advance(&gen->sweeps[i], &gen->key.devices[i], INT64_MAX);
    }
}
