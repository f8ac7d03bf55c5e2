/*
 * What recording costs the recorded program, in one run and on one machine: ns for a pair of NVTX
 * push and pop, and ns for a CUPTI record, each beside the same loop without the recorder; and how
 * much memory a flood of events takes.
 *
 * The program starts itself again for each measurement: `bench_inject MODE ...` is the recorded
 * side. The loops run in bursts, as programs do, and without a pause; of several rounds the median
 * is shown.
 */
#define _GNU_SOURCE /* mkdtemp, RUSAGE; NOLINT */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/spool/clock.h"
#include "capture/spool/session.h"
#include "capture/tests/loader.h"
#include "capture/tests/records.h"
#include "capture/tests/standin_cupti.h"

#define ROUNDS 31
#define BURST 2000
#define LONG 1000000
#define FLOOD 100000000

static char build_dir[600];

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

/* CPU time of this thread, user and kernel: what recording takes from the program, whatever else
 * runs on the machine. */
static int64_t now_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Runs FUNCTION for COUNT steps in ROUNDS bursts; ns a step. A pause between them lets the
 * recorder's own thread work, as it can in programs that do more than record. */
static double measure(void (*function)(uint64_t), uint64_t count, int rounds)
{
    double values[ROUNDS];
    for (int i = 0; i < rounds; i++) {
        int64_t begin_ns = now_ns();
        function(count);
        values[i] = (double)(now_ns() - begin_ns) / (double)count;
        struct timespec pause = {0, 2000000};
        (void)nanosleep(&pause, NULL);
    }
    return median(values, (size_t)rounds);
}

static void two_clocks(uint64_t count)
{
    volatile uint64_t sink = 0;
    for (uint64_t i = 0; i < count; i++) {
        sink = clock_tsc();
        sink = clock_tsc();
    }
    (void)sink;
}

static void push_pop(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        (void)nvtx.push_a("forward pass of layer 0012");
        (void)nvtx.pop();
    }
}

static const void *domain;
static struct nvtx_attributes registered = {
    .version = 2, .size = sizeof(registered), .message_type = NVTX_TEXT_REGISTERED};

static void push_pop_domain(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        (void)nvtx.domain_push(domain, &registered);
        (void)nvtx.domain_pop(domain);
    }
}

static void nvtx_side(void)
{
    (void)loader_open(false);
    domain = nvtx.domain_a("bench");
    registered.message.registered = nvtx.string_a(domain, "forward pass of layer 0012");
    double text = measure(push_pop, BURST, ROUNDS);
    double handle = measure(push_pop_domain, BURST, ROUNDS);
    double text_long = measure(push_pop, LONG, 3);
    printf("%f %f %f\n", text, handle, text_long);
}

/* CUPTI without the recorder: a client that takes buffers from a list and drops what comes back. */
static uint8_t *spare_buffers[64];
static int spare_count;

static void plain_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *size = (4U << 20) - 64;
    *max_records = 0;
    *buffer = spare_count > 0 ? spare_buffers[--spare_count] : malloc(*size);
}

static void plain_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                           size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    (void)valid;
    spare_buffers[spare_count++] = buffer;
}

static struct standin standin;
static uint8_t kernel[512];
static uint8_t call[64];
static uint32_t kernel_bytes;

static void look_up(void *function, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof(symbol));
}

static void launches(uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 2) {
        (void)standin.put(call, 40);
        (void)standin.put(kernel, kernel_bytes);
    }
}

static void cupti_side(bool recorded)
{
    char path[700];
    int (*init)(unsigned) = NULL;
    (void)snprintf(path, sizeof(path), "%s/tests/standin/libcupti.so.13", build_dir);
    void *library = dlopen(path, RTLD_NOW);
    (void)snprintf(path, sizeof(path), "%s/tests/standin/libcuda.so.1", build_dir);
    void *driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL || driver == NULL) {
        exit(1);
    }
    look_up(&init, driver, "cuInit");
    look_up(&standin.put, library, "standin_put");
    look_up(&standin.record_bytes, library, "standin_record_bytes");
    if (recorded) {
        (void)init(0);
    } else {
        int (*enable)(int) = NULL;
        int (*reg)(cupti_request_fn, cupti_complete_fn) = NULL;
        look_up(&enable, library, "cuptiActivityEnable");
        look_up(&reg, library, "cuptiActivityRegisterCallbacks");
        (void)reg(plain_request, plain_complete);
        (void)enable(CUPTI_KIND_RUNTIME);
        (void)enable(CUPTI_KIND_CONCURRENT_KERNEL);
    }
    kernel_bytes = standin.record_bytes(CUPTI_KIND_CONCURRENT_KERNEL);
    uint64_t base = (uint64_t)clock_read_ns(CLOCK_REALTIME);
    record_make(kernel, kernel_bytes, &record_rules[0], 1, base, record_names[0]);
    record_make(call, 40, &record_rules[4], 1, base, NULL);
    printf("%f\n", measure(launches, (uint64_t)2 * BURST, ROUNDS));
}

static uint64_t status_kb(const char *key)
{
    char line[200];
    uint64_t value = 0;
    FILE *in = fopen("/proc/self/status", "re");
    while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            value = strtoull(line + strlen(key), NULL, 10);
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return value;
}

static void flood_side(void)
{
    (void)loader_open(false);
    push_pop(1000);
    uint64_t before = status_kb("VmRSS:");
    int64_t begin_ns = now_ns();
    push_pop(FLOOD / 2);
    double each = (double)(now_ns() - begin_ns) / (FLOOD / 2.0);
    printf("%f %llu\n", each, (unsigned long long)(status_kb("VmHWM:") - before));
}

/* The recorder's side: sessions and children. */
static char session_dir[700];

static void begin_session(const struct session_config *config)
{
    char from[700];
    char to[800];
    (void)snprintf(session_dir, sizeof(session_dir), "%s/bench-inject.XXXXXX", build_dir);
    (void)snprintf(from, sizeof(from), "%s/%s", build_dir, SESSION_LIBRARY);
    if (mkdtemp(session_dir) == NULL || session_config_write(config, session_dir) != 0) {
        perror(session_dir);
        exit(1);
    }
    struct session_control *control = session_control_create(config, session_dir);
    (void)snprintf(to, sizeof(to), "%s/%s", session_dir, SESSION_LIBRARY);
    if (control == NULL || symlink(from, to) != 0) {
        perror(to);
        exit(1);
    }
    session_control_set_gate(control, SESSION_GATE_GO);
    session_control_close(control);
}

/* Removes the session; returns the bytes of its spools. */
static uint64_t end_session(void)
{
    uint64_t bytes = 0;
    DIR *dir = opendir(session_dir);
    struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && strstr(entry->d_name, ".spool") != NULL) {
            bytes += (uint64_t)lseek(fd, 0, SEEK_END);
        }
        (void)close(fd);
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    (void)rmdir(session_dir);
    return bytes;
}

/* Runs this program in MODE; its numbers go to VALUES. */
static void child(const char *mode, bool recorded, double *values, int count)
{
    int ends[2];
    char library[800];
    char text[200] = "";
    (void)snprintf(library, sizeof(library), "%s/%s", session_dir, SESSION_LIBRARY);
    if (pipe(ends) != 0) {
        exit(1);
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        if (recorded) {
            (void)setenv("NVTX_INJECTION64_PATH", library, 1);
            (void)setenv("CUDA_INJECTION64_PATH", library, 1);
        }
        (void)execl("/proc/self/exe", "bench_inject", mode, recorded ? "1" : "0", build_dir,
                    (char *)NULL);
        _exit(1);
    }
    (void)close(ends[1]);
    size_t have = 0;
    ssize_t got = 0;
    while ((got = read(ends[0], text + have, sizeof(text) - 1 - have)) > 0) {
        have += (size_t)got;
    }
    (void)close(ends[0]);
    (void)waitpid(pid, NULL, 0);
    char *at = text;
    for (int i = 0; i < count; i++) {
        values[i] = strtod(at, &at);
    }
}

static void bench_nvtx(const struct session_config *config)
{
    double without[3];
    double with[3];
    begin_session(config);
    child("nvtx", false, without, 3);
    child("nvtx", true, with, 3);
    (void)end_session();
    printf("NVTX push+pop, CPU ns a pair    without   with   two clock reads alone: %.1f\n",
           measure(two_clocks, BURST, ROUNDS));
    printf("  text of 26 bytes, bursts      %7.1f %6.1f\n", without[0], with[0]);
    printf("  registered text in a domain   %7.1f %6.1f\n", without[1], with[1]);
    printf("  text, a million without pause %7.1f %6.1f\n", without[2], with[2]);
}

static void bench_cupti(const struct session_config *config)
{
    double without = 0;
    double with = 0;
    begin_session(config);
    child("cupti", false, &without, 1);
    child("cupti", true, &with, 1);
    (void)end_session();
    printf("CUPTI, CPU ns a record          %7.1f %6.1f   (%+.1f)\n", without, with,
           with - without);
}

static void bench_flood(struct session_config *config, bool ring)
{
    double values[2];
    config->max_size_bytes = UINT64_C(64) << 20;
    config->ring = ring;
    begin_session(config);
    child("flood", true, values, 2);
    uint64_t bytes = end_session();
    printf("100 M events, %s of 64 MiB: %.1f ns a pair, memory +%.1f MiB, spool %.1f MiB\n",
           ring ? "ring   " : "maximum", values[0], values[1] / 1024.0, (double)bytes / (1 << 20));
}

int main(int argc, char **argv)
{
    if (argc > 3) {
        (void)snprintf(build_dir, sizeof(build_dir), "%s", argv[3]);
        if (strcmp(argv[1], "nvtx") == 0) {
            nvtx_side();
        } else if (strcmp(argv[1], "cupti") == 0) {
            cupti_side(strcmp(argv[2], "1") == 0);
        } else {
            flood_side();
        }
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", build_dir, sizeof(build_dir) - 1);
    char *slash = length > 0 ? strrchr(build_dir, '/') : NULL;
    if (slash == NULL) {
        return 1;
    }
    *slash = '\0';
    static struct session_config config;
    session_config_init(&config);
    bench_nvtx(&config);
    bench_cupti(&config);
    bench_flood(&config, false);
    bench_flood(&config, true);
    return 0;
}
