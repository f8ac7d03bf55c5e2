/* info_text: the facts for people, in at most 80 columns. */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/filter/device.h"
#include "analysis/report/info.h"

enum {
    TEXT_COLS = 80,
    TEXT_LABEL_COLS = 11,
    TEXT_NAME_COLS = 30,
    TEXT_NUMBERS = 8,
    TEXT_FAILURES = 8,
    TEXT_PROCESSES = 64 /* rows of the table; the JSON has all */
};

/* A text being written. */
struct writer {
    const struct info *info;
    struct buf *out;
    bool ascii;
};

/* Adds safe text, cut to and filled up to cols (0: as long as it is). */
static void put_cell(const struct writer *writer, const char *text, size_t len, size_t cols)
{
    struct buf safe = {0};
    size_t used = 0;
    size_t at = 0;
    utf8_sanitize(&safe, text, len, writer->ascii);
    while (at < safe.len) {
        uint32_t cp;
        size_t bytes = utf8_decode(safe.data + at, safe.len - at, &cp);
        int width = utf8_width(cp);
        width = width < 0 ? 1 : width;
        if (cols > 0 && used + (size_t)width > cols) {
            break;
        }
        used += (size_t)width;
        at += bytes;
    }
    buf_add(writer->out, buf_text(&safe), at);
    if (used < cols) {
        buf_fill(writer->out, ' ', cols - used);
    }
    buf_free(&safe);
}

/* Adds safe text word by word, from column `col` on, with hanging indent, and ends the line. */
static void put_wrapped(const struct writer *writer, const char *text, size_t len, size_t indent)
{
    struct buf safe = {0};
    size_t col = indent;
    utf8_sanitize(&safe, text, len, writer->ascii);
    const char *word = buf_text(&safe);
    while (*word != '\0') {
        size_t bytes = strcspn(word, " ");
        size_t cols = utf8_cols(word, bytes);
        if (bytes > 0 && col > indent && col + 1 + cols > TEXT_COLS) {
            buf_addc(writer->out, '\n');
            buf_fill(writer->out, ' ', indent);
            col = indent;
        } else if (bytes > 0 && col > indent) {
            buf_addc(writer->out, ' ');
            col++;
        }
        if (cols > TEXT_COLS - indent) {
            put_cell(writer, word, bytes, TEXT_COLS - indent);
        } else {
            buf_add(writer->out, word, bytes);
        }
        col += cols;
        word += bytes + (word[bytes] == ' ');
    }
    buf_addc(writer->out, '\n');
    buf_free(&safe);
}

static void put_label(const struct writer *writer, const char *label)
{
    buf_adds(writer->out, label);
    buf_fill(writer->out, ' ', TEXT_LABEL_COLS - strlen(label));
}

static void put_line(const struct writer *writer, const char *label, const struct buf *text)
{
    put_label(writer, label);
    put_wrapped(writer, buf_text(text), text->len, TEXT_LABEL_COLS);
}

static void put_source(const struct writer *writer)
{
    const struct info *info = writer->info;
    struct buf line = {0};
    if (info->product.text != NULL || info->product_version.text != NULL) {
        buf_add(&line, info->product.text, info->product.len);
        buf_addc(&line, ' ');
        buf_add(&line, info->product_version.text, info->product_version.len);
    } else if (info->version_table != NULL) {
        buf_adds(&line, "an unnamed program");
    } else {
        buf_adds(&line, "no version table: an nsys export older than 2022, or a reduced copy");
    }
    if (info->schema.text != NULL) {
        buf_adds(&line, ", schema ");
        buf_add(&line, info->schema.text, info->schema.len);
    }
    put_line(writer, "made by", &line);
    buf_reset(&line);
    if (info->utc.text != NULL) {
        buf_add(&line, info->utc.text, info->utc.len);
        buf_adds(&line, " UTC");
    }
    if (info->driver.text != NULL) {
        buf_adds(&line, line.len > 0 ? ", driver " : "driver ");
        buf_add(&line, info->driver.text, info->driver.len);
    }
    if (info->cuda.text != NULL) {
        buf_adds(&line, line.len > 0 ? ", CUDA " : "CUDA ");
        buf_add(&line, info->cuda.text, info->cuda.len);
    }
    if (line.len > 0) {
        put_line(writer, "recorded", &line);
    }
    buf_free(&line);
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void put_span(const struct writer *writer)
{
    const struct trace *trace = writer->info->trace;
    const int64_t step_ns = 1000000;
    char span[TIMEFMT_BYTES];
    char begin[TIMEFMT_BYTES];
    char end[TIMEFMT_BYTES];
    struct buf line = {0};
    if (trace->lane_count == 0) {
        return;
    }
    buf_addf(&line, "%s, from %s to %s", timefmt_duration(trace->end_ns - trace->begin_ns, span),
             timefmt_at(trace->begin_ns, step_ns, begin), timefmt_at(trace->end_ns, step_ns, end));
    put_line(writer, "span", &line);
    buf_free(&line);
}

static uint32_t count_streams(const struct trace *trace, const struct trace_device *device)
{
    uint32_t streams = 0;
    for (uint32_t i = 0; i < device->lane_count; i++) {
        const struct trace_lane *lane = &trace->lanes[device->first_lane + i];
        streams += lane->kind == TRACE_LANE_STREAM && lane->depth == 0;
    }
    return streams;
}

static void put_devices(const struct writer *writer)
{
    const struct trace *trace = writer->info->trace;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *device = &trace->devices[i];
        uint32_t streams = count_streams(trace, device);
        struct buf line = {0};
        char span[TIMEFMT_BYTES];
        int64_t span_ns = device->busy_end_ns[device->busy_count - 1] - device->busy_begin_ns[0];
        device_put(&line, trace, i);
        buf_adds(&line, ": ");
        if (device->name_len > 0) {
            buf_add(&line, device->name, device->name_len < 200 ? device->name_len : 200);
            buf_adds(&line, ", ");
        }
        if (device->sm_count > 0) {
            buf_addf(&line, "%d SMs, ", (int)device->sm_count);
        }
        buf_addf(&line, "%u %s, busy %.1f %% of %s", (unsigned)streams,
                 streams == 1 ? "stream" : "streams",
                 percent(device->busy_sum_ns[device->busy_count], span_ns),
                 timefmt_duration(span_ns, span));
        put_line(writer, i == 0 ? "GPU" : "", &line);
        buf_free(&line);
    }
}

/* A number of the process table. */
struct number {
    const char *header;
    size_t at; /* offset in struct trace_process */
};

static const struct number NUMBERS[TEXT_NUMBERS] = {
    {"kernels", offsetof(struct trace_process, kernels)},
    {"copies", offsetof(struct trace_process, memcpys)},
    {"sets", offsetof(struct trace_process, memsets)},
    {"graphs", offsetof(struct trace_process, graph_launches)},
    {"API", offsetof(struct trace_process, api_calls)},
    {"NVTX", offsetof(struct trace_process, nvtx_ranges)},
    {"marks", offsetof(struct trace_process, nvtx_marks)},
    {"OSRT", offsetof(struct trace_process, osrt_calls)},
};

static int64_t number_of(const struct trace_process *process, int which)
{
    int64_t value;
    memcpy(&value, (const char *)process + NUMBERS[which].at, sizeof value);
    return value;
}

/* "9999999", then "15.9M", "4.3G": never more than 7 columns. */
static const char *number_text(int64_t value, struct buf *out)
{
    const double million = 1e6;
    const double milliard = 1e9;
    buf_reset(out);
    if (value < 10000000) {
        buf_addf(out, "%" PRId64, value);
    } else if ((double)value < milliard) {
        buf_addf(out, "%.1fM", (double)value / million);
    } else {
        buf_addf(out, "%.1fG", (double)value / milliard);
    }
    return buf_text(out);
}

/* Columns that a number takes below its header; none for 0. */
static size_t number_width(int64_t value, int which, struct buf *scratch)
{
    size_t width = strlen(number_text(value, scratch));
    size_t header = strlen(NUMBERS[which].header);
    if (value == 0) {
        return 0;
    }
    return width < header ? header : width;
}

static uint32_t shown_processes(const struct trace *trace)
{
    return trace->process_count < TEXT_PROCESSES ? trace->process_count : (uint32_t)TEXT_PROCESSES;
}

struct columns {
    size_t width[TEXT_NUMBERS]; /* 0: nothing to show */
    size_t pid;
    size_t name;
};

static void measure(const struct trace *trace, struct columns *columns)
{
    struct buf text = {0};
    size_t used = 0;
    *columns = (struct columns){.pid = 3, .name = strlen("process")};
    for (uint32_t i = 0; i < shown_processes(trace); i++) {
        const struct trace_process *process = &trace->processes[i];
        size_t cols = utf8_cols(process->name, process->name_len);
        columns->name = cols > columns->name ? cols : columns->name;
        buf_reset(&text);
        buf_addf(&text, "%" PRId64, process->pid);
        columns->pid = text.len > columns->pid ? text.len : columns->pid;
        for (int n = 0; n < TEXT_NUMBERS; n++) {
            size_t width = number_width(number_of(process, n), n, &text);
            columns->width[n] = width > columns->width[n] ? width : columns->width[n];
        }
    }
    for (int n = 0; n < TEXT_NUMBERS; n++) {
        used += columns->width[n] > 0 ? columns->width[n] + 1 : 0;
    }
    used += columns->pid + 3;
    columns->name = columns->name > TEXT_NAME_COLS ? (size_t)TEXT_NAME_COLS : columns->name;
    if (used + columns->name > TEXT_COLS) {
        columns->name = used + 1 < TEXT_COLS ? TEXT_COLS - used : 1;
    }
    buf_free(&text);
}

static void put_right(const struct writer *writer, const char *text, size_t cols)
{
    size_t len = strlen(text);
    if (len < cols) {
        buf_fill(writer->out, ' ', cols - len);
    }
    buf_adds(writer->out, text);
}

static void put_processes(const struct writer *writer)
{
    const struct trace *trace = writer->info->trace;
    struct columns columns;
    struct buf text = {0};
    if (trace->process_count == 0) {
        return;
    }
    measure(trace, &columns);
    buf_addc(writer->out, '\n');
    put_right(writer, "pid", columns.pid);
    buf_adds(writer->out, "  ");
    put_cell(writer, "process", strlen("process"), columns.name);
    for (int n = 0; n < TEXT_NUMBERS; n++) {
        if (columns.width[n] > 0) {
            buf_addc(writer->out, ' ');
            put_right(writer, NUMBERS[n].header, columns.width[n]);
        }
    }
    for (uint32_t i = 0; i < shown_processes(trace); i++) {
        const struct trace_process *process = &trace->processes[i];
        buf_reset(&text);
        buf_addf(&text, "%" PRId64, process->pid);
        buf_addc(writer->out, '\n');
        put_right(writer, buf_text(&text), columns.pid);
        buf_adds(writer->out, "  ");
        put_cell(writer, process->name, process->name_len, columns.name);
        for (int n = 0; n < TEXT_NUMBERS; n++) {
            if (columns.width[n] > 0) {
                buf_addc(writer->out, ' ');
                put_right(writer, number_text(number_of(process, n), &text), columns.width[n]);
            }
        }
    }
    buf_addc(writer->out, '\n');
    if (trace->process_count > shown_processes(trace)) {
        buf_addf(writer->out, "and %u more processes\n",
                 (unsigned)(trace->process_count - shown_processes(trace)));
    }
    buf_free(&text);
}

static void put_missing(const struct writer *writer)
{
    const struct info *info = writer->info;
    const struct trace_counts *counts = &info->trace->counts;
    const struct {
        int64_t count;
        enum trace_kind kind;
        const char *what;
    } kinds[] = {
        {counts->kernels, TRACE_KERNEL, "kernels"},
        {counts->memcpys, TRACE_MEMCPY, "copies"},
        {counts->memsets, TRACE_MEMSET, "memory sets"},
        {counts->graph_launches, TRACE_GRAPH, "graph launches"},
        {counts->api_calls, TRACE_API_CALL, "CUDA API calls"},
        {counts->nvtx_ranges, TRACE_NVTX_PUSHPOP, "NVTX ranges"},
        {counts->osrt_calls, TRACE_OSRT_CALL, "OS runtime calls"},
    };
    struct buf line = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].count == 0) {
            buf_addf(&line, "%s%s%s", line.len > 0 ? ", " : "", kinds[i].what,
                     info->has[kinds[i].kind] ? " (the table is empty)" : "");
        }
    }
    if (line.len > 0) {
        buf_addc(writer->out, '\n');
        put_line(writer, "missing", &line);
    }
    buf_free(&line);
}

static void put_count(const struct writer *writer, int64_t count, const char *what)
{
    struct buf line = {0};
    char number[TIMEFMT_BYTES];
    if (count > 0) {
        buf_addf(&line, "%s %s", timefmt_count(count, number), what);
        put_line(writer, "note", &line);
    }
    buf_free(&line);
}

/* "3 rows are left out, ...: CUPTI_ACTIVITY_KIND_KERNEL row 1 at -100000.000 s, ..." */
static void put_left_out(const struct writer *writer)
{
    const struct trace_counts *counts = &writer->info->trace->counts;
    struct buf line = {0};
    char text[TIMEFMT_BYTES];
    const char *table = "";
    if (counts->misplaced == 0) {
        return;
    }
    buf_addf(&line, "%s row%s out, as times so far from the others cannot be:",
             timefmt_count(counts->misplaced, text),
             counts->misplaced == 1 ? " is left" : "s are left");
    for (int i = 0; i < TRACE_LEFT_OUT && i < counts->misplaced; i++) {
        const struct trace_left_out *row = &counts->left_out[i];
        const char *its_table = trace_left_out_table(row);
        buf_addf(&line, "%s %s%srow %u at %s", i == 0 ? "" : ",",
                 strcmp(table, its_table) == 0 ? "" : its_table,
                 strcmp(table, its_table) == 0 ? "" : " ", (unsigned)row->row,
                 timefmt_at(row->begin_ns, 1000000, text));
        table = its_table;
    }
    buf_adds(&line, counts->misplaced > TRACE_LEFT_OUT ? ", ..." : "");
    put_line(writer, "note", &line);
    buf_free(&line);
}

static void put_oddities(const struct writer *writer)
{
    const struct trace_counts *counts = &writer->info->trace->counts;
    struct buf line = {0};
    put_count(writer, counts->untimed,
              "ops have no times (the profiling library did not deliver them); they are counted "
              "above but not drawn");
    put_count(writer, counts->reversed,
              "rows end before they begin or have impossible times; they are not drawn");
    put_left_out(writer);
    put_count(writer, counts->early,
              "ops begin before the call that launched them (the clocks of the GPU and the CPU "
              "differ): such an op did not wait");
    put_count(writer, counts->unlinked,
              "ops have no launching call in the file (launched before or outside the recording)");
    put_count(writer, counts->open_ranges,
              "NVTX ranges were still open at the end; they are closed at the last NVTX time");
    if (counts->graph_launches > 0) {
        buf_adds(&line, "graphs were recorded whole: the kernels inside them are not in the file "
                        "(record with --cuda-graph-trace=node to see them)");
        put_line(writer, "note", &line);
    }
    buf_free(&line);
}

/* The calls that failed, and what to do about the first. */
static void put_failures(const struct writer *writer)
{
    const struct info *info = writer->info;
    const struct failures *failures = &info->failures;
    const int64_t *begin_ns = info->trace->events[TRACE_API].begin_ns;
    struct buf line = {0};
    for (size_t i = 0; i < failures->count && i < TEXT_FAILURES; i++) {
        const struct failure *failure = &failures->list[i];
        char time[TIMEFMT_BYTES];
        buf_reset(&line);
        failures_put(&line, info->trace, failure);
        buf_addf(&line, ", first at %s", timefmt_at(begin_ns[failure->first], 1000, time));
        if (failure->is_sticky && failures->after_sticky > 0) {
            buf_addf(&line, "; %" PRIu32 " failed calls after it follow from it",
                     failures->after_sticky);
        }
        put_line(writer, "failed", &line);
    }
    if (failures->count > TEXT_FAILURES) {
        buf_reset(&line);
        buf_addf(&line, "and %zu more kinds of failed calls", failures->count - TEXT_FAILURES);
        put_line(writer, "failed", &line);
    }
    const char *advice = failures->count > 0 ? failures_advice(failures->list[0].code) : NULL;
    if (advice != NULL) {
        buf_reset(&line);
        buf_adds(&line, advice);
        put_line(writer, "advice", &line);
    }
    buf_free(&line);
}

static void put_losses(const struct writer *writer)
{
    const struct info *info = writer->info;
    for (size_t i = 0; i < info->loss_count; i++) {
        const struct info_loss *loss = &info->losses[i];
        struct buf line = {0};
        char number[TIMEFMT_BYTES];
        buf_addf(&line, "%s ", timefmt_count(loss->count, number));
        buf_add(&line, loss->kind, loss->kind_len);
        buf_adds(&line, ": ");
        buf_add(&line, loss->reason, loss->reason_len);
        put_line(writer, info_loss_was_asked(loss) ? "left out" : "lost", &line);
        buf_free(&line);
    }
}

static void put_notes(const struct writer *writer)
{
    const struct info *info = writer->info;
    for (size_t i = 0; i < info->note_count; i++) {
        const struct info_note *note = &info->notes[i];
        struct buf line = {0};
        if (i == 0) {
            buf_addc(writer->out, '\n');
        }
        buf_add(&line, note->text, note->len);
        if (note->count > 1) {
            buf_addf(&line, " (%" PRId64 " times)", note->count);
        }
        put_line(writer, note->severity > 2 ? "error" : "warning", &line);
        buf_free(&line);
    }
}

void info_text(const struct info *info, bool ascii, struct buf *out)
{
    const struct writer writer = {info, out, ascii};
    struct buf line = {0};
    info_verdict_text(info, &line);
    put_line(&writer, "verdict", &line);
    buf_reset(&line);
    buf_adds(&line, trace_given_path(info->trace));
    put_line(&writer, "file", &line);
    buf_free(&line);
    put_source(&writer);
    put_span(&writer);
    put_devices(&writer);
    put_processes(&writer);
    put_failures(&writer);
    put_missing(&writer);
    put_oddities(&writer);
    put_losses(&writer);
    put_notes(&writer);
}
