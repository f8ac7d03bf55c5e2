/*
 * What CUDA graphs come from: CUPTI's callbacks when a graph, a node of it or an executable graph
 * is made, as statuses of the spool. With them the converter tells which graph an executable one
 * was made from, and who made a node that a kernel names. Nodes are asked for in node mode alone:
 * only there do records name them, and a graph may have many.
 */
#define _GNU_SOURCE /* SYS_gettid; NOLINT */
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"
#include "capture/spool/cupti_abi.h"

/* The id of a graph, or 0. */
static uint64_t graph_id(const struct cupti_state *cupti, void *graph)
{
    uint32_t id = 0;
    bool known = graph != NULL && cupti->call.get_graph_id != NULL &&
                 cupti->call.get_graph_id(graph, &id) == CUPTI_RESULT_SUCCESS;
    return known ? id : 0;
}

static uint64_t exec_id(const struct cupti_state *cupti, void *exec)
{
    uint32_t id = 0;
    bool known = exec != NULL && cupti->call.get_graph_exec_id != NULL &&
                 cupti->call.get_graph_exec_id(exec, &id) == CUPTI_RESULT_SUCCESS;
    return known ? id : 0;
}

static uint64_t node_id(const struct cupti_state *cupti, void *node)
{
    uint64_t id = 0;
    bool known = node != NULL && cupti->call.get_graph_node_id != NULL &&
                 cupti->call.get_graph_node_id(node, &id) == CUPTI_RESULT_SUCCESS;
    return known ? id : 0;
}

void cupti_graph(struct cupti_state *cupti, uint32_t cbid, const struct cupti_graph_data *data)
{
    struct spool_meta head = {.kind = SPOOL_META_STATUS};
    struct spool_writer *writer = inject_spool_now();
    if (data == NULL || writer == NULL) {
        return;
    }
    switch (cbid) {
    case CUPTI_ID_RESOURCE_GRAPH_CREATED:
    case CUPTI_ID_RESOURCE_GRAPH_CLONED:
        head.code = SPOOL_STATUS_GRAPH;
        head.value[0] = graph_id(cupti, data->graph);
        head.value[1] =
            cbid == CUPTI_ID_RESOURCE_GRAPH_CLONED ? graph_id(cupti, data->original_graph) : 0;
        break;
    case CUPTI_ID_RESOURCE_GRAPH_EXEC_CREATED:
        head.code = SPOOL_STATUS_GRAPH_EXEC;
        head.value[0] = graph_id(cupti, data->graph);
        head.value[1] = exec_id(cupti, data->graph_exec);
        break;
    default:
        head.code = SPOOL_STATUS_GRAPH_NODE;
        head.value[0] = node_id(cupti, data->node);
        head.value[1] =
            cbid == CUPTI_ID_RESOURCE_GRAPH_NODE_CLONED ? node_id(cupti, data->original_node) : 0;
        break;
    }
    head.value[2] = (uint64_t)syscall(SYS_gettid);
    head.value[3] = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
    if (head.value[0] != 0 && nvtx_enter()) {
        spool_writer_meta(writer, &head, NULL, 0);
        nvtx_leave();
    }
}

void cupti_graph_enable(struct cupti_state *cupti)
{
    static const struct {
        uint32_t cbid;
        bool nodes;
    } wanted[] = {
        {CUPTI_ID_RESOURCE_GRAPH_CREATED, false},      {CUPTI_ID_RESOURCE_GRAPH_CLONED, false},
        {CUPTI_ID_RESOURCE_GRAPH_EXEC_CREATED, false}, {CUPTI_ID_RESOURCE_GRAPH_NODE_CREATED, true},
        {CUPTI_ID_RESOURCE_GRAPH_NODE_CLONED, true},
    };
    bool nodes = inject.config.graph == SESSION_GRAPH_NODE;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (nodes || !wanted[i].nodes) {
            (void)cupti->call.enable_callback(1, cupti->subscriber, CUPTI_DOMAIN_RESOURCE,
                                              wanted[i].cbid);
        }
    }
}
