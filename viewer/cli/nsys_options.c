/* nsys_options: see nsys_options.h. */
#include "viewer/cli/nsys_options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A switch (true|false), and an option with an argument; what each asks for. A NULL: a detail of
 * another option, or what is so in any case. */
#define SWITCH(name, what) \
    { \
        0, name, true, what, NULL, NULL \
    }
#define OPTION(name, what) \
    { \
        0, name, false, what, NULL, NULL \
    }
#define OPTION_BUT(name, what, no) \
    { \
        0, name, false, what, no, NULL \
    }

/* --run-as changes who runs the command: it cannot be left out and the rest done. */
static int refuse_run_as(void *args, const char *value, struct err *err)
{
    (void)args;
    return err_set(err,
                   "cannot become another user; write: cutline record ... runuser -u %.100s -- "
                   "COMMAND",
                   value);
}

static int refuse_command_file(void *args, const char *value, struct err *err)
{
    (void)args;
    return err_set(err, "options are not read from a file; write: cutline record $(cat %.100s) ...",
                   value);
}

const struct opts_known nsys_profile_options[] = {
    /* clang-format off */
    /* samples and call stacks */
    {'s', "sample", false, "CPU samples", NULL, NULL},
    OPTION("cpuctxsw", "context switches"),
    {'b', "backtrace", false, NULL, NULL, NULL},
    OPTION("cudabacktrace", "call stacks of CUDA calls"),
    OPTION("python-backtrace", "call stacks of Python"),
    SWITCH("python-sampling", "samples of Python"),
    OPTION("python-sampling-frequency", NULL),
    OPTION("python-functions-trace", "Python functions"),
    OPTION("python-nvtx-annotations", "Python functions"),
    OPTION("samples-per-backtrace", NULL),
    OPTION("sampling-frequency", NULL),
    OPTION("sampling-period", NULL),
    OPTION("sampling-trigger", NULL),
    OPTION("debug-symbols", NULL),
    SWITCH("resolve-symbols", NULL),
    OPTION("os-events", "OS events"),
    OPTION("event-sample", "samples of CPU events"),
    OPTION("event-sampling-interval", NULL),
    OPTION("event-sampling-frequency", NULL),
    OPTION("cpu-core-events", "CPU events"),
    OPTION("cpu-core-metrics", "CPU metrics"),
    OPTION("cpu-socket-events", "CPU events"),
    OPTION("cpu-socket-metrics", "CPU metrics"),
    OPTION("cpu-cluster-events", "CPU events"),
    OPTION("el1-sampling", "CPU samples"),
    OPTION("el1-sampling-config", NULL),
    /* frameworks */
    OPTION("pytorch", "annotations of PyTorch (torch.autograd.profiler.emit_nvtx makes them)"),
    OPTION("dask", "annotations of Dask"),
    OPTION("jax", "annotations of JAX"),
    OPTION("nccl-trace", "details of NCCL"),
    OPTION("enable", "plugins"),
    /* GPU and CUDA */
    OPTION("gpu-metrics-set", NULL),
    SWITCH("gpuctxsw", "GPU context switches"),
    OPTION("gpu-video-device", "video engines"),
    OPTION("gpu-video-devices", "video engines"),
    OPTION_BUT("cuda-trace-scope", "processes that the command does not start", "process-tree"),
    OPTION_BUT("process-scope", "processes that the command does not start", "main"),
    SWITCH("flush-on-cudaprofilerstop", NULL),
    SWITCH("trace-fork-before-exec", NULL),
    SWITCH("clock-frequency-changes", "clock frequencies"),
    SWITCH("soc-metrics", "SoC metrics"),
    OPTION("soc-metrics-frequency", NULL),
    OPTION("soc-metrics-set", NULL),
    OPTION("accelerator-trace", "other accelerators"),
    /* the host's libraries and system */
    OPTION("osrt-threshold", NULL),
    OPTION("osrt-backtrace-depth", NULL),
    OPTION("osrt-backtrace-stack-size", NULL),
    OPTION("osrt-backtrace-threshold", NULL),
    SWITCH("osrt-file-access", "file accesses"),
    OPTION("mpi-impl", NULL),
    OPTION("ftrace", "ftrace events"),
    SWITCH("ftrace-keep-user-config", NULL),
    OPTION("syscall-threshold", NULL),
    OPTION("nic-metrics", "network metrics"),
    OPTION("efa-metrics", "network metrics"),
    OPTION("ib-net-info-devices", "network information"),
    OPTION("ib-net-info-files", "network information"),
    OPTION("ib-net-info-output", NULL),
    OPTION("ib-switch-metrics-device", "network metrics"),
    OPTION("ib-switch-metrics-devices", "network metrics"),
    OPTION("ib-switch-congestion-device", "network metrics"),
    OPTION("ib-switch-congestion-devices", "network metrics"),
    OPTION("ib-switch-congestion-nic-device", NULL),
    OPTION("ib-switch-congestion-percent", NULL),
    OPTION("ib-switch-congestion-threshold-high", NULL),
    OPTION("storage-metrics", "storage metrics"),
    OPTION("storage-devices", "storage metrics"),
    OPTION("xhv-trace", "hypervisor events"),
    OPTION("xhv-trace-events", NULL),
    OPTION("xhv-vm-symbols", NULL),
    OPTION("qnx-kernel-events", "kernel events"),
    OPTION("qnx-kernel-events-mode", NULL),
    /* graphics and Windows */
    OPTION("opengl-gpu-workload", NULL),
    OPTION("vulkan-gpu-workload", NULL),
    OPTION("dx12-gpu-workload", NULL),
    SWITCH("dx12-wait-calls", NULL),
    SWITCH("dx-force-declare-adapter-removal-support", NULL),
    OPTION("duration-frames", "an end after frames"),
    OPTION("start-frame-index", "a begin at a frame"),
    SWITCH("vsync", "vertical syncs"),
    SWITCH("isr", "interrupts"),
    OPTION("etw-provider", "ETW events"),
    SWITCH("retain-etw-files", NULL),
    SWITCH("wddm-additional-events", NULL),
    SWITCH("wddm-backtraces", NULL),
    SWITCH("injection-use-detours", NULL),
    /* the run */
    {'x', "stop-on-exit", true, NULL, NULL, NULL},
    {'Y', "start-later", true, "a later start by another command (--delay and --capture-range begin later)", NULL, NULL},
    OPTION("hotkey-capture", NULL),
    OPTION("session-new", NULL),
    OPTION("session", "a session that other commands control (this command is recorded from its begin to its end)"),
    SWITCH("auto-report-name", NULL),
    {0, "run-as", false, NULL, NULL, refuse_run_as},
    {0, "command-file", false, NULL, NULL, refuse_command_file},
    OPTION("after-collection-start", "the command of --after-collection-start"),
    OPTION("after-report-ready", "the command of --after-report-ready"),
    {0, NULL, false, NULL, NULL, NULL},
    /* clang-format on */
};

/* A report is exported again where it is newer than its export in any case. */
const struct opts_known nsys_stats_options[] = {
    SWITCH("force-export", NULL),
    OPTION("report-dir", "reports of other folders"),
    OPTION("rule-dir", "rules of other folders"),
    {0, NULL, false, NULL, NULL, NULL},
};

int nsys_say_unread(void *args, const struct opts_known *known, struct err *err)
{
    (void)args;
    (void)err;
    (void)fprintf(stderr, "cutline: --%s is not used: there are no %s\n", known->name, known->what);
    return 0;
}

const char *nsys_profile_export(const char *format)
{
    static const char *const same[] = {"", "none", "sqlite"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (strcmp(format, same[i]) == 0) {
            return NULL;
        }
    }
    return "exports (cutline export and stats -f write them)";
}
