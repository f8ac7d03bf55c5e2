/* info_json: the facts as one JSON object. */
#include <inttypes.h>
#include <string.h>

#include "analysis/filter/device.h"
#include "analysis/report/info.h"
#include "analysis/table/json.h"

static void json_key(struct buf *out, const char *key, bool *first)
{
    buf_addf(out, "%s\n  \"%s\": ", *first ? "" : ",", key);
    *first = false;
}

static void json_int(struct buf *out, const char *key, int64_t value, bool *first)
{
    json_key(out, key, first);
    buf_addf(out, "%" PRId64, value);
}

static void json_value(struct buf *out, const char *key, struct info_value value, bool *first)
{
    json_key(out, key, first);
    if (value.text == NULL) {
        buf_adds(out, "null");
    } else {
        json_text(out, value.text, value.len);
    }
}

static void json_totals(const struct info *info, struct buf *out, bool *first)
{
    const struct trace *trace = info->trace;
    const struct trace_counts *counts = &trace->counts;
    json_int(out, "kernels", counts->kernels, first);
    json_int(out, "memcpys", counts->memcpys, first);
    json_int(out, "memsets", counts->memsets, first);
    json_int(out, "graph_launches", counts->graph_launches, first);
    json_int(out, "api_calls", counts->api_calls, first);
    json_int(out, "nvtx_ranges", counts->nvtx_ranges, first);
    json_int(out, "nvtx_marks", counts->nvtx_marks, first);
    json_int(out, "osrt_calls", counts->osrt_calls, first);
    json_int(out, "devices", trace->device_count, first);
    json_int(out, "processes", trace->process_count, first);
    json_int(out, "begin_ns", trace->begin_ns, first);
    json_int(out, "end_ns", trace->end_ns, first);
    json_int(out, "span_ns", trace->end_ns - trace->begin_ns, first);
    json_int(out, "busy_ns", info->busy_ns, first);
    json_int(out, "untimed", counts->untimed, first);
    json_int(out, "reversed", counts->reversed, first);
    json_int(out, "misplaced", counts->misplaced, first);
    json_int(out, "early", counts->early, first);
    json_int(out, "unlinked", counts->unlinked, first);
    json_int(out, "open_ranges", counts->open_ranges, first);
}

static void json_devices(const struct trace *trace, struct buf *out)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *device = &trace->devices[i];
        int64_t number = device_cuda_number(trace, i);
        buf_addf(out, "%s\n    {\"id\": %" PRId64 ", \"cuda_id\": ", i == 0 ? "" : ",", device->id);
        if (number < 0) {
            buf_adds(out, "null");
        } else {
            json_number(out, number);
        }
        buf_adds(out, ", \"name\": ");
        if (device->name_len == 0) {
            buf_adds(out, "null");
        } else {
            json_text(out, device->name, device->name_len);
        }
        buf_addf(out, ", \"busy_ns\": %" PRId64 "}",
                 device->busy_count == 0 ? 0 : device->busy_sum_ns[device->busy_count]);
    }
}

static void json_processes(const struct trace *trace, struct buf *out)
{
    for (uint32_t i = 0; i < trace->process_count; i++) {
        const struct trace_process *process = &trace->processes[i];
        buf_addf(out, "%s\n    {\"pid\": %" PRId64 ", \"name\": ", i == 0 ? "" : ",", process->pid);
        if (process->name_len == 0) {
            buf_adds(out, "null");
        } else {
            json_text(out, process->name, process->name_len);
        }
        buf_addf(out,
                 ", \"kernels\": %" PRId64 ", \"memcpys\": %" PRId64 ", \"memsets\": %" PRId64
                 ", \"graph_launches\": %" PRId64 ", \"api_calls\": %" PRId64
                 ", \"nvtx_ranges\": %" PRId64 ", \"nvtx_marks\": %" PRId64
                 ", \"osrt_calls\": %" PRId64 "}",
                 process->kernels, process->memcpys, process->memsets, process->graph_launches,
                 process->api_calls, process->nvtx_ranges, process->nvtx_marks,
                 process->osrt_calls);
    }
}

static void json_left_out(const struct trace *trace, struct buf *out)
{
    const struct trace_counts *counts = &trace->counts;
    for (int i = 0; i < TRACE_LEFT_OUT && i < counts->misplaced; i++) {
        const struct trace_left_out *row = &counts->left_out[i];
        buf_addf(out,
                 "%s\n    {\"table\": \"%s\", \"row\": %u, \"begin_ns\": %" PRId64 ", \"end_ns\": ",
                 i == 0 ? "" : ",", trace_left_out_table(row), (unsigned)row->row, row->begin_ns);
        if (row->end_ns == INT64_MAX) {
            buf_adds(out, "null}");
        } else {
            buf_addf(out, "%" PRId64 "}", row->end_ns);
        }
    }
}

static void json_notes(const struct info *info, struct buf *out)
{
    for (size_t i = 0; i < info->note_count; i++) {
        const struct info_note *note = &info->notes[i];
        buf_addf(out, "%s\n    {\"severity\": \"%s\", \"count\": %" PRId64 ", \"text\": ",
                 i == 0 ? "" : ",", note->severity > 2 ? "error" : "warning", note->count);
        json_text(out, note->text, note->len);
        buf_addc(out, '}');
    }
}

static void json_losses(const struct info *info, struct buf *out)
{
    for (size_t i = 0; i < info->loss_count; i++) {
        const struct info_loss *loss = &info->losses[i];
        buf_addf(out, "%s\n    {\"kind\": ", i == 0 ? "" : ",");
        json_text(out, loss->kind, loss->kind_len);
        buf_adds(out, ", \"reason\": ");
        json_text(out, loss->reason, loss->reason_len);
        buf_addf(out, ", \"count\": %" PRId64 "}", loss->count);
    }
}

static void json_failures(const struct info *info, struct buf *out)
{
    const int64_t *begin_ns = info->trace->events[TRACE_API].begin_ns;
    for (size_t i = 0; i < info->failures.count; i++) {
        const struct failure *failure = &info->failures.list[i];
        const struct trace_name *name = &info->trace->names[failure->name];
        const char *code = failures_code_name(failure->code, name->brief);
        buf_addf(out, "%s\n    {\"call\": ", i == 0 ? "" : ",");
        json_text(out, name->brief, name->brief_len);
        buf_addf(out, ", \"code\": %" PRId64 ", \"error\": ", failure->code);
        if (code != NULL) {
            json_text(out, code, strlen(code));
        } else {
            buf_adds(out, "null");
        }
        buf_addf(out, ", \"count\": %" PRIu32 ", \"calls\": %" PRIu32 ", \"first_ns\": %" PRId64,
                 failure->count, failure->calls, begin_ns[failure->first]);
        if (failure->bytes >= 0) {
            buf_addf(out, ", \"bytes\": %" PRId64 "}", failure->bytes);
        } else {
            buf_adds(out, ", \"bytes\": null}");
        }
    }
}

void info_json(const struct info *info, struct buf *out)
{
    struct buf verdict = {0};
    bool first = false;
    json_head(out, "cutline-info", 1);
    info_verdict_text(info, &verdict);
    json_value(out, "verdict", (struct info_value){buf_text(&verdict), verdict.len}, &first);
    buf_free(&verdict);
    json_value(out, "product", info->product, &first);
    json_value(out, "product_version", info->product_version, &first);
    json_value(out, "schema_version", info->schema, &first);
    json_value(out, "utc_time", info->utc, &first);
    json_value(out, "driver_version", info->driver, &first);
    json_value(out, "cuda_version", info->cuda, &first);
    json_value(out, "graph_mode", info->graph_mode, &first);
    json_totals(info, out, &first);
    json_key(out, "left_out", &first);
    buf_addc(out, '[');
    json_left_out(info->trace, out);
    buf_adds(out, "]");
    json_key(out, "device_list", &first);
    buf_addc(out, '[');
    json_devices(info->trace, out);
    buf_adds(out, "]");
    json_key(out, "process_list", &first);
    buf_addc(out, '[');
    json_processes(info->trace, out);
    buf_adds(out, "]");
    json_key(out, "failed_calls", &first);
    buf_addc(out, '[');
    json_failures(info, out);
    buf_adds(out, "]");
    json_key(out, "diagnostics", &first);
    buf_addc(out, '[');
    json_notes(info, out);
    buf_adds(out, "]");
    json_key(out, "losses", &first);
    buf_addc(out, '[');
    json_losses(info, out);
    buf_adds(out, "]\n}\n");
}
