/* Made-up activity records, the same in the program that delivers them and in the test that looks
 * for them: a pattern in every byte, then times, name, and API id. */
#ifndef CUTLINE_CAPTURE_TESTS_RECORDS_H
#define CUTLINE_CAPTURE_TESTS_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "capture/spool/cupti_abi.h"

#define RECORD_NAMES 5

/* Kinds that are delivered, and where their times and names are (CUPTI documentation). */
static const struct record_rule {
    uint32_t kind;
    uint32_t begin;
    uint32_t end;
    uint32_t name;
} record_rules[] = {
    {CUPTI_KIND_CONCURRENT_KERNEL, 16, 24, 104},
    {CUPTI_KIND_MEMCPY, 16, 24, 0},
    {CUPTI_KIND_MEMCPY2, 16, 24, 0},
    {CUPTI_KIND_MEMSET, 16, 24, 0},
    {CUPTI_KIND_RUNTIME, 8, 16, 0},
    {CUPTI_KIND_SYNCHRONIZATION, 8, 16, 0},
    {CUPTI_KIND_OVERHEAD, 24, 32, 0},
    {CUPTI_KIND_GRAPH_TRACE, 8, 16, 0},
    {CUPTI_KIND_CUDA_EVENT, 0, 0, 0},
    {CUPTI_KIND_CONTEXT, 0, 0, 0},
    {CUPTI_KIND_STREAM, 0, 0, 0},
    {CUPTI_KIND_DEVICE, 0, 0, 136},
};

#define RECORD_RULES (sizeof(record_rules) / sizeof(record_rules[0]))

static const char *const record_names[RECORD_NAMES] = {
    "_Z6kernelIfLi3EEvPT_", "a", "", "ampere_sgemm_128x64_nn",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_T1_"};

static inline void record_set(uint8_t *record, uint32_t offset, uint64_t value)
{
    memcpy(record + offset, &value, sizeof(value));
}

/* Record NUMBER of RULE's kind, BYTES long; times follow BASE_NS. The name is the address NAME. */
static inline void record_make(uint8_t *record, uint32_t bytes, const struct record_rule *rule,
                               uint64_t number, uint64_t base_ns, const char *name)
{
    for (uint32_t i = 0; i < bytes; i++) {
        record[i] = (uint8_t)((number * 31 + (uint64_t)i * 7 + rule->kind) % 251);
    }
    memcpy(record, &rule->kind, sizeof(rule->kind));
    if (rule->begin != 0) {
        record_set(record, rule->begin, base_ns + number * 1000);
        record_set(record, rule->end, base_ns + number * 1000 + 700);
    }
    if (rule->begin == 0) {
        uint32_t low = (uint32_t)number;
        memcpy(record + 4, &low, sizeof(low));
    }
    if (rule->name != 0) {
        record_set(record, rule->name, (uint64_t)(uintptr_t)name);
    }
    if (rule->kind == CUPTI_KIND_RUNTIME) {
        uint32_t cbid = 211; /* cudaLaunchKernel_v7000 */
        memcpy(record + 4, &cbid, sizeof(cbid));
    }
}

#endif
