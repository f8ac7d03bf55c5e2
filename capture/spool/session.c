/* The session folder: settings as text, and the control page. Used by the launcher and by the
 * injected library. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, O_DIRECTORY; NOLINT */
#include "capture/spool/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/spool/clock.h"
#include "capture/spool/ring.h"

#define CONFIG_BYTES_MAX 65536

/* What a key's value is. */
enum field_type {
    FIELD_BOOL,
    FIELD_ENUM,
    FIELD_U32,
    FIELD_U64,
    FIELD_TEXT
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset;
    size_t bytes; /* of a TEXT */
};

#define FIELD(name, kind) \
    { \
#name, kind, offsetof(struct session_config, name), 0 \
    }
#define TEXT(name) \
    { \
#name, FIELD_TEXT, offsetof(struct session_config, name), \
            sizeof(((struct session_config *)0)->name) \
    }

static const struct field fields[] = {
    FIELD(trace_cuda, FIELD_BOOL),
    FIELD(trace_nvtx, FIELD_BOOL),
    FIELD(driver_api, FIELD_BOOL),
    FIELD(memory_usage, FIELD_BOOL),
    FIELD(event_times, FIELD_BOOL),
    FIELD(um_cpu_faults, FIELD_BOOL),
    FIELD(um_gpu_faults, FIELD_BOOL),
    FIELD(device_buffer_bytes, FIELD_U64),
    FIELD(device_buffers, FIELD_U64),
    FIELD(cuda_events, FIELD_BOOL),
    FIELD(ring, FIELD_BOOL),
    FIELD(api, FIELD_ENUM),
    FIELD(graph, FIELD_ENUM),
    FIELD(range, FIELD_ENUM),
    FIELD(range_end, FIELD_ENUM),
    FIELD(range_repeat, FIELD_U32),
    FIELD(flush_interval_ms, FIELD_U32),
    FIELD(exit_wait_ms, FIELD_U32),
    FIELD(buffer_bytes, FIELD_U64),
    FIELD(buffers_max_bytes, FIELD_U64),
    FIELD(max_size_bytes, FIELD_U64),
    TEXT(range_message),
    TEXT(range_domain),
    TEXT(cupti_path),
    FIELD(domains_mode, FIELD_ENUM),
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

void session_config_init(struct session_config *config)
{
    memset(config, 0, sizeof(*config));
    config->trace_cuda = true;
    config->trace_nvtx = true;
    config->cuda_events = true;
    config->api = SESSION_API_ALL;
    config->graph = SESSION_GRAPH_GRAPH;
    config->range = SESSION_RANGE_NONE;
    config->range_end = SESSION_RANGE_END_STOP;
    config->flush_interval_ms = 1000;
    config->exit_wait_ms = 5000;
    config->buffers_max_bytes = UINT64_C(128) << 20;
}

/* Opens NAME in DIR. Returns the descriptor, or -1 with errno. */
static int open_in(const char *dir, const char *name, int flags)
{
    int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return -1;
    }
    int fd = openat(dir_fd, name, flags | O_CLOEXEC, 0600);
    int saved = errno;
    (void)close(dir_fd);
    errno = saved;
    return fd;
}

/* Writes TEXT with backslash, newline and carriage return escaped: a value is one line whatever it
 * holds. */
static void put_text(FILE *out, const char *key, const char *text)
{
    (void)fprintf(out, "%s=", key);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\\' || *c == '\n' || *c == '\r') {
            (void)fprintf(out, "\\%c", *c == '\\' ? '\\' : *c == '\n' ? 'n' : 'r');
        } else {
            (void)fputc(*c, out);
        }
    }
    (void)fputc('\n', out);
}

static void put_field(FILE *out, const struct session_config *config, const struct field *field)
{
    const char *at = (const char *)config + field->offset;
    uint64_t value = 0;
    uint32_t value32 = 0;
    bool value1 = false;
    if (field->type == FIELD_TEXT) {
        put_text(out, field->key, at);
        return;
    }
    if (field->type == FIELD_U64) {
        memcpy(&value, at, sizeof(value));
    } else if (field->type == FIELD_BOOL) {
        memcpy(&value1, at, sizeof(value1));
        value = value1 ? 1 : 0;
    } else {
        memcpy(&value32, at, sizeof(value32));
        value = value32;
    }
    (void)fprintf(out, "%s=%llu\n", field->key, (unsigned long long)value);
}

/* Writes the lines of CONFIG to FD and closes it. */
static int put_config(const struct session_config *config, int fd)
{
    FILE *out = fdopen(fd, "w");
    if (out == NULL) {
        (void)close(fd);
        return -1;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        put_field(out, config, &fields[i]);
    }
    for (uint32_t i = 0; i < config->domains_count && i < SESSION_DOMAINS_MAX; i++) {
        put_text(out, "domain", config->domains[i]);
    }
    int failed = ferror(out);
    return fclose(out) != 0 || failed != 0 ? -1 : 0;
}

int session_config_write(const struct session_config *config, const char *dir)
{
    int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return -1;
    }
    int result = -1;
    int fd = openat(dir_fd, SESSION_CONFIG ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) {
        result = put_config(config, fd);
        if (result == 0) {
            result = renameat(dir_fd, SESSION_CONFIG ".new", dir_fd, SESSION_CONFIG);
        }
        if (result != 0) {
            int saved = errno;
            (void)unlinkat(dir_fd, SESSION_CONFIG ".new", 0);
            errno = saved;
        }
    }
    int saved = errno;
    (void)close(dir_fd);
    errno = saved;
    return result;
}

static char unescape(char c)
{
    if (c == 'n') {
        return '\n';
    }
    if (c == 'r') {
        return '\r';
    }
    return c;
}

/* Undoes put_text into OUT (SIZE bytes), cutting what does not fit. */
static void get_text(char *out, size_t size, const char *value)
{
    size_t n = 0;
    for (const char *c = value; *c != '\0' && n + 1 < size; c++) {
        if (*c == '\\' && c[1] != '\0') {
            c++;
            out[n++] = unescape(*c);
        } else {
            out[n++] = *c;
        }
    }
    out[n] = '\0';
}

static void get_number(struct session_config *config, const struct field *field, uint64_t value)
{
    char *at = (char *)config + field->offset;
    if (field->type == FIELD_U64) {
        memcpy(at, &value, sizeof(value));
    } else if (field->type == FIELD_BOOL) {
        bool value1 = value != 0;
        memcpy(at, &value1, sizeof(value1));
    } else {
        uint32_t value32 = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
        memcpy(at, &value32, sizeof(value32));
    }
}

static void get_line(struct session_config *config, char *line)
{
    char *value = strchr(line, '=');
    if (value == NULL) {
        return;
    }
    *value++ = '\0';
    if (strcmp(line, "domain") == 0 && config->domains_count < SESSION_DOMAINS_MAX) {
        get_text(config->domains[config->domains_count++], SESSION_TEXT_BYTES, value);
        return;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        if (strcmp(line, field->key) != 0) {
            continue;
        }
        if (field->type == FIELD_TEXT) {
            get_text((char *)config + field->offset, field->bytes, value);
        } else {
            get_number(config, field, strtoull(value, NULL, 10));
        }
        return;
    }
}

int session_config_read(struct session_config *config, const char *dir)
{
    static const char end_of_line[] = "\n";
    session_config_init(config);
    int fd = open_in(dir, SESSION_CONFIG, O_RDONLY);
    if (fd < 0) {
        return -1;
    }
    /* Mapped, not read into malloc'ed memory: this runs inside programs with their own allocators.
     */
    char *text =
        mmap(NULL, CONFIG_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED) {
        (void)close(fd);
        return -1;
    }
    size_t have = 0;
    ssize_t got = 0;
    while (have < CONFIG_BYTES_MAX - 1 &&
           (got = read(fd, text + have, CONFIG_BYTES_MAX - 1 - have)) > 0) {
        have += (size_t)got;
    }
    (void)close(fd);
    char *rest = text;
    char *line = NULL;
    while ((line = strtok_r(rest, end_of_line, &rest)) != NULL) {
        get_line(config, line);
    }
    (void)munmap(text, CONFIG_BYTES_MAX);
    return got < 0 ? -1 : 0;
}

static struct session_control *control_map(int fd, bool read_only)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return NULL;
    }
    if ((uint64_t)status.st_size < sizeof(struct session_control)) {
        errno = EINVAL;
        return NULL;
    }
    void *page = mmap(NULL, sizeof(struct session_control),
                      read_only ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

/* Gives the file its blocks, so that no later store into the mapping can meet a full disk. */
static int control_fill(int fd)
{
    static const char zeros[4096];
    for (size_t done = 0; done < sizeof(struct session_control); done += sizeof(zeros)) {
        if (pwrite(fd, zeros, sizeof(zeros), (off_t)done) != (ssize_t)sizeof(zeros)) {
            return -1;
        }
    }
    return 0;
}

struct session_control *session_control_create(const struct session_config *config, const char *dir)
{
    if (config->ring && config->max_size_bytes > 0 && spool_ring_create(dir) != 0) {
        return NULL;
    }
    int fd = open_in(dir, SESSION_CONTROL, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0) {
        return NULL;
    }
    struct session_control *control = control_fill(fd) == 0 ? control_map(fd, false) : NULL;
    int saved = errno;
    (void)close(fd);
    if (control == NULL) {
        errno = saved;
        return NULL;
    }
    struct clock_anchor now;
    clock_anchor_take(&now);
    control->version = 1;
    control->launcher_pid = (uint32_t)getpid();
    control->range = config->range;
    control->range_end = config->range_end;
    control->range_repeat = config->range_repeat;
    control->created_real_ns = now.real_ns;
    control->created_mono_ns = now.mono_ns;
    control->created_tsc = now.tsc;
    control->magic = SESSION_CONTROL_MAGIC;
    return control;
}

struct session_control *session_control_open(const char *dir, bool read_only)
{
    int fd = open_in(dir, SESSION_CONTROL, read_only ? O_RDONLY : O_RDWR);
    if (fd < 0) {
        return NULL;
    }
    struct session_control *control = control_map(fd, read_only);
    int saved = errno;
    (void)close(fd);
    if (control != NULL && control->magic != SESSION_CONTROL_MAGIC) {
        session_control_close(control);
        control = NULL;
        saved = EINVAL;
    }
    errno = saved;
    return control;
}

void session_control_close(struct session_control *control)
{
    if (control != NULL) {
        (void)munmap(control, sizeof(*control));
    }
}

/* Field of the state word. */
static uint32_t state_gate(uint64_t state)
{
    return (uint32_t)(state >> SESSION_STATE_GATE_SHIFT) & 3U;
}

/* The state word for a gate, with the COLLECT bit that follows from it. */
static uint64_t state_make(enum session_gate gate)
{
    uint64_t packed = (uint64_t)gate << SESSION_STATE_GATE_SHIFT;
    return packed | (gate == SESSION_GATE_GO ? SESSION_STATE_COLLECT : 0);
}

static void log_transition(struct session_control *control, bool collect)
{
    uint64_t index = atomic_fetch_add(&control->log_count, 1);
    if (index >= SESSION_LOG_ENTRIES) {
        return;
    }
    struct session_transition *entry = &control->log[index];
    entry->real_ns = clock_read_ns(CLOCK_REALTIME);
    entry->mono_ns = clock_read_ns(CLOCK_MONOTONIC);
    entry->pid = (uint32_t)getpid();
    entry->collect = collect ? 1 : 0;
    atomic_store_explicit(&entry->ready, 1, memory_order_release);
}

void session_control_set_gate(struct session_control *control, enum session_gate gate)
{
    uint64_t old = atomic_load(&control->state);
    uint64_t next = state_make(gate);
    while (!atomic_compare_exchange_weak(&control->state, &old, next)) {
    }
    if (((old ^ next) & SESSION_STATE_COLLECT) != 0) {
        log_transition(control, (next & SESSION_STATE_COLLECT) != 0);
    }
}

bool session_control_stopped(const struct session_control *control)
{
    return state_gate(atomic_load(&control->state)) == SESSION_GATE_STOP;
}

bool session_control_transition(const struct session_control *control, uint32_t index,
                                struct session_transition *out)
{
    if (index >= SESSION_LOG_ENTRIES ||
        atomic_load_explicit(&control->log[index].ready, memory_order_acquire) == 0) {
        return false;
    }
    *out = control->log[index];
    return true;
}
