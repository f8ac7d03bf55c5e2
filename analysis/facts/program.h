/*
 * program: what kind of program a process of the capture is, as far as the capture shows it: Python
 * by its name, a framework by the names of its kernels, NVTX ranges and domains, threads and
 * libraries. Words of a framework are said to those alone who use it.
 */
#ifndef CUTLINE_FACTS_PROGRAM_H
#define CUTLINE_FACTS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

enum program_flag {
    PROGRAM_PYTHON = 1U << 0,
    PROGRAM_TORCH = 1U << 1,
    PROGRAM_JAX = 1U << 2,
    PROGRAM_TENSORFLOW = 1U << 3,
    PROGRAM_FRAMEWORKS = PROGRAM_TORCH | PROGRAM_JAX | PROGRAM_TENSORFLOW,
};

/* Where the frameworks were seen: bits. */
enum program_sign {
    PROGRAM_BY_KERNELS = 1U << 0,
    PROGRAM_BY_RANGES = 1U << 1, /* NVTX ranges or their domain */
    PROGRAM_BY_THREADS = 1U << 2, /* the name of a thread or of the process */
    PROGRAM_BY_LIBRARIES = 1U << 3,
};

struct program {
    uint8_t flags; /* enum program_flag */
    uint8_t signs; /* enum program_sign, of the frameworks */
    bool is_compiled; /* PyTorch: kernels that torch.compile has made */
};

struct store;
/*
 * One for each process of the trace; malloc'd, the caller frees. NULL: no memory. store: the trace's
 * file, for the names of libraries; NULL leaves them out. O(names), and O(events) where a name tells.
 */
struct program *programs_new(const struct trace *trace, struct store *store, struct err *err);
/* The flags that words may rest on: a framework of a Python process; else PROGRAM_PYTHON or 0. */
uint8_t program_words(const struct program *program);
/* Adds "PyTorch (kernel names, NVTX ranges)"; nothing where no framework was seen. */
void program_put(struct buf *out, const struct program *program);

#endif
