/*
 * program: see program.h. Each distinct name is looked at once; the events are walked only for names
 * that tell something, and each lane only until nothing new can come.
 */
#include "analysis/facts/program.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/store/store.h"

enum {
    COMPILED = 1 << 7, /* of a sign: made by torch.compile */
    LIBRARY_ROWS = 1 << 16, /* texts of the file that are looked through for libraries */
};

/* What a text tells. */
struct sign {
    const char *text;
    uint8_t flag;
    bool at_begin; /* else anywhere */
};

static const struct sign KERNELS[] = {
    {"at::native", PROGRAM_TORCH, false},
    {"at_cuda_detail", PROGRAM_TORCH, false},
    {"c10::", PROGRAM_TORCH, false},
    {"triton_poi_fused", PROGRAM_TORCH | COMPILED, true},
    {"triton_red_fused", PROGRAM_TORCH | COMPILED, true},
    {"triton_per_fused", PROGRAM_TORCH | COMPILED, true},
    {"tensorflow::", PROGRAM_TENSORFLOW, false},
    {"loop_add_fusion", PROGRAM_JAX, true},
    {"loop_multiply_fusion", PROGRAM_JAX, true},
    {"input_reduce_fusion", PROGRAM_JAX, true},
    {"input_add_reduce_fusion", PROGRAM_JAX, true},
    {"wrapped_", PROGRAM_JAX, true},
};

static const struct sign RANGES[] = {
    {"aten::", PROGRAM_TORCH, true},     {"torch::", PROGRAM_TORCH, true},
    {"autograd::", PROGRAM_TORCH, true}, {"FSDP::", PROGRAM_TORCH, true},
    {"XlaModule:", PROGRAM_JAX, true},   {"PjitFunction", PROGRAM_JAX, true},
};

static const struct sign DOMAINS[] = {
    {"torch", PROGRAM_TORCH, false},
    {"PyTorch", PROGRAM_TORCH, false},
    {"jax", PROGRAM_JAX, true},
    {"tensorflow", PROGRAM_TENSORFLOW, false},
    {"TensorFlow", PROGRAM_TENSORFLOW, false},
};

static const struct sign THREADS[] = {
    {"pt_autograd", PROGRAM_TORCH, true},
    {"pt_main_thread", PROGRAM_TORCH | PROGRAM_PYTHON, true},
    {"pt_data_", PROGRAM_TORCH, true},
    {"pt_nccl", PROGRAM_TORCH, true},
};

static const struct sign LIBRARIES[] = {
    {"libtorch", PROGRAM_TORCH, false},           {"libc10", PROGRAM_TORCH, false},
    {"xla_extension", PROGRAM_JAX, false},        {"libjax", PROGRAM_JAX, false},
    {"libtensorflow", PROGRAM_TENSORFLOW, false},
};

/* How the names of Python programs begin. */
static const char *const PYTHONS[] = {"python", "pypy",     "ipython", "jupyter",
                                      "pytest", "torchrun", "ray::"};

static uint8_t told(const struct sign *signs, size_t count, const char *text)
{
    uint8_t flags = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sign *sign = &signs[i];
        bool is = sign->at_begin ? strncmp(text, sign->text, strlen(sign->text)) == 0
                                 : strstr(text, sign->text) != NULL;
        flags |= is ? sign->flag : 0;
    }
    return flags;
}

/* XLA compiles for TensorFlow, too: where that is seen, its kernels say nothing of JAX. */
static uint8_t settled(uint8_t flags)
{
    bool both = (flags & PROGRAM_TENSORFLOW) != 0;
    return (uint8_t)(both ? flags & ~PROGRAM_JAX : flags);
}

static bool is_python(const char *name)
{
    const char *word = name;
    for (const char *at = name; *at != '\0' && *at != ' '; at++) {
        word = *at == '/' ? at + 1 : word;
    }
    for (size_t i = 0; i < ARRAY_LEN(PYTHONS); i++) {
        if (strncmp(word, PYTHONS[i], strlen(PYTHONS[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void tell(struct program *program, uint8_t flags, uint8_t sign)
{
    program->is_compiled |= (flags & COMPILED) != 0;
    flags &= (uint8_t)~COMPILED;
    program->flags |= flags;
    program->signs |= (flags & PROGRAM_FRAMEWORKS) != 0 ? sign : 0;
}

/* What each name tells, and by what sign. */
struct name_told {
    uint8_t flags;
    uint8_t sign;
};

static struct name_told name_tells(const struct trace_name *name)
{
    switch (name->kind) {
    case TRACE_KERNEL:
        return (struct name_told){told(KERNELS, ARRAY_LEN(KERNELS), name->full),
                                  PROGRAM_BY_KERNELS};
    case TRACE_NVTX_PUSHPOP:
    case TRACE_NVTX_STARTEND:
    case TRACE_NVTX_MARK:
        return (struct name_told){
            (uint8_t)(told(RANGES, ARRAY_LEN(RANGES), name->full) |
                      (name->domain != NULL ? told(DOMAINS, ARRAY_LEN(DOMAINS), name->domain) : 0)),
            PROGRAM_BY_RANGES};
    case TRACE_OVERHEAD_PROFILER: /* "dlopen(libtorch_global_deps.so)" */
    case TRACE_OSRT_CALL:
        return (struct name_told){told(LIBRARIES, ARRAY_LEN(LIBRARIES), name->full),
                                  PROGRAM_BY_LIBRARIES};
    default:
        return (struct name_told){0, 0};
    }
}

static void lane_tells(const struct trace *trace, const struct trace_lane *lane,
                       const struct name_told *names, uint8_t all, struct program *program)
{
    const uint32_t *name = trace->events[lane->table].name;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        const struct name_told *one = &names[name[i]];
        if (one->flags != 0) {
            tell(program, one->flags, one->sign);
            if (((program->flags | (program->is_compiled ? COMPILED : 0)) & all) == all) {
                return;
            }
        }
    }
}

static int events_tell(const struct trace *trace, struct program *programs)
{
    struct name_told *names = calloc((size_t)trace->name_count + 1, sizeof *names);
    uint8_t all = 0;
    if (names == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < trace->name_count; i++) {
        names[i] = name_tells(&trace->names[i]);
        all |= names[i].flags;
    }
    for (uint32_t l = 0; all != 0 && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != TRACE_API && lane->process != TRACE_NONE) {
            lane_tells(trace, lane, names, all, &programs[lane->process]);
        }
    }
    free(names);
    return 0;
}

/* Libraries among the texts of the file: of the one process that has GPU work, if it is one. */
static void libraries_tell(const struct trace *trace, struct store *store, struct program *programs)
{
    static const char *const columns[] = {"value"};
    const struct store_scan scan = {"StringIds", columns, 1, 0, LIBRARY_ROWS};
    uint32_t worker = TRACE_NONE;
    for (uint32_t p = 0; p < trace->process_count; p++) {
        const struct trace_process *process = &trace->processes[p];
        if (process->kernels + process->memcpys + process->graph_launches + process->api_calls >
            0) {
            if (worker != TRACE_NONE) {
                return;
            }
            worker = p;
        }
    }
    if (worker == TRACE_NONE || (programs[worker].flags & PROGRAM_FRAMEWORKS) != 0) {
        return;
    }
    struct store_cursor *cursor = store_scan(store, &scan, NULL);
    while (cursor != NULL && store_next(cursor, NULL) == 1) {
        size_t len;
        const char *text = store_text(cursor, 0, &len);
        if (text != NULL && strstr(text, ".so") != NULL) {
            tell(&programs[worker], told(LIBRARIES, ARRAY_LEN(LIBRARIES), text),
                 PROGRAM_BY_LIBRARIES);
        }
    }
    if (cursor != NULL) {
        store_cursor_close(cursor);
    }
}

struct program *programs_new(const struct trace *trace, struct store *store, struct err *err)
{
    struct program *programs = calloc((size_t)trace->process_count + 1, sizeof *programs);
    if (programs == NULL || events_tell(trace, programs) != 0) {
        free(programs);
        (void)err_nomem(err, "the programs of a capture");
        return NULL;
    }
    for (uint32_t p = 0; p < trace->process_count; p++) {
        const char *name = trace->processes[p].name;
        tell(&programs[p], told(THREADS, ARRAY_LEN(THREADS), name), PROGRAM_BY_THREADS);
        programs[p].flags |= is_python(name) ? PROGRAM_PYTHON : 0;
    }
    for (uint32_t t = 0; t < trace->thread_count; t++) {
        struct program *program = &programs[trace->threads[t].process];
        tell(program, told(THREADS, ARRAY_LEN(THREADS), trace->threads[t].name),
             PROGRAM_BY_THREADS);
        program->flags |= is_python(trace->threads[t].name) ? PROGRAM_PYTHON : 0;
    }
    if (store != NULL) {
        libraries_tell(trace, store, programs);
    }
    for (uint32_t p = 0; p < trace->process_count; p++) {
        programs[p].flags = settled(programs[p].flags);
    }
    return programs;
}

uint8_t program_words(const struct program *program)
{
    return (program->flags & PROGRAM_PYTHON) != 0 ? program->flags : 0;
}

void program_put(struct buf *out, const struct program *program)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } names[] = {{PROGRAM_TORCH, "PyTorch"},
                 {PROGRAM_JAX, "JAX"},
                 {PROGRAM_TENSORFLOW, "TensorFlow"}},
      signs[] = {{PROGRAM_BY_KERNELS, "kernel names"},
                 {PROGRAM_BY_RANGES, "NVTX ranges"},
                 {PROGRAM_BY_THREADS, "thread names"},
                 {PROGRAM_BY_LIBRARIES, "libraries"}};
    const char *between = "";
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if ((program->flags & names[i].bit) != 0) {
            buf_addf(out, "%s%s", between, names[i].name);
            between = ", ";
        }
    }
    if (between[0] == '\0') {
        return;
    }
    between = " (";
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if ((program->signs & signs[i].bit) != 0) {
            buf_addf(out, "%s%s", between, signs[i].name);
            between = ", ";
        }
    }
    buf_addc(out, ')');
}
