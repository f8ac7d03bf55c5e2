/*
 * A program that "uses CUDA": starts the stand-in driver, and lets the stand-in CUPTI deliver
 * made-up records, in the ways that its first argument names. Prints "base NS" and, at the end,
 * "delivered KIND COUNT" lines.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, quick_exit; NOLINT */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/tests/loader.h"
#include "capture/tests/records.h"
#include "capture/tests/standin_cupti.h"

static struct standin standin;
static uint64_t base_ns;
static _Atomic uint64_t delivered[64];

static void look_up(void *function, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        (void)fprintf(stderr, "no %s\n", name);
        exit(90);
    }
    memcpy(function, &symbol, sizeof(symbol));
}

/* Starts the driver; then the recorder has loaded a CUPTI, or not: the path of the stand-in is the
 * same. */
static void start_cuda(void)
{
    const char *driver = getenv("STANDIN_CUDA");
    const char *cupti = getenv("STANDIN_CUPTI_PATH");
    int (*init)(unsigned) = NULL;
    void *library = dlopen(driver, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        exit(91);
    }
    look_up(&init, library, "cuInit");
    if (init(0) != 0) {
        exit(92);
    }
    library = cupti == NULL ? NULL : dlopen(cupti, RTLD_NOW);
    if (library == NULL) {
        return;
    }
    look_up(&standin.record_bytes, library, "standin_record_bytes");
    look_up(&standin.put, library, "standin_put");
    look_up(&standin.force, library, "standin_force");
    look_up(&standin.give_back, library, "standin_give_back");
    look_up(&standin.give_foreign, library, "standin_give_foreign");
    look_up(&standin.request_only, library, "standin_request_only");
    look_up(&standin.drop, library, "standin_drop");
    look_up(&standin.fire, library, "standin_fire");
    look_up(&standin.is_filtered, library, "standin_is_filtered");
    look_up(&standin.is_watched, library, "standin_is_watched");
    look_up(&standin.attribute, library, "standin_attribute");
    look_up(&standin.flushes, library, "standin_flushes");
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Delivers record NUMBER of a rule. */
static void put(const struct record_rule *rule, uint64_t number)
{
    uint8_t record[512];
    uint32_t bytes = standin.record_bytes(rule->kind);
    if (bytes == 0) {
        return;
    }
    record_make(record, bytes, rule, number, base_ns, record_names[number % RECORD_NAMES]);
    if (standin.put(record, bytes) != 0) {
        (void)atomic_fetch_add(&delivered[rule->kind], 1);
    }
}

static void say_delivered(void)
{
    for (int kind = 0; kind < 64; kind++) {
        if (delivered[kind] > 0) {
            printf("delivered %d %llu\n", kind, (unsigned long long)delivered[kind]);
        }
    }
    (void)fflush(stdout);
}

static void put_all(uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        for (size_t r = 0; r < RECORD_RULES; r++) {
            put(&record_rules[r], i);
        }
    }
}

/* The same numbers, each kind from the last to the first. */
static void put_backwards(uint64_t count)
{
    for (size_t r = RECORD_RULES; r > 0; r--) {
        for (uint64_t i = count; i > 0; i--) {
            put(&record_rules[r - 1], i - 1);
        }
    }
}

static void *thread_work(void *argument)
{
    uint64_t number = *(uint64_t *)argument;
    put_all(number * 500, 500);
    return NULL;
}

static void put_from_threads(void)
{
    pthread_t ids[6];
    uint64_t numbers[6];
    for (uint64_t i = 0; i < 6; i++) {
        numbers[i] = i;
        (void)pthread_create(&ids[i], NULL, thread_work, &numbers[i]);
    }
    for (int i = 0; i < 6; i++) {
        (void)pthread_join(ids[i], NULL);
    }
}

/* COUNT threads that all have a buffer of CUPTI at the same time, nearly empty, in two rounds with
 * a flush between them. */
static struct crowd {
    pthread_barrier_t round;
    _Atomic uint64_t next;
} crowd;

static void *crowd_work(void *argument)
{
    (void)argument;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 10; i++) {
            put(&record_rules[0], atomic_fetch_add(&crowd.next, 1));
        }
        (void)pthread_barrier_wait(&crowd.round); /* all have put */
        (void)pthread_barrier_wait(&crowd.round); /* all was flushed */
    }
    return NULL;
}

static void let_it_flush(void);

static void put_from_crowd(unsigned count)
{
    pthread_attr_t small;
    pthread_t *ids = calloc(count, sizeof(*ids));
    (void)pthread_barrier_init(&crowd.round, NULL, count + 1);
    (void)pthread_attr_init(&small);
    (void)pthread_attr_setstacksize(&small, (size_t)64 << 10);
    for (unsigned i = 0; i < count && ids != NULL; i++) {
        if (pthread_create(&ids[i], &small, crowd_work, NULL) != 0) {
            exit(93);
        }
    }
    for (int round = 0; round < 2; round++) {
        (void)pthread_barrier_wait(&crowd.round);
        let_it_flush();
        (void)pthread_barrier_wait(&crowd.round);
    }
    for (unsigned i = 0; i < count && ids != NULL; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    free(ids);
}

/* Waits until the recorder's thread has flushed once more, so that what was put is handled. */
static void let_it_flush(void)
{
    int before = standin.flushes(0);
    while (standin.flushes(0) < before + 2) {
        struct timespec little = {0, 1000000};
        (void)nanosleep(&little, NULL);
    }
}

/* As put_all, but no faster than the recorder's thread takes it over. */
static void put_paced(uint64_t count)
{
    const uint64_t part = 500;
    for (uint64_t i = 0; i < count; i += part) {
        put_all(i, part);
        let_it_flush();
    }
}

/* Another profiler in the program: asks for buffers of its own, and ignores those that it never
 * gave. */
static void rival_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    static uint8_t memory[1 << 20];
    memset(memory, 0, sizeof(memory));
    *buffer = memory;
    *size = sizeof(memory);
    *max_records = 0;
}

static void rival_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                           size_t valid)
{
    (void)context;
    (void)stream;
    (void)buffer;
    (void)size;
    (void)valid;
}

static void put_kernels(uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        put(&record_rules[0], i);
    }
}

/* COUNT kernels that the recorder takes over, and as many that lie in its buffers when the rival
 * comes; then 70 more, once the recorder has noticed if WAIT. */
static void rival(uint64_t count, bool wait)
{
    int (*enroll)(cupti_request_fn, cupti_complete_fn) = NULL;
    void *library = dlopen(getenv("STANDIN_CUPTI_PATH"), RTLD_NOW);
    look_up(&enroll, library, "cuptiActivityRegisterCallbacks");
    if (count > 0) {
        put_kernels(0, count);
        let_it_flush();
        put_kernels(count, count);
    }
    (void)enroll(rival_request, rival_complete);
    const uint32_t last = 799; /* a copy: the last call that is counted */
    for (int i = 0; wait && standin.is_watched(CUPTI_DOMAIN_DRIVER_API, last) == 0; i++) {
        struct timespec little = {0, 1000000};
        (void)nanosleep(&little, NULL);
        if (i > 20000) {
            exit(94); /* nobody noticed */
        }
    }
    if (!wait) {
        let_it_flush();
    }
    put_kernels(2 * count, 70);
}

static void put_kernel_named(uint64_t number, const char *name)
{
    uint8_t record[512];
    uint32_t bytes = standin.record_bytes(CUPTI_KIND_CONCURRENT_KERNEL);
    record_make(record, bytes, &record_rules[0], number, base_ns, name);
    standin.force(record, bytes);
}

/* Names in memory that goes away, and in memory that gets another text. */
static void dying_names(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char reused[64] = "first text";
    memcpy(page, "gone", sizeof("gone"));
    put_kernel_named(0, reused);
    let_it_flush();
    memcpy(reused, "second text", sizeof("second text"));
    put_kernel_named(1, reused);
    let_it_flush();
    put_kernel_named(2, page);
    (void)munmap(page, 4096);
    put_kernel_named(3, NULL);
    put_kernel_named(4, reused);
    let_it_flush();
}

/* Times that are none: the recorder keeps the records as they are. */
static void odd_times(void)
{
    static const uint64_t times[][2] = {
        {0, 0}, {5, 0}, {2000, 1000}, {UINT64_C(0x8000000000000000), UINT64_C(0x8000000000000000)}};
    uint8_t record[512];
    uint32_t bytes = standin.record_bytes(CUPTI_KIND_CONCURRENT_KERNEL);
    for (uint64_t i = 0; i < 4; i++) {
        record_make(record, bytes, &record_rules[0], i, base_ns, record_names[0]);
        record_set(record, 16, times[i][0]);
        record_set(record, 24, times[i][1]);
        standin.force(record, bytes);
    }
}

/* Buffers that end badly. */
static void bad_buffers(void)
{
    uint8_t unknown[512] = {60};
    put(&record_rules[0], 0);
    standin.give_back(20); /* 20 bytes of zeros: the kind is 0, nothing is lost */
    put(&record_rules[0], 1);
    standin.force(unknown, 64);
    put(&record_rules[0], 2); /* behind the unknown one: lost */
    standin.give_back(0);
    put(&record_rules[0], 3);
    uint8_t half[512];
    record_make(half, 100, &record_rules[0], 4, base_ns, "");
    standin.force(half, 100);
    standin.give_back(0);
    put(&record_rules[0], 5);
    standin.give_foreign();
    standin.request_only();
    standin.drop(77);
    let_it_flush();
}

/* cudaProfilerStart/Stop twice, as the driver's callbacks show them; work before, inside, between
 * and after. */
static void profiler(void)
{
    static int sites[2] = {CUPTI_SITE_ENTER, CUPTI_SITE_EXIT};
    uint64_t number = 0;
    for (int round = 0; round < 3; round++) {
        base_ns = now_ns() - number * 1000;
        put(&record_rules[0], number++);
        let_it_flush();
        for (int s = 0; s < 2; s++) {
            struct cupti_callback_data data = {.site = sites[s]};
            (void)standin.fire(CUPTI_DOMAIN_DRIVER_API, CUPTI_ID_DRIVER_PROFILER_START, &data);
        }
        base_ns = now_ns() - number * 1000;
        put(&record_rules[0], number++);
        put(&record_rules[9], number);
        nvtx.mark_a("in the range");
        for (int s = 0; s < 2; s++) {
            struct cupti_callback_data data = {.site = sites[s]};
            (void)standin.fire(CUPTI_DOMAIN_DRIVER_API, CUPTI_ID_DRIVER_PROFILER_STOP, &data);
        }
        let_it_flush();
        nvtx.mark_a("not in the range");
    }
}

static void fire_profiler(uint32_t cbid)
{
    struct cupti_callback_data data = {.site = CUPTI_SITE_ENTER};
    (void)standin.fire(CUPTI_DOMAIN_DRIVER_API, cbid, &data);
    data.site = CUPTI_SITE_EXIT;
    (void)standin.fire(CUPTI_DOMAIN_DRIVER_API, cbid, &data);
}

/* A kernel that begins now and has ended when this returns. */
static void run_kernel(const char *name)
{
    base_ns = now_ns();
    put_kernel_named(0, name);
    while (now_ns() < base_ns + 2000) {
    }
}

/* COUNT capture ranges, with one kernel in each and one between each two. */
static void many_ranges(int count)
{
    for (int i = 0; i < count; i++) {
        run_kernel("outside");
        fire_profiler(CUPTI_ID_DRIVER_PROFILER_START);
        nvtx.push_a("a range of many");
        run_kernel("inside");
        nvtx.pop();
        fire_profiler(CUPTI_ID_DRIVER_PROFILER_STOP);
    }
}

/* A child that inherits everything: what CUPTI delivers there is not ours. */
static void fork_after(void)
{
    put_all(0, 10);
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        nvtx.mark_a("in the child");
        uint8_t record[512];
        record_make(record, standin.record_bytes(10), &record_rules[0], 0, base_ns, "");
        standin.force(record, standin.record_bytes(10));
        standin.give_back(0);
        standin.give_foreign();
        exit(4);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
}

/* The parent only uses NVTX; the child starts CUDA, as workers of a launcher do. */
static void fork_before(void)
{
    nvtx.mark_a("in the parent");
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        start_cuda();
        base_ns = now_ns();
        printf("base %llu\n", (unsigned long long)base_ns);
        put_all(0, 10);
        say_delivered();
        exit(0);
    }
    (void)waitpid(pid, NULL, 0);
    exit(0);
}

/* Puts some records and waits to be killed. */
static void wait_to_be_killed(void)
{
    put_all(0, 10);
    say_delivered();
    for (;;) {
        (void)pause();
    }
}

static void callbacks(void)
{
    struct cupti_resource_data resource = {&standin, NULL, NULL};
    struct cupti_state_data problem = {8, "out of something"};
    (void)standin.fire(CUPTI_DOMAIN_RESOURCE, CUPTI_ID_RESOURCE_CONTEXT_CREATED, &resource);
    (void)standin.fire(CUPTI_DOMAIN_STATE, CUPTI_ID_STATE_ERROR, &problem);
    nvtx.cuda_stream_w((const void *)0x1007, L"my stream");
    put_all(0, 1);
    (void)standin.fire(CUPTI_DOMAIN_RESOURCE, CUPTI_ID_RESOURCE_CONTEXT_DESTROY_STARTING,
                       &resource);
}

/* Numbered kernels for ever; PATH counts those put. */
static void count_until_killed(const char *path)
{
    FILE *file = fopen(path, "r+e");
    if (file == NULL) {
        exit(9);
    }
    _Atomic uint64_t *counter =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    for (uint64_t i = 0;; i++) {
        put(&record_rules[0], i);
        atomic_store(counter, i + 1);
    }
}

/* Puts the fields of one MEMORY2 record; a pool of type 0 is none. */
struct memory {
    uint32_t operation, kind, correlation;
    uint64_t address, bytes;
    uint32_t device, context, stream;
    uint32_t pool;
};

static void set32(uint8_t *record, uint32_t offset, uint32_t value)
{
    memcpy(record + offset, &value, sizeof(value));
}

static void put_memory(const struct memory *m, uint64_t time_ns)
{
    uint8_t record[512] = {CUPTI_KIND_MEMORY2};
    set32(record, 4, m->operation);
    set32(record, 8, m->kind);
    set32(record, 12, m->correlation);
    record_set(record, 16, m->address);
    record_set(record, 24, m->bytes);
    record_set(record, 32, time_ns);
    record_set(record, 40, 0xabc0 + m->correlation);
    set32(record, 48, (uint32_t)getpid());
    set32(record, 52, m->device);
    set32(record, 56, m->context);
    set32(record, 60, m->stream);
    if (m->kind == 7) { /* a managed variable: it has a name */
        record_set(record, 64, (uint64_t)(uintptr_t) "managed_table");
    }
    if (m->pool != 0) {
        set32(record, 80, m->pool);
        record_set(record, 88, 0x900000);
        record_set(record, 96, 4096);
        record_set(record, 104, m->pool == 1 ? 1 << 20 : 4321); /* size, or process */
        record_set(record, 112, 1 << 19);
    }
    if (standin.put(record, standin.record_bytes(CUPTI_KIND_MEMORY2)) != 0) {
        (void)atomic_fetch_add(&delivered[CUPTI_KIND_MEMORY2], 1);
    }
}

static void put_pool(uint32_t operation, uint64_t time_ns)
{
    uint8_t record[512] = {CUPTI_KIND_MEMORY_POOL};
    set32(record, 4, operation);
    set32(record, 8, 1);
    set32(record, 12, 200 + operation);
    set32(record, 16, (uint32_t)getpid());
    set32(record, 20, 1);
    record_set(record, 24, 777);
    record_set(record, 32, 0x900000);
    record_set(record, 40, 1 << 20);
    record_set(record, 48, 4096);
    record_set(record, 56, time_ns);
    record_set(record, 64, 1 << 19);
    if (standin.put(record, standin.record_bytes(CUPTI_KIND_MEMORY_POOL)) != 0) {
        (void)atomic_fetch_add(&delivered[CUPTI_KIND_MEMORY_POOL], 1);
    }
}

/* Allocations of each kind of memory, NUMBER rounds of them, each released but the last round; then
 * such of a pool, and an address that is used twice. */
static void memory(uint64_t rounds)
{
    uint64_t at_ns = base_ns;
    for (uint64_t round = 0; round < rounds; round++) {
        for (uint32_t kind = 0; kind <= 7; kind++) {
            struct memory m = {.operation = 1, .kind = kind, .correlation = 100 + kind};
            m.address = UINT64_C(0x7f0000000000) + (round << 20) + ((uint64_t)kind << 12);
            m.bytes = UINT64_C(1000) * (kind + 1);
            m.device = kind % 2;
            m.context = 1 + kind % 2;
            m.stream = UINT32_MAX; /* CUPTI: no stream */
            put_memory(&m, at_ns += 1000);
            m.operation = 2;
            if (round + 1 < rounds) {
                put_memory(&m, at_ns += 1000);
            }
        }
    }
    put_pool(1, at_ns += 1000);
    for (uint32_t i = 0; i < 4;
         i++) { /* the same address twice, of a pool here, of an imported one */
        struct memory m = {1 + i % 2, 3, 150 + i, 0x900100, 5000, 1, 2, 13, 1 + i / 2};
        put_memory(&m, at_ns += 1000);
    }
    put_pool(3, at_ns += 1000);
    put_pool(2, at_ns += 1000);
    for (uint32_t device = 0; rounds > 1 && device < 2; device++) { /* rows of the devices */
        uint8_t record[512];
        uint32_t bytes = standin.record_bytes(CUPTI_KIND_CONCURRENT_KERNEL);
        record_make(record, bytes, &record_rules[0], 0, base_ns, record_names[0]);
        set32(record, 40, device);
        (void)standin.put(record, bytes);
    }
}

/* Unified memory on the second of two devices: what moves, page faults of the CPU, of the GPU. */
static void unified_memory(void)
{
    static const struct {
        uint32_t counter;
        uint64_t value;
        uint32_t source, target, flags;
    } events[] = {
        {1, 65536, 0xffff, 1, 2}, /* to the device, by a page fault */
        {2, 4096, 1, 0xffff, 4},     {8, 8192, 0, 1, 1}, {3, 0x401234, 0xffff, 0, 0},
        {3, 0x401238, 0xffff, 0, 0}, {4, 12, 1, 0, 2},   {5, 4096, 3, 0, 0},
    };
    struct cupti_resource_data nothing = {NULL, NULL, NULL};
    (void)standin.fire(CUPTI_DOMAIN_RESOURCE, CUPTI_ID_RESOURCE_CU_INIT_FINISHED, &nothing);
    for (uint32_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        uint8_t record[512] = {CUPTI_KIND_UNIFIED_MEMORY_COUNTER};
        set32(record, 4, events[i].counter);
        record_set(record, 8, events[i].value);
        record_set(record, 16, base_ns + (uint64_t)i * 1000);
        record_set(record, 24, events[i].counter == 3 ? 0 : base_ns + (uint64_t)i * 1000 + 500);
        record_set(record, 32, 0x7f0000000000 + (uint64_t)i * 4096);
        set32(record, 40, events[i].source);
        set32(record, 44, events[i].target);
        set32(record, 52, (uint32_t)getpid());
        set32(record, 56, events[i].flags);
        (void)standin.put(record, standin.record_bytes(CUPTI_KIND_UNIFIED_MEMORY_COUNTER));
    }
}

/* A graph that a device launched. */
static void device_graph(void)
{
    uint8_t record[512] = {CUPTI_KIND_DEVICE_GRAPH_TRACE};
    record_set(record, 8, base_ns);
    record_set(record, 16, base_ns + 700);
    set32(record, 24, 5);
    set32(record, 36, 1);
    record_set(record, 40, 13);
    (void)standin.put(record, standin.record_bytes(CUPTI_KIND_DEVICE_GRAPH_TRACE));
}

/* Calls that end a context: what was delivered is flushed before. Prints how often. */
static void context_ends(void)
{
    static const struct {
        int domain;
        uint32_t cbid;
    } calls[] = {
        {CUPTI_DOMAIN_RUNTIME_API, 164}, /* cudaDeviceReset */
        {CUPTI_DOMAIN_DRIVER_API, 322}, /* cuCtxDestroy_v2 */
        {CUPTI_DOMAIN_DRIVER_API, 545}, /* cuDevicePrimaryCtxReset_v2 */
        {CUPTI_DOMAIN_DRIVER_API, 386}, /* cuDevicePrimaryCtxRetain: no end */
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct cupti_callback_data call = {.site = CUPTI_SITE_ENTER};
        put(&record_rules[0], i);
        (void)standin.fire(calls[i].domain, calls[i].cbid, &call);
        call.site = CUPTI_SITE_EXIT;
        (void)standin.fire(calls[i].domain, calls[i].cbid, &call);
        printf("flushes %d\n", standin.flushes(0));
    }
}

/* The handle of what has that id: its memory is the id (standin_cupti.c); 0: none. */
static void *handle(uint32_t id)
{
    static uint32_t ids[64];
    ids[id] = id;
    return id == 0 ? NULL : &ids[id];
}

/* A graph of two nodes that is made executable, with the clones that this makes; a clone of the
 * graph, made executable twice; and launches of all. */
static void graphs(void)
{
    static const struct {
        uint32_t cbid;
        uint32_t graph, original_graph, node, original_node, exec;
    } steps[] = {
        {CUPTI_ID_RESOURCE_GRAPH_CREATED, 1, 0, 0, 0, 0},
        {CUPTI_ID_RESOURCE_GRAPH_NODE_CREATED, 1, 0, 0x11, 0, 0},
        {CUPTI_ID_RESOURCE_GRAPH_NODE_CREATED, 1, 0, 0x12, 0, 0},
        {CUPTI_ID_RESOURCE_GRAPH_NODE_CLONED, 2, 1, 0x21, 0x11, 0},
        {CUPTI_ID_RESOURCE_GRAPH_NODE_CLONED, 2, 1, 0x22, 0x12, 0},
        {CUPTI_ID_RESOURCE_GRAPH_EXEC_CREATED, 1, 0, 0, 0, 2},
        {CUPTI_ID_RESOURCE_GRAPH_CLONED, 3, 1, 0, 0, 0},
        {CUPTI_ID_RESOURCE_GRAPH_EXEC_CREATED, 3, 0, 0, 0, 4},
        {CUPTI_ID_RESOURCE_GRAPH_EXEC_CREATED, 3, 0, 0, 0, 5},
    };
    static const uint32_t launched[] = {2, 1, 4, 5, 3, 9}; /* by their own id, or by the graph's */
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct cupti_graph_data graph = {
            .graph = handle(steps[i].graph),
            .original_graph = handle(steps[i].original_graph),
            .node = handle(steps[i].node),
            .original_node = handle(steps[i].original_node),
            .graph_exec = handle(steps[i].exec),
        };
        struct cupti_resource_data data = {&standin, NULL, &graph};
        (void)standin.fire(CUPTI_DOMAIN_RESOURCE, steps[i].cbid, &data);
    }
    for (uint64_t i = 0; i < sizeof(launched) / sizeof(launched[0]); i++) {
        uint8_t record[512];
        record_make(record, standin.record_bytes(CUPTI_KIND_GRAPH_TRACE), &record_rules[7], i,
                    base_ns, NULL);
        set32(record, 28, launched[i]);
        if (standin.put(record, standin.record_bytes(CUPTI_KIND_GRAPH_TRACE)) != 0) {
            (void)atomic_fetch_add(&delivered[CUPTI_KIND_GRAPH_TRACE], 1);
        }
    }
}

static void end(const char *how)
{
    put_all(0, 100);
    say_delivered();
    if (strcmp(how, "_exit") == 0) {
        _exit(11);
    } else if (strcmp(how, "quick_exit") == 0) {
        quick_exit(13);
    } else if (strcmp(how, "abort") == 0) {
        abort();
    } else if (strcmp(how, "term") == 0) {
        (void)raise(SIGTERM);
    } else if (strcmp(how, "kill") == 0) {
        (void)raise(SIGKILL);
    } else if (strcmp(how, "exit") == 0) {
        exit(12);
    }
    exit(0);
}

static void late_delivery(void)
{
    put_all(1000, 5);
    standin.give_back(0);
}

static void filtered_calls(void)
{
    static const uint32_t cbids[] = {17, 211, 10, 31, 131, 20, 200};
    uint8_t record[64];
    for (uint64_t i = 0; i < sizeof(cbids) / sizeof(cbids[0]); i++) {
        record_make(record, 40, &record_rules[4], i, base_ns, NULL);
        memcpy(record + 4, &cbids[i], sizeof(cbids[i]));
        if (standin.put(record, 40) != 0) {
            printf("put %u\n", cbids[i]);
        }
    }
}

static void run_mode(const char *mode, const char *value)
{
    uint64_t number = strtoull(value, NULL, 10);
    if (strcmp(mode, "records") == 0) {
        put_all(0, number);
    } else if (strcmp(mode, "backwards") == 0) {
        put_backwards(number);
    } else if (strcmp(mode, "threads") == 0) {
        put_from_threads();
    } else if (strcmp(mode, "paced") == 0) {
        put_paced(number);
    } else if (strcmp(mode, "rival") == 0) {
        rival(number, true);
    } else if (strcmp(mode, "hidden-rival") == 0) {
        rival(number, false);
    } else if (strcmp(mode, "crowd") == 0) {
        put_from_crowd((unsigned)number);
    } else if (strcmp(mode, "names") == 0) {
        dying_names();
    } else if (strcmp(mode, "times") == 0) {
        odd_times();
    } else if (strcmp(mode, "bad") == 0) {
        bad_buffers();
    } else if (strcmp(mode, "profiler") == 0) {
        profiler();
    } else if (strcmp(mode, "ranges") == 0) {
        many_ranges((int)number);
    } else if (strcmp(mode, "fork") == 0) {
        fork_after();
    } else if (strcmp(mode, "wait") == 0) {
        wait_to_be_killed();
    } else if (strcmp(mode, "callbacks") == 0) {
        callbacks();
    } else if (strcmp(mode, "count") == 0) {
        count_until_killed(value);
    } else if (strcmp(mode, "end") == 0) {
        end(value);
    } else if (strcmp(mode, "late") == 0) {
        put_all(0, 5);
    } else if (strcmp(mode, "filter") == 0) {
        filtered_calls();
    } else if (strcmp(mode, "attributes") == 0) {
        printf("attributes %zu %zu, times %zu\n", standin.attribute(0), standin.attribute(2),
               standin.attribute(100));
    } else if (strcmp(mode, "um") == 0) {
        unified_memory();
    } else if (strcmp(mode, "device-graph") == 0) {
        device_graph();
    } else if (strcmp(mode, "context-ends") == 0) {
        context_ends();
    } else if (strcmp(mode, "graphs") == 0) {
        graphs();
    } else if (strcmp(mode, "memory") == 0) {
        memory(number);
    } else if (strcmp(mode, "slow") == 0) {
        for (uint64_t i = 0; i < number; i++) {
            put_all(i, 1);
            let_it_flush();
        }
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "records";
    (void)loader_open(false);
    if (strcmp(mode, "late") == 0) {
        (void)atexit(late_delivery); /* runs after the recorder's handler */
    }
    if (strcmp(mode, "early") == 0) {
        (void)dlopen(getenv("STANDIN_CUPTI_PATH"), RTLD_NOW);
    }
    if (strcmp(mode, "fork-before") == 0) {
        fork_before();
    }
    start_cuda();
    base_ns = now_ns();
    printf("base %llu\n", (unsigned long long)base_ns);
    (void)fflush(stdout);
    nvtx.push_a("program");
    if (standin.put != NULL) {
        run_mode(mode, argc > 2 ? argv[2] : "10");
    }
    nvtx.pop();
    say_delivered();
    return 0;
}
