/*
 * A program that uses NVTX, in the ways that its first argument names. What it prints and how it
 * ends must be the same with and without the recorder.
 */
#define _GNU_SOURCE /* quick_exit is C11; syscall, gettid; NOLINT */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/tests/loader.h"

static struct nvtx_attributes attributes_of(const char *text)
{
    struct nvtx_attributes attributes = {
        .version = 2, .size = sizeof(attributes), .message_type = NVTX_TEXT_ASCII};
    attributes.message.ascii = text;
    return attributes;
}

static void core_calls(void)
{
    struct nvtx_attributes full = attributes_of("full");
    full.category = 7;
    full.color_type = NVTX_COLOR_KIND_ARGB;
    full.color = 0xff336699;
    full.payload_type = 1;
    full.payload.bits = UINT64_C(0x1234567890);
    struct nvtx_attributes wide = {
        .version = 2, .size = sizeof(wide), .message_type = NVTX_TEXT_UNICODE};
    wide.message.unicode = L"gr\u00f6\u00dfe \u4e16 \U0001f600";
    nvtx.initialize(NULL);
    nvtx.mark_a("mark a");
    nvtx.mark_w(L"mark w");
    nvtx.mark_ex(&full);
    nvtx.push_a("outer");
    nvtx.push_w(L"inner w");
    nvtx.push_ex(&wide);
    int pushed = nvtx.push_a("");
    printf("push %d pop %d\n", pushed, nvtx.pop());
    nvtx.pop();
    nvtx.pop();
    nvtx.pop();
    uint64_t one = nvtx.start_a("one");
    uint64_t two = nvtx.start_w(L"two");
    uint64_t three = nvtx.start_ex(&full);
    nvtx.end(one);
    nvtx.end(three);
    nvtx.end(two);
    nvtx.push_a(NULL);
    nvtx.pop();
    nvtx.push_ex(NULL);
    nvtx.pop();
    nvtx.category_a(7, "seven");
    nvtx.category_w(8, L"eight");
    nvtx.thread_a((uint32_t)syscall(SYS_gettid), "main thread");
    nvtx.thread_w(4242, L"other thread");
}

static void domain_calls(void)
{
    const void *domain = nvtx.domain_a("app.domain");
    const void *wide = nvtx.domain_w(L"d\u00f6main");
    const void *same = nvtx_second.domain_a("app.domain");
    printf("same domain %d\n", domain == same);
    const void *text = nvtx.string_a(domain, "registered text");
    const void *text_wide = nvtx.string_w(wide, L"registriert \u00fc");
    struct nvtx_attributes registered = {
        .version = 2, .size = sizeof(registered), .message_type = NVTX_TEXT_REGISTERED};
    registered.message.registered = text;
    registered.payload_type = 3;
    double value = 2.5;
    memcpy(&registered.payload.bits, &value, sizeof(value));
    nvtx.domain_push(domain, &registered);
    registered.message.registered = text_wide;
    registered.payload_type = 5;
    registered.payload.bits = (uint32_t)-3;
    nvtx.domain_push(wide, &registered);
    nvtx.domain_mark(domain, &registered);
    nvtx.domain_pop(wide);
    nvtx.domain_pop(domain);
    struct nvtx_attributes plain = attributes_of("in default by handle");
    nvtx.domain_push(NULL, &plain);
    nvtx.domain_pop(NULL);
    uint64_t range = nvtx.domain_start(domain, &plain);
    nvtx_second.domain_end(same, range);
    nvtx.domain_category_a(domain, 7, "seven here");
    nvtx.domain_category_w(wide, 9, L"neun");
    struct nvtx_resource resource = {.version = 1,
                                     .size = sizeof(resource),
                                     .identifier_type = 0x10001,
                                     .message_type = NVTX_TEXT_ASCII};
    resource.identifier.value = 77;
    resource.message.ascii = "a mutex";
    nvtx.resource_destroy(nvtx.resource_create(domain, &resource));
    nvtx.cuda_device_a(1, "second GPU");
    nvtx.cuda_stream_w((const void *)0x1000, L"copy stream");
    nvtx.cuda_event_a((const void *)0x2000, "done event");
    nvtx.cu_stream_a((const void *)0x3000, "compute stream");
    nvtx.cu_context_w((const void *)0x4000, L"context");
    nvtx.domain_destroy(domain);
    nvtx.domain_mark(domain, &plain);
}

static void extension_calls(void)
{
    struct nvtx_schema_entry entries[] = {{.type = 3, .name = "count"},
                                          {.type = 4, .name = "bytes", .offset = 8}};
    struct nvtx_schema schema = {.fields = NVTX_SCHEMA_FIELD_NAME | NVTX_SCHEMA_FIELD_ENTRIES |
                                           NVTX_SCHEMA_FIELD_COUNT | NVTX_SCHEMA_FIELD_STATIC_BYTES,
                                 .name = "my schema",
                                 .entries = entries,
                                 .count = 2,
                                 .static_bytes = 16};
    const void *domain = nvtx.domain_a("payloads");
    uint64_t id = nvtx.schema_register(domain, &schema);
    schema.fields |= NVTX_SCHEMA_FIELD_ID;
    schema.id = 0x1000007;
    uint64_t own = nvtx.schema_register(domain, &schema);
    printf("enabled %d own %llx\n", nvtx.domain_is_enabled(domain), (unsigned long long)own);
    struct nvtx_payload_data data = {id, 6, "abcdef"};
    struct nvtx_payload_data text = {own, SIZE_MAX, "to the zero"};
    nvtx.push_payload(domain, &data, 1);
    nvtx.mark_payload(domain, &text, 1);
    nvtx.pop_payload(domain, NULL, 0);
    struct nvtx_attributes extended = attributes_of("extended");
    extended.payload_type = NVTX_PAYLOAD_KIND_EXT;
    extended.reserved0 = 1;
    extended.payload.pointer = &text;
    nvtx.domain_push(domain, &extended);
    nvtx.domain_pop(domain);
    nvtx.event_submit(domain, &data, 1);
}

/* The same names again and again, in every way in which a program gives names: long literals, a
 * buffer whose text changes, registered texts, wide ones; as range, start and mark. */
static void names(int count)
{
    const void *domain = nvtx.domain_a("a domain with a long name");
    struct nvtx_attributes plain = attributes_of("the text of an attribute");
    struct nvtx_attributes wide = {
        .version = 2, .size = sizeof(wide), .message_type = NVTX_TEXT_UNICODE};
    wide.message.unicode = L"the wide text of an attribute";
    struct nvtx_attributes registered = {
        .version = 2, .size = sizeof(registered), .message_type = NVTX_TEXT_REGISTERED};
    registered.message.registered = nvtx.string_a(domain, "a registered text");
    struct nvtx_attributes registered_wide = registered;
    registered_wide.message.registered = nvtx.string_w(NULL, L"a registered wide text");
    for (int i = 0; i < count; i++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "changing text %d", i);
        nvtx.push_a("a literal of a range");
        nvtx.mark_a("a literal of a mark");
        nvtx.push_a(text);
        nvtx.push_a("short");
        nvtx.push_w(L"a wide literal of a range");
        nvtx.push_ex(&plain);
        nvtx.domain_push(domain, &registered);
        nvtx.domain_push(NULL, &registered_wide);
        nvtx.domain_mark(domain, &wide);
        nvtx.end(nvtx.start_a("a literal of a start"));
        nvtx.domain_pop(domain);
        for (int k = 0; k < 6; k++) {
            nvtx.pop();
        }
    }
}

static uint32_t thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/* A thread that gets its name from the system before its first event, after it, or behind its last
 * one; or from NVTX, twice, before the system gives it another. */
static void *named_thread(void *how)
{
    const char *what = how;
    if (strcmp(what, "before") == 0) {
        (void)pthread_setname_np(pthread_self(), "name before");
    }
    if (strcmp(what, "nvtx") == 0) {
        nvtx.thread_a(thread_id(), "given by NVTX, first");
        nvtx.thread_a(thread_id(), "given by NVTX, then again");
    }
    nvtx.mark_a(what);
    (void)prctl(PR_SET_NAME, strcmp(what, "before") == 0 ? "name before" : "name after");
    return NULL;
}

/* Names of threads, categories and processes, and new ones: with "early", before the first event. */
static void renames(const char *when)
{
    static char hows[][8] = {"before", "after", "nvtx"};
    bool early = strcmp(when, "early") == 0;
    struct nvtx_attributes attributes = attributes_of("main");
    attributes.category = 5;
    for (int i = 0; i < 2; i++) {
        if ((i == 0) == early) {
            nvtx.category_a(5, "an old category");
            nvtx.category_a(5, "a new category");
            nvtx.thread_a(thread_id(), "an old name of the main thread");
            nvtx.thread_a(thread_id(), "a new name of the main thread");
        }
        nvtx.mark_ex(&attributes);
    }
    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
        pthread_t id;
        (void)pthread_create(&id, NULL, named_thread, hows[i]);
        (void)pthread_join(id, NULL);
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_NAME, "worker of names");
        nvtx.mark_a("worker");
        _exit(0);
    }
    (void)waitpid(pid, NULL, 0);
    (void)prctl(PR_SET_NAME, "renamed at last");
}

/* Registers COUNT strings and uses one of them in each of some forked workers, which register one
 * more each. */
static void fork_strings(int count)
{
    const void *used = NULL;
    const void *domain = nvtx.domain_a("a domain of the parent");
    nvtx.category_a(5, "a category of the parent");
    struct nvtx_attributes attributes = {.version = 2,
                                         .size = sizeof(attributes),
                                         .message_type = NVTX_TEXT_REGISTERED,
                                         .category = 5};
    for (int i = 0; i < count; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "a registered string of the parent, number %d", i);
        used = nvtx.string_a(domain, text);
        attributes.message.registered = used;
        if (i % 2 == 0) {
            nvtx.domain_mark(domain, &attributes);
        }
    }
    for (int i = 0; i < 4; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            for (int k = 0; k < 3; k++) {
                attributes.message.registered = used;
                nvtx.domain_mark(domain, &attributes);
            }
            attributes.message.registered = nvtx.string_a(domain, "a string of the worker");
            nvtx.domain_mark(domain, &attributes);
            _exit(0);
        }
        (void)waitpid(pid, NULL, 0);
    }
}

static void *thread_work(void *argument)
{
    int number = *(int *)argument;
    char text[64];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(text, sizeof(text), "thread %d range %d", number, i);
        nvtx.push_a(text);
        nvtx.push_a("inside of the range");
        nvtx.pop();
        nvtx.pop();
    }
    return NULL;
}

/* ROUNDS of COUNT threads each: later ones use what earlier ones left. */
static void threads(int count, int rounds)
{
    pthread_t ids[64];
    int numbers[64];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) {
            numbers[i] = round * count + i;
            (void)pthread_create(&ids[i], NULL, thread_work, &numbers[i]);
        }
        for (int i = 0; i < count; i++) {
            (void)pthread_join(ids[i], NULL);
        }
    }
}

static void *end_range(void *range)
{
    nvtx.end(*(uint64_t *)range);
    return NULL;
}

static void cross_thread(void)
{
    pthread_t id;
    uint64_t range = nvtx.start_a("crossing");
    (void)pthread_create(&id, NULL, end_range, &range);
    (void)pthread_join(id, NULL);
}

static void wait_child(pid_t pid)
{
    int status = 0;
    (void)waitpid(pid, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    (void)fflush(stdout);
}

/* Children of a process that has events already, at two levels; names given before the fork are
 * used after it. */
static void forks(void)
{
    const void *domain = nvtx.domain_a("before fork");
    struct nvtx_attributes registered = {
        .version = 2, .size = sizeof(registered), .message_type = NVTX_TEXT_REGISTERED};
    registered.message.registered = nvtx.string_a(domain, "known before");
    nvtx.push_a("parent");
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        nvtx.domain_push(domain, &registered);
        pid_t inner = fork();
        if (inner == 0) {
            nvtx.mark_a("grandchild");
            _exit(3);
        }
        wait_child(inner);
        nvtx.domain_pop(domain);
        exit(2);
    }
    wait_child(pid);
    nvtx.pop();
}

static pid_t raw_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void numbered(const char *who, int count)
{
    char text[32];
    for (int i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "%s %d", who, i);
        nvtx.push_a(text);
        nvtx.pop();
    }
}

/* Forks by the system call, of which nobody is told (sandboxes and container runtimes do so). Both
 * sides go on, and use what the parent had registered. */
static void raw_forks(int count)
{
    struct nvtx_attributes registered = {
        .version = 2, .size = sizeof(registered), .message_type = NVTX_TEXT_REGISTERED};
    registered.message.registered = nvtx.string_a(NULL, "registered");
    numbered("parent", count);
    (void)fflush(stdout);
    pid_t pid = raw_fork();
    if (pid == 0) {
        nvtx.domain_push(NULL, &registered);
        numbered("child", count);
        pid_t inner = raw_fork();
        if (inner == 0) {
            nvtx.string_a(NULL, "of the grandchild");
            numbered("grandchild", count);
            _exit(3);
        }
        wait_child(inner);
        nvtx.domain_pop(NULL);
        exit(2);
    }
    numbered("parent", count);
    wait_child(pid);
}

static void many_children(int count)
{
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char text[32];
            (void)snprintf(text, sizeof(text), "child %d", i);
            nvtx.push_a(text);
            nvtx.pop();
            _exit(0);
        }
        (void)waitpid(pid, NULL, 0);
    }
}

static void on_signal(int number)
{
    (void)number;
    nvtx.push_a("from a signal handler");
    nvtx.pop();
}

/* Signals that interrupt the recorder at any place. */
static void signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    (void)sigaction(SIGALRM, &action, NULL);
    timer_t timer;
    struct itimerspec every = {{0, 50000}, {0, 50000}};
    (void)timer_create(CLOCK_MONOTONIC, NULL, &timer);
    (void)timer_settime(timer, 0, &every, NULL);
    for (int i = 0; i < 200000; i++) {
        nvtx.push_a("main");
        nvtx.pop();
    }
    every = (struct itimerspec){{0, 0}, {0, 0}};
    (void)timer_settime(timer, 0, &every, NULL);
}

/* Numbered events for ever; the number that is surely published is in a file that the parent maps.
 */
static void count_until_killed(const char *path)
{
    FILE *file = fopen(path, "r+e");
    if (file == NULL) {
        exit(9);
    }
    _Atomic uint64_t *counter =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    for (uint64_t i = 0;; i++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
        nvtx.push_a(text);
        nvtx.pop();
        atomic_store(counter, i + 1);
    }
}

static void at_exit_mark(void)
{
    nvtx.mark_a("in atexit");
}

static void ends(const char *how)
{
    nvtx.push_a("before the end");
    nvtx.mark_a(how);
    (void)fflush(stdout);
    if (strcmp(how, "_exit") == 0) {
        _exit(11);
    } else if (strcmp(how, "exit") == 0) {
        exit(12);
    } else if (strcmp(how, "quick_exit") == 0) {
        quick_exit(13);
    } else if (strcmp(how, "abort") == 0) {
        abort();
    } else if (strcmp(how, "segv") == 0) {
        (void)raise(SIGSEGV);
    } else if (strcmp(how, "term") == 0) {
        (void)raise(SIGTERM);
    } else if (strcmp(how, "int") == 0) {
        (void)raise(SIGINT);
    } else if (strcmp(how, "kill") == 0) {
        (void)raise(SIGKILL);
    } else if (strcmp(how, "exec") == 0) {
        (void)execl("/proc/self/exe", "client_nvtx", "mark", "after exec", (char *)NULL);
    } else if (strcmp(how, "pthread_exit") == 0) {
        pthread_exit(NULL);
    }
}

static void text_sizes(void)
{
    static char text[20000];
    const int sizes[] = {0, 1, 7, 8, 9, 4095, 4096, 8192, 8193, 19999};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(text, 'a' + (int)i, sizeof(text));
        text[sizes[i]] = '\0';
        nvtx.mark_a(text);
    }
}

/* A text that is longer than what is kept, in each way. */
static void long_texts(void)
{
    static char text[9000];
    static wchar_t wide_text[9000];
    for (size_t i = 0; i + 1 < sizeof(text); i++) {
        text[i] = 'a';
        wide_text[i] = L'b';
    }
    struct nvtx_attributes attributes = attributes_of(text);
    nvtx.mark_a(text);
    nvtx.mark_w(wide_text);
    nvtx.mark_ex(&attributes);
    attributes.message_type = NVTX_TEXT_REGISTERED;
    attributes.message.registered = nvtx.string_a(NULL, text);
    nvtx.mark_ex(&attributes);
    attributes.message.registered = nvtx.string_w(NULL, wide_text);
    nvtx.mark_ex(&attributes);
    attributes.message.registered = NULL; /* it could not be registered */
    nvtx.mark_ex(&attributes);
}

/* Ranges for the tests of capture ranges. */
static void phases(void)
{
    const void *domain = nvtx.domain_a("train");
    struct nvtx_attributes registered = {
        .version = 2, .size = sizeof(registered), .message_type = NVTX_TEXT_REGISTERED};
    for (int i = 0; i < 3; i++) {
        nvtx.push_a("warm-up");
        nvtx.mark_a("outside of all");
        nvtx.pop();
        registered.message.registered = nvtx.string_a(domain, "step");
        nvtx.domain_push(domain, &registered);
        nvtx.push_a("step");
        nvtx.mark_a("inside of a step");
        nvtx.pop();
        nvtx.domain_push(domain, &registered);
        nvtx.domain_pop(domain);
        nvtx.domain_pop(domain);
        uint64_t range = nvtx.start_w(L"epoch");
        nvtx.mark_a("inside of an epoch");
        nvtx.end(range);
    }
}

/* One worker: COUNT steps (0: for ever), each with a mark; it goes on with the next one when the
 * other worker has begun its own, so that one step at least is open at any time. */
static void worker(int number, long count, int read_fd, int write_fd)
{
    char token = '.';
    for (long i = 0; count == 0 || i < count; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "in step %ld of worker %d", i, number);
        if (read(read_fd, &token, 1) != 1) {
            break;
        }
        if (i > 0) {
            nvtx.pop();
        }
        nvtx.push_a("a step of a worker");
        nvtx.mark_a(text);
        if (write(write_fd, &token, 1) != 1) {
            break;
        }
    }
    nvtx.pop();
    exit(0);
}

/* Two forked workers whose steps overlap. */
static void workers(long count)
{
    int to_first[2];
    int to_second[2];
    if (pipe(to_first) != 0 || pipe(to_second) != 0 || write(to_first[1], ".", 1) != 1) {
        exit(9);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    nvtx.push_a("start of the server");
    nvtx.pop();
    if (fork() == 0) {
        worker(0, count, to_first[0], to_second[1]);
    }
    if (fork() == 0) {
        worker(1, count, to_second[0], to_first[1]);
    }
    (void)close(to_first[0]);
    (void)close(to_first[1]);
    (void)close(to_second[0]);
    (void)close(to_second[1]);
    while (wait(NULL) > 0) {
    }
}

/* What push and pop return, in the default domain and in another one. */
static void levels(void)
{
    const void *domain = nvtx.domain_a("a domain with levels");
    struct nvtx_attributes attributes = attributes_of("in a domain with levels");
    int push[4] = {nvtx.push_a("the first level"), nvtx.push_w(L"the second level"),
                   nvtx.domain_push(domain, &attributes), nvtx.push_ex(&attributes)};
    int pop[5] = {nvtx.pop(), nvtx.pop(), nvtx.pop(), nvtx.pop(), nvtx.domain_pop(domain)};
    printf("push %d %d %d %d\n", push[0], push[1], push[2], push[3]);
    printf("pop %d %d %d %d %d\n", pop[0], pop[1], pop[2], pop[3], pop[4]);
}

static pthread_barrier_t turn;

static void *crossing_thread(void *argument)
{
    nvtx.push_a("from before the step");
    (void)pthread_barrier_wait(&turn); /* the step begins */
    (void)pthread_barrier_wait(&turn);
    nvtx.push_a("from within the step");
    (void)pthread_barrier_wait(&turn); /* it ends */
    (void)pthread_barrier_wait(&turn);
    nvtx.pop();
    nvtx.pop();
    nvtx.push_a("from between the steps");
    (void)pthread_barrier_wait(&turn); /* the second begins */
    (void)pthread_barrier_wait(&turn);
    nvtx.pop();
    nvtx.push_a("within the second step");
    nvtx.pop();
    (void)pthread_barrier_wait(&turn); /* and ends */
    return argument;
}

/* Two steps, and ranges of another thread that begin or end outside of them. */
static void crossing(void)
{
    pthread_t id;
    (void)pthread_barrier_init(&turn, NULL, 2);
    (void)pthread_create(&id, NULL, crossing_thread, NULL);
    for (int i = 0; i < 2; i++) {
        (void)pthread_barrier_wait(&turn);
        nvtx.push_a("a step with others");
        (void)pthread_barrier_wait(&turn);
        (void)pthread_barrier_wait(&turn);
        nvtx.pop();
        if (i == 0) {
            (void)pthread_barrier_wait(&turn);
        }
    }
    (void)pthread_join(id, NULL);
}

/* Steps without a pause between them, each of COUNT marks, for ever. */
static void endless_steps(int count)
{
    for (;;) {
        nvtx.push_a("a step of the loop");
        for (int i = 0; i < count; i++) {
            nvtx.mark_a("a mark of a step");
        }
        nvtx.pop();
    }
}

static void run_mode(const char *mode, const char *value, int number)
{
    if (strcmp(mode, "all") == 0) {
        core_calls();
        domain_calls();
        extension_calls();
    } else if (strcmp(mode, "names") == 0) {
        names(number);
    } else if (strcmp(mode, "threads") == 0) {
        threads(number, 3);
    } else if (strcmp(mode, "cross") == 0) {
        cross_thread();
    } else if (strcmp(mode, "forks") == 0) {
        forks();
    } else if (strcmp(mode, "clones") == 0) {
        raw_forks(number);
    } else if (strcmp(mode, "children") == 0) {
        many_children(number);
    } else if (strcmp(mode, "signals") == 0) {
        signals();
    } else if (strcmp(mode, "count") == 0) {
        count_until_killed(value);
    } else if (strcmp(mode, "end") == 0) {
        ends(value);
    } else if (strcmp(mode, "mark") == 0) {
        nvtx.mark_a(value);
    } else if (strcmp(mode, "domain") == 0) {
        struct nvtx_attributes call = attributes_of("call");
        nvtx.domain_mark(nvtx.domain_a(value), &call);
    } else if (strcmp(mode, "texts") == 0) {
        text_sizes();
    } else if (strcmp(mode, "renames") == 0) {
        renames(value);
    } else if (strcmp(mode, "fork-strings") == 0) {
        fork_strings(number);
    } else if (strcmp(mode, "workers") == 0) {
        workers(number);
    } else if (strcmp(mode, "levels") == 0) {
        levels();
    } else if (strcmp(mode, "crossing") == 0) {
        crossing();
    } else if (strcmp(mode, "steps") == 0) {
        endless_steps(number);
    } else if (strcmp(mode, "long") == 0) {
        long_texts();
    } else if (strcmp(mode, "phases") == 0) {
        phases();
    } else if (strncmp(mode, "many", 4) == 0) {
        for (int i = 0; i < number; i++) {
            nvtx.push_a("one of many events");
            nvtx.pop();
        }
        if (strcmp(mode, "many-killed") == 0) {
            (void)raise(SIGKILL);
        }
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "all";
    const char *value = argc > 2 ? argv[2] : "";
    bool attached = loader_open(strcmp(mode, "old") == 0);
    (void)loader_open_second();
    if (strcmp(mode, "old") == 0) {
        nvtx.push_a("old client");
        nvtx.pop();
    }
    if (strcmp(mode, "attached") == 0) {
        return attached ? 0 : 1;
    }
    if (strcmp(mode, "end") == 0) {
        (void)atexit(at_exit_mark);
    }
    run_mode(mode, value, (int)strtol(value, NULL, 10));
    return 0;
}
