/* The checks of cutline doctor; doctor.h says what it promises. */
#include "capture/record/doctor.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/base/timefmt.h"
#include "capture/record/record.h"
#include "capture/spool/clock.h"
#include "capture/spool/cupti_abi.h"
#include "capture/spool/cupti_places.h"

enum {
    LOW_SPACE_BYTES = 1 << 30,
    CLOCK_FINE_NS = 1000,
    CAP_SYS_ADMIN_BIT = 21
};

const char *doctor_level_name(enum doctor_level level)
{
    static const char *const names[] = {"ok", "note", "problem"};
    return names[level];
}

size_t doctor_problems(const struct doctor *doctor)
{
    size_t n = 0;
    for (size_t i = 0; i < doctor->n; i++) {
        n += doctor->lines[i].level == DOCTOR_PROBLEM;
    }
    return n;
}

/* Adds a line; its text is made by fmt. Returns it, to be given advice. */
static struct doctor_line *add(struct doctor *doctor, enum doctor_level level, const char *check,
                               const char *fmt, ...) CUTLINE_PRINTF(4, 5);

static struct doctor_line *add(struct doctor *doctor, enum doctor_level level, const char *check,
                               const char *fmt, ...)
{
    size_t at = doctor->n < DOCTOR_LINES_MAX ? doctor->n++ : DOCTOR_LINES_MAX - 1;
    struct doctor_line *line = &doctor->lines[at];
    va_list args;
    *line = (struct doctor_line){.level = level, .check = check};
    va_start(args, fmt);
    (void)vsnprintf(line->text, sizeof line->text, fmt, args);
    va_end(args);
    return line;
}

static void advise(struct doctor_line *line, const char *text)
{
    (void)snprintf(line->advice, sizeof line->advice, "%s", text);
}

/* The beginning of a file, "" where it cannot be read. */
static void read_start(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(out, 1, size - 1, file) : 0;
    out[got] = '\0';
    if (file) {
        (void)fclose(file);
    }
}

/* What follows key in the first line of a file that has it; "" and false where none has. */
static bool find_line(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "re");
    bool found = false;
    out[0] = '\0';
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, key);
        found = at != NULL;
        if (at) {
            (void)snprintf(out, size, "%s", at + strlen(key));
            out[strcspn(out, "\n")] = '\0';
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return found;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static void check_driver(struct doctor *doctor, const struct doctor_probe *probe)
{
    char version[64];
    read_start("/sys/module/nvidia/version", version, sizeof version);
    version[strcspn(version, "\n")] = '\0';
    if (!probe->driver_found) {
        advise(add(doctor, DOCTOR_PROBLEM, "driver", "libcuda.so.1 is not here: %s",
                   *version ? "the driver is loaded, its library is not" : "no CUDA driver"),
               *version ? "in a container, start it with --gpus all (nvidia-container-toolkit)"
                        : "NVTX alone can be recorded; for CUDA, install the NVIDIA driver");
        return;
    }
    if (probe->init_result != 0) {
        advise(add(doctor, DOCTOR_PROBLEM, "driver",
                   "cuInit fails with CUDA error %d (driver %s, CUDA %d.%d)", probe->init_result,
                   *version ? version : "?", probe->driver_version / 1000,
                   probe->driver_version % 1000 / 10),
               "see that a GPU is there (nvidia-smi) and that the driver and its library have one "
               "version");
        return;
    }
    add(doctor, DOCTOR_OK, "driver", "%s, CUDA %d.%d", *version ? version : "there",
        probe->driver_version / 1000, probe->driver_version % 1000 / 10);
}

static void check_devices(struct doctor *doctor, const struct doctor_probe *probe)
{
    char names[DOCTOR_TEXT_BYTES / 2] = "";
    size_t at = 0;
    if (!probe->driver_found || probe->init_result != 0) {
        return;
    }
    if (probe->devices == 0) {
        advise(add(doctor, DOCTOR_PROBLEM, "devices", "the driver shows no GPU"),
               "look at CUDA_VISIBLE_DEVICES, and in a container at --gpus");
        return;
    }
    for (int i = 0; i < probe->devices && i < DOCTOR_DEVICES_MAX && at < sizeof names; i++) {
        int wrote = snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", probe->names[i]);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    add(doctor, DOCTOR_OK, "devices", "%d: %s", probe->devices, names);
}

static void check_cupti(struct doctor *doctor, const struct doctor_probe *probe)
{
    if (!*probe->cupti_path) {
        advise(
            add(doctor, DOCTOR_PROBLEM, "cupti", "libcupti was not found (%s)", cupti_places_text),
            "install the CUDA toolkit or the Python package nvidia-cuda-cupti, or name it with "
            "--cupti; a program that brings its own is recorded all the same");
        return;
    }
    add(doctor, DOCTOR_OK, "cupti", "version %u: %s", probe->cupti_version, probe->cupti_path);
}

static void check_permission(struct doctor *doctor, const struct doctor_probe *probe)
{
    int result = probe->subscribe_result > 0 ? probe->subscribe_result : probe->enable_result;
    if (probe->subscribe_result < 0) {
        return;
    }
    switch (result) {
    case CUPTI_RESULT_SUCCESS:
        add(doctor, DOCTOR_OK, "permission", "kernels can be recorded");
        return;
    case CUPTI_RESULT_MULTIPLE_SUBSCRIBERS:
        advise(add(doctor, DOCTOR_PROBLEM, "permission", "another tool uses CUPTI"),
               "end it: nsys, a debugger, a profiler that the environment starts");
        return;
    case CUPTI_RESULT_INSUFFICIENT_PRIVILEGES:
    case CUPTI_RESULT_VIRTUALIZED_INSUFFICIENT_PRIVILEGES:
        advise(add(doctor, DOCTOR_PROBLEM, "permission",
                   "GPU activity may not be recorded (CUPTI result %d)", result),
               "run as root, or start the container with --cap-add SYS_ADMIN, or load the driver "
               "with NVreg_RestrictProfilingToAdminUsers=0");
        return;
    case CUPTI_RESULT_NOT_INITIALIZED:
        advise(add(doctor, DOCTOR_PROBLEM, "permission", "CUPTI does not start (result 15)"),
               "every CUPTI that was found is newer than the driver: update the driver, or name an "
               "older one with --cupti");
        return;
    default:
        advise(add(doctor, DOCTOR_PROBLEM, "permission", "CUPTI fails with result %d", result),
               "try another libcupti with --cupti");
        return;
    }
}

static bool is_admin(void)
{
    char text[64];
    (void)find_line("/proc/self/status", "CapEff:", text, sizeof text);
    uint64_t bits = strtoull(text, NULL, 16);
    return (bits >> CAP_SYS_ADMIN_BIT & 1) != 0;
}

static void check_restriction(struct doctor *doctor)
{
    char value[32];
    if (!find_line("/proc/driver/nvidia/params", "RmProfilingAdminOnly: ", value, sizeof value)) {
        return;
    }
    bool restricted = *value == '1';
    if (restricted && !is_admin()) {
        advise(add(doctor, DOCTOR_NOTE, "restriction",
                   "profiling is restricted to administrators, and you are none"),
               "activity is often recorded all the same; else set "
               "NVreg_RestrictProfilingToAdminUsers=0");
    } else {
        add(doctor, DOCTOR_OK, "restriction", "profiling is %s",
            restricted ? "restricted to administrators, and you are one" : "open to all");
    }
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void check_container(struct doctor *doctor)
{
    static const char *const words[] = {"docker", "kubepods", "containerd"};
    char rest[128];
    bool container = exists("/.dockerenv") || exists("/run/.containerenv");
    for (size_t i = 0; i < sizeof words / sizeof *words && !container; i++) {
        container = find_line("/proc/1/cgroup", words[i], rest, sizeof rest);
    }
    if (find_line("/proc/version", "icrosoft", rest, sizeof rest) || exists("/dev/dxg")) {
        advise(add(doctor, DOCTOR_NOTE, "system", "WSL"),
               "GPU activity needs a recent Windows driver; the clock of CUPTI is its own there "
               "and is measured");
    } else if (container) {
        add(doctor, is_admin() || !exists("/dev/nvidiactl") ? DOCTOR_OK : DOCTOR_NOTE, "system",
            "a container%s", is_admin() ? "" : " without CAP_SYS_ADMIN");
    } else {
        add(doctor, DOCTOR_OK, "system", "no container");
    }
}

static void check_mig(struct doctor *doctor)
{
    DIR *dir = opendir("/proc/driver/nvidia/capabilities");
    bool mig = false;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && !mig; entry = readdir(dir)) {
        char path[400];
        struct dirent *instance = NULL;
        (void)snprintf(path, sizeof path, "/proc/driver/nvidia/capabilities/%.255s/mig",
                       entry->d_name);
        DIR *migs = strncmp(entry->d_name, "gpu", 3) == 0 ? opendir(path) : NULL;
        while (migs && (instance = readdir(migs)) != NULL) {
            mig = mig || strncmp(instance->d_name, "gi", 2) == 0;
        }
        if (migs) {
            (void)closedir(migs);
        }
    }
    if (dir) {
        (void)closedir(dir);
        add(doctor, mig ? DOCTOR_NOTE : DOCTOR_OK, "mig", "%s",
            mig ? "GPUs are divided into instances: each shows as a device of its own"
                : "not used");
    }
}

static void check_variables(struct doctor *doctor)
{
    static const char *const names[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
    bool clean = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value && strcmp(value, "none") != 0) {
            clean = false;
            advise(add(doctor, DOCTOR_PROBLEM, "environment", "%s is set to '%.200s'", names[i],
                       value),
                   strstr(value, "libcupti")
                       ? "it takes the one place that CUPTI has for a tool: unset it"
                       : "another tool would be replaced: unset it, or record with "
                         "--replace-injection");
        }
    }
    if (getenv("KINETO_USE_DAEMON")) {
        clean = false;
        advise(add(doctor, DOCTOR_NOTE, "environment", "KINETO_USE_DAEMON is set"),
               "PyTorch's profiler uses CUPTI from its import on: unset it to record GPU activity");
    }
    if (clean) {
        add(doctor, DOCTOR_OK, "environment", "no other tool is injected");
    }
}

static void check_clock(struct doctor *doctor)
{
    struct clock_anchor anchor;
    char source[64];
    clock_anchor_take(&anchor);
    read_start("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
               sizeof source);
    source[strcspn(source, "\n")] = '\0';
    bool fine = anchor.bracket_ns < CLOCK_FINE_NS;
    struct doctor_line *line =
        add(doctor, fine ? DOCTOR_OK : DOCTOR_NOTE, "clock",
            "%s (source %s), clocks are read within %" PRId64 " ns of each other",
            clock_tsc_usable() ? "time stamp counter" : "CLOCK_MONOTONIC",
            *source ? source : "unknown", anchor.bracket_ns);
    if (!fine) {
        advise(line, "CPU and GPU times may lie apart by as much");
    }
}

/* ---- the recorder's own ---------------------------------------------------------------------- */

static void check_library(struct doctor *doctor)
{
    struct err err = {0};
    char *path = record_library(&err);
    if (!path || record_library_loads(path, &err) < 0) {
        advise(add(doctor, DOCTOR_PROBLEM, "recorder", "%.350s", err.text),
               "install cutline again, program and library together");
    } else {
        add(doctor, DOCTOR_OK, "recorder", "%.350s", path);
    }
    free(path);
}

static void check_space(struct doctor *doctor, const char *folder)
{
    struct statvfs st;
    char text[TIMEFMT_BYTES];
    if (statvfs(folder, &st) != 0 || access(folder, W_OK | X_OK) != 0) {
        advise(add(doctor, DOCTOR_PROBLEM, "space", "'%.300s' cannot be written to", folder),
               "set TMPDIR, or name a folder with --session-dir");
        return;
    }
    uint64_t bytes = (uint64_t)st.f_bavail * st.f_frsize;
    bool low = bytes < LOW_SPACE_BYTES;
    bool noexec = (st.f_flag & 8U) != 0; /* ST_NOEXEC of Linux */
    bool memory = record_session_in_memory(folder);
    (void)timefmt_bytes((int64_t)bytes, text);
    struct doctor_line *line = add(doctor, low || noexec || memory ? DOCTOR_NOTE : DOCTOR_OK,
                                   "space", "%s free in %.300s%s", text, folder,
                                   noexec   ? ", which forbids to execute files"
                                   : memory ? ", which is in memory (tmpfs)"
                                            : "");
    if (memory && !noexec) {
        advise(line, "what is recorded takes memory until the capture is written: name a folder on "
                     "a disk with --session-dir or TMPDIR");
    } else if (low || noexec) {
        advise(line, noexec ? "sessions go beside the capture instead; or name a folder with "
                              "--session-dir"
                            : "a busy program fills some hundred MB a minute: name another folder "
                              "with --session-dir, or limit it with --max-size or --ring");
    }
}

/* Session folders of killed recorders. */
static void check_leftovers(struct doctor *doctor, const char *folder)
{
    char first[300] = "";
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        char path[600];
        struct stat st;
        (void)snprintf(path, sizeof path, "%.300s/%.255s/%s", folder, entry->d_name,
                       SESSION_CONTROL);
        if (strncmp(entry->d_name, "cutline-", 8) != 0 || stat(path, &st) != 0 ||
            st.st_uid != getuid()) {
            continue;
        }
        struct session_control *control = NULL;
        path[strlen(path) - strlen("/" SESSION_CONTROL)] = '\0';
        control = session_control_open(path, true);
        char proc[64];
        (void)snprintf(proc, sizeof proc, "/proc/%u", control ? control->launcher_pid : 0);
        if (control && !exists(proc)) {
            n++;
            (void)snprintf(first, sizeof first, "%.299s", path);
        }
        session_control_close(control);
    }
    if (dir) {
        (void)closedir(dir);
    }
    if (n > 0) {
        advise(add(doctor, DOCTOR_NOTE, "leftovers", "%d recordings without a capture: %s%s", n,
                   first, n > 1 ? ", ..." : ""),
               "cutline record --recover FOLDER -o NAME makes a capture; then remove the folder");
    }
}

void doctor_run(struct doctor *doctor, const char *cupti, const char *folder)
{
    struct doctor_probe probe;
    const char *temporary = getenv("TMPDIR");
    folder = folder ? folder : temporary && *temporary ? temporary : "/tmp";
    doctor->n = 0;
    doctor_probe(&probe, cupti);
    if (!probe.finished) {
        advise(add(doctor, DOCTOR_PROBLEM, "probe",
                   "the CUDA driver or CUPTI crashed or hung when it was tried"),
               "see dmesg and nvidia-smi; what follows is what was learned before");
    }
    check_driver(doctor, &probe);
    check_devices(doctor, &probe);
    check_cupti(doctor, &probe);
    check_permission(doctor, &probe);
    check_restriction(doctor);
    check_container(doctor);
    check_mig(doctor);
    check_variables(doctor);
    check_clock(doctor);
    check_library(doctor);
    check_space(doctor, folder);
    check_leftovers(doctor, folder);
}
