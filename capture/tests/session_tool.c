/* Makes the session folder DIR of a made-up training run, for tests of other programs on our
 * captures: two processes on two devices, each with 400 kernels on 2 streams, 40 copies, 20 sets,
 * their calls, and 20 nested NVTX ranges.
 *
 *     session_tool DIR */
#include <inttypes.h>

#include "capture/spool/session.h"
#include "capture/tests/spool_make.h"

#define REAL INT64_C(1700000000000000000)
#define MONO INT64_C(1000000000)

enum {
    KERNELS = 400,
    COPY_EVERY = 10,
    SET_EVERY = 20,
    STEP_NS = 50000
};

static uint64_t words[32];

static void fresh(enum cupti_field start, enum cupti_field end, int64_t at, int64_t length)
{
    memset(words, 0, sizeof words);
    spool_make_set(words, start, (uint64_t)(REAL + at));
    spool_make_set(words, end, (uint64_t)(REAL + at + length));
}

static void describe(struct spool_make *m, uint32_t device)
{
    memset(words, 0, sizeof words);
    spool_make_set(words, CUPTI_DEVICE_ID, device);
    spool_make_set(words, CUPTI_DEVICE_NAME, SPOOL_NAME_TAG | 4);
    spool_make_set(words, CUPTI_DEVICE_NUM_MULTIPROCESSORS, 132);
    spool_make_set(words, CUPTI_DEVICE_GLOBAL_MEMORY_SIZE, UINT64_C(85000000000));
    spool_make_set(words, CUPTI_DEVICE_COMPUTE_CAPABILITY_MAJOR, 9);
    memset((char *)words + CUPTI_DEVICE_UUID_OFFSET, (int)device + 1, CUPTI_UUID_BYTES);
    spool_make_describe(m, CUPTI_KIND_DEVICE, words);
    memset(words, 0, sizeof words);
    spool_make_set(words, CUPTI_CONTEXT_CONTEXT_ID, 1);
    spool_make_set(words, CUPTI_CONTEXT_DEVICE_ID, device);
    spool_make_set(words, CUPTI_CONTEXT_NULL_STREAM_ID, 7);
    spool_make_describe(m, CUPTI_KIND_CONTEXT, words);
}

static void add_call(struct spool_make *m, uint32_t cbid, int64_t at, uint32_t tid, uint32_t id)
{
    fresh(CUPTI_API_START, CUPTI_API_END, at, 4000);
    spool_make_set(words, CUPTI_API_CBID, cbid);
    spool_make_set(words, CUPTI_API_THREAD_ID, tid);
    spool_make_set(words, CUPTI_API_CORRELATION_ID, id);
    spool_make_cupti(m, CUPTI_KIND_RUNTIME, words, SPOOL_STATE_SCANNED);
}

static void add_kernel(struct spool_make *m, int i, uint32_t device)
{
    fresh(CUPTI_KERNEL_START, CUPTI_KERNEL_END, (int64_t)i * STEP_NS + 8000, 30000);
    spool_make_set(words, CUPTI_KERNEL_NAME, SPOOL_NAME_TAG | (1 + (uint64_t)i % 3));
    spool_make_set(words, CUPTI_KERNEL_DEVICE_ID, device);
    spool_make_set(words, CUPTI_KERNEL_CONTEXT_ID, 1);
    spool_make_set(words, CUPTI_KERNEL_STREAM_ID, i % 2 ? 13 : 7);
    spool_make_set(words, CUPTI_KERNEL_CORRELATION_ID, (uint64_t)i + 1);
    spool_make_set(words, CUPTI_KERNEL_GRID_X, 128);
    spool_make_set(words, CUPTI_KERNEL_BLOCK_X, 256);
    spool_make_cupti(m, CUPTI_KIND_CONCURRENT_KERNEL, words, SPOOL_STATE_SCANNED);
}

static void add_others(struct spool_make *m, int i, uint32_t device)
{
    if (i % COPY_EVERY == 0) {
        fresh(CUPTI_MEMCPY_START, CUPTI_MEMCPY_END, (int64_t)i * STEP_NS + 39000, 5000);
        spool_make_set(words, CUPTI_MEMCPY_COPY_KIND, 1);
        spool_make_set(words, CUPTI_MEMCPY_SRC_KIND, 2);
        spool_make_set(words, CUPTI_MEMCPY_DST_KIND, 3);
        spool_make_set(words, CUPTI_MEMCPY_BYTES, 1 << 20);
        spool_make_set(words, CUPTI_MEMCPY_DEVICE_ID, device);
        spool_make_set(words, CUPTI_MEMCPY_CONTEXT_ID, 1);
        spool_make_set(words, CUPTI_MEMCPY_STREAM_ID, 7);
        spool_make_set(words, CUPTI_MEMCPY_CORRELATION_ID, 10000 + (uint64_t)i);
        spool_make_cupti(m, CUPTI_KIND_MEMCPY, words, SPOOL_STATE_SCANNED);
    }
    if (i % SET_EVERY == 0) {
        fresh(CUPTI_MEMSET_START, CUPTI_MEMSET_END, (int64_t)i * STEP_NS + 45000, 1000);
        spool_make_set(words, CUPTI_MEMSET_BYTES, 4096);
        spool_make_set(words, CUPTI_MEMSET_DEVICE_ID, device);
        spool_make_set(words, CUPTI_MEMSET_CONTEXT_ID, 1);
        spool_make_set(words, CUPTI_MEMSET_STREAM_ID, 7);
        spool_make_cupti(m, CUPTI_KIND_MEMSET, words, SPOOL_STATE_SCANNED);
    }
}

static void add_ranges(struct spool_make *m, uint32_t tid)
{
    for (int i = 0; i < 10; i++) {
        uint64_t begin = (uint64_t)(MONO + (int64_t)i * STEP_NS * (KERNELS / 10));
        uint64_t end = begin + (uint64_t)STEP_NS * (KERNELS / 10) - 1000;
        struct spool_make_nvtx record = {.type = SPOOL_NVTX_PUSH,
                                         .flags = SPOOL_NVTX_TEXT,
                                         .tid = tid,
                                         .time = begin,
                                         .text = "iteration"};
        spool_make_nvtx(m, &record);
        record.time += 500;
        record.text = "forward";
        spool_make_nvtx(m, &record);
        record = (struct spool_make_nvtx){.type = SPOOL_NVTX_POP, .tid = tid, .time = end - 500};
        spool_make_nvtx(m, &record);
        record.time = end;
        spool_make_nvtx(m, &record);
    }
}

static int make_process(const char *folder, uint32_t pid, uint32_t device)
{
    static struct spool_make m;
    static const char *const names[] = {"_Z5saxpyPdS_S_di", "ampere_sgemm_128x64_nn",
                                        "_ZN4attn9flash_fwdIfEEvPKT_PS1_i", "NVIDIA Made Up"};
    char path[500];
    (void)snprintf(path, sizeof path, "%.400s/host.%" PRIu32 ".1.0%s", folder, pid, SPOOL_SUFFIX);
    spool_make_begin(&m, path, pid);
    m.header.created_real_ns = REAL;
    m.header.created_mono_ns = MONO;
    m.sizes[CUPTI_KIND_RUNTIME] = 40;
    m.sizes[CUPTI_KIND_CONCURRENT_KERNEL] = 216;
    m.sizes[CUPTI_KIND_MEMCPY] = 96;
    m.sizes[CUPTI_KIND_MEMSET] = 88;
    m.sizes[CUPTI_KIND_DEVICE] = 184;
    m.sizes[CUPTI_KIND_CONTEXT] = 32;
    for (int64_t s = 0; s < 3; s++) {
        spool_make_anchor(&m, REAL + s * 1000000000, MONO + s * 1000000000, 0, 0);
    }
    for (uint64_t id = 0; id < sizeof names / sizeof *names; id++) {
        spool_make_string(&m, id + 1, names[id], 0);
    }
    describe(&m, device);
    add_ranges(&m, pid);
    for (int i = 0; i < KERNELS; i++) {
        add_call(&m, 211, (int64_t)i * STEP_NS + 2000, pid, (uint32_t)i + 1);
        add_kernel(&m, i, device);
        add_others(&m, i, device);
        if (i % COPY_EVERY == 0) {
            add_call(&m, 41, (int64_t)i * STEP_NS + 32000, pid, (uint32_t)(10000 + i));
        }
    }
    return spool_make_end(&m, true);
}

int main(int argc, char **argv)
{
    static struct session_config config;
    if (argc != 2) {
        return 2;
    }
    session_config_init(&config);
    struct session_control *control = session_control_create(&config, argv[1]);
    if (!control) {
        perror(argv[1]);
        return 1;
    }
    control->created_real_ns = REAL;
    control->created_mono_ns = MONO;
    control->created_tsc = 0;
    session_control_close(control);
    return make_process(argv[1], 4242, 0) < 0 || make_process(argv[1], 4343, 1) < 0;
}
