/*
 * The program of the GPU smoke test (smoke.sh): uses the CUDA driver by dlopen, its kernels are PTX
 * text, so that neither a toolkit nor a compiler for GPUs is needed. `gpu_smoke MODE [NUMBER]`;
 * what each mode does is known exactly, and the script looks for it in the capture. Prints nothing
 * but what the script reads. Exit 3: no GPU.
 */
#define _GNU_SOURCE /* dlopen of the driver, fork; NOLINT */
#include <dlfcn.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/tests/loader.h"

#define COPY_BYTES (1U << 20)

/* Two kernels: one does nothing, one waits for a number of clock cycles. */
static const char ptx[] = ".version 6.0\n"
                          ".target sm_52\n"
                          ".address_size 64\n"
                          ".visible .entry smoke_empty()\n"
                          "{\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry smoke_spin(.param .u64 cycles)\n"
                          "{\n"
                          "    .reg .pred %p<2>;\n"
                          "    .reg .b64 %rd<5>;\n"
                          "    ld.param.u64 %rd1, [cycles];\n"
                          "    mov.u64 %rd2, %clock64;\n"
                          "again:\n"
                          "    mov.u64 %rd3, %clock64;\n"
                          "    sub.u64 %rd4, %rd3, %rd2;\n"
                          "    setp.lt.u64 %p1, %rd4, %rd1;\n"
                          "    @%p1 bra again;\n"
                          "    ret;\n"
                          "}\n";

/* The functions of the driver that are used. X(member, symbol, parameters). */
#define DRIVER(X) \
    X(init, cuInit, (unsigned flags)) \
    X(device_count, cuDeviceGetCount, (int *count)) \
    X(device_get, cuDeviceGet, (int *device, int ordinal)) \
    X(retain, cuDevicePrimaryCtxRetain, (void **context, int device)) \
    X(set_current, cuCtxSetCurrent, (void *context)) \
    X(synchronize, cuCtxSynchronize, (void)) \
    X(module_load, cuModuleLoadData, (void **module, const void *image)) \
    X(module_function, cuModuleGetFunction, (void **function, void *module, const char *name)) \
    X(launch, cuLaunchKernel, \
      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
       unsigned bz, unsigned shared, void *stream, void **parameters, void **extra)) \
    X(stream_create, cuStreamCreate, (void **stream, unsigned flags)) \
    X(stream_synchronize, cuStreamSynchronize, (void *stream)) \
    X(alloc, cuMemAlloc_v2, (uint64_t * address, size_t bytes)) \
    X(release, cuMemFree_v2, (uint64_t address)) \
    X(host_alloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags)) \
    X(to_device, cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes)) \
    X(to_host, cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes)) \
    X(in_device, cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t bytes)) \
    X(to_device_async, cuMemcpyHtoDAsync_v2, \
      (uint64_t to, const void *from, size_t bytes, void *stream)) \
    X(set, cuMemsetD8_v2, (uint64_t address, unsigned char value, size_t count)) \
    X(begin_capture, cuStreamBeginCapture_v2, (void *stream, int mode)) \
    X(end_capture, cuStreamEndCapture, (void *stream, void **graph)) \
    X(instantiate, cuGraphInstantiateWithFlags, \
      (void **executable, void *graph, unsigned long long flags)) \
    X(graph_launch, cuGraphLaunch, (void *executable, void *stream)) \
    X(alloc_async, cuMemAllocAsync, (uint64_t * address, size_t bytes, void *stream)) \
    X(release_async, cuMemFreeAsync, (uint64_t address, void *stream)) \
    X(event_create, cuEventCreate, (void **event, unsigned flags)) \
    X(event_record, cuEventRecord, (void *event, void *stream)) \
    X(event_synchronize, cuEventSynchronize, (void *event)) \
    X(profiler_start, cuProfilerStart, (void)) \
    X(profiler_stop, cuProfilerStop, (void))

static struct {
#define MEMBER(member, symbol, parameters) int(*member) parameters;
    DRIVER(MEMBER)
#undef MEMBER
} cu;

static void *empty_kernel;
static void *spin_kernel;

static void check(int result, const char *what)
{
    if (result != 0) {
        (void)fprintf(stderr, "gpu_smoke: %s: %d\n", what, result);
        exit(4);
    }
}

#define CHECK(call) check(call, #call)

static bool load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        return false;
    }
    void *symbol = NULL;
#define LOOK_UP(member, name, parameters) \
    symbol = dlsym(library, #name); \
    if (symbol == NULL) { \
        (void)fprintf(stderr, "gpu_smoke: the driver has no %s\n", #name); \
        return false; \
    } \
    memcpy(&cu.member, &symbol, sizeof(symbol));
    DRIVER(LOOK_UP)
#undef LOOK_UP
    return true;
}

static void start_gpu(void)
{
    int count = 0;
    int device = 0;
    void *context = NULL;
    void *module = NULL;
    if (cu.init(0) != 0 || cu.device_count(&count) != 0 || count == 0) {
        exit(3);
    }
    CHECK(cu.device_get(&device, 0));
    CHECK(cu.retain(&context, device));
    CHECK(cu.set_current(context));
    CHECK(cu.module_load(&module, ptx));
    CHECK(cu.module_function(&empty_kernel, module, "smoke_empty"));
    CHECK(cu.module_function(&spin_kernel, module, "smoke_spin"));
}

static void spin(unsigned long long cycles, void *stream)
{
    void *parameters[] = {&cycles};
    CHECK(cu.launch(spin_kernel, 2, 3, 4, 32, 2, 1, 1024, stream, parameters, NULL));
}

static void empty(void *stream)
{
    CHECK(cu.launch(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

/* a: three streams, NUMBER kernels each. */
static void kernels(int number)
{
    void *streams[3];
    for (int i = 0; i < 3; i++) {
        CHECK(cu.stream_create(&streams[i], 1));
    }
    for (int i = 0; i < number; i++) {
        for (int s = 0; s < 3; s++) {
            spin(1000, streams[s]);
        }
    }
    CHECK(cu.synchronize());
}

/* b: one copy of each kind, and a memset, with different sizes. */
static void copies(void)
{
    static char pageable[COPY_BYTES];
    uint64_t one = 0;
    uint64_t two = 0;
    void *pinned = NULL;
    void *stream = NULL;
    CHECK(cu.stream_create(&stream, 1));
    CHECK(cu.alloc(&one, COPY_BYTES));
    CHECK(cu.alloc(&two, COPY_BYTES));
    CHECK(cu.host_alloc(&pinned, COPY_BYTES, 0));
    CHECK(cu.to_device(one, pageable, COPY_BYTES));
    CHECK(cu.to_host(pageable, one, COPY_BYTES / 2));
    CHECK(cu.in_device(two, one, COPY_BYTES / 4));
    CHECK(cu.to_device_async(two, pinned, COPY_BYTES / 8, stream));
    CHECK(cu.set(one, 7, 12345));
    CHECK(cu.synchronize());
}

/* c: a graph of ten kernels and a copy, launched a hundred times. */
static void graph(void)
{
    void *stream = NULL;
    void *captured = NULL;
    void *executable = NULL;
    void *pinned = NULL;
    uint64_t memory = 0;
    CHECK(cu.stream_create(&stream, 1));
    CHECK(cu.alloc(&memory, 4096));
    CHECK(cu.host_alloc(&pinned, 4096, 0));
    CHECK(cu.begin_capture(stream, 0));
    for (int i = 0; i < 10; i++) {
        spin(1000, stream);
    }
    CHECK(cu.to_device_async(memory, pinned, 4096, stream));
    CHECK(cu.end_capture(stream, &captured));
    CHECK(cu.instantiate(&executable, captured, 0));
    for (int i = 0; i < 100; i++) {
        CHECK(cu.graph_launch(executable, stream));
    }
    CHECK(cu.synchronize());
}

/* d: ten steps, each of two phases with one kernel. */
static void nested(void)
{
    for (int i = 0; i < 10; i++) {
        (void)nvtx.push_a("step");
        (void)nvtx.push_a("forward");
        spin(1000, NULL);
        (void)nvtx.pop();
        (void)nvtx.push_a("backward");
        spin(1000, NULL);
        (void)nvtx.pop();
        (void)nvtx.pop();
    }
    CHECK(cu.synchronize());
}

/* e: memory from the pool and from the driver. */
static void memory(void)
{
    uint64_t address = 0;
    void *stream = NULL;
    CHECK(cu.stream_create(&stream, 1));
    for (int i = 0; i < 5; i++) {
        CHECK(cu.alloc_async(&address, 65536, stream));
        CHECK(cu.release_async(address, stream));
    }
    CHECK(cu.alloc(&address, 1U << 20));
    CHECK(cu.release(address));
    CHECK(cu.synchronize());
}

/* f: waiting in its kinds. */
static void waits(void)
{
    void *event = NULL;
    void *stream = NULL;
    CHECK(cu.stream_create(&stream, 1));
    CHECK(cu.event_create(&event, 0));
    for (int i = 0; i < 5; i++) {
        spin(100000, stream);
        CHECK(cu.event_record(event, stream));
        CHECK(cu.event_synchronize(event));
        CHECK(cu.stream_synchronize(stream));
        CHECK(cu.synchronize());
    }
}

/* g: 5 kernels before, 7 inside, 9 after cuProfilerStart and cuProfilerStop. */
static void profiler(void)
{
    static const int counts[] = {5, 7, 9};
    for (int phase = 0; phase < 3; phase++) {
        if (phase == 1) {
            CHECK(cu.profiler_start());
        } else if (phase == 2) {
            CHECK(cu.profiler_stop());
        }
        for (int i = 0; i < counts[phase]; i++) {
            spin(1000, NULL);
        }
        CHECK(cu.synchronize());
    }
}

static void wait_child(pid_t pid)
{
    int status = 0;
    (void)waitpid(pid, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    (void)fflush(stdout);
}

/* h: a child forked before the driver starts, one forked after (uses NVTX alone), one that executes
 * this program again. */
static void forks(void)
{
    (void)nvtx.push_a("parent");
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        start_gpu();
        kernels(10);
        exit(0);
    }
    wait_child(pid);
    start_gpu();
    kernels(20);
    pid = fork();
    if (pid == 0) {
        (void)nvtx.push_a("child without CUDA");
        (void)nvtx.pop();
        exit(0);
    }
    wait_child(pid);
    pid = fork();
    if (pid == 0) {
        (void)execl("/proc/self/exe", "gpu_smoke", "a", "30", (char *)NULL);
        _exit(9);
    }
    wait_child(pid);
    (void)nvtx.pop();
}

/* i: 50 kernels, then two seconds in which the recorder's flush comes by, then the end. */
static void ends(const char *how)
{
    struct timespec pause = {2, 0};
    kernels(50);
    (void)nanosleep(&pause, NULL);
    if (strcmp(how, "_exit") == 0) {
        _exit(11);
    } else if (strcmp(how, "term") == 0) {
        (void)raise(SIGTERM);
    } else if (strcmp(how, "kill") == 0) {
        (void)raise(SIGKILL);
    } else if (strcmp(how, "abort") == 0) {
        abort();
    }
}

static void no_callback(void *user, int domain, uint32_t cbid, const void *data)
{
    (void)user;
    (void)domain;
    (void)cbid;
    (void)data;
}

/* j: this program is a CUPTI client itself; prints the result of its cuptiSubscribe. */
static void second_client(void)
{
    int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *) = NULL;
    const char *path = getenv("SMOKE_CUPTI");
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW);
    void *symbol = library == NULL ? NULL : dlsym(library, "cuptiSubscribe");
    void *subscriber = NULL;
    memcpy(&subscribe, &symbol, sizeof(symbol));
    printf("subscribe %d\n", subscribe == NULL ? -1 : subscribe(&subscriber, no_callback, NULL));
    (void)fflush(stdout);
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* l: ns a launch of an empty kernel, NUMBER of them. */
static void overhead(int number)
{
    for (int i = 0; i < 1000; i++) {
        empty(NULL);
    }
    CHECK(cu.synchronize());
    int64_t begin_ns = now_ns();
    for (int i = 0; i < number; i++) {
        empty(NULL);
        if (i % 512 == 511) {
            CHECK(cu.synchronize());
        }
    }
    CHECK(cu.synchronize());
    printf("launch %.1f\n", (double)(now_ns() - begin_ns) / number);
}

/* q: launches for NUMBER seconds; prints the memory in KiB after a tenth of it and at the end. */
static uint64_t resident_kib(void)
{
    char line[128];
    uint64_t value = 0;
    FILE *in = fopen("/proc/self/status", "re");
    while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0) {
            value = strtoull(line + 6, NULL, 10);
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return value;
}

static void long_run(int seconds)
{
    int64_t begin_ns = now_ns();
    int64_t all_ns = (int64_t)seconds * INT64_C(1000000000);
    uint64_t early = 0;
    while (now_ns() - begin_ns < all_ns) {
        kernels(100);
        if (early == 0 && now_ns() - begin_ns > all_ns / 10) {
            early = resident_kib();
        }
    }
    printf("memory %llu %llu\n", (unsigned long long)early, (unsigned long long)resident_kib());
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "a";
    const char *value = argc > 2 ? argv[2] : "1000";
    int number = (int)strtol(value, NULL, 10);
    (void)loader_open(false);
    if (!load_driver()) {
        return 3;
    }
    if (mode[0] == 'h') {
        forks();
        return 0;
    }
    if (strcmp(mode, "j-first") == 0) {
        second_client();
    }
    start_gpu();
    switch (mode[0]) {
    case 'a':
        kernels(number);
        break;
    case 'b':
        copies();
        break;
    case 'c':
        graph();
        break;
    case 'd':
        nested();
        break;
    case 'e':
        memory();
        break;
    case 'f':
        waits();
        break;
    case 'g':
        profiler();
        break;
    case 'i':
        ends(value);
        break;
    case 'j':
        if (strcmp(mode, "j-first") != 0) {
            second_client();
        }
        kernels(10);
        break;
    case 'l':
        overhead(number);
        break;
    case 'q':
        long_run(number);
        break;
    default:
        break;
    }
    return 0;
}
