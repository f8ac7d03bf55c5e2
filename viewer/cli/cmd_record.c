/* cmd_record: runs a command with the recorder in it and writes a capture. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/shell.h"
#include "analysis/base/timefmt.h"
#include "capture/record/gpu_metrics.h"
#include "capture/record/record.h"
#include "capture/record/record_options.h"
#include "viewer/cli/command.h"
#include "viewer/cli/nsys_options.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

enum {
    ENV_MAX = 256,
    BAR_COLS = 40,
    RANGE_HOTKEY = 3, /* in the choices of --capture-range, whose others are session_range */
    EVENTS_TRUE = 1,
    EVENTS_FALSE = 2, /* in those of --cuda-event-trace */
};

struct record_args {
    struct record_opts record;
    struct buf ignored; /* what was asked for and cannot be recorded */
    struct opts_list env_lists;
    const char *env[ENV_MAX];
    char *env_memory;
    char **command; /* the operands, with a NULL behind them for exec; owned */
    int64_t flush_ms;
    int64_t metrics_hz;
    int64_t buffer_bytes;
    int64_t buffers_bytes;
    int64_t device_buffer_bytes;
    int64_t device_buffers;
    int64_t max_bytes;
    int64_t ring_bytes;
    int wait;
    int range;
    bool stats;
    bool quiet;
    int last_percent; /* of the progress bar; -1: there is none */
    bool print_env;
    bool shutdown;
    int cuda_events;
    bool stop_on_range_end;
    bool inherit_environment;
};

/* ---- options --------------------------------------------------------------------------------- */

static int call_trace(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_trace(value, &record->record.config, &record->record.libraries,
                              &record->ignored, err);
}

static int call_range_end(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_range_end(value, &record->record.config, &record->shutdown, err);
}

static int call_nvtx_capture(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_nvtx_capture(value, &record->record.config, err);
}

static int call_include(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_domains(value, SESSION_DOMAINS_INCLUDE, &record->record.config, err);
}

static int call_exclude(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_domains(value, SESSION_DOMAINS_EXCLUDE, &record->record.config, err);
}

static int call_graph(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_graph(value, &record->record.config, &record->ignored, err);
}

static int call_export(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    (void)err;
    if (nsys_profile_export(value) != NULL) {
        record_ignore(&record->ignored, nsys_profile_export(value));
    }
    return 0;
}

static int known_asked(void *args, const struct opts_known *known, struct err *err)
{
    struct record_args *record = args;
    (void)err;
    record_ignore(&record->ignored, known->what);
    return 0;
}

static int call_kill(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_kill(value, &record->record.kill_signal, err);
}

static int call_api(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    return record_parse_api(value, &record->record.config, err);
}

static int call_metrics(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    (void)err;
    record->record.gpu_metrics = strcmp(value, "none") == 0 ? NULL : value;
    return 0;
}

static int call_cupti(void *args, const char *value, struct err *err)
{
    struct record_args *record = args;
    struct session_config *config = &record->record.config;
    if (strlen(value) >= sizeof config->cupti_path) {
        return err_set(err, "the path of libcupti is too long");
    }
    (void)snprintf(config->cupti_path, sizeof config->cupti_path, "%s", value);
    return 0;
}

#define AT(member) offsetof(struct record_args, member)

static const struct opts_option OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "What to record"},
    {'t', "trace", "WHAT,...", .kind = OPTS_CALL, .call = call_trace,
     .choices = "cuda|nvtx|nccl|cublas|cudnn|cusparse|cusolver|none",
     .help = "cuda, nvtx, none; nccl, cublas, cudnn, cusparse and cusolver: the calls of these "
             "libraries, which mark them by NVTX where it is asked for; cublas-verbose and the "
             "like: all their calls. With nvtx beside them all other ranges, too. Default: "
             "cuda,nvtx. What nsys can trace beside these is accepted and named as not recorded."},
    {0, "api", "WHICH", .kind = OPTS_CALL, .call = call_api, .choices = "all|launch|none",
     .help = "Which CUDA calls: all (default; but the chatty queries), launch (what puts work on a "
             "GPU, and synchronisation: less overhead) or none (kernels then have no launch)."},
    {0, "cuda-trace-all-apis", .kind = OPTS_BOOL, .at = AT(record.config.driver_api),
     .help = "Record driver calls as well as those of the runtime."},
    {0, "cuda-memory-usage", .kind = OPTS_BOOL, .at = AT(record.config.memory_usage),
     .help = "Record allocations and releases of GPU memory."},
    {0, "cuda-um-gpu-page-faults", .kind = OPTS_BOOL, .at = AT(record.config.um_gpu_faults),
     .help = "Record page faults of GPUs in unified memory, and what moves between host and "
             "devices."},
    {0, "cuda-um-cpu-page-faults", .kind = OPTS_BOOL, .at = AT(record.config.um_cpu_faults),
     .help = "Record page faults of the CPU in unified memory, and what moves."},
    {0, "cuda-graph-trace", "HOW", .kind = OPTS_CALL, .call = call_graph, .choices = "graph|node",
     .help = "graph (default): one event for each launch of a CUDA graph; node: each kernel, copy "
             "and set of it, with more overhead."},
    {0, "cuda-event-trace", "WHETHER", .kind = OPTS_CHOICE, .choices = "auto|true|false",
     .at = AT(cuda_events),
     .help =
         "Record CUDA events, which relate streams to each other. auto (default): where all CUDA "
         "calls are; true: with the times at which the device reached them, where CUPTI can "
         "(13.0); "
         "false: not."},
    {0, "gpu-metrics-devices", "GPU,...", .kind = OPTS_CALL, .call = call_metrics,
     .choices = "none|all|cuda-visible",
     .help = "Sample these GPUs by NVML: utilisation, memory, power, clocks, temperature, "
             "throttling, PCIe and NVLink. Numbers, all, cuda-visible or none (default)."},
    {0, "gpu-metrics-device", "GPU,...", .kind = OPTS_CALL, .call = call_metrics,
     .help = "The older name of --gpu-metrics-devices."},
    {0, "gpu-metrics-frequency", "HZ", .kind = OPTS_INT, .max = 200000, .at = AT(metrics_hz),
     .help = "How often a second; 100 at most, for the values of NVML are no newer. Default: 10."},
    {0, "nvtx-domain-include", "DOMAIN,...", .kind = OPTS_CALL, .call = call_include,
     .help = "Record these NVTX domains alone; default is the one without a name."},
    {0, "nvtx-domain-exclude", "DOMAIN,...", .kind = OPTS_CALL, .call = call_exclude,
     .help = "Record all NVTX domains but these."},
    {.kind = OPTS_GROUP, .help = "When to record"},
    {'c', "capture-range", "KIND", .kind = OPTS_CHOICE,
     .choices = "none|cudaProfilerApi|nvtx|hotkey", .at = AT(range),
     .help = "Record only between cudaProfilerStart and cudaProfilerStop, or within the NVTX range "
             "of --nvtx-capture. Default: none; hotkey is taken for it."},
    {0, "capture-range-end", "WHAT", .kind = OPTS_CALL, .call = call_range_end,
     .choices = "none|stop|stop-shutdown|repeat|repeat-shutdown",
     .help =
         "After the range: none (go on recording), stop (default), stop-shutdown (end the "
         "command as --kill says), repeat[:N], repeat-shutdown:N. Each process counts its own."},
    {0, "stop-on-range-end", .kind = OPTS_BOOL, .at = AT(stop_on_range_end),
     .help = "The old form: true is --capture-range-end=stop, false is none."},
    {'p', "nvtx-capture", "RANGE[@DOMAIN]", .kind = OPTS_CALL, .call = call_nvtx_capture,
     .help = "The NVTX range of --capture-range=nvtx; RANGE@* in any domain, RANGE@default in the "
             "one without a name, as RANGE alone. Registered and other "
             "texts match."},
    {'y', "delay", "SECONDS", .kind = OPTS_TIME, .unit_ns = 1000000000, .max = INT64_MAX,
     .at = AT(record.delay_ns),
     .help =
         "Begin to record so long after the start; of capture ranges, with the next whole one."},
    {'d', "duration", "SECONDS", .kind = OPTS_TIME, .unit_ns = 1000000000, .max = INT64_MAX,
     .at = AT(record.duration_ns),
     .help = "Record for so long and write the capture then. The command goes on, unless --kill is "
             "given."},
    {0, "kill", "SIGNAL", .kind = OPTS_CALL, .call = call_kill,
     .choices = "none|sigterm|sigkill|sigint",
     .help = "Sent to the command and all its processes when the duration or the capture range is "
             "over; SIGKILL follows after 2 seconds. Default: none."},
    {.kind = OPTS_GROUP, .help = "Where to"},
    {'o', "output", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FILE,
     .at = AT(record.output),
     .help = "The capture; .sqlite is added where it is missing, and takes the place of .nsys-rep. "
             "%h is the host, %p the command's "
             "process id, %n the first free number, %q{NAME} a variable of the environment, %% a "
             "percent sign. Default: report%n, in a job of several processes report%n-rankN with "
             "the rank from RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID or "
             "LOCAL_RANK. The name is taken before the command runs."},
    {'f', "force-overwrite", .kind = OPTS_BOOL, .at = AT(record.overwrite),
     .help = "Replace FILE where it exists."},
    {0, "export", "FORMAT", .kind = OPTS_CALL, .call = call_export, .choices = "none|sqlite",
     .help = "none, sqlite: the capture is SQLite already. Other formats are not written."},
    {0, "stats", .kind = OPTS_BOOL, .at = AT(stats),
     .help = "Print the reports of cutline stats afterwards."},
    {0, "quiet", .kind = OPTS_BOOL, .at = AT(quiet),
     .help = "Print errors alone: no summary, no remarks, no progress."},
    {.kind = OPTS_GROUP, .help = "The command"},
    {'e', "env-var", "NAME=VALUE,...", .kind = OPTS_LIST, .at = AT(env_lists),
     .help = "Variables for the command's environment. They are not stored."},
    {'n', "inherit-environment", .kind = OPTS_BOOL, .at = AT(inherit_environment),
     .help = "Default: true; false gives the command the variables of --env-var alone."},
    {'w', "show-output", .kind = OPTS_BOOL, .at = AT(record.show_output),
     .help = "Let the command print. Default: true; false sends what it prints to /dev/null."},
    {0, "wait", "WHOM", .kind = OPTS_CHOICE, .choices = "all|primary", .at = AT(wait),
     .help = "Wait for all processes that the command starts (default), or for itself alone."},
    {0, "replace-injection", .kind = OPTS_BOOL, .at = AT(record.replace_injection),
     .help = "Take the place of another tool that CUDA_INJECTION64_PATH or NVTX_INJECTION64_PATH "
             "names."},
    {.kind = OPTS_GROUP, .help = "Limits"},
    {0, "max-size", "BYTES", .kind = OPTS_BYTES, .at = AT(max_bytes),
     .help = "Stop recording when so much was spooled; 0 (default) is no limit."},
    {0, "ring", "BYTES", .kind = OPTS_BYTES, .at = AT(ring_bytes),
     .help = "Keep only the newest BYTES of events, of all processes together."},
    {0, "buffer-size", "BYTES", .kind = OPTS_BYTES, .at = AT(buffer_bytes),
     .help = "Size of one CUPTI buffer. Default: 4M, or 1M where CUPTI has one for each thread; "
             "less where there are many."},
    {0, "buffers-max", "BYTES", .kind = OPTS_BYTES, .at = AT(buffers_bytes),
     .help =
         "How much of what CUPTI wrote may wait in a process until it is taken over; what comes "
         "beyond it is counted as lost. 0: no limit. Default: 128M."},
    {0, "device-buffer-size", "BYTES", .kind = OPTS_BYTES, .at = AT(device_buffer_bytes),
     .help = "Size of one buffer that CUPTI has on a device for its own. Default: CUPTI's, 3.2M."},
    {0, "device-buffers", "N", .kind = OPTS_INT, .max = 1000000, .at = AT(device_buffers),
     .help = "How many of them in a context at most. Default: CUPTI's, 250."},
    {0, "cuda-flush-interval", "MS", .kind = OPTS_INT, .max = UINT32_MAX, .at = AT(flush_ms),
     .help = "Take what CUPTI has every so many milliseconds; 0: only full buffers. Default: "
             "1000."},
    {0, "cupti", "FILE", .kind = OPTS_CALL, .call = call_cupti, .complete = OPTS_COMPLETE_FILE,
     .help = "Use this libcupti."},
    {0, "session-dir", "FOLDER", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FOLDER,
     .at = AT(record.session_dir),
     .help = "Where events go until the command ends: a local disk with room. Default: $TMPDIR, "
             "or /tmp."},
    {.kind = OPTS_GROUP, .help = "Instead of running a command"},
    {0, "recover", "FOLDER", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FOLDER,
     .at = AT(record.recover),
     .help = "Make a capture of the session folder that a killed cutline record left, or that "
             "--print-env made."},
    {0, "print-env", .kind = OPTS_FLAG, .at = AT(print_env),
     .help = "Print the two variables that make a program record, for a command that cutline "
             "cannot start itself (in a job script, a container, another shell)."},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Runs a command and records its CUDA and NVTX activity, of all its processes, to a "
             "SQLite file that cutline view opens, and every tool that reads SQLite exports of "
             "Nsight Systems.\n"
             "\n"
             "The exit status is the command's own (128+N for signal N). Ctrl-C ends the recording "
             "and keeps it. The summary goes to the standard error.",
    .options = OPTIONS,
    .operands_max = -1,
    .stop_at_operand = true,
    .complete = OPTS_COMPLETE_PROGRAM,
    .known = nsys_profile_options,
    .known_about = "Accepted from nsys profile; what they ask for is named as not recorded",
    .known_asked = known_asked,
    .examples = "cutline record -o train python train.py\n"
                "cutline record -c cudaProfilerApi -o step%n python train.py\n"
                "cutline record -t nvtx -p forward -c nvtx ./infer\n"
                "cutline record --recover /tmp/cutline-Xy12ab -o lost\n",
};

/* ---- arguments to options -------------------------------------------------------------------- */

/* "A=B,C=D" of all -e: split in place of a copy. A comma belongs to the value where no NAME=
 * follows it. */
static int split_env(struct record_args *args, struct err *err)
{
    struct buf memory = {0};
    for (int i = 0; i < args->env_lists.count; i++) {
        buf_adds(&memory, args->env_lists.items[i]);
        buf_addc(&memory, '\0');
    }
    if (buf_failed(&memory)) {
        return err_nomem(err, "the environment");
    }
    args->env_memory = memory.data;
    char *end = memory.data + memory.len;
    for (char *at = memory.data; at < end; at += strlen(at) + 1) {
        char *comma = strchr(at, ',');
        while (comma && strcspn(comma + 1, "=") >= strcspn(comma + 1, ",")) {
            comma = strchr(comma + 1, ',');
        }
        if (comma) {
            *comma = '\0';
        }
        if (!strchr(at, '=') || *at == '=') {
            return err_set(err, "'%s' is no variable; write NAME=VALUE", at);
        }
        if (args->record.env_n == ENV_MAX) {
            return err_set(err, "more than %d variables", ENV_MAX);
        }
        args->env[args->record.env_n++] = at;
    }
    args->record.env = args->env;
    return 0;
}

static int finish_options(struct record_args *args, const struct opts_rest *rest, struct err *err)
{
    struct session_config *config = &args->record.config;
    if (args->range == RANGE_HOTKEY) {
        record_ignore(&args->ignored, "a range by hot key (all is recorded)");
        args->range = SESSION_RANGE_NONE;
    }
    config->range = (enum session_range)args->range;
    config->cuda_events = args->cuda_events != EVENTS_FALSE;
    config->event_times = args->cuda_events == EVENTS_TRUE;
    config->device_buffer_bytes = (uint64_t)args->device_buffer_bytes;
    config->device_buffers = (uint64_t)args->device_buffers;
    args->record.clear_env = !args->inherit_environment;
    if (!args->stop_on_range_end && config->range_end == SESSION_RANGE_END_STOP) {
        config->range_end = SESSION_RANGE_END_NONE;
    }
    if (args->metrics_hz > GPU_METRICS_HZ_MAX && args->record.gpu_metrics != NULL) {
        record_ignore(&args->ignored, "GPU metrics more often than 100 times a second");
    }
    args->record.gpu_metrics_hz = (int)(args->metrics_hz < 1                    ? 1
                                        : args->metrics_hz > GPU_METRICS_HZ_MAX ? GPU_METRICS_HZ_MAX
                                                                                : args->metrics_hz);
    config->flush_interval_ms = (uint32_t)args->flush_ms;
    config->buffer_bytes = (uint64_t)args->buffer_bytes;
    config->buffers_max_bytes = args->buffers_bytes > 0 ? (uint64_t)args->buffers_bytes : INT64_MAX;
    config->max_size_bytes = (uint64_t)(args->ring_bytes ? args->ring_bytes : args->max_bytes);
    config->ring = args->ring_bytes > 0;
    args->record.wait_primary = args->wait == 1;
    args->record.argc = rest->argc;
    args->command = calloc((size_t)rest->argc + 1, sizeof *args->command);
    if (!args->command) {
        return err_nomem(err, "the command");
    }
    memcpy(args->command, rest->argv, (size_t)rest->argc * sizeof *args->command);
    args->record.argv = args->command;
    if (args->shutdown && !args->record.kill_signal) {
        args->record.kill_signal = SIGTERM;
    }
    if (config->range == SESSION_RANGE_NVTX && !*config->range_message) {
        return err_set(err, "--capture-range=nvtx needs the range: --nvtx-capture RANGE");
    }
    if (config->range != SESSION_RANGE_NVTX && *config->range_message) {
        record_ignore(&args->ignored, "--nvtx-capture (it needs --capture-range=nvtx)");
        *config->range_message = '\0';
    }
    if (args->max_bytes && args->ring_bytes) {
        return err_set(err, "--max-size keeps the oldest events and --ring the newest: give one");
    }
    if (rest->argc == 0 && !args->print_env && !args->record.recover) {
        return err_set(err, "what is to be recorded? name a command");
    }
    if (rest->argc > 0 && (args->print_env || args->record.recover)) {
        return err_set(err, "--recover and --print-env run no command");
    }
    return split_env(args, err);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void say(void *arg, const char *line)
{
    (void)arg;
    (void)fprintf(stderr, "cutline: %s\n", line);
}

/* A bar on a terminal; the percent of the last call is in *arg. */
static int progress(void *arg, uint64_t done, uint64_t all)
{
    int *last = arg;
    int percent = all ? (int)((double)done / (double)all * 100.0) : 100;
    percent = percent > 100 ? 100 : percent;
    if (percent != *last) {
        int cols = percent * BAR_COLS / 100;
        *last = percent;
        (void)fprintf(stderr, "\rconverting [%.*s%*s] %3d %%", cols,
                      "########################################", BAR_COLS - cols, "", percent);
    }
    return 0;
}

static void clear_progress(int *last)
{
    if (*last >= 0) {
        (void)fprintf(stderr, "\r%*s\r", BAR_COLS + 20, "");
        *last = -1;
    }
}

static int print_stats(const char *path)
{
    const struct command *stats = command_find("stats");
    char name[] = "stats";
    char end_of_options[] = "--"; /* whatever the file is called */
    char *file = strdup(path);
    char *argv[] = {name, end_of_options, file, NULL};
    int status = COMMAND_FAILED;
    if (stats && file) {
        status = stats->run(3, argv);
    }
    free(file);
    return status;
}

/* The conversion is over, for good or not. */
static void finished(void *arg, const struct record_result *result, const struct err *err)
{
    struct record_args *args = arg;
    struct buf text = {0};
    clear_progress(&args->last_percent);
    if (*err->text) {
        output_error("record", err);
    }
    if (result->kept) {
        buf_adds(&text, "cutline: the recording is kept: cutline record --recover ");
        shell_quote_path(&text, result->kept);
        buf_adds(&text, " -o NAME\n");
    }
    if (!args->quiet) {
        record_summary(&args->record, result, &text);
    }
    (void)fputs(buf_text(&text), stderr);
    buf_free(&text);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run_print_env(const struct record_args *args)
{
    struct err err = {0};
    struct buf text = {0};
    int result = record_print_env(&args->record, &text, &err);
    result = result < 0 ? result : output_all(&text, &err);
    buf_free(&text);
    if (result < 0) {
        output_error("record", &err);
        return COMMAND_FAILED;
    }
    return COMMAND_DONE;
}

static int run_and_print(struct record_args *args)
{
    struct err err = {0};
    struct record_result result;
    int failed;
    args->last_percent = -1;
    if (isatty(STDERR_FILENO) && !args->quiet) {
        args->record.progress = progress;
        args->record.progress_arg = &args->last_percent;
    }
    args->record.say = args->quiet ? NULL : say;
    args->record.finished = finished;
    args->record.finished_arg = args;
    if (args->ignored.len && !args->quiet) {
        (void)fprintf(stderr, "cutline: not recorded: %s\n", args->ignored.data);
    }
    if (args->record.recover) {
        failed = record_recover(&args->record, &result, &err);
    } else {
        failed = record_run(&args->record, &result, &err);
    }
    if (*err.text) {
        output_error("record", &err);
    }
    int status = args->record.recover && failed ? COMMAND_FAILED : result.status;
    if (args->stats && result.written) {
        (void)fflush(stderr);
        (void)print_stats(result.output);
    }
    record_result_free(&result);
    return status;
}

static int run_parsed(struct record_args *args, const struct opts_rest *rest)
{
    struct err err = {0};
    if (finish_options(args, rest, &err) < 0) {
        output_error("record", &err);
        return COMMAND_USAGE;
    }
    if (args->print_env) {
        return run_print_env(args);
    }
    if (!args->record.recover && record_check(&args->record, &err) < 0) {
        output_error("record", &err);
        return COMMAND_FAILED;
    }
    return run_and_print(args);
}

static int record_main(int argc, char **argv)
{
    struct record_args *args = calloc(1, sizeof *args); /* the settings are large */
    struct opts_rest rest;
    int status = COMMAND_FAILED;
    if (!args) {
        return status;
    }
    args->flush_ms = 1000;
    args->metrics_hz = GPU_METRICS_HZ_DEFAULT;
    args->record.show_output = true;
    args->stop_on_range_end = true;
    args->inherit_environment = true;
    session_config_init(&args->record.config);
    args->buffers_bytes = (int64_t)args->record.config.buffers_max_bytes;
    if (opts_begin(&COMMAND_RECORD, argc, argv, args, &rest, &status)) {
        status = run_parsed(args, &rest);
    }
    free(args->env_memory);
    free(args->command);
    buf_free(&args->ignored);
    free(args);
    return status;
}

const struct command COMMAND_RECORD = {
    .name = "record",
    .args = "[--] COMMAND [ARG...]",
    .summary = "run a command and record its CUDA and NVTX activity",
    .options = &SPEC,
    .run = record_main,
};
