/*
 * failures: the CUDA calls that failed, from the return value of every call.
 *
 * A call is failed if its returnValue is neither 0 nor one that is an answer: "not ready" (600) of a
 * query, and what asking itself brings about (a peer or a host range that is registered already, an
 * attribute of a pointer that CUDA does not know, an entry point that is not there). The calls that
 * ask for the last error give back what another call failed with: they are not counted.
 *
 * Codes: CUDA Runtime API, "cudaError_t", and CUDA Driver API, "CUresult".
 */
#ifndef CUTLINE_FACTS_FAILURES_H
#define CUTLINE_FACTS_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

enum {
    FAILURE_OUT_OF_MEMORY = 2,
    FAILURE_ILLEGAL_ADDRESS = 700,
};

/* The calls of one name that failed with one code. */
struct failure {
    uint32_t name; /* number of the call's name in the trace */
    int64_t code; /* CUDA's */
    uint32_t count; /* calls that failed so */
    uint32_t calls; /* calls of this name in all */
    uint32_t first; /* the earliest: its index in events[TRACE_API] */
    int64_t bytes; /* asked for by the first, from the memory events; -1: the file has none */
    bool is_work; /* the call should have put work on a GPU */
    bool is_sticky; /* the context is lost: every later call fails, too */
};

struct failures {
    struct failure *list; /* owned; sticky ones first, then by lost work, then by count */
    size_t count;
    uint32_t work_calls; /* calls that should have put work on a GPU; 0 where none failed at all */
    uint32_t work_failed; /* ... of them failed */
    uint32_t after_sticky; /* failed calls after the first sticky failure */
};

struct store;
/* Reads the return values: one pass over the table of API calls, where loading met one that is not 0. store: the trace's file; NULL gives
 * an empty list. 0, or -1 without memory. */
int failures_new(const struct trace *trace, struct store *store, struct failures *out,
                 struct err *err);
void failures_free(struct failures *failures);

/* "cudaErrorUnsupportedPtxVersion" for a runtime call, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" for a
 * driver call; NULL for a code that CUDA 13.0 does not have. */
const char *failures_code_name(int64_t code, const char *call);
/* Is the value of this call a failure, by the rules above? */
bool failures_is(int64_t code, const char *call);
/* "cudaErrorUnsupportedPtxVersion (222)". */
void failures_put_code(struct buf *out, int64_t code, const char *call);
/* "21 of 21 cudaLaunchKernel failed: cudaErrorUnsupportedPtxVersion (222)". */
void failures_put(struct buf *out, const struct trace *trace, const struct failure *failure);
/* The failure that keeps a program from working: a lost context, lost work, no memory, no device.
 * NULL if there is none. */
const struct failure *failures_fatal(const struct failures *failures);
/* What to do about a code: one sentence; NULL if there is nothing to say beyond its name. */
const char *failures_advice(int64_t code);

#endif
