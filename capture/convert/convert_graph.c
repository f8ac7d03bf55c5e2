/* Where CUDA graphs come from, for the converter: CUDA_GRAPH_EVENTS, CUDA_GRAPH_NODE_EVENTS, and
 * which graph and executable graph a launch is of. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "capture/convert/convert_internal.h"

enum {
    CLASS_NODE = 77,
    CLASS_EXEC = 94,
    CLASS_GRAPH = 95,
    CLASS_CLONE = 96
};

int convert_graph_learn(struct convert_proc *proc, const struct spool_item *item, struct err *err)
{
    const struct spool_meta *head = &item->u.meta.head;
    if (head->code != SPOOL_STATUS_GRAPH_EXEC || head->value[1] == 0) {
        return 0;
    }
    uint32_t n = proc->execs_n;
    if ((n & (n - 1)) == 0) { /* full at each power of two */
        struct convert_exec *execs =
            array_resize(proc->execs, n == 0 ? 1 : (size_t)n * 2, sizeof *execs);
        if (!execs) {
            return err_nomem(err, "graphs");
        }
        proc->execs = execs;
    }
    proc->execs[proc->execs_n++] =
        (struct convert_exec){.graph = (uint32_t)head->value[0], .exec = (uint32_t)head->value[1]};
    return 0;
}

struct convert_exec convert_graph_of(const struct convert_proc *proc, uint32_t id)
{
    struct convert_exec found = {.graph = id, .exec = id};
    uint32_t of_graph = 0;
    for (uint32_t i = proc->execs_n; i > 0; i--) {
        if (proc->execs[i - 1].exec == id) {
            return proc->execs[i - 1];
        }
        if (proc->execs[i - 1].graph == id) {
            found.exec = proc->execs[i - 1].exec;
            of_graph++;
        }
    }
    /* one graph made executable more than once: which of them ran is not known */
    return of_graph > 1 ? (struct convert_exec){.graph = id, .exec = id} : found;
}

static struct store_cell id_cell(uint64_t id)
{
    return id ? store_cell_int((int64_t)id) : (struct store_cell){0};
}

static int node_row(struct convert *c, const struct convert_proc *proc,
                    const struct spool_meta *head, struct err *err)
{
    static const char name[] = "Graph Node Creation";
    int64_t name_id = 0;
    int64_t at_ns = clock_off((int64_t)head->value[3], c->zero_mono_ns);
    if (convert_string_id(c, name, sizeof name - 1, &name_id, err) < 0) {
        return -1;
    }
    struct store_cell row[STORE_GRAPH_NODE_EVENTS_N] = {
        [STORE_GRAPH_NODE_EVENTS_START] = store_cell_int(at_ns),
        [STORE_GRAPH_NODE_EVENTS_END] = store_cell_int(at_ns),
        [STORE_GRAPH_NODE_EVENTS_EVENT_CLASS] = store_cell_int(CLASS_NODE),
        [STORE_GRAPH_NODE_EVENTS_GLOBAL_TID] =
            store_cell_int(store_global_tid(proc->pid, (uint32_t)head->value[2])),
        [STORE_GRAPH_NODE_EVENTS_NAME_ID] = store_cell_int(name_id),
        [STORE_GRAPH_NODE_EVENTS_GRAPH_NODE_ID] = store_cell_int((int64_t)head->value[0]),
        [STORE_GRAPH_NODE_EVENTS_ORIGINAL_GRAPH_NODE_ID] = id_cell(head->value[1]),
    };
    return store_writer_row(c->writer, STORE_TABLE_GRAPH_NODE_EVENTS, row, err);
}

int convert_graph_row(struct convert *c, const struct convert_proc *proc,
                      const struct spool_item *item, struct err *err)
{
    const struct spool_meta *head = &item->u.meta.head;
    if (head->code == SPOOL_STATUS_GRAPH_NODE) {
        return node_row(c, proc, head, err);
    }
    bool exec = head->code == SPOOL_STATUS_GRAPH_EXEC;
    bool clone = !exec && head->value[1] != 0;
    const char *name = exec ? "GraphExec Creation" : clone ? "Graph Clone" : "Graph Creation";
    int64_t name_id = 0;
    int64_t at_ns = clock_off((int64_t)head->value[3], c->zero_mono_ns);
    if (convert_string_id(c, name, strlen(name), &name_id, err) < 0) {
        return -1;
    }
    struct store_cell row[STORE_GRAPH_EVENTS_N] = {
        [STORE_GRAPH_EVENTS_START] = store_cell_int(at_ns),
        [STORE_GRAPH_EVENTS_END] = store_cell_int(at_ns),
        [STORE_GRAPH_EVENTS_EVENT_CLASS] = store_cell_int(exec    ? CLASS_EXEC
                                                          : clone ? CLASS_CLONE
                                                                  : CLASS_GRAPH),
        [STORE_GRAPH_EVENTS_GLOBAL_TID] =
            store_cell_int(store_global_tid(proc->pid, (uint32_t)head->value[2])),
        [STORE_GRAPH_EVENTS_NAME_ID] = store_cell_int(name_id),
        [STORE_GRAPH_EVENTS_GRAPH_ID] = store_cell_int((int64_t)head->value[0]),
        [STORE_GRAPH_EVENTS_ORIGINAL_GRAPH_ID] = id_cell(clone ? head->value[1] : 0),
        [STORE_GRAPH_EVENTS_GRAPH_EXEC_ID] = id_cell(exec ? head->value[1] : 0),
    };
    return store_writer_row(c->writer, STORE_TABLE_GRAPH_EVENTS, row, err);
}
